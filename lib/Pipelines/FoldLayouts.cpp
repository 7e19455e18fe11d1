//===- FoldLayouts.cpp - See Passes.td --------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Pipelines/Passes.h"
#include "ansor/Support/Structured.h"
#include "ansor/Task/Weights.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_FOLDCONSTANTLAYOUTSPASS
#define GEN_PASS_DEF_FOLDLAYOUTSPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

/// Lets the users of `moved`, whose dimensions are those of `source` in the
/// order of `permutation`, read `source`.
static void readThrough(Value moved, Value source, AffineMap permutation) {
  for (OpOperand &use : llvm::make_early_inc_range(moved.getUses())) {
    Operation *user = use.getOwner();
    if (auto generic = dyn_cast<linalg::GenericOp>(user)) {
      if (!generic.isDpsInput(&use))
        continue;
      SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
      AffineMap &map = maps[use.getOperandNumber()];
      map = permutation.compose(map);
      use.set(source);
      generic.setIndexingMapsAttr(
          Builder(user->getContext()).getAffineMapArrayAttr(maps));
      continue;
    }
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || slice.getType().getRank() !=
                      cast<RankedTensorType>(moved.getType()).getRank())
      continue;
    SmallVector<OpFoldResult> offsets, sizes, strides;
    for (unsigned i = 0; i < permutation.getNumResults(); ++i) {
      unsigned from = permutation.getDimPosition(i);
      offsets.push_back(slice.getMixedOffsets()[from]);
      sizes.push_back(slice.getMixedSizes()[from]);
      strides.push_back(slice.getMixedStrides()[from]);
    }
    OpBuilder builder(slice);
    Value part = tensor::ExtractSliceOp::create(
        builder, slice.getLoc(), source, offsets, sizes, strides);
    readThrough(slice.getResult(), part, permutation);
    if (slice->use_empty())
      slice->erase();
  }
}

namespace {
struct FoldConstantLayoutsPass
    : public ansor::impl::FoldConstantLayoutsPassBase<FoldConstantLayoutsPass> {
  void runOnOperation() override { foldConstantLayouts(getOperation()); }
};

struct FoldLayoutsPass
    : public ansor::impl::FoldLayoutsPassBase<FoldLayoutsPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op->hasAttr(kReadThroughAttr))
        ops.push_back(op);
    });
    for (linalg::GenericOp op : ops) {
      std::optional<AffineMap> permutation = getPermutation(op);
      if (!permutation)
        continue;
      readThrough(op->getResult(0), op.getInputs()[0], *permutation);
      if (op->use_empty())
        op->erase();
    }
  }
};
} // namespace
