//===- LowerPack.cpp - Code that packs --------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LowerPack.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Support/Structured.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {
class PanelLowering {
public:
  PanelLowering(RewriterBase &rewriter, linalg::PackOp pack)
      : b(rewriter), pack(pack), loc(pack.getLoc()),
        shape(pack.getSourceType().getShape()),
        cut(pack.getInnerDimsPos().front()),
        tile(pack.getStaticInnerTiles().front()),
        order(getOuterOrder(pack)) {
    panelDim = llvm::find(order, cut) - order.begin();
    numParallel = getNumParallelDims(pack);
  }

  Value lower() {
    int64_t full = shape[cut] / tile, rest = shape[cut] % tile;
    Value dest = pack.getDest();
    if (full > 0)
      dest = copyFullPanels(dest, full);
    if (rest == 0)
      return dest;
    SmallVector<OpFoldResult> last(panelDim, b.getIndexAttr(0));
    last.push_back(b.getIndexAttr(full));
    Value panel = getPanel(dest, last, /*whole=*/true, tile);
    Value filled =
        linalg::FillOp::create(b, loc, pack.getPaddingValue(), panel)
            .getResult(0);
    dest = insert<tensor::InsertSliceOp>(filled, dest, last, /*whole=*/true,
                                         tile);
    Value copied = copy(dest, last, /*whole=*/true, rest);
    return insert<tensor::InsertSliceOp>(copied, dest, last, /*whole=*/true,
                                         rest);
  }

private:
  struct Slice {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };

  /// The first `width` columns of a piece of a panel, whose place in the
  /// parallel dimensions is `place`; or of the panel in all of them if `whole`.
  Slice getSlice(ArrayRef<OpFoldResult> place, bool whole, int64_t width) {
    Slice slice;
    for (auto [i, dim] : llvm::enumerate(order)) {
      bool one = i == panelDim || (!whole && i < numParallel);
      slice.offsets.push_back(one ? place[i] : b.getIndexAttr(0));
      slice.sizes.push_back(b.getIndexAttr(one ? 1 : shape[dim]));
    }
    slice.offsets.push_back(b.getIndexAttr(0));
    slice.sizes.push_back(b.getIndexAttr(width));
    slice.strides.assign(slice.sizes.size(), b.getIndexAttr(1));
    return slice;
  }

  /// That slice, without the dimension of the panels.
  Value getPanel(Value dest, ArrayRef<OpFoldResult> place, bool whole,
                 int64_t width) {
    Slice slice = getSlice(place, whole, width);
    SmallVector<int64_t> kept;
    for (auto [i, size] : llvm::enumerate(slice.sizes))
      if (i != panelDim)
        kept.push_back(*getConstantIntValue(size));
    return tensor::ExtractSliceOp::create(
        b, loc, pack.getDestType().clone(kept), dest, slice.offsets,
        slice.sizes, slice.strides);
  }

  template <typename InsertOp>
  std::conditional_t<std::is_same_v<InsertOp, tensor::InsertSliceOp>, Value,
                     InsertOp>
  insert(Value panel, Value dest, ArrayRef<OpFoldResult> place, bool whole,
         int64_t width) {
    Slice slice = getSlice(place, whole, width);
    return InsertOp::create(b, loc, panel, dest, slice.offsets, slice.sizes,
                            slice.strides);
  }

