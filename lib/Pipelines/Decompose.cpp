//===- Decompose.cpp - See Passes.td ----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LowerPack.h"
#include "ansor/IR/Decompose.h"
#include "ansor/Pipelines/Passes.h"
#include "ansor/Support/Structured.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

/// Replaces ops that are a sequence of simpler ones (softmax is one) by it.
static LogicalResult decomposeAggregates(ModuleOp module) {
  SmallVector<linalg::AggregatedOpInterface> ops;
  module->walk([&](linalg::AggregatedOpInterface op) { ops.push_back(op); });
  IRRewriter rewriter(module.getContext());
  for (linalg::AggregatedOpInterface op : ops) {
    if (isa<linalg::LinalgOp>(op.getOperation()))
      continue;
    FailureOr<SmallVector<Value>> results = decomposeAggregate(op, rewriter);
    if (failed(results))
      return op->emitOpError("can't be lowered: it does not decompose on these "
                             "operands");
    rewriter.replaceOp(op, *results);
  }
  return success();
}

static LogicalResult lowerPacking(ModuleOp module) {
  SmallVector<Operation *> ops;
  module->walk([&](Operation *op) {
    if (isa<linalg::PackOp, linalg::UnPackOp>(op))
      ops.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    bool ok = true;
    if (auto pack = dyn_cast<linalg::PackOp>(op))
      ok = succeeded(lowerPanels(rewriter, pack)) ||
           succeeded(linalg::lowerPack(rewriter, pack));
    else
      ok = succeeded(linalg::lowerUnPack(rewriter, cast<linalg::UnPackOp>(op)));
    if (!ok)
      return op->emitOpError("can't be lowered: only static inner tiles are "
                             "supported");
  }
  return success();
}

/// Bufferization takes an init for unread if the body doesn't use it; where not
/// every element is written, the others are to be kept.
static void keepUnwrittenElements(ModuleOp module) {
  module->walk([](linalg::LinalgOp op) {
    if (!op.hasPureTensorSemantics())
      return;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (op.payloadUsesValueFromOperand(&init) ||
          overwritesInit(op, init.getOperandNumber() - op.getNumDpsInputs()))
        continue;
      OpBuilder builder(op);
      init.set(bufferization::AllocTensorOp::create(
          builder, op.getLoc(), cast<RankedTensorType>(init.get().getType()),
          ValueRange(), init.get()));
    }
  });
}

namespace {
struct DecomposePass : public ansor::impl::DecomposePassBase<DecomposePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // Scripts are not code; the attribute without them does not verify twice.
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (op.getDialect() && op.getDialect()->getNamespace() == "transform")
        op.erase();
    module->removeAttr("transform.with_named_sequence");
    module->walk([&](ModuleOp nested) {
      if (nested != module && nested->hasAttr("transform.with_named_sequence"))
        nested->erase();
    });

    if (failed(decomposeAggregates(module)) || failed(lowerPacking(module)))
      return signalPassFailure();

    RewritePatternSet patterns(&getContext());
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    linalg::populateDecomposeWinogradOpsPatterns(patterns);
    linalg::populateDecomposePadPatterns(patterns);
    linalg::populateLinalgNamedOpsGeneralizationPatterns(patterns);
    // A slice of an empty tensor is a smaller one: no buffer for the whole.
    tensor::populateFoldTensorEmptyPatterns(patterns);
    if (failed(applyPatternsGreedily(module, std::move(patterns))))
      return signalPassFailure();
    keepUnwrittenElements(module);
  }
};
} // namespace
