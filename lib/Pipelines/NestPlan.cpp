//===- NestPlan.cpp - See Nest.h --------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::ansor;

/// Vectors that one piece of straight code may write: what is tiled by a
/// schedule is kept whole up to twice the register file, spills and all.
static constexpr int64_t kMaxRegisterFiles = 2;
/// Bodies in one piece of straight code.
static constexpr int64_t kMaxBodies = 512;
/// Reduction steps in one piece of straight code, when the plan may choose.
static constexpr int64_t kReductionUnroll = 4;

LaneAccess ansor::classifyAccess(AffineMap map, unsigned loop) {
  LaneAccess access = LaneAccess::Invariant;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(loop))
      continue;
    if (i + 1 != map.getNumResults() || access != LaneAccess::Invariant)
      return LaneAccess::Strided;
    SmallVector<int64_t> flat;
    if (failed(getFlattenedAffineExpr(expr, map.getNumDims(),
                                      map.getNumSymbols(), &flat)) ||
        flat.size() != map.getNumInputs() + 1 || flat[loop] != 1)
      return LaneAccess::Strided;
    access = LaneAccess::Contiguous;
  }
  return access;
}

Operation *ansor::getCombiner(linalg::LinalgOp op, unsigned index) {
  SmallVector<Operation *> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), index, combiners) ||
      combiners.size() != 1)
    return nullptr;
  return combiners.front();
}

/// Whether vectors of `type` lie in memory as its elements do.
static bool hasVectorStorage(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() >= 8 && llvm::isPowerOf2_64(integer.getWidth()) &&
           integer.getWidth() <= 64;
  if (auto fp = dyn_cast<FloatType>(type))
    return fp.getWidth() >= 16 && fp.getWidth() <= 64;
  return type.isIndex();
}

/// Whether every op of the body has a vector form.
static bool hasVectorBody(linalg::LinalgOp op) {
  for (Operation &inner : *op.getBlock()) {
    if (isa<linalg::YieldOp, linalg::IndexOp>(inner) ||
        inner.hasTrait<OpTrait::ConstantLike>())
      continue;
    // Integer powers are loops, one element at a time.
    if (!OpTrait::hasElementwiseMappableTraits(&inner) ||
        isa<math::FPowIOp, math::IPowIOp>(inner))
      return false;
    for (Type type : inner.getResultTypes())
      if (!type.isIntOrIndexOrFloat())
        return false;
    for (Type type : inner.getOperandTypes())
      if (!type.isIntOrIndexOrFloat())
        return false;
  }
  return true;
}

/// Bits of the widest number that the body computes or stores.
static int64_t widestBits(linalg::LinalgOp op) {
  int64_t bits = 8;
  auto see = [&](Type type) {
    type = getElementTypeOrSelf(type);
    if (type.isIntOrFloat() && !type.isInteger(1))
      bits = std::max<int64_t>(bits, type.getIntOrFloatBitWidth());
  };
  for (Value init : op.getDpsInits())
    see(init.getType());
  for (Operation &inner : *op.getBlock())
    for (Type type : inner.getResultTypes())
      see(type);
  return bits;
}

static Type elementType(OpOperand &operand) {
  return getElementTypeOrSelf(operand.get().getType());
}

/// Chooses the loop that vectors lie along: first a parallel one that no input
/// is strided in, then such a reduction loop, then any parallel one.
static void chooseLane(linalg::LinalgOp op, NestPlan &plan, bool strictFP) {
  if (!hasVectorBody(op))
    return;
  bool reducible = op.getNumReductionLoops() > 0;
  for (unsigned i = 0, e = op.getNumDpsInits(); i < e && reducible; ++i) {
    Operation *combiner = getCombiner(op, i);
    reducible = combiner && linalg::getCombinerOpKind(combiner) &&
                arith::getNeutralElement(combiner) &&
                !(strictFP && isa<FloatType>(combiner->getResult(0).getType()));
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  int best = 0;
  for (unsigned loop = 0, e = op.getNumLoops(); loop < e; ++loop) {
    if (plan.extents[loop] == 1)
      continue;
    bool reduces = iterators[loop] == utils::IteratorType::reduction;
    if (reduces && !reducible)
      continue;
    bool valid = true, strided = false;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      LaneAccess access = classifyAccess(map, loop);
      if (access != LaneAccess::Invariant && !hasVectorStorage(elementType(operand)))
        valid = false;
      if (op.isDpsInit(&operand))
        valid &= access == (reduces ? LaneAccess::Invariant
                                    : LaneAccess::Contiguous);
      else
        strided |= access == LaneAccess::Strided;
      if (op.isDpsInit(&operand) && !hasVectorStorage(elementType(operand)))
        valid = false;
    }
    if (!valid || (reduces && strided))
      continue;
    int score = reduces ? 2 : strided ? 1 : 3;
    if (score < best || (score == best && !reduces))
      continue;
    best = score;
    plan.lane = loop;
    plan.laneReduces = reduces;
  }
}

/// Whether each result element is written at its own place by every parallel
/// iteration, which the emitter relies on.
static bool hasPlainResults(linalg::LinalgOp op) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (!map.isProjectedPermutation())
      return false;
    for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
      if ((iterator == utils::IteratorType::parallel) !=
          map.isFunctionOfDim(loop))
        return false;
  }
  return true;
}

/// The largest divisor of `extent` in [low, high], or `fallback`.
static int64_t divisorIn(int64_t extent, int64_t low, int64_t high,
                         int64_t fallback) {
  for (int64_t size = high; size >= low; --size)
    if (extent % size == 0)
      return size;
  return fallback;
}

