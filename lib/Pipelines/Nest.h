//===- Nest.h - Vector code of one linalg op --------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A linalg op becomes loops around straight code: the plan says how much of the
// iteration space the straight code covers and along which loop its vectors
// lie; the emitter writes it. The method is register tiling: the accumulators
// of a tile stay in vector values for the whole reduction.
//
// Upstream's vectorizer is not used here: it wants projected permutations and
// static shapes, and makes n-dimensional vectors that five more pattern sets
// have to take apart again.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_PIPELINES_NEST_H
#define ANSOR_LIB_PIPELINES_NEST_H

#include "ansor/Target/Target.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::ansor {

struct NestPlan {
  /// Loop that the vectors lie along; none for scalar code.
  std::optional<unsigned> lane;
  /// That loop is a reduction: partial results are combined at its end.
  bool laneReduces = false;
  /// Elements of a full vector; 1 for scalar code.
  int64_t lanes = 1;
  /// Extent of each loop; ShapedType::kDynamic if unknown.
  SmallVector<int64_t> extents;
  /// Iterations of each loop in one piece of straight code.
  SmallVector<int64_t> tile;
};

/// How an access depends on a loop.
enum class LaneAccess { Invariant, Contiguous, Strided };
LaneAccess classifyAccess(AffineMap map, unsigned loop);

/// Plans the code of `op`, or fails if the emitter can't write it.
FailureOr<NestPlan> planNest(linalg::LinalgOp op, const TargetInfo &target,
                             bool strictFP);

/// Replaces `op` by code after `plan`.
void emitNest(linalg::LinalgOp op, const NestPlan &plan);

/// The same for an op in `loops` (outermost first, perfectly nested but for
/// code without effects), whose accumulators become values that these loops
/// carry. Returns the rebuilt loops. The plan covers all parallel loops.
SmallVector<scf::ForOp> emitCarriedNest(linalg::LinalgOp op,
                                        const NestPlan &plan,
                                        ArrayRef<scf::ForOp> loops);

/// How much code one body of the plan is, in bodies of plain vector loads: a
/// vector whose lanes don't lie side by side is loaded lane by lane.
int64_t bodyWeight(linalg::LinalgOp op, const NestPlan &plan);

/// Whether the plan's straight code covers all parallel loops of `op`.
bool coversParallelLoops(linalg::LinalgOp op, const NestPlan &plan);

/// On the combiner of a reduction, a maximum or minimum that passes over NaNs,
/// with the accumulator as its first operand: its initial value is a number.
inline constexpr llvm::StringLiteral kStartsFromNumberAttr =
    "ansor.starts_from_number";

/// The op that combines an element into result `index` of `op`, or null if
/// there isn't exactly one.
Operation *getCombiner(linalg::LinalgOp op, unsigned index);

} // namespace mlir::ansor

#endif // ANSOR_LIB_PIPELINES_NEST_H
