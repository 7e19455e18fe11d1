//===- Decompose.cpp - See Decompose.h --------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/IR/Decompose.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ansor;

/// If `fill` writes a NaN where a maximum that passes over NaNs starts, it
/// writes minus infinity instead.
static void startFromNumber(linalg::FillOp fill, OpBuilder &builder) {
  APFloat value(0.0);
  if (!matchPattern(fill.value(), m_ConstantFloat(&value)) || !value.isNaN())
    return;
  for (Operation *user : fill->getUsers()) {
    auto op = dyn_cast<linalg::LinalgOp>(user);
    if (!op || !isa_and_nonnull<arith::MaxNumFOp>(
                   op.getBlock()->getTerminator()->getOperand(0).getDefiningOp()))
      return;
  }
  builder.setInsertionPoint(fill);
  auto type = cast<FloatType>(fill.value().getType());
  Value lowest = arith::ConstantOp::create(
      builder, fill.getLoc(),
      builder.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics(),
                                                 /*Negative=*/true)));
  fill.getInputsMutable().assign(lowest);
}

FailureOr<SmallVector<Value>>
ansor::decomposeAggregate(linalg::AggregatedOpInterface op,
                          OpBuilder &builder) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  Operation *before = op->getPrevNode();
  FailureOr<SmallVector<Value>> results = op.decomposeOperation(builder);
  if (failed(results))
    return failure();
  for (Operation *made = before ? before->getNextNode() : &op->getBlock()->front();
       made != op; made = made->getNextNode())
    if (auto fill = dyn_cast<linalg::FillOp>(made))
      startFromNumber(fill, builder);
  return results;
}