  /// Copies what belongs to the first `width` columns of a panel.
  Value copy(Value dest, ArrayRef<OpFoldResult> place, bool whole,
             int64_t width) {
    unsigned rank = shape.size();
    Slice slice;
    slice.offsets.assign(rank, b.getIndexAttr(0));
    slice.sizes.assign(rank, OpFoldResult());
    slice.strides.assign(rank, b.getIndexAttr(1));
    SmallVector<AffineExpr> from(rank);
    unsigned loop = 0;
    for (auto [i, dim] : llvm::enumerate(order)) {
      if (i == panelDim) {
        slice.offsets[dim] = affine::makeComposedFoldedAffineApply(
            b, loc, b.getAffineDimExpr(0) * tile, place[i]);
        slice.sizes[dim] = b.getIndexAttr(width);
        from[dim] = b.getAffineDimExpr(rank - 1);
        continue;
      }
      bool one = !whole && i < numParallel;
      if (one)
        slice.offsets[dim] = place[i];
      slice.sizes[dim] = b.getIndexAttr(one ? 1 : shape[dim]);
      from[dim] = b.getAffineDimExpr(loop++);
    }
    Value source =
        tensor::ExtractSliceOp::create(b, loc, pack.getSource(), slice.offsets,
                                       slice.sizes, slice.strides);
    Value panel = getPanel(dest, place, whole, width);
    AffineMap maps[] = {AffineMap::get(rank, 0, from, b.getContext()),
                        b.getMultiDimIdentityMap(rank)};
    return linalg::GenericOp::create(
               b, loc, panel.getType(), source, panel, maps,
               SmallVector<utils::IteratorType>(rank,
                                                utils::IteratorType::parallel),
               [](OpBuilder &builder, Location at, ValueRange arguments) {
                 linalg::YieldOp::create(builder, at, arguments.front());
               })
        .getResult(0);
  }

  /// A loop over the parallel dimensions.
  Value copyFullPanels(Value dest, int64_t full) {
    SmallVector<OpFoldResult> bounds;
    for (unsigned i = 0; i < numParallel; ++i)
      bounds.push_back(b.getIndexAttr(i == panelDim ? full : shape[order[i]]));
    auto loop = scf::ForallOp::create(b, loc, bounds, dest, std::nullopt);
    loop->setAttr(kParallelAttr, b.getUnitAttr());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<OpFoldResult> place =
        getAsOpFoldResult(ValueRange(loop.getInductionVars()));
    Value out = loop.getRegionIterArgs().front();
    Value panel = copy(out, place, /*whole=*/false, tile);
    b.setInsertionPointToStart(loop.getTerminator().getBody());
    insert<tensor::ParallelInsertSliceOp>(panel, out, place, /*whole=*/false,
                                          tile);
    return loop.getResult(0);
  }

  RewriterBase &b;
  linalg::PackOp pack;
  Location loc;
  ArrayRef<int64_t> shape;
  int64_t cut, tile; ///< the dimension that panels cut, and their width
  SmallVector<int64_t> order; ///< outer dimensions of the packed tensor
  unsigned panelDim = 0;      ///< place of `cut` in `order`
  unsigned numParallel = 0;   ///< outer dimensions that the copies' loop is over
};
} // namespace

LogicalResult ansor::lowerPanels(RewriterBase &rewriter, linalg::PackOp pack) {
  if (pack.getInnerDimsPos().size() != 1 ||
      ShapedType::isDynamic(pack.getStaticInnerTiles().front()) ||
      !pack.getSourceType().hasStaticShape() ||
      !pack.getDestType().hasStaticShape())
    return failure();
  // Without a padding value the tile divides, and extents are as derived.
  int64_t cut = pack.getInnerDimsPos().front();
  int64_t extent = pack.getSourceType().getDimSize(cut);
  if (extent % pack.getStaticInnerTiles().front() && !pack.getPaddingValue())
    return failure();
  if (pack.getDestType() !=
      linalg::PackOp::inferPackedType(pack.getSourceType(),
                                      pack.getStaticInnerTiles(),
                                      pack.getInnerDimsPos(),
                                      pack.getOuterDimsPerm()))
    return failure();
  // Which dimension of one element a slice of the last panel drops would not be
  // clear.
  bool rest = extent % pack.getStaticInnerTiles().front();
  for (int64_t dim : getOuterOrder(pack)) {
    if (dim == cut)
      break;
    if (rest && pack.getSourceType().getDimSize(dim) == 1)
      return failure();
  }
  rewriter.replaceOp(pack, PanelLowering(rewriter, pack).lower());
  return success();
}
