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

/// Coefficients of a linear `expr`, the constant last; empty if it is not.
static SmallVector<int64_t> flatten(AffineMap map, AffineExpr expr) {
  SmallVector<int64_t> flat;
  if (failed(getFlattenedAffineExpr(expr, map.getNumDims(),
                                    map.getNumSymbols(), &flat)) ||
      flat.size() != map.getNumInputs() + 1)
    flat.clear();
  return flat;
}

/// Steps of more elements than that are loaded one by one.
static constexpr int64_t kMaxInterleave = 4;

LaneAccess ansor::classifyAccess(AffineMap map, unsigned loop) {
  LaneAccess access = LaneAccess::Invariant;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(loop))
      continue;
    if (i + 1 != map.getNumResults() || access != LaneAccess::Invariant)
      return LaneAccess::Strided;
    SmallVector<int64_t> flat = flatten(map, expr);
    if (flat.empty() || flat[loop] < 1 || flat[loop] > kMaxInterleave)
      return LaneAccess::Strided;
    access = flat[loop] == 1 ? LaneAccess::Contiguous : LaneAccess::Interleaved;
  }
  return access;
}

int64_t ansor::interleavedStep(AffineMap map, unsigned loop) {
  return flatten(map, map.getResults().back())[loop];
}

std::optional<unsigned> ansor::findBlockLoop(AffineMap map, unsigned lane,
                                             ArrayRef<int64_t> tile) {
  std::optional<unsigned> best;
  if (map.getNumResults() < 2)
    return best;
  SmallVector<int64_t> flat = flatten(map, map.getResults().back());
  if (flat.empty() || flat[lane] != 0)
    return best;
  for (unsigned loop = 0; loop < map.getNumDims(); ++loop) {
    bool only = llvm::none_of(map.getResults().drop_back(), [&](AffineExpr e) {
      return e.isFunctionOfDim(loop);
    });
    if (flat[loop] == 1 && only && tile[loop] >= 2 &&
        (!best || tile[loop] > tile[*best]))
      best = loop;
  }
  return best;
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

/// What one access costs, in multiply-adds of full vectors.
static constexpr double kBroadcastCost = .1, kVectorCost = .25,
                        kInterleavedCost = 2, kBlockCost = 5, kElementCost = 2,
                        kReductionCost = 10;
/// What stands for an unknown extent.
static constexpr int64_t kTypicalExtent = 64;
/// Bodies that use one loaded value, at most: more need more registers.
static constexpr double kMaxReuse = 16;

/// Estimates what `op` costs with vectors of `lanes` elements along `lane`.
static double estimateCost(linalg::LinalgOp op, ArrayRef<int64_t> extents,
                           unsigned lane, bool reduces, int64_t lanes,
                           bool masks) {
  SmallVector<int64_t> sizes(extents);
  for (int64_t &size : sizes)
    if (ShapedType::isDynamic(size))
      size = kTypicalExtent;
  int64_t rest = llvm::popcount<uint64_t>(sizes[lane] % lanes);
  double chunks = sizes[lane] / lanes + (masks ? std::min<int64_t>(rest, 1) : rest);
  auto count = [&](AffineMap map) {
    double product = 1;
    for (auto [loop, size] : llvm::enumerate(sizes))
      if (map.isFunctionOfDim(loop))
        product *= loop == lane ? chunks : size;
    return product;
  };
  double bodies = chunks;
  for (auto [loop, size] : llvm::enumerate(sizes))
    if (loop != lane)
      bodies *= size;
  double cost = bodies;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    double each = kElementCost * lanes;
    switch (classifyAccess(map, lane)) {
    case LaneAccess::Invariant:
      each = kBroadcastCost;
      break;
    case LaneAccess::Contiguous:
      each = kVectorCost;
      break;
    case LaneAccess::Interleaved:
      each = kInterleavedCost;
      break;
    case LaneAccess::Strided:
      if (findBlockLoop(map, lane, sizes))
        each = kBlockCost;
      break;
    }
    if (op.isDpsInit(&operand))
      cost += count(map) * (reduces ? kReductionCost : each);
    else
      cost += std::max(count(map), bodies / kMaxReuse) * each;
  }
  return cost;
}

/// Whether part of a vector of `op` may be loaded, computed and stored without
/// cost: what is computed of the other lanes is dropped, so nothing may trap.
static bool allowsMasks(linalg::LinalgOp op, const TargetInfo &target) {
  if (!hasFeature(target, "avx512vl"))
    return false;
  for (Value operand : op->getOperands()) {
    Type type = getElementTypeOrSelf(operand.getType());
    if (isa<ShapedType>(operand.getType()) &&
        !(type.isIntOrFloat() && llvm::is_contained({32u, 64u},
                                     type.getIntOrFloatBitWidth())))
      return false;
  }
  return llvm::all_of(op.getBlock()->without_terminator(), [](Operation &inner) {
    return isSpeculatable(&inner);
  });
}

/// Whether each operand lies side by side along `lane`, or doesn't depend on it.
static bool hasPlainRows(linalg::LinalgOp op, unsigned lane) {
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    LaneAccess access =
        classifyAccess(op.getMatchingIndexingMap(&operand), lane);
    return access == LaneAccess::Invariant || access == LaneAccess::Contiguous;
  });
}

