//===- RawNest.h - Nests before unit loops are dropped ----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What extraction finds in IR: a NestDesc with every loop, those of one trip
// too, and with the limits of unrolling instead of what they lead to. Which
// numbers a nest has then depends on the sketch alone, and only their values on
// the decisions; SketchNest builds on that. `simplify` makes the NestDesc.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_FEATURE_RAWNEST_H
#define ANSOR_LIB_FEATURE_RAWNEST_H

#include "ansor/Feature/NestDesc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::ansor {

/// Product of two numbers >= 1, the largest number if it doesn't fit.
inline int64_t multiplySaturating(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? INT64_MAX : product;
}

struct RawLoop {
  int64_t extent = 1;
  int64_t unroll = -1; ///< `ansor.unroll` on it, -1 if there is none
  int id = -1;         ///< the same for statements inside the same loop
  LoopDesc::Kind kind = LoopDesc::Spatial;
  /// None, Parallel, or what a device mapping says.
  LoopDesc::Annotation annotation = LoopDesc::None;
  bool partial = false;
};

struct RawStatement {
  std::string name;
  SmallVector<RawLoop, 12> loops;
  unsigned numOuter = 0; ///< loops around the op; its iterators follow
  bool vectorized = false;
  int64_t unroll = -1;              ///< `ansor.unroll` on the op, -1 for none
  std::vector<AccessDesc> accesses; ///< coefficients over all of `loops`
  OpCounts ops;
  int64_t elementBytes = 0; ///< of the temporary it writes, 0: it writes none
  SmallVector<int64_t, 4> allocationShape; ///< of that
  unsigned allocationDepth = 0;
};

struct RawNest {
  std::vector<RawStatement> statements;

  /// Calls `fn` with every number that decisions may change, in a fixed order,
  /// and whether it matters: how a loop of one trip moves an access doesn't.
  void forEachNumber(function_ref<void(int64_t &, bool)> fn);
  /// All the rest as text: equal for nests whose numbers correspond.
  std::string structure() const;
  /// Loops of all statements.
  size_t countLoops() const;
};

FailureOr<RawNest> extractRawNest(func::FuncOp func);
/// The function that `extractNests` takes of a module, or null.
func::FuncOp findTaskFunction(ModuleOp module);

/// Drops loops of one trip and says what unrolling and vectorising do to the
/// others.
NestDesc simplify(const RawNest &raw);

} // namespace mlir::ansor

#endif // ANSOR_LIB_FEATURE_RAWNEST_H
