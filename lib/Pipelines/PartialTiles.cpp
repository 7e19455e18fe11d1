//===- PartialTiles.cpp - See Passes.td -------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/Pipelines/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_PARTIALTILESPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

/// Code of one block that is made twice, at most.
static constexpr int64_t kMaxOps = 400;

/// Levels of tiles.
static constexpr unsigned kMaxRounds = 4;

namespace {
/// The two values of the size of a tile.
struct TileSizes {
  int64_t full, rest;
};
} // namespace

/// Constant bounds and step of the loop dimension that `iv` counts.
static std::optional<std::array<int64_t, 3>> getBounds(Value iv) {
  auto arg = dyn_cast<BlockArgument>(iv);
  if (!arg)
    return std::nullopt;
  auto loop = dyn_cast_or_null<LoopLikeOpInterface>(arg.getOwner()->getParentOp());
  if (!loop)
    return std::nullopt;
  auto ivs = loop.getLoopInductionVars();
  auto lowers = loop.getLoopLowerBounds(), uppers = loop.getLoopUpperBounds(),
       steps = loop.getLoopSteps();
  if (!ivs || !lowers || !uppers || !steps)
    return std::nullopt;
  for (auto [i, candidate] : llvm::enumerate(*ivs)) {
    if (candidate != iv)
      continue;
    std::optional<int64_t> lower = getConstantIntValue((*lowers)[i]),
                           upper = getConstantIntValue((*uppers)[i]),
                           step = getConstantIntValue((*steps)[i]);
    if (lower && upper && step)
      return std::array<int64_t, 3>{*lower, *upper, *step};
  }
  return std::nullopt;
}

/// Whether `map`, a minimum of two, is one of a constant and of a linear function
/// of operand `position`, the others being constants. Then it is constant between
/// two places where it is the same; that of other functions may have a hill or
/// a valley there.
static bool isMonotone(AffineMap map, unsigned position) {
  bool hasConstant = false;
  for (AffineExpr expr : map.getResults()) {
    SmallVector<int64_t> flat;
    // A quotient or remainder has a coefficient of its own.
    if (failed(getFlattenedAffineExpr(expr, map.getNumDims(),
                                      map.getNumSymbols(), &flat)) ||
        flat.size() != map.getNumInputs() + 1)
      return false;
    hasConstant |= flat[position] == 0;
  }
  return hasConstant;
}

/// The sizes that `op` can give: min(tile, upper - iv) has two.
static std::optional<TileSizes> getTileSizes(affine::AffineMinOp op) {
  AffineMap map = op.getMap();
  if (map.getNumResults() != 2)
    return std::nullopt;
  // One induction variable, and constants.
  SmallVector<int64_t> operands;
  unsigned position = 0;
  std::optional<std::array<int64_t, 3>> bounds;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    std::optional<int64_t> constant = getConstantIntValue(operand);
    operands.push_back(constant.value_or(0));
    if (constant)
      continue;
    if (bounds || !(bounds = getBounds(operand)))
      return std::nullopt;
    position = i;
  }
  if (!bounds || !isMonotone(map, position))
    return std::nullopt;
  auto [lower, upper, step] = *bounds;
  if (step <= 0 || upper <= lower)
    return std::nullopt;
  auto sizeAt = [&](int64_t iv) {
    operands[position] = iv;
    SmallVector<int64_t> values(map.getNumResults());
    Builder builder(op.getContext());
    SmallVector<Attribute> constants, results;
    for (int64_t operand : operands)
      constants.push_back(builder.getIndexAttr(operand));
    if (failed(map.constantFold(constants, results)))
      return int64_t(-1);
    for (auto [value, result] : llvm::zip_equal(values, results))
      value = cast<IntegerAttr>(result).getInt();
    return std::min(values[0], values[1]);
  };
  int64_t last = lower + (upper - lower - 1) / step * step;
  int64_t full = sizeAt(lower), rest = sizeAt(last);
  if (full < 0 || rest < 0)
    return std::nullopt;
  // All tiles but the last are alike, if the first and the one before it are.
  if (last > lower && sizeAt(last - step) != full)
    return std::nullopt;
  return TileSizes{full, rest};
}

/// The loop whose induction variable decides `op`.
static Operation *getDecidingLoop(affine::AffineMinOp op) {
  for (Value operand : op->getOperands())
    if (auto arg = dyn_cast<BlockArgument>(operand))
      return arg.getOwner()->getParentOp();
  return nullptr;
}

