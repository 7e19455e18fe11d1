//===- FoldPads.cpp - Tiles that need no padding ----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/TransformOps/AnsorTransformOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace {
/// A branch whose condition is a constant.
struct KnownBranch : public OpRewritePattern<scf::IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::IfOp branch,
                                PatternRewriter &rewriter) const override {
    APInt condition;
    if (!matchPattern(branch.getCondition(), m_ConstantInt(&condition)))
      return failure();
    Region &region = condition.isZero() ? branch.getElseRegion()
                                        : branch.getThenRegion();
    if (!region.hasOneBlock())
      return failure();
    Operation *end = region.front().getTerminator();
    SmallVector<Value> results(end->getOperands());
    rewriter.inlineBlockBefore(&region.front(), branch, {});
    rewriter.replaceOp(branch, results);
    rewriter.eraseOp(end);
    return success();
  }
};
} // namespace

void mlir::ansor::populateFoldPadsPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  scf::populateSCFForLoopCanonicalizationPatterns(patterns);
  patterns.add<KnownBranch>(context);
  affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
  affine::AffineMinOp::getCanonicalizationPatterns(patterns, context);
  affine::AffineMaxOp::getCanonicalizationPatterns(patterns, context);
  tensor::PadOp::getCanonicalizationPatterns(patterns, context);
  tensor::CastOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns, context);
}
