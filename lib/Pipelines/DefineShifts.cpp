//===- DefineShifts.cpp - See Passes.td -------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Pipelines/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_DEFINESHIFTSPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

/// True if each lane of the constant `amount` is less than `bits`.
static bool isKnownLess(Value amount, unsigned bits) {
  DenseIntElementsAttr lanes;
  if (matchPattern(amount, m_Constant(&lanes)))
    return llvm::all_of(lanes.getValues<APInt>(),
                        [&](const APInt &lane) { return lane.ult(bits); });
  APInt value;
  return matchPattern(amount, m_ConstantInt(&value)) && value.ult(bits);
}

/// Takes the amount of `shift`, operand 1, modulo the bits of its type.
static void define(Operation *shift) {
  Value amount = shift->getOperand(1);
  Type type = amount.getType(), element = getElementTypeOrSelf(type);
  unsigned bits = element.isIndex() ? IndexType::kInternalStorageBitWidth
                                    : element.getIntOrFloatBitWidth();
  if (isKnownLess(amount, bits))
    return;
  OpBuilder b(shift);
  Location loc = shift->getLoc();
  bool mask = llvm::isPowerOf2_32(bits);
  TypedAttr number = b.getIntegerAttr(element, mask ? bits - 1 : bits);
  if (auto shaped = dyn_cast<ShapedType>(type))
    number = DenseElementsAttr::get(shaped, number);
  Value constant = arith::ConstantOp::create(b, loc, number);
  Value inside =
      mask ? arith::AndIOp::create(b, loc, amount, constant).getResult()
           : arith::RemUIOp::create(b, loc, amount, constant).getResult();
  shift->setOperand(1, inside);
}

namespace {
struct DefineShiftsPass
    : ansor::impl::DefineShiftsPassBase<DefineShiftsPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
        define(op);
    });
  }
};
} // namespace
