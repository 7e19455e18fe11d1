//===- SplitInitialValues.cpp - Fills of split ops --------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/TransformOps/AnsorTransformOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

/// The box that a slice of unit strides covers; nullopt if it isn't constant,
/// or the slice drops dimensions.
template <typename SliceOp>
static std::optional<SmallVector<std::pair<int64_t, int64_t>>>
getBox(SliceOp slice, RankedTensorType tensor, RankedTensorType part) {
  if (tensor.getRank() != part.getRank())
    return std::nullopt;
  SmallVector<std::pair<int64_t, int64_t>> box;
  for (auto [offset, size, stride] :
       llvm::zip_equal(slice.getStaticOffsets(), slice.getStaticSizes(),
                       slice.getStaticStrides())) {
    if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(size) ||
        stride != 1)
      return std::nullopt;
    box.emplace_back(offset, offset + size);
  }
  return box;
}

static bool areDisjoint(ArrayRef<std::pair<int64_t, int64_t>> a,
                        ArrayRef<std::pair<int64_t, int64_t>> b) {
  return llvm::any_of(llvm::zip_equal(a, b), [](auto pair) {
    auto [first, second] = pair;
    return first.second <= second.first || second.second <= first.first;
  });
}

/// True if nobody reads the elements of `slice`: fills overwrite them, or those
/// of slices of it that are read at all.
static bool isOverwritten(tensor::ExtractSliceOp slice) {
  return llvm::all_of(slice->getUses(), [](OpOperand &use) {
    if (auto inner = dyn_cast<tensor::ExtractSliceOp>(use.getOwner()))
      return isOverwritten(inner);
    auto fill = dyn_cast<linalg::FillOp>(use.getOwner());
    return fill && fill.isDpsInit(&use);
  });
}

namespace {
/// extract(insert(part, fill(t))) of other elements, or extract(fill(t)) ->
/// fill(extract(…)). Insertions stay in between: bufferization then sees that
/// all parts write to one tensor in turn.
struct SliceOfFill : public OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp extract,
                                PatternRewriter &rewriter) const override {
    auto read = getBox(extract, extract.getSourceType(), extract.getType());
    if (!read)
      return failure();
    if (isOverwritten(extract)) {
      auto fill = extract.getSource().getDefiningOp<linalg::FillOp>();
      if (!fill || extract->use_empty())
        return failure();
      rewriter.modifyOpInPlace(extract, [&] {
        extract.getSourceMutable().assign(fill.getOutputs()[0]);
      });
      return success();
    }
    Value source = extract.getSource();
    while (auto insert = source.getDefiningOp<tensor::InsertSliceOp>()) {
      auto written =
          getBox(insert, insert.getDestType(), insert.getSourceType());
      if (!written || !areDisjoint(*read, *written))
        return failure();
      source = insert.getDest();
    }
    auto fill = source.getDefiningOp<linalg::FillOp>();
    if (!fill)
      return failure();
    if (source == extract.getSource())
      source = fill.getOutputs()[0];
    else
      source = extract.getSource();
    Value slice = tensor::ExtractSliceOp::create(
        rewriter, extract.getLoc(), extract.getType(), source,
        extract.getMixedOffsets(), extract.getMixedSizes(),
        extract.getMixedStrides());
    auto part = linalg::FillOp::create(rewriter, fill.getLoc(),
                                       fill.getInputs(), slice);
    part->setDiscardableAttrs(fill->getDiscardableAttrDictionary());
    rewriter.replaceOp(extract, part.getResults());
    return success();
  }
};

/// insert(a, insert(b, fill(t))) -> insert(a, insert(b, t)) if a and b are all
/// of it.
struct CoveredFill : public OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::InsertSliceOp first,
                                PatternRewriter &rewriter) const override {
    auto fill = first.getDest().getDefiningOp<linalg::FillOp>();
    if (!fill || !first.getDestType().hasStaticShape())
      return failure();
    int64_t missing = first.getDestType().getNumElements();
    SmallVector<SmallVector<std::pair<int64_t, int64_t>>> boxes;
    for (tensor::InsertSliceOp insert = first; insert;) {
      auto box = getBox(insert, insert.getDestType(), insert.getSourceType());
      if (!box || !llvm::all_of(boxes, [&](auto &other) {
            return areDisjoint(*box, other);
          }))
        return failure();
      int64_t elements = 1;
      for (auto [begin, end] : *box)
        elements *= end - begin;
      missing -= elements;
      boxes.push_back(std::move(*box));
      if (missing == 0)
        break;
      // Nobody else may read what is not covered yet.
      tensor::InsertSliceOp next;
      for (OpOperand &use : insert->getUses()) {
        auto slice = dyn_cast<tensor::ExtractSliceOp>(use.getOwner());
        if (slice && isOverwritten(slice))
          continue;
        auto user = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
        if (!user || next || user.getSource() == insert.getResult())
          return failure();
        next = user;
      }
      insert = next;
    }
    if (missing != 0)
      return failure();
    rewriter.modifyOpInPlace(first, [&] {
      first.getDestMutable().assign(fill.getOutputs()[0]);
    });
    return success();
  }
};
} // namespace

void mlir::ansor::populateSplitInitialValuesPatterns(
    RewritePatternSet &patterns) {
  patterns.add<SliceOfFill, CoveredFill>(
      patterns.getContext());
}
