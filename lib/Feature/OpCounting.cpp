//===- OpCounting.cpp - Scalar operations of a statement --------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpCounting.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::ansor;

/// The class of an arithmetic operation.
static OpCounts::Class classify(Operation &op) {
  if (isa<arith::AddFOp, arith::SubFOp, arith::NegFOp, arith::AddIOp,
          arith::SubIOp>(op))
    return OpCounts::AddSub;
  if (isa<arith::MulFOp, arith::MulIOp>(op))
    return OpCounts::Mul;
  if (isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp,
          arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return OpCounts::DivMod;
  if (isa<arith::CmpFOp, arith::CmpIOp, arith::MaximumFOp, arith::MinimumFOp,
          arith::MaxNumFOp, arith::MinNumFOp, arith::MaxSIOp, arith::MaxUIOp,
          arith::MinSIOp, arith::MinUIOp>(op))
    return OpCounts::Compare;
  if (isa<math::FmaOp>(op))
    return OpCounts::Mad;
  if (isa_and_nonnull<math::MathDialect>(op.getDialect()))
    return OpCounts::Math;
  return OpCounts::Other;
}

/// True if `op` is a multiply that a fused multiply-add can take in.
static bool isFusable(Value value, Block &body) {
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == &body && op->hasOneUse() &&
         isa<arith::MulFOp, arith::MulIOp>(op);
}

static void countBlock(Block &body, OpCounts &counts) {
  for (Operation &op : body) {
    // Regions (scf.if in a body) count as if always run.
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        countBlock(inner, counts);
    if (op.getNumResults() == 0 || op.getNumRegions() != 0 ||
        op.hasTrait<OpTrait::ConstantLike>() ||
        isa<linalg::IndexOp, tensor::ExtractOp>(op))
      continue;
    if (isa<arith::SelectOp>(op)) {
      ++counts.selectOps;
      continue;
    }
    Type type = getElementTypeOrSelf(op.getResult(0).getType());
    // A comparison belongs to the type that it compares.
    if (isa<arith::CmpFOp, arith::CmpIOp>(op))
      type = getElementTypeOrSelf(op.getOperand(0).getType());
    if (type.isInteger(1)) {
      ++counts.boolOps;
      continue;
    }
    bool isFloat =
        isa<FloatType, ComplexType>(type) ||
        (op.getNumOperands() != 0 &&
         isa<FloatType>(getElementTypeOrSelf(op.getOperand(0).getType())));
    double *classes = isFloat ? counts.floats : counts.ints;
    OpCounts::Class kind = classify(op);
    if (isa<arith::AddFOp, arith::SubFOp, arith::AddIOp, arith::SubIOp>(op) &&
        (isFusable(op.getOperand(0), body) ||
         isFusable(op.getOperand(1), body))) {
      // The multiply was counted where it stands.
      --classes[OpCounts::Mul];
      kind = OpCounts::Mad;
    }
    ++classes[kind];
  }
}

OpCounts mlir::ansor::countOps(Block &body) {
  OpCounts counts;
  countBlock(body, counts);
  return counts;
}

OpCounts mlir::ansor::countPlainOps(Operation *op) {
  OpCounts counts;
  if (isa<tensor::PadOp>(op)) {
    counts.selectOps = 1; // in the source, or the padding value
  } else if (isa<tensor::GenerateOp>(op)) {
    countBlock(op->getRegion(0).front(), counts);
  } else if (isa<linalg::SoftmaxOp>(op)) {
    // Largest element, difference, exponential, sum, quotient.
    counts.floats[OpCounts::Compare] = 1;
    counts.floats[OpCounts::AddSub] = 2;
    counts.floats[OpCounts::Math] = 1;
    counts.floats[OpCounts::DivMod] = 1;
  }
  return counts;
}
