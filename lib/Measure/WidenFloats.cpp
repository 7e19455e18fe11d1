//===- WidenFloats.cpp - A program in double precision ----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Measure/Builder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::ansor;

static bool isNarrow(Type type) {
  return isa<Float32Type, Float16Type, BFloat16Type>(type);
}

/// `type` with doubles for narrower floats; null for what isn't widened.
static Type widen(Type type) {
  Type wide = Float64Type::get(type.getContext());
  if (isNarrow(type))
    return wide;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (isa<ComplexType>(tensor.getElementType()))
      return Type();
    return isNarrow(tensor.getElementType()) ? tensor.clone(wide) : type;
  }
  if (isa<ComplexType, BaseMemRefType, VectorType>(type))
    return Type();
  return type;
}

static APFloat toDouble(APFloat value) {
  bool inexact;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return value;
}

/// The constant `value` in doubles; null if that isn't known.
static TypedAttr widen(TypedAttr value) {
  if (auto scalar = dyn_cast<FloatAttr>(value))
    return isNarrow(scalar.getType())
               ? FloatAttr::get(Float64Type::get(value.getContext()),
                                toDouble(scalar.getValue()))
               : value;
  auto shaped = dyn_cast<ShapedType>(value.getType());
  if (!shaped || !isNarrow(shaped.getElementType()))
    return value;
  auto dense = dyn_cast<DenseFPElementsAttr>(value);
  if (!dense)
    return TypedAttr();
  return cast<TypedAttr>(dense.mapValues(
      Float64Type::get(value.getContext()), [](const APFloat &element) {
        return toDouble(element).bitcastToAPInt();
      }));
}

/// `value`, a scalar or tensor of floats, cast to `type`.
static Value castTo(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  auto castScalar = [](OpBuilder &b, Location loc, Value scalar, Type to) {
    bool grows = to.getIntOrFloatBitWidth() >
                 scalar.getType().getIntOrFloatBitWidth();
    return grows ? arith::ExtFOp::create(b, loc, to, scalar).getResult()
                 : arith::TruncFOp::create(b, loc, to, scalar).getResult();
  };
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return castScalar(b, loc, value, type);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, value);
  Value init =
      tensor::EmptyOp::create(b, loc, sizes, tensor.getElementType());
  AffineMap map = b.getMultiDimIdentityMap(tensor.getRank());
  SmallVector<utils::IteratorType> loops(tensor.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, init.getType(), value, init, ArrayRef<AffineMap>{map, map},
             loops,
             [&](OpBuilder &nested, Location loc, ValueRange args) {
               Value cast = castScalar(nested, loc, args[0],
                                       tensor.getElementType());
               linalg::YieldOp::create(nested, loc, cast);
             })
      .getResult(0);
}

/// Widens the body of `func`; its own signature only if it is private.
static LogicalResult widenFunction(func::FuncOp func) {
  WalkResult result = func.walk([&](Operation *op) {
    if (op == func)
      return WalkResult::advance();
    if (isa<arith::BitcastOp, tensor::BitcastOp>(op))
      return WalkResult::interrupt();
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      if (!callee || !callee.isPrivate() || callee.isExternal())
        return WalkResult::interrupt();
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      TypedAttr wide = widen(constant.getValue());
      if (!wide)
        return WalkResult::interrupt();
      constant.setValueAttr(wide);
    }
    for (Value value : op->getResults()) {
      Type wide = widen(value.getType());
      if (!wide)
        return WalkResult::interrupt();
      value.setType(wide);
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments()) {
          Type wide = widen(argument.getType());
          if (!wide)
            return WalkResult::interrupt();
          argument.setType(wide);
        }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();

  SmallVector<Type> arguments(func.getArgumentTypes()),
      results(func.getResultTypes());
  OpBuilder b(func.getContext());
  for (Block &block : llvm::drop_begin(func.getBody()))
    for (BlockArgument argument : block.getArguments())
      if (Type wide = widen(argument.getType()))
        argument.setType(wide);
  b.setInsertionPointToStart(&func.getBody().front());
  for (auto [i, argument] : llvm::enumerate(func.getArguments())) {
    Type wide = widen(argument.getType());
    if (!wide)
      return failure();
    if (func.isPrivate()) {
      argument.setType(arguments[i] = wide);
    } else if (wide != argument.getType() && !argument.use_empty()) {
      SmallVector<OpOperand *> uses;
      for (OpOperand &use : argument.getUses())
        uses.push_back(&use);
      Value cast = castTo(b, func.getLoc(), argument, wide);
      for (OpOperand *use : uses)
        use->set(cast);
    }
  }
  if (func.isPrivate()) {
    for (Type &type : results)
      type = widen(type);
    func.setFunctionType(
        FunctionType::get(func.getContext(), arguments, results));
  } else {
    func.walk([&](func::ReturnOp ret) {
      b.setInsertionPoint(ret);
      for (auto [operand, type] : llvm::zip_equal(ret->getOpOperands(), results))
        operand.set(castTo(b, ret.getLoc(), operand.get(), type));
    });
  }
  // Casts between what are doubles now.
  func.walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op) &&
        op->getOperand(0).getType() == op->getResult(0).getType()) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    }
  });
  return success();
}

LogicalResult ansor::widenFloats(ModuleOp module) {
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  for (auto func : module.getOps<func::FuncOp>())
    if (func.isExternal() || failed(widenFunction(func)))
      return failure();
  return verify(module);
}
