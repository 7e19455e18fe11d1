//===- PackOperand.cpp - Operands in panels ---------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works on ops that are tiled already: upstream tiling of an op that reads
// through `n floordiv 32, n mod 32` would need tiles that fit, greedy fusion
// would pull the packing into the tiles, and the op would keep such maps. Here
// only the last slice changes, and the op reads contiguous rows by plain maps.
//
//===----------------------------------------------------------------------===//
#include "ansor/Support/Structured.h"
#include "ansor/TransformOps/AnsorTransformOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {
/// Where a tile lies in the tensor that it is part of.
struct TilePlace {
  Value tensor;
  SmallVector<unsigned> dims; ///< the tensor's, by dimension of the tile
  /// By dimension of the tile: the sum of these is the offset.
  SmallVector<SmallVector<OpFoldResult>> offsets;
};

/// How the panels lie in the packed tensor.
struct PanelLayout {
  unsigned dim = 0; ///< of the tile: what panels cut
  SmallVector<unsigned> outer; ///< dimensions of the tile, the panels' among them
};
} // namespace

/// True if `index` is a multiple of `factor` in each iteration.
static bool isMultipleOf(OpFoldResult index, int64_t factor) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant % factor == 0;
  Value value = cast<Value>(index);
  if (auto apply = value.getDefiningOp<affine::AffineApplyOp>()) {
    // Operands that are multiples, written as such.
    AffineMap map = apply.getAffineMap();
    SmallVector<AffineExpr> dims, symbols;
    for (auto [i, operand] : llvm::enumerate(apply.getMapOperands())) {
      bool isDim = i < map.getNumDims();
      AffineExpr expr =
          isDim ? getAffineDimExpr(i, map.getContext())
                : getAffineSymbolExpr(i - map.getNumDims(), map.getContext());
      if (isMultipleOf(operand, factor))
        expr = expr * factor;
      (isDim ? dims : symbols).push_back(expr);
    }
    return map.getResult(0)
        .replaceDimsAndSymbols(dims, symbols)
        .isMultipleOf(factor);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<LoopLikeOpInterface>(
                             argument.getOwner()->getParentOp())
                       : LoopLikeOpInterface();
  auto ivs = loop ? loop.getLoopInductionVars() : std::nullopt;
  auto lowers = loop ? loop.getLoopLowerBounds() : std::nullopt;
  auto steps = loop ? loop.getLoopSteps() : std::nullopt;
  if (!ivs || !lowers || !steps)
    return false;
  for (auto [iv, lower, step] : llvm::zip_equal(*ivs, *lowers, *steps))
    if (iv == value)
      return isMultipleOf(lower, factor) && isMultipleOf(step, factor);
  return false;
}

/// The tensor that `tile` is cut from, behind slices and permutations of
/// dimensions.
static FailureOr<TilePlace> findTensor(Value tile, std::string &error) {
  TilePlace place;
  place.tensor = tile;
  unsigned rank = cast<RankedTensorType>(tile.getType()).getRank();
  for (unsigned dim = 0; dim < rank; ++dim)
    place.dims.push_back(dim);
  place.offsets.resize(rank);
  while (Operation *def = place.tensor.getDefiningOp()) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(def)) {
      if (slice.getSourceType().getRank() != slice.getType().getRank() ||
          !slice.hasUnitStride()) {
        error = "it is a slice with strides, or of fewer dimensions";
        return failure();
      }
      for (unsigned dim = 0; dim < rank; ++dim)
        place.offsets[dim].push_back(
            slice.getMixedOffsets()[place.dims[dim]]);
      place.tensor = slice.getSource();
      continue;
    }
    auto generic = dyn_cast<linalg::GenericOp>(def);
    std::optional<AffineMap> permutation =
        generic ? getPermutation(generic) : std::nullopt;
    if (!permutation)
      break;
    for (unsigned &dim : place.dims)
      for (unsigned from = 0; from < rank; ++from)
        if (permutation->getDimPosition(from) == dim) {
          dim = from;
          break;
        }
    place.tensor = generic.getInputs()[0];
  }
  return place;
}