/// Chooses the loop that vectors lie along: the one that is estimated to cost
/// least; then first a parallel one that no input is strided in, then such a
/// reduction loop, then any parallel one. Results may be strided along it if
/// `transposed`, and be stored block by block.
static void chooseLane(linalg::LinalgOp op, NestPlan &plan, int64_t lanes,
                       bool transposed, bool masks, bool strictFP) {
  plan.lane.reset();
  plan.laneReduces = false;
  plan.masks = false;
  if (!hasVectorBody(op) || lanes == 1)
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
  double least = 0;
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
      if (op.isDpsInit(&operand) && !hasVectorStorage(elementType(operand)))
        valid = false;
      if (!op.isDpsInit(&operand)) {
        strided |= access != LaneAccess::Invariant &&
                   access != LaneAccess::Contiguous;
        continue;
      }
      bool block = transposed && !reduces && access == LaneAccess::Strided &&
                   findBlockLoop(map, loop, plan.extents);
      strided |= block;
      valid &= block || access == (reduces ? LaneAccess::Invariant
                                           : LaneAccess::Contiguous);
    }
    if (!valid || (reduces && strided))
      continue;
    int score = reduces ? 2 : strided ? 1 : 3;
    bool masked = masks && !reduces && hasPlainRows(op, loop);
    double cost = estimateCost(op, plan.extents, loop, reduces, lanes, masked);
    if (best && (cost > least ||
                 (cost == least &&
                  (score < best || (score == best && !reduces)))))
      continue;
    best = score;
    least = cost;
    plan.lane = loop;
    plan.laneReduces = reduces;
    plan.masks = masked;
  }
}

/// Whether the lane of `plan` is strided in a result.
static bool hasTransposedResult(linalg::LinalgOp op, const NestPlan &plan) {
  return plan.lane && !plan.laneReduces &&
         llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
           return classifyAccess(op.getMatchingIndexingMap(&init),
                                 *plan.lane) != LaneAccess::Contiguous;
         });
}

/// The loops along which inputs are loaded in blocks.
static SmallVector<unsigned> getBlockLoops(linalg::LinalgOp op,
                                           const NestPlan &plan) {
  SmallVector<unsigned> loops;
  if (!plan.lane || plan.laneReduces)
    return loops;
  SmallVector<int64_t> sizes(plan.extents);
  for (int64_t &size : sizes)
    if (ShapedType::isDynamic(size))
      size = kTypicalExtent;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (classifyAccess(map, *plan.lane) == LaneAccess::Strided)
      if (auto loop = findBlockLoop(map, *plan.lane, sizes))
        loops.push_back(*loop);
  }
  return loops;
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

int64_t ansor::bodyWeight(linalg::LinalgOp op, const NestPlan &plan) {
  int64_t weight = 1;
  if (!plan.lane)
    return weight;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    LaneAccess access = classifyAccess(map, *plan.lane);
    if (access == LaneAccess::Interleaved)
      weight = std::max<int64_t>(weight, 2);
    if (access == LaneAccess::Strided)
      weight = std::max<int64_t>(
          weight, findBlockLoop(map, *plan.lane, plan.extents)
                      ? 2
                      : plan.lanes / 4);
  }
  return weight;
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
    SmallVector<unsigned> blocks = getBlockLoops(op, plan);
    if (!blocks.empty())
      wide = plan.lanes;
    for (unsigned loop : blocks)
      plan.tile[loop] = clamp(loop, plan.lanes);
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
    if (plan.tile[loop] > 1)
      break;
    if (vectors * kReductionUnroll <= kMaxBodies / 2)
      plan.tile[loop] = clamp(loop, kReductionUnroll);
    break;
  }
}

/// Few results need several accumulators each.
static void setLaneAccumulators(linalg::LinalgOp op, NestPlan &plan) {
  int64_t results = op.getNumDpsInits();
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::parallel)
      results *= plan.tile[loop];
  plan.laneAccumulators = results >= 8 ? 1 : results >= 4 ? 2 : 4;
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
  int64_t lanes = target.lanes(widestBits(op));
  bool masks = allowsMasks(op, target);
  chooseLane(op, plan, lanes, /*transposed=*/op.getNumReductionLoops() > 0,
             masks, strictFP);
  if (plan.lane)
    plan.lanes = lanes;

  if (!hasTransposedResult(op, plan))
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
    // Blocks are loaded whole: one or two of them at a time.
    int64_t most = kMaxBodies / bodyWeight(op, plan);
    if (op.getNumReductionLoops() == 0 && !getBlockLoops(op, plan).empty())
      most = 2 * plan.lanes;
    if (vectors <= kMaxRegisterFiles * target.vectorRegisters &&
        bodies <= most) {
      plan.tile = plan.extents;
      setLaneAccumulators(op, plan);
      return plan;
    }
  }
  if (hasTransposedResult(op, plan)) {
    plan.lanes = 1;
    chooseLane(op, plan, lanes, /*transposed=*/false, masks, strictFP);
    if (plan.lane)
      plan.lanes = lanes;
    plan.dot = matchDot(op, plan, target, strictFP);
  }
  chooseTiles(op, target, plan);
  setLaneAccumulators(op, plan);
  return plan;
}

bool ansor::coversParallelLoops(linalg::LinalgOp op, const NestPlan &plan) {
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::parallel &&
        plan.tile[loop] != plan.extents[loop])
      return false;
  return true;
}
