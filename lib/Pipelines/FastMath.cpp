//===- FastMath.cpp - See Passes.td -----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Exponential.h"
#include "ansor/Pipelines/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
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

/// Vectors that are divided by one number are multiplied by its reciprocal. That
/// of a subnormal number may be infinite where the quotient is not: such a
/// divisor is scaled, and the product as well.
static void shareReciprocals(ModuleOp module) {
  llvm::MapVector<Value, SmallVector<arith::DivFOp>> divisions;
  module->walk([&](arith::DivFOp op) {
    auto splat = op.getRhs().getDefiningOp<vector::BroadcastOp>();
    if (splat && splat.getSource().getType().isF32())
      divisions[splat.getSource()].push_back(op);
  });
  for (auto &[divisor, ops] : divisions) {
    if (ops.size() < 2)
      continue;
    OpBuilder b(module.getContext());
    b.setInsertionPointAfterValue(divisor);
    Location loc = divisor.getLoc();
    auto constant = [&](float value) -> Value {
      return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
    };
    Value size = math::AbsFOp::create(b, loc, divisor);
    Value tiny = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, size,
                                       constant(0x1p-126f));
    Value factor = arith::SelectOp::create(b, loc, tiny, constant(0x1p24f),
                                           constant(1.0f));
    Value scaled = arith::MulFOp::create(b, loc, divisor, factor);
    Value inverse = arith::DivFOp::create(b, loc, constant(1.0f), scaled);
    for (arith::DivFOp op : ops) {
      b.setInsertionPoint(op);
      auto splat = [&](Value value) -> Value {
        return vector::BroadcastOp::create(b, op.getLoc(), op.getType(), value);
      };
      Value product = arith::MulFOp::create(b, op.getLoc(), op.getLhs(),
                                            splat(inverse));
      Value result =
          arith::MulFOp::create(b, op.getLoc(), product, splat(factor));
      op.replaceAllUsesWith(result);
      op.erase();
    }
  }
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
          addFlags(combiners.front(), arith::FastMathFlags::reassoc |
                                          arith::FastMathFlags::nsz);
      }
    });
  }
};

struct PolynomialMathPass
    : public ansor::impl::PolynomialMathPassBase<PolynomialMathPass> {
  using PolynomialMathPassBase::PolynomialMathPassBase;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(
        patterns, [](StringRef name) {
          return llvm::is_contained({"math.expm1", "math.log",
                                     "math.log1p", "math.log2", "math.tanh",
                                     "math.erf"},
                                    name);
        });
    populateExponentialPatterns(patterns, getTarget(getOperation()));
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
    if (!strictFP)
      shareReciprocals(getOperation());
  }
};
} // namespace
