//===- KnobDomain.h - Domains of tune knobs ---------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The domain of a `transform.tune.knob`, read from and written to the
// dictionary of builtin attributes in the knob's `options`.
//
// A tile domain belongs to one loop of one stage at one level. Its value is
// the size of the tile over which that level's loop steps. Levels count from
// the outermost: with the "divisor" policy the value of level 0 divides the
// extent, and the value of level l + 1 divides the value of level l (Ansor's
// exact factorisations, OSDI 2020 section 4.2, written as tile sizes).
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_IR_KNOBDOMAIN_H
#define ANSOR_IR_KNOBDOMAIN_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::ansor {

/// What an open choice of a sketch decides.
enum class KnobKind {
  Tile,     ///< tile size of one loop at one level
  Unroll,   ///< largest number of body copies that unrolling may make
  Parallel, ///< number of outermost loops that are fused and run in parallel
  Location, ///< where a producer is computed (index of a loop, 0 is the root)
  Choice    ///< index into structural alternatives
};

/// How a tile domain treats sizes that don't divide.
enum class TilePolicy {
  Divisor,  ///< the size divides the size of the level outside it
  Remainder ///< any size up to that; the code generator makes a remainder
};

/// The domain of one knob. Dictionary keys in quotes; all numbers are i64.
struct KnobDomain {
  /// "kind": "tile", "unroll", "parallel", "location" or "choice".
  KnobKind kind = KnobKind::Choice;
  /// "stage": index of the stage that the knob belongs to.
  int64_t stage = 0;

  // Tile domains only.
  int64_t loop = 0;   ///< "loop": index of the loop in the stage's domain
  int64_t level = 0;  ///< "level": 0 is the outermost
  int64_t levels = 1; ///< "levels": how many knobs this loop has in all
  int64_t extent = 1; ///< "extent": trip count of the untiled loop, >= 1
  TilePolicy policy = TilePolicy::Divisor; ///< "policy"
  int64_t multipleOf = 1; ///< "multiple_of": every value is a multiple of it,
                          ///< or the extent (floordiv and mod maps)
  int64_t max = 0;        ///< "max": upper bound of the value, 0 for none

  /// "values": the allowed values; required for the kinds other than tile.
  SmallVector<int64_t> values;

  /// Reads a domain. Emits through `emitError` and fails on an unknown key or
  /// kind, a missing key, and numbers out of range.
  static FailureOr<KnobDomain>
  parse(DictionaryAttr dict, function_ref<InFlightDiagnostic()> emitError);

  /// The dictionary form, optional keys ("policy", "multiple_of", "max") that
  /// have their default value left out.
  DictionaryAttr toAttr(MLIRContext *context) const;

  /// True if `value` alone lies in the domain. Chains are not looked at: that
  /// the size of an inner level divides the one outside it is not seen here.
  bool contains(int64_t value) const;
};

/// "tile" etc.
StringRef stringify(KnobKind kind);

} // namespace mlir::ansor

#endif // ANSOR_IR_KNOBDOMAIN_H
