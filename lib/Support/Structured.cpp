//===- Structured.cpp - Questions about structured ops ----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Support/Structured.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

bool ansor::overwritesInit(linalg::LinalgOp op, unsigned i) {
  OpOperand *init = op.getDpsInitOperand(i);
  ArrayRef<int64_t> shape = cast<ShapedType>(init->get().getType()).getShape();
  llvm::SmallDenseSet<unsigned> dims;
  for (auto [expr, size] :
       llvm::zip_equal(op.getMatchingIndexingMap(init).getResults(), shape)) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim ? !dims.insert(dim.getPosition()).second
            : !(isa<AffineConstantExpr>(expr) && size == 1))
      return false;
  }
  return true;
}

std::optional<std::pair<Value, Value>>
ansor::matchSumOfProducts(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1)
    return std::nullopt;
  Operation *add =
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  Value acc = op.getRegionOutputArgs().front();
  if (!isa_and_nonnull<arith::AddIOp, arith::AddFOp>(add) ||
      !llvm::is_contained(add->getOperands(), acc))
    return std::nullopt;
  Operation *mul =
      add->getOperand(add->getOperand(0) == acc ? 1 : 0).getDefiningOp();
  if (!isa_and_nonnull<arith::MulIOp, arith::MulFOp>(mul))
    return std::nullopt;
  return std::make_pair(mul->getOperand(0), mul->getOperand(1));
}

/// The block argument that `value` is widened from, and how.
static std::pair<BlockArgument, char> matchWidened(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 1)
    return {};
  auto arg = dyn_cast<BlockArgument>(op->getOperand(0));
  Type from = op->getOperand(0).getType(), to = value.getType();
  if (!arg)
    return {};
  if (from.isInteger(8) && to.isInteger(32)) {
    if (isa<arith::ExtSIOp>(op))
      return {arg, 's'};
    if (isa<arith::ExtUIOp>(op))
      return {arg, 'u'};
  }
  if (from.isBF16() && to.isF32() && isa<arith::ExtFOp>(op))
    return {arg, 'f'};
  return {};
}

std::optional<ansor::WidenedProduct>
ansor::matchWidenedProduct(linalg::LinalgOp op) {
  auto factors = matchSumOfProducts(op);
  if (!factors || op.getNumDpsInputs() != 2)
    return std::nullopt;
  auto [x, kindX] = matchWidened(factors->first);
  auto [y, kindY] = matchWidened(factors->second);
  BlockArgument acc = op.getRegionOutputArgs().front();
  if (!x || !y || x == y || x.getOwner() != op.getBlock() ||
      y.getOwner() != op.getBlock() || x == acc || y == acc)
    return std::nullopt;
  return WidenedProduct{x, y, kindX, kindY};
}

std::optional<AffineMap> ansor::getPermutation(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumReductionLoops() ||
      !llvm::hasSingleElement(*op.getBody()) ||
      op.getBody()->getTerminator()->getOperand(0) !=
          op.getBody()->getArgument(0))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!maps[0].isPermutation() || !maps[1].isPermutation())
    return std::nullopt;
  return maps[0].compose(inversePermutation(maps[1]));
}

SmallVector<int64_t> ansor::getOuterOrder(linalg::PackOp pack) {
  if (!pack.getOuterDimsPerm().empty())
    return SmallVector<int64_t>(pack.getOuterDimsPerm());
  return llvm::to_vector(llvm::seq<int64_t>(pack.getSourceRank()));
}

unsigned ansor::getNumParallelDims(linalg::PackOp pack) {
  /// Pieces that keep several threads busy.
  constexpr int64_t kPieces = 16;
  SmallVector<int64_t> order = getOuterOrder(pack);
  int64_t cut = pack.getInnerDimsPos().front(), pieces = 1;
  ArrayRef<int64_t> extents = pack.getDestType().getShape();
  unsigned count = 0;
  bool beyond = false; // the panels
  while (count < order.size() &&
         (!beyond || (count + 1 < order.size() && pieces < kPieces))) {
    beyond |= order[count] == cut;
    pieces *= std::min(extents[count], kPieces);
    ++count;
  }
  return count;
}
