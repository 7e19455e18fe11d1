//===- Layouts.cpp - Operands that vectors do not lie along -----*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction that uses an operand again and again wants it contiguous along
// the loop that its vectors lie along. Where it is contiguous along a reduction
// instead (the second factor of A * B^T, the filter of a convolution whose
// images come channel by channel), the transposition becomes a stage of its
// own: a schedule then chooses whether and where it is done, or reads the
// operand as it is.
//
//===----------------------------------------------------------------------===//

#include "TaskInternal.h"

using namespace mlir;
using namespace mlir::ansor;
using namespace mlir::ansor::detail;

/// Rows that are no multiple of this, or shorter than kLongRow, may be worse
/// for vectors than another loop.
static constexpr int64_t kRowMultiple = 16;
static constexpr int64_t kLongRow = 64;
/// A loop that vectors may lie along instead.
static constexpr int64_t kMinExtent = 16;
/// Uses of each element that pay for moving it.
static constexpr int64_t kMinUses = 16;

/// The loop that the results are contiguous along, or nothing.
static std::optional<unsigned> getRowLoop(AffineMap write,
                                          ArrayRef<int64_t> extents) {
  for (AffineExpr expr : llvm::reverse(write.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return std::nullopt;
    if (extents[dim.getPosition()] > 1)
      return dim.getPosition();
  }
  return std::nullopt;
}

/// True if vectors along the rows of the results may be bad: rows that are
/// short and don't fill them, or inputs whose elements lie apart along them.
static bool hasAwkwardRows(linalg::GenericOp op, unsigned row, int64_t extent) {
  if (extent < kLongRow && extent % kRowMultiple)
    return true;
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    bool apart = false;
    if (map.getNumResults() > 0)
      map.getResults().back().walk([&](AffineExpr expr) {
        auto product = dyn_cast<AffineBinaryOpExpr>(expr);
        apart |= product && product.getKind() == AffineExprKind::Mul &&
                 product.isFunctionOfDim(row);
      });
    return apart;
  });
}

/// The result dimension of the map of `input` that should be the last, if it
/// isn't and that is worth it.
static std::optional<unsigned> findLaneDim(linalg::GenericOp op,
                                           OpOperand *input) {
  AffineMap map = op.getMatchingIndexingMap(input);
  auto type = dyn_cast<RankedTensorType>(input->get().getType());
  if (!type || type.getEncoding() || !isa<BlockArgument>(input->get()) ||
      !map.isProjectedPermutation() || map.getNumResults() < 2 ||
      op.getMatchingBlockArgument(input).use_empty())
    return std::nullopt;
  // Narrow numbers are summed in groups along the reduction.
  if (!type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() < 16)
    return std::nullopt;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  auto reduces = [&](unsigned loop) {
    return kinds[loop] == utils::IteratorType::reduction;
  };
  unsigned last = map.getDimPosition(map.getNumResults() - 1);
  int64_t uses = 1;
  for (unsigned loop = 0; loop < extents.size(); ++loop)
    if (!reduces(loop) && !map.isFunctionOfDim(loop))
      uses *= extents[loop];
  std::optional<unsigned> row =
      getRowLoop(op.getMatchingIndexingMap(op.getDpsInitOperand(0)), extents);
  if (uses < kMinUses || !row)
    return std::nullopt;
  // Rows of a few elements are left, even if the operand has them, too.
  bool tiny = last == *row && extents[*row] < kMinExtent;
  if (!reduces(last) && !tiny)
    return std::nullopt;
  for (unsigned dim = map.getNumResults() - 1; dim-- > 0;) {
    unsigned loop = map.getDimPosition(dim);
    if (reduces(loop) || extents[loop] < kMinExtent)
      continue;
    bool alone = llvm::none_of(op.getDpsInputOperands(), [&](OpOperand *other) {
      return other != input &&
             op.getMatchingIndexingMap(other).isFunctionOfDim(loop);
    });
    if (!alone)
      continue;
    if (loop == *row || tiny || (!map.isFunctionOfDim(*row) &&
                         hasAwkwardRows(op, *row, extents[*row])))
      return dim;
  }
  return std::nullopt;
}

linalg::GenericOp ansor::detail::transposeInput(RewriterBase &rewriter,
                                                linalg::GenericOp op,
                                                OpOperand *input,
                                                unsigned dim) {
  auto type = cast<RankedTensorType>(input->get().getType());
  MLIRContext *context = op.getContext();
  AffineMap map = op.getMatchingIndexingMap(input);
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    if (i != dim)
      order.push_back(i);
  order.push_back(dim);

  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> results, read(order.size());
  for (auto [to, from] : llvm::enumerate(order)) {
    shape.push_back(type.getDimSize(from));
    results.push_back(map.getResult(from));
    read[from] = getAffineDimExpr(to, context);
  }
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value empty = tensor::EmptyOp::create(rewriter, loc, shape,
                                        type.getElementType());
  auto moved = linalg::GenericOp::create(
      rewriter, loc, empty.getType(), input->get(), empty,
      {AffineMap::get(order.size(), 0, read, context),
       rewriter.getMultiDimIdentityMap(order.size())},
      SmallVector<utils::IteratorType>(order.size(),
                                       utils::IteratorType::parallel),
      [](OpBuilder &b, Location loc, ValueRange args) {
        linalg::YieldOp::create(b, loc, args[0]);
      });
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[input->getOperandNumber()] =
      AffineMap::get(map.getNumDims(), 0, results, context);
  rewriter.modifyOpInPlace(op, [&] {
    input->set(moved.getResult(0));
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
  return moved;
}

void ansor::detail::exposeLayouts(RewriterBase &rewriter, func::FuncOp task) {
  for (auto op : llvm::make_early_inc_range(
           task.getBody().front().getOps<linalg::GenericOp>())) {
    if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
        op.hasDynamicShape() ||
        llvm::is_contained(op.getStaticLoopRanges(), 0))
      continue;
    for (OpOperand *input : op.getDpsInputOperands())
      if (std::optional<unsigned> dim = findLaneDim(op, input))
        transposeInput(rewriter, op, input, *dim);
  }
}
