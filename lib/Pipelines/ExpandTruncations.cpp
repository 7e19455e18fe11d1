//===- ExpandTruncations.cpp - See Passes.td --------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Pipelines/Passes.h"
#include "ansor/Target/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_EXPANDTRUNCATIONSPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

/// `type` with elements of `element`.
static Type withElement(Type type, Type element) {
  if (auto shaped = dyn_cast<VectorType>(type))
    return shaped.clone(element);
  return element;
}

/// Rounds to 32 bits so that no tie or border of bf16 is made ("to odd": what
/// is cut off stays visible in the last bit), and then to bf16.
static void expand(arith::TruncFOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value x = op.getIn();
  Type wide = x.getType(), f32 = withElement(wide, b.getF32Type()),
       i32 = withElement(wide, b.getI32Type());
  Value near = arith::TruncFOp::create(b, loc, f32, x);
  Value back = arith::ExtFOp::create(b, loc, wide, near);
  Value inexact =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, x, back);
  Value away = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                     math::AbsFOp::create(b, loc, back),
                                     math::AbsFOp::create(b, loc, x));
  Value bits = arith::BitcastOp::create(b, loc, i32, near);
  TypedAttr one = b.getI32IntegerAttr(1);
  if (auto shaped = dyn_cast<VectorType>(i32))
    one = DenseElementsAttr::get(shaped, b.getI32IntegerAttr(1).getValue());
  Value lower = arith::SubIOp::create(b, loc, bits,
                                      arith::ExtUIOp::create(b, loc, i32, away));
  Value odd = arith::OrIOp::create(b, loc, lower,
                                   arith::ConstantOp::create(b, loc, one));
  Value kept = arith::SelectOp::create(b, loc, inexact, odd, bits);
  op.getInMutable().assign(arith::BitcastOp::create(b, loc, f32, kept));
}

/// True if an instruction cuts f32 to bf16.
static bool cutsToBF16(const TargetInfo &target) {
  return llvm::any_of(ArrayRef<StringRef>{"avx512bf16", "avxneconvert", "bf16"},
                      [&](StringRef feature) {
                        return hasFeature(target, feature);
                      });
}

namespace {
struct ExpandTruncationsPass
    : ansor::impl::ExpandTruncationsPassBase<ExpandTruncationsPass> {
  void runOnOperation() override {
    SmallVector<arith::TruncFOp> ops;
    getOperation()->walk([&](arith::TruncFOp op) {
      if (getElementTypeOrSelf(op.getIn()).isF64() &&
          getElementTypeOrSelf(op.getType()).isBF16())
        ops.push_back(op);
    });
    llvm::for_each(ops, expand);
    if (cutsToBF16(getTarget(getOperation())))
      return;
    // Arithmetic in bf16 would be cut by LLVM.
    MLIRContext *context = &getContext();
    TypeConverter converter;
    arith::populateEmulateUnsupportedFloatsConversions(
        converter, BFloat16Type::get(context), Float32Type::get(context));
    RewritePatternSet emulation(context), expansion(context);
    arith::populateEmulateUnsupportedFloatsPatterns(emulation, converter);
    ConversionTarget target(*context);
    arith::populateEmulateUnsupportedFloatsLegality(target, converter);
    arith::populateExpandBFloat16Patterns(expansion);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(emulation))))
      return signalPassFailure();
    // The casts in between may be contracted, says upstream. Then results would
    // depend on how far loops are unrolled, and on the target.
    getOperation()->walk([](Operation *op) {
      if (isa<arith::TruncFOp, arith::ExtFOp>(op))
        op->removeAttr("fastmath");
    });
    if (failed(applyPatternsGreedily(getOperation(), std::move(expansion))))
      signalPassFailure();
  }
};
} // namespace
