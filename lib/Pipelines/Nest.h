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

/// A sum of products of narrow numbers that an instruction of the target adds
/// up in groups: x86's vpdpbusd and vdpbf16ps, Arm's sdot and udot. Vectors lie
/// along the lane; of the other operand, a group of elements is broadcast.
struct DotForm {
  unsigned scalar = 0;  ///< operand that is broadcast
  unsigned vector = 0;  ///< operand along the lanes
  unsigned loop = 0;    ///< reduction loop whose steps are grouped
  int64_t group = 4;    ///< steps of that loop in one instruction
  std::string intrinsic;
  /// The vector operand is the first factor of the instruction.
  bool swapped = false;
  /// The instruction takes the broadcast operand as unsigned, but it is signed:
  /// 128 is added to its elements, and what that adds to the sums is summed
  /// up, too, and taken off at the end.
  bool offset = false;
};

struct NestPlan {
  /// Loop that the vectors lie along; none for scalar code.
  std::optional<unsigned> lane;
  /// That loop is a reduction: partial results are combined at its end.
  bool laneReduces = false;
  /// Partial accumulators of a lane reduction, to hide the latency of adding.
  unsigned laneAccumulators = 4;
  /// Elements of a full vector; 1 for scalar code.
  int64_t lanes = 1;
  /// The rest of a row is one vector, whose lanes behind the end are neither
  /// loaded nor stored, not several short ones.
  bool masks = false;
  /// Extent of each loop; ShapedType::kDynamic if unknown.
  SmallVector<int64_t> extents;
  /// Iterations of each loop in one piece of straight code.
  SmallVector<int64_t> tile;
  /// What full vectors are computed by, for groups of steps.
  std::optional<DotForm> dot;
};

/// How an access depends on a loop: not at all; elements side by side; every
/// second to fourth of them, so that a few loads and shuffles get them; or else.
enum class LaneAccess { Invariant, Contiguous, Interleaved, Strided };
LaneAccess classifyAccess(AffineMap map, unsigned loop);

/// The dot instruction that `op` can use with vectors as in `plan`.
std::optional<DotForm> matchDot(linalg::LinalgOp op, const NestPlan &plan,
                                const TargetInfo &target, bool strictFP);

/// The elements of `rows`, vectors of equal length, by turns.
Value interleaveRows(OpBuilder &b, Location loc, ValueRange rows);

/// A small vector of a group's elements, repeated up to `width` elements; 128
/// is added to each if `offset`.
Value broadcastGroup(OpBuilder &b, Location loc, Value group, int64_t width,
                     bool offset);

/// `acc` plus the sums of products of groups.
Value emitDot(OpBuilder &b, Location loc, const DotForm &form, Value acc,
              Value scalars, Value vectors);

/// The step of an interleaved access.
int64_t interleavedStep(AffineMap map, unsigned loop);

/// For a strided access: a loop along which elements lie side by side, so that
/// a block of both loops is loaded along it and transposed in registers.
std::optional<unsigned> findBlockLoop(AffineMap map, unsigned lane,
                                      ArrayRef<int64_t> tile);

/// Merges the loops of a permuting copy of buffers that lie side by side on both
/// sides, so that longer rows are transposed. Returns the new op, or `op`.
linalg::LinalgOp collapseCopy(linalg::LinalgOp op);

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
