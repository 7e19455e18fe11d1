//===- FastMath.cpp - See Passes.td -----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Exponential.h"
#include "Nest.h"
#include "ansor/Pipelines/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
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

/// Whether what a loop yields as `value` is a result of `op`, or a part of what
/// it yields is.
static bool isResultOf(Value value, Operation *op) {
  while (true) {
    auto result = dyn_cast<OpResult>(value);
    if (!result || result.getOwner() == op)
      return result != nullptr;
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(result.getOwner()))
      value = insert.getSource();
    else if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
      value = loop.getYieldedValues()[result.getResultNumber()];
    else
      return false;
  }
}

/// The constant that `value`, an init of `op`, was filled with, if it was, and
/// `op` is all that wrote it since.
static std::optional<APFloat> getFilledConstant(Value value, Operation *op) {
  while (true) {
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      Operation *parent = arg.getOwner()->getParentOp();
      if (auto loop = dyn_cast<scf::ForOp>(parent)) {
        OpOperand *init = loop.getTiedLoopInit(arg);
        if (!init || !isResultOf(loop.getTiedLoopYieldedValue(arg)->get(), op))
          return std::nullopt;
        value = init->get();
      } else if (auto loop = dyn_cast<scf::ForallOp>(parent)) {
        OpOperand *init = loop.getTiedLoopInit(arg);
        if (!init)
          return std::nullopt;
        value = init->get();
      } else {
        return std::nullopt;
      }
    } else if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>()) {
      value = slice.getSource();
    } else {
      break;
    }
  }
  auto fill = value.getDefiningOp<linalg::LinalgOp>();
  if (!fill || fill.getNumReductionLoops())
    return std::nullopt;
  Value yielded = fill.getBlock()->getTerminator()->getOperand(
      cast<OpResult>(value).getResultNumber());
  if (auto arg = dyn_cast<BlockArgument>(yielded))
    if (arg.getOwner() == fill.getBlock() &&
        arg.getArgNumber() < fill.getNumDpsInputs())
      yielded = fill->getOperand(arg.getArgNumber());
  APFloat constant(0.0);
  if (!matchPattern(yielded, m_ConstantFloat(&constant)))
    return std::nullopt;
  return constant;
}

/// Marks a combiner that passes over NaNs if its accumulator never is one.
static void markNumbers(linalg::LinalgOp op, unsigned result,
                        Operation *combiner) {
  if (!isa<arith::MaxNumFOp, arith::MinNumFOp>(combiner))
    return;
  OpOperand *init = op.getDpsInitOperand(result);
  std::optional<APFloat> start = getFilledConstant(init->get(), op);
  if (!start || start->isNaN())
    return;
  Value acc = op.getMatchingBlockArgument(init);
  if (combiner->getOperand(0) != acc)
    combiner->setOperands({acc, combiner->getOperand(0)});
  combiner->setAttr(kStartsFromNumberAttr, UnitAttr::get(op.getContext()));
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
            combiners.size() == 1) {
          addFlags(combiners.front(), arith::FastMathFlags::reassoc |
                                          arith::FastMathFlags::nsz);
          markNumbers(op, i, combiners.front());
        }
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
