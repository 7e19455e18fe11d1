//===- NestDot.cpp - Dot instructions, see Nest.h ---------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "ansor/Support/Structured.h"
#include "ansor/Target/DotInstructions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace mlir::ansor;

std::optional<DotForm> ansor::matchDot(linalg::LinalgOp op,
                                       const NestPlan &plan,
                                       const TargetInfo &target,
                                       bool strictFP) {
  if (!plan.lane || plan.laneReduces || op.getNumDpsInits() != 1 ||
      op.getNumDpsInputs() != 2 || !op.hasPureBufferSemantics())
    return std::nullopt;
  std::optional<WidenedProduct> product = matchWidenedProduct(op);
  if (!product)
    return std::nullopt;
  auto [x, y, kindX, kindY] = *product;
  // bf16 instructions flush denormals and round after each pair.
  if (kindX == 'f' && strictFP)
    return std::nullopt;

  for (bool exchanged : {false, true}) {
    BlockArgument scalarArg = exchanged ? y : x, vectorArg = exchanged ? x : y;
    char scalarKind = exchanged ? kindY : kindX,
         vectorKind = exchanged ? kindX : kindY;
    OpOperand *scalar = op.getMatchingOpOperand(scalarArg),
              *vector = op.getMatchingOpOperand(vectorArg);
    AffineMap scalarMap = op.getMatchingIndexingMap(scalar),
              vectorMap = op.getMatchingIndexingMap(vector);
    if (classifyAccess(scalarMap, *plan.lane) != LaneAccess::Invariant ||
        classifyAccess(vectorMap, *plan.lane) != LaneAccess::Contiguous)
      continue;
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
      if (kind != utils::IteratorType::reduction ||
          classifyAccess(scalarMap, loop) != LaneAccess::Contiguous)
        continue;
      std::optional<DotMatch> match = findDotInstruction(
          target, plan.lanes * 32, scalarKind, vectorKind);
      int64_t extent = plan.extents[loop];
      if (!match || ShapedType::isDynamic(extent) ||
          extent < match->instruction->group)
        continue;
      DotForm form;
      form.scalar = scalar->getOperandNumber();
      form.vector = vector->getOperandNumber();
      form.loop = loop;
      form.group = match->instruction->group;
      form.intrinsic = match->instruction->intrinsic.str();
      form.swapped = match->swapped;
      form.offset = match->offset;
      return form;
    }
  }
  return std::nullopt;
}

Value ansor::interleaveRows(OpBuilder &b, Location loc, ValueRange rows) {
  SmallVector<Value> current(rows);
  // Pairs are put side by side, then one shuffle takes the elements by turns:
  // LLVM finds an insertion and a permutation for that.
  int64_t count = current.size(),
          length = cast<VectorType>(current[0].getType()).getNumElements();
  while (current.size() > 2) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < current.size(); i += 2) {
      int64_t size = cast<VectorType>(current[i].getType()).getNumElements();
      SmallVector<int64_t> mask(2 * size);
      std::iota(mask.begin(), mask.end(), 0);
      next.push_back(vector::ShuffleOp::create(b, loc, current[i],
                                               current[i + 1], mask));
    }
    current = std::move(next);
  }
  SmallVector<int64_t> mask;
  for (int64_t i = 0; i < length; ++i)
    for (int64_t row = 0; row < count; ++row)
      mask.push_back(row * length + i);
  return vector::ShuffleOp::create(b, loc, current[0], current[1], mask);
}

Value ansor::broadcastGroup(OpBuilder &b, Location loc, Value group,
                            int64_t width, bool offset) {
  auto type = cast<VectorType>(group.getType());
  Type element = type.getElementType();
  int64_t bits = type.getNumElements() * element.getIntOrFloatBitWidth();
  auto word = b.getIntegerType(bits);
  Value one = vector::BitCastOp::create(b, loc, VectorType::get({1}, word),
                                        group);
  Value scalar = vector::ExtractOp::create(b, loc, one, int64_t(0));
  auto words = VectorType::get({width / type.getNumElements()}, word);
  Value all = vector::BroadcastOp::create(b, loc, words, scalar);
  Value result = vector::BitCastOp::create(
      b, loc, VectorType::get({width}, element), all);
  if (!offset)
    return result;
  Value sign = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(cast<ShapedType>(result.getType()),
                             APInt(8, 128)));
  return arith::XOrIOp::create(b, loc, result, sign);
}

Value ansor::emitDot(OpBuilder &b, Location loc, const DotForm &form, Value acc,
                     Value scalars, Value vectors) {
  SmallVector<Value> operands = {acc, scalars, vectors};
  if (form.swapped)
    std::swap(operands[1], operands[2]);
  return LLVM::CallIntrinsicOp::create(b, loc, acc.getType(),
                                       b.getStringAttr(form.intrinsic),
                                       operands)
      .getResult(0);
}