/// Takes the last iteration out of the sequential loop that decides `op`. Unlike
/// branches in the loop this leaves the body as it is, so that accumulators can
/// stay in registers for the rest of its iterations.
static bool peel(affine::AffineMinOp op) {
  auto loop = dyn_cast_or_null<scf::ForOp>(getDecidingLoop(op));
  if (!loop || loop.getNumResults())
    return false;
  auto [lower, upper, step] = *getBounds(loop.getInductionVar());
  int64_t last = lower + (upper - lower - 1) / step * step, count = 0;
  loop.walk([&](Operation *) { ++count; });
  if (last == lower || count > kMaxOps)
    return false;
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  loop.getUpperBoundMutable().assign(
      arith::ConstantIndexOp::create(b, loc, last));
  b.setInsertionPointAfter(loop);
  IRMapping mapping;
  mapping.map(loop.getInductionVar(),
              arith::ConstantIndexOp::create(b, loc, last).getResult());
  SmallVector<Operation *> copies;
  for (Operation &inner : loop.getBody()->without_terminator())
    copies.push_back(b.clone(inner, mapping));
  // What only the position decided is known in the copy.
  auto fold = [](affine::AffineMinOp min) {
    SmallVector<Attribute> operands, results;
    for (Value operand : min->getOperands()) {
      std::optional<int64_t> value = getConstantIntValue(operand);
      if (!value)
        return;
      operands.push_back(Builder(min.getContext()).getIndexAttr(*value));
    }
    if (failed(min.getMap().constantFold(operands, results)))
      return;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (Attribute result : results)
      least = std::min(least, cast<IntegerAttr>(result).getInt());
    OpBuilder b(min);
    min.replaceAllUsesWith(
        arith::ConstantIndexOp::create(b, min.getLoc(), least).getResult());
    min.erase();
  };
  for (Operation *copy : copies) {
    if (auto min = dyn_cast<affine::AffineMinOp>(copy)) {
      fold(min);
      continue;
    }
    SmallVector<affine::AffineMinOp> mins;
    copy->walk([&](affine::AffineMinOp min) { mins.push_back(min); });
    for (affine::AffineMinOp min : mins)
      fold(min);
  }
  return true;
}

/// Replaces the size by its values: what follows it in its block becomes two
/// branches.
static bool specialize(affine::AffineMinOp op) {
  std::optional<TileSizes> sizes = getTileSizes(op);
  if (!sizes)
    return false;
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto replaceBy = [&](int64_t size) {
    Value value = arith::ConstantIndexOp::create(b, loc, size);
    op.replaceAllUsesWith(value);
    op.erase();
  };
  if (sizes->full == sizes->rest) {
    replaceBy(sizes->full);
    return true;
  }
  if (peel(op)) {
    replaceBy(sizes->full);
    return true;
  }
  Block *block = op->getBlock();
  Operation *end = block->getTerminator();
  int64_t count = 0;
  for (Operation *other = op->getNextNode(); other != end;
       other = other->getNextNode())
    other->walk([&](Operation *) { ++count; });
  if (end->getNumOperands() || count > kMaxOps)
    return false;

  b.setInsertionPointAfter(op);
  Operation *first = op->getNextNode();
  Value full = arith::ConstantIndexOp::create(b, loc, sizes->full);
  Value isFull = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                       op.getResult(), full);
  auto branch = scf::IfOp::create(b, loc, isFull, /*withElseRegion=*/true);
  Block *thenBlock = branch.thenBlock(), *elseBlock = branch.elseBlock();
  elseBlock->getOperations().splice(elseBlock->begin(), block->getOperations(),
                                    Block::iterator(first),
                                    Block::iterator(end));
  b.setInsertionPointToStart(thenBlock);
  IRMapping mapping;
  mapping.map(op.getResult(),
              arith::ConstantIndexOp::create(b, loc, sizes->full).getResult());
  for (Operation &other : elseBlock->without_terminator())
    b.clone(other, mapping);
  b.setInsertionPointToStart(elseBlock);
  Value rest = arith::ConstantIndexOp::create(b, loc, sizes->rest);
  op.getResult().replaceUsesWithIf(rest, [&](OpOperand &use) {
    return branch.getElseRegion().isAncestor(use.getOwner()->getParentRegion());
  });
  return true;
}

namespace {
struct PartialTilesPass
    : public ansor::impl::PartialTilesPassBase<PartialTilesPass> {
  void runOnOperation() override {
    // The tiles of an outer level decide the bounds of the inner ones, hence
    // several rounds. Within one, the last of a block comes first: its branches
    // are then copied by the others.
    bool changed = true;
    for (unsigned round = 0; changed && round < kMaxRounds; ++round) {
      changed = false;
      SmallVector<affine::AffineMinOp> mins;
      getOperation()->walk([&](affine::AffineMinOp op) {
        // One that only a comparison uses has been dealt with.
        bool used = llvm::any_of(op->getUsers(), [](Operation *user) {
          return !isa<arith::CmpIOp>(user);
        });
        if (used && getTileSizes(op))
          mins.push_back(op);
      });
      // Outer ones copy inner ones, so one level at a time.
      SmallVector<affine::AffineMinOp> level;
      for (affine::AffineMinOp op : mins)
        if (llvm::none_of(mins, [&](affine::AffineMinOp other) {
              return other->getBlock() != op->getBlock() &&
                     other->getParentOp()->isProperAncestor(op);
            }))
          level.push_back(op);
      for (affine::AffineMinOp op : llvm::reverse(level))
        changed |= specialize(op);
    }
  }
};
} // namespace