/// Whether `expr` grows by one with loop `lane`.
static bool hasUnitStep(AffineExpr expr, unsigned lane) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() == lane;
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return false;
  AffineExpr grows = sum.getLHS(), other = sum.getRHS();
  if (!grows.isFunctionOfDim(lane))
    std::swap(grows, other);
  return !other.isFunctionOfDim(lane) && hasUnitStep(grows, lane);
}

int64_t ansor::bodyWeight(linalg::LinalgOp op, const NestPlan &plan) {
  if (!plan.lane)
    return 1;
  for (OpOperand *input : op.getDpsInputOperands())
    for (auto [index, expr] : llvm::enumerate(
             op.getMatchingIndexingMap(input).getResults()))
      if (expr.isFunctionOfDim(*plan.lane) &&
          (index + 1 < op.getMatchingIndexingMap(input).getNumResults() ||
           !hasUnitStep(expr, *plan.lane)))
        return std::max<int64_t>(plan.lanes / 4, 1);
  return 1;
}

/// Chooses tile sizes for an op that no schedule has tiled down to registers.
static void chooseTiles(linalg::LinalgOp op, const TargetInfo &target,
                        NestPlan &plan) {
  unsigned numLoops = op.getNumLoops();
  plan.tile.assign(numLoops, 1);
  auto clamp = [&](unsigned loop, int64_t size) {
    int64_t extent = plan.extents[loop];
    return ShapedType::isDynamic(extent)
               ? size
               : std::min<int64_t>(size, std::max<int64_t>(extent, 1));
  };
  int64_t budget = std::max<int64_t>(target.vectorRegisters * 3 / 4, 4) /
                   op.getNumDpsInits();
  bool reduction = op.getNumReductionLoops() > 0;
  int64_t vectors = 1;
  if (plan.lane) {
    int64_t wide = plan.lanes * (ShapedType::isDynamic(plan.extents[*plan.lane])
                                     ? 1
                                     : 4);
    plan.tile[*plan.lane] = clamp(*plan.lane, wide);
    vectors = llvm::divideCeil(plan.tile[*plan.lane], plan.lanes);
  }
  if (!reduction)
    return;
  // A second parallel loop in registers: one that an input does not depend on,
  // so that what is loaded for it is used more than once.
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (int loop = numLoops - 1; loop >= 0; --loop) {
    if (iterators[loop] != utils::IteratorType::parallel ||
        (plan.lane && *plan.lane == static_cast<unsigned>(loop)) ||
        ShapedType::isDynamic(plan.extents[loop]) || plan.extents[loop] < 2)
      continue;
    bool reuse = llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
      AffineMap map = op.getMatchingIndexingMap(input);
      return map.getNumResults() > 0 && !map.isFunctionOfDim(loop);
    });
    if (!reuse)
      continue;
    int64_t high = std::max<int64_t>(budget / vectors, 1);
    plan.tile[loop] = clamp(
        loop, divisorIn(plan.extents[loop], (high + 1) / 2, high, high));
    vectors *= plan.tile[loop];
    break;
  }
  // Unroll the innermost reduction loop.
  for (int loop = numLoops - 1; loop >= 0; --loop) {
    if (iterators[loop] != utils::IteratorType::reduction ||
        (plan.lane && *plan.lane == static_cast<unsigned>(loop)))
      continue;
    if (vectors * kReductionUnroll <= kMaxBodies / 2)
      plan.tile[loop] = clamp(loop, kReductionUnroll);
    break;
  }
}

FailureOr<NestPlan> ansor::planNest(linalg::LinalgOp op,
                                    const TargetInfo &target, bool strictFP) {
  if (!op.hasPureTensorSemantics() && !op.hasPureBufferSemantics())
    return failure();
  if (!hasPlainResults(op) || op.getNumDpsInits() == 0)
    return failure();
  // linalg.index is replaced, so it has to be in the body itself.
  for (Operation &inner : *op.getBlock())
    for (Region &region : inner.getRegions())
      if (region.walk([](linalg::IndexOp) { return WalkResult::interrupt(); })
              .wasInterrupted())
        return failure();

  NestPlan plan;
  plan.extents = op.getStaticLoopRanges();
  chooseLane(op, plan, strictFP);
  if (plan.lane)
    plan.lanes = target.lanes(widestBits(op));
  if (plan.lanes == 1) {
    plan.lane.reset();
    plan.laneReduces = false;
  }

  plan.dot = matchDot(op, plan, target, strictFP);

  // Straight code for all of it, if it is small.
  bool isStatic = llvm::none_of(plan.extents, ShapedType::isDynamic);
  if (isStatic) {
    int64_t vectors = op.getNumDpsInits(), bodies = 1;
    auto iterators = op.getIteratorTypesArray();
    for (auto [loop, extent] : llvm::enumerate(plan.extents)) {
      int64_t size = plan.lane && *plan.lane == loop
                         ? llvm::divideCeil(extent, plan.lanes)
                         : extent;
      if (iterators[loop] == utils::IteratorType::parallel)
        vectors = llvm::SaturatingMultiply<uint64_t>(vectors, size);
      bodies = llvm::SaturatingMultiply<uint64_t>(bodies, size);
    }
    if (vectors <= kMaxRegisterFiles * target.vectorRegisters &&
        bodies <= kMaxBodies / bodyWeight(op, plan)) {
      plan.tile = plan.extents;
      return plan;
    }
  }
  chooseTiles(op, target, plan);
  return plan;
}

bool ansor::coversParallelLoops(linalg::LinalgOp op, const NestPlan &plan) {
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::parallel &&
        plan.tile[loop] != plan.extents[loop])
      return false;
  return true;
}
