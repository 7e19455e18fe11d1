//===- FastMath.cpp - See Passes.td -----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/Pipelines/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_FASTMATHPASS
#define GEN_PASS_DEF_POLYNOMIALMATHPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

static void addFlags(Operation *op, arith::FastMathFlags flags) {
  auto fm = dyn_cast<arith::ArithFastMathInterface>(op);
  if (!fm)
    return;
  op->setAttr(fm.getFastMathAttrName(),
              arith::FastMathFlagsAttr::get(
                  op->getContext(), fm.getFastMathFlagsAttr().getValue() | flags));
}

namespace {
struct FastMathPass : public ansor::impl::FastMathPassBase<FastMathPass> {
  void runOnOperation() override {
    getOperation()->walk([](linalg::LinalgOp op) {
      for (Operation &inner : *op.getBlock())
        if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(inner))
          addFlags(&inner, arith::FastMathFlags::contract);
      if (!op.getNumReductionLoops())
        return;
      for (unsigned i = 0, e = op.getNumDpsInits(); i < e; ++i) {
        SmallVector<Operation *> combiners;
        if (matchReduction(op.getRegionOutputArgs(), i, combiners) &&
            combiners.size() == 1)
          addFlags(combiners.front(), arith::FastMathFlags::reassoc);
      }
    });
  }
};

struct PolynomialMathPass
    : public ansor::impl::PolynomialMathPassBase<PolynomialMathPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(
        patterns, [](StringRef name) {
          return llvm::is_contained({"math.exp", "math.expm1", "math.log",
                                     "math.log1p", "math.log2", "math.tanh",
                                     "math.erf"},
                                    name);
        });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