/// The layout for an operand that `op` reads by `map`; nullopt if no dimension
/// alone follows `loop`.
static std::optional<PanelLayout> chooseLayout(linalg::LinalgOp op,
                                               AffineMap map, unsigned loop) {
  if (!map.isProjectedPermutation())
    return std::nullopt;
  PanelLayout layout;
  std::optional<unsigned> dim = map.getResultPosition(
      getAffineDimExpr(loop, map.getContext()));
  if (!dim)
    return std::nullopt;
  layout.dim = *dim;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  auto rank = [&](unsigned i) {
    unsigned of = map.getDimPosition(i);
    // The panels come first: a tile is a slice without this dimension, and of
    // several dimensions of one element upstream drops the first ones.
    int group = i == layout.dim                             ? 0
                : kinds[of] == utils::IteratorType::parallel ? 1
                                                             : 2;
    return std::make_pair(group, of);
  };
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    layout.outer.push_back(i);
  llvm::sort(layout.outer,
             [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
  return layout;
}

/// The block of the function that holds `tensor`; null if it is defined further
/// inside.
static Block *getOutermostBlock(Value tensor) {
  Block *block = tensor.getParentBlock();
  return isa_and_nonnull<FunctionOpInterface>(block->getParentOp()) ? block
                                                                    : nullptr;
}

/// The panels of `tensor`, in front of all that may read them.
static FailureOr<Value> getPanels(RewriterBase &rewriter, Location loc,
                                  Value tensor, int64_t dim,
                                  ArrayRef<int64_t> outer, int64_t tile,
                                  std::string &error) {
  Block *block = getOutermostBlock(tensor);
  if (!block) {
    error = "its tensor is computed inside of loops";
    return failure();
  }
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.hasStaticShape()) {
    error = "its tensor has dynamic extents";
    return failure();
  }
  if (type.getDimSize(dim) < tile) {
    error = "a panel is wider than its tensor";
    return failure();
  }
  Operation *def = tensor.getDefiningOp();
  Operation *next = def ? def->getNextNode() : &block->front();
  // Earlier ones of this op follow the tensor's definition.
  for (; isa_and_nonnull<tensor::EmptyOp, arith::ConstantOp, linalg::PackOp>(
           next);
       next = next->getNextNode()) {
    auto pack = dyn_cast<linalg::PackOp>(next);
    if (pack && pack.getSource() == tensor &&
        pack.getInnerDimsPos() == ArrayRef<int64_t>(dim) &&
        pack.getStaticInnerTiles() == ArrayRef<int64_t>(tile) &&
        pack.getOuterDimsPerm() == outer)
      return pack.getResult();
  }
  OpBuilder::InsertionGuard guard(rewriter);
  if (next)
    rewriter.setInsertionPoint(next);
  else
    rewriter.setInsertionPointToEnd(block);
  std::optional<Value> padding;
  if (type.getDimSize(dim) % tile) {
    TypedAttr zero = rewriter.getZeroAttr(type.getElementType());
    if (!zero) {
      error = "its elements have no zero to pad with";
      return failure();
    }
    padding = arith::ConstantOp::create(rewriter, loc, zero);
  }
  SmallVector<OpFoldResult> tiles = {rewriter.getIndexAttr(tile)};
  Value dest = linalg::PackOp::createDestinationTensor(rewriter, loc, tensor,
                                                       tiles, dim, outer);
  return linalg::PackOp::create(rewriter, loc, tensor, dest, dim, tiles,
                                padding, outer)
      .getResult();
}

/// Erases what has no users any more: `value` and what only it needs.
static void eraseUnused(RewriterBase &rewriter, Value value) {
  SmallVector<Value> values{value};
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (!op || !isOpTriviallyDead(op))
      continue;
    llvm::append_range(values, op->getOperands());
    rewriter.eraseOp(op);
  }
}

