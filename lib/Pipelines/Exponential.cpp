//===- Exponential.cpp - The exponential function on vectors ----*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// exp(x) = 2^n exp(r) with n = round(x / ln 2) and |r| <= ln 2 / 2. The
// polynomial of degree 5 for exp(r) has a relative error of 9.2e-8; the result
// is within 2 units in the last place, over the whole range.
//
//===----------------------------------------------------------------------===//
#include "Exponential.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::ansor;

/// Beyond these the result is zero, or infinite.
static constexpr float kLowest = -104.0f, kHighest = 88.8f;
static constexpr float kInverseLn2 = 1.44269504f;
/// ln 2 in two parts: products of the first with small integers are exact.
static constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
/// Adding it rounds to an integer, which the lowest bits of the sum then hold.
static constexpr float kRound = 12582912.0f;
/// Of r, from the highest power. Those of 1 and r^0 are 1.
static constexpr float kCoefficients[] = {8.2903066650033e-3f,
                                          4.18979786336422e-2f,
                                          1.666763722896576e-1f,
                                          4.999915063381195e-1f,
                                          9.999997019767761e-1f, 1.0f};

namespace {
/// Arithmetic on values of one type.
struct Math {
  OpBuilder &b;
  Location loc;
  Type type;
  arith::FastMathFlagsAttr contract;

  Math(OpBuilder &b, Location loc, Type type)
      : b(b), loc(loc), type(type),
        contract(arith::FastMathFlagsAttr::get(
            b.getContext(), arith::FastMathFlags::contract)) {}

  Type integers() const {
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(b.getI32Type());
    return b.getI32Type();
  }
  Value constant(float value) {
    FloatAttr attr = b.getF32FloatAttr(value);
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(b, loc,
                                       DenseElementsAttr::get(vector, attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  Value integer(int32_t value) {
    IntegerAttr attr = b.getI32IntegerAttr(value);
    if (auto vector = dyn_cast<VectorType>(integers()))
      return arith::ConstantOp::create(b, loc,
                                       DenseElementsAttr::get(vector, attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  /// One instruction where there is one, and no call where there isn't.
  Value multiplyAdd(Value x, Value y, Value z) {
    return arith::AddFOp::create(
        b, loc, arith::MulFOp::create(b, loc, x, y, contract), z, contract);
  }
  Value select(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::SelectOp::create(
        b, loc, arith::CmpFOp::create(b, loc, predicate, x, y), x, y);
  }
  /// 2^n for n in [-126, 127].
  Value power(Value n) {
    Value biased = arith::AddIOp::create(b, loc, n, integer(127));
    Value bits = arith::ShLIOp::create(b, loc, biased, integer(23));
    return arith::BitcastOp::create(b, loc, type, bits);
  }
};

struct ExpandExp : public OpRewritePattern<math::ExpOp> {
  ExpandExp(MLIRContext *context, bool scales)
      : OpRewritePattern(context, /*benefit=*/2), scales(scales) {}

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    auto vector = dyn_cast<VectorType>(type);
    if (!getElementTypeOrSelf(type).isF32() || (vector && vector.isScalable()))
      return failure();
    Math m(rewriter, op.getLoc(), type);
    Location loc = op.getLoc();
    // Comparisons with a NaN are false: it stays.
    Value x = m.select(arith::CmpFPredicate::OGT, m.constant(kLowest),
                       op.getOperand());
    x = m.select(arith::CmpFPredicate::OLT, m.constant(kHighest), x);
    Value shifted = m.multiplyAdd(x, m.constant(kInverseLn2), m.constant(kRound));
    Value n = arith::SubFOp::create(rewriter, loc, shifted, m.constant(kRound));
    Value r = m.multiplyAdd(n, m.constant(-kLn2High), x);
    r = m.multiplyAdd(n, m.constant(-kLn2Low), r);
    Value p = m.constant(kCoefficients[0]);
    for (float coefficient : ArrayRef(kCoefficients).drop_front())
      p = m.multiplyAdd(p, r, m.constant(coefficient));
    rewriter.replaceOp(op, scale(m, p, n, shifted));
    return success();
  }

private:
  /// p 2^n, where `shifted` has n in its lowest bits.
  Value scale(Math &m, Value p, Value n, Value shifted) const {
    auto vector = dyn_cast<VectorType>(m.type);
    if (scales && vector && vector.getRank() == 1 && vector.getDimSize(0) == 16) {
      Value all = LLVM::ConstantOp::create(m.b, m.loc, m.b.getI16Type(),
                                           m.b.getI16IntegerAttr(-1));
      // The current rounding mode.
      Value rounding = LLVM::ConstantOp::create(m.b, m.loc, m.b.getI32Type(),
                                                m.b.getI32IntegerAttr(4));
      return LLVM::CallIntrinsicOp::create(
                 m.b, m.loc, m.type,
                 m.b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
                 ValueRange{p, n, p, all, rounding})
          .getResult(0);
    }
    // In two steps, since 2^n itself may be out of range.
    Value bits = arith::BitcastOp::create(m.b, m.loc, m.integers(), shifted);
    Value whole = arith::SubIOp::create(
        m.b, m.loc, bits, m.integer(llvm::bit_cast<int32_t>(kRound)));
    Value half = arith::ShRSIOp::create(m.b, m.loc, whole, m.integer(1));
    Value rest = arith::SubIOp::create(m.b, m.loc, whole, half);
    Value result = arith::MulFOp::create(m.b, m.loc, p, m.power(half));
    return arith::MulFOp::create(m.b, m.loc, result, m.power(rest));
  }

  bool scales;
};
} // namespace

void ansor::populateExponentialPatterns(RewritePatternSet &patterns,
                                        const TargetInfo &target) {
  bool scales = target.vectorBits == 512 &&
                StringRef(target.triple).starts_with("x86_64");
  patterns.add<ExpandExp>(patterns.getContext(), scales);
}
