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

/// Vectors that are divided by one number are multiplied by its reciprocal,
/// unless it is subnormal: its reciprocal may be infinite where the quotient is
/// not.
static void shareReciprocals(ModuleOp module) {
  llvm::MapVector<std::pair<Value, Block *>, SmallVector<arith::DivFOp>> groups;
  module->walk([&](arith::DivFOp op) {
    auto splat = op.getRhs().getDefiningOp<vector::BroadcastOp>();
    if (splat && splat.getSource().getType().isF32())
      groups[{splat.getSource(), op->getBlock()}].push_back(op);
  });
  for (auto &group : groups) {
    SmallVector<arith::DivFOp> &ops = group.second;
    Value divisor = group.first.first;
    // Those whose dividends are known when the first is due.
    Operation *first = ops.front();
    llvm::erase_if(ops, [&](arith::DivFOp op) {
      Operation *producer = op.getLhs().getDefiningOp();
      return producer && producer->getBlock() == first->getBlock() &&
             !producer->isBeforeInBlock(first);
    });
    if (ops.size() < 2)
      continue;
    OpBuilder b(first);
    Location loc = divisor.getLoc();
    auto constant = [&](float value) -> Value {
      return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
    };
    Value size = math::AbsFOp::create(b, loc, divisor);
    Value tiny = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, size,
                                       constant(0x1p-126f));
    Value inverse = arith::DivFOp::create(b, loc, constant(1.0f), divisor);
    auto results = [&](OpBuilder &b, Location loc, bool exact) {
      SmallVector<Value> values;
      for (arith::DivFOp op : ops) {
        Value splat = vector::BroadcastOp::create(
            b, loc, op.getType(), exact ? divisor : inverse);
        values.push_back(
            exact ? arith::DivFOp::create(b, loc, op.getLhs(), splat).getResult()
                  : arith::MulFOp::create(b, loc, op.getLhs(), splat)
                        .getResult());
      }
      scf::YieldOp::create(b, loc, values);
    };
    auto branch = scf::IfOp::create(
        b, loc, tiny,
        [&](OpBuilder &b, Location loc) { results(b, loc, /*exact=*/true); },
        [&](OpBuilder &b, Location loc) { results(b, loc, /*exact=*/false); });
    for (auto [op, result] : llvm::zip_equal(ops, branch.getResults())) {
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