LogicalResult ansor::packOperand(RewriterBase &rewriter, linalg::LinalgOp op,
                                 int64_t operand, int64_t loop, int64_t tile,
                                 std::string &error) {
  if (!op.hasPureTensorSemantics() || operand >= op.getNumDpsInputs()) {
    error = "it is no input of an op on tensors";
    return failure();
  }
  if (tile < 1 || loop >= op.getNumLoops()) {
    error = loop >= op.getNumLoops() ? "the op has no such loop"
                                     : "a panel has at least one element";
    return failure();
  }
  OpOperand &use = *op.getDpsInputOperand(operand);
  AffineMap map = op.getMatchingIndexingMap(&use);
  auto type = dyn_cast<RankedTensorType>(use.get().getType());
  std::optional<PanelLayout> layout =
      type ? chooseLayout(op, map, loop) : std::nullopt;
  if (!layout) {
    error = "the op doesn't read it element by element along the loop";
    return failure();
  }
  if (!type.hasStaticShape() || type.getDimSize(layout->dim) > tile) {
    error = "its tile isn't known to be as narrow as a panel";
    return failure();
  }
  FailureOr<TilePlace> place = findTensor(use.get(), error);
  if (failed(place))
    return failure();
  if (!llvm::all_of(place->offsets[layout->dim], [&](OpFoldResult offset) {
        return isMultipleOf(offset, tile);
      })) {
    error = "its tile isn't known to start with a panel";
    return failure();
  }
  // The new map, and the op that may have it.
  SmallVector<AffineExpr> results;
  for (unsigned dim : layout->outer)
    if (dim != layout->dim)
      results.push_back(map.getResult(dim));
  results.push_back(map.getResult(layout->dim));
  AffineMap newMap =
      AffineMap::get(map.getNumDims(), 0, results, map.getContext());
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (newMap != map && !generic) {
    error = "a named op can't read it in another order";
    return failure();
  }

  SmallVector<int64_t> outer;
  for (unsigned dim : layout->outer)
    outer.push_back(place->dims[dim]);
  Location loc = op.getLoc();
  FailureOr<Value> panels =
      getPanels(rewriter, loc, place->tensor, place->dims[layout->dim], outer,
                tile, error);
  if (failed(panels))
    return failure();

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> offsets, sizes;
  SmallVector<int64_t> shape;
  for (unsigned dim : layout->outer) {
    bool cut = dim == layout->dim;
    AffineExpr sum = rewriter.getAffineConstantExpr(0);
    // Quotients one by one, as each is exact: most of them don't change in the
    // inner loops.
    for (auto [i, offset] : llvm::enumerate(place->offsets[dim])) {
      AffineExpr term = rewriter.getAffineDimExpr(i);
      sum = sum + (cut ? term.floorDiv(tile) : term);
    }
    offsets.push_back(affine::makeComposedFoldedAffineApply(
        rewriter, loc,
        AffineMap::get(place->offsets[dim].size(), 0, sum),
        place->offsets[dim]));
    sizes.push_back(rewriter.getIndexAttr(cut ? 1 : type.getDimSize(dim)));
    if (!cut)
      shape.push_back(type.getDimSize(dim));
  }
  shape.push_back(type.getDimSize(layout->dim));
  offsets.push_back(rewriter.getIndexAttr(0));
  sizes.push_back(rewriter.getIndexAttr(shape.back()));
  SmallVector<OpFoldResult> strides(sizes.size(), rewriter.getIndexAttr(1));
  Value slice = tensor::ExtractSliceOp::create(
      rewriter, loc, type.clone(shape), *panels, offsets, sizes, strides);
  Value old = use.get();
  rewriter.modifyOpInPlace(op, [&] {
    use.set(slice);
    if (newMap == map)
      return;
    SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
    maps[use.getOperandNumber()] = newMap;
    generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
  eraseUnused(rewriter, old);
  return success();
}

DiagnosedSilenceableFailure
transform::PackOperandOp::apply(transform::TransformRewriter &rewriter,
                                transform::TransformResults &results,
                                transform::TransformState &state) {
  ArrayRef<Attribute> tiles = state.getParams(getTile());
  auto tile = tiles.size() == 1 ? dyn_cast<IntegerAttr>(tiles.front())
                                : IntegerAttr();
  if (!tile)
    return emitDefiniteFailure() << "expects one integer for the tile";
  for (Operation *target : state.getPayloadOps(getTarget())) {
    auto op = dyn_cast<linalg::LinalgOp>(target);
    std::string error = "it isn't a linalg op";
    if (op && succeeded(ansor::packOperand(rewriter, op, getOperand(), getLoop(),
                                           tile.getInt(), error)))
      continue;
    auto diag = emitSilenceableError()
                << "can't pack operand " << getOperand() << " in panels of "
                << tile.getInt() << " along loop " << getLoop() << ": " << error;
    diag.attachNote(target->getLoc()) << "of this op";
    return diag;
  }
  return DiagnosedSilenceableFailure::success();
}

void transform::PackOperandOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::onlyReadsHandle(getTileMutable(), effects);
  transform::modifiesPayload(effects);
}
