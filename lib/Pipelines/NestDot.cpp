//===- NestDot.cpp - Dot instructions, see Nest.h ---------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace mlir::ansor;

namespace {
/// An instruction for `bits` wide registers.
struct DotInstruction {
  StringRef feature; ///< LLVM's name
  StringRef arch;    ///< "x86", "aarch64"
  int64_t bits;
  StringRef intrinsic;
  int64_t group;
  /// Of the first and the second factor: 'u', 's', or 'f' (bf16).
  char first, second;
};
} // namespace

/// In order of preference.
static const DotInstruction kInstructions[] = {
    {"avx512vnni", "x86", 512, "llvm.x86.avx512.vpdpbusd.512", 4, 'u', 's'},
    {"avxvnni", "x86", 256, "llvm.x86.avx512.vpdpbusd.256", 4, 'u', 's'},
    {"avx512bf16", "x86", 512, "llvm.x86.avx512bf16.dpbf16ps.512", 2, 'f', 'f'},
    {"dotprod", "aarch64", 128, "llvm.aarch64.neon.sdot.v4i32.v16i8", 4, 's',
     's'},
    {"dotprod", "aarch64", 128, "llvm.aarch64.neon.udot.v4i32.v16i8", 4, 'u',
     'u'},
    {"i8mm", "aarch64", 128, "llvm.aarch64.neon.usdot.v4i32.v16i8", 4, 'u',
     's'},
};

/// The input that `value` is a widened element of; 'u', 's' or 'f' says how.
static std::pair<BlockArgument, char> matchWidened(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 1)
    return {};
  auto arg = dyn_cast<BlockArgument>(op->getOperand(0));
  Type from = op->getOperand(0).getType(), to = value.getType();
  if (!arg)
    return {};
  if (from.isInteger(8) && to.isInteger(32)) {
    if (isa<arith::ExtSIOp>(op))
      return {arg, 's'};
    if (isa<arith::ExtUIOp>(op))
      return {arg, 'u'};
  }
  if (from.isBF16() && to.isF32() && isa<arith::ExtFOp>(op))
    return {arg, 'f'};
  return {};
}

std::optional<DotForm> ansor::matchDot(linalg::LinalgOp op,
                                       const NestPlan &plan,
                                       const TargetInfo &target,
                                       bool strictFP) {
  if (!plan.lane || plan.laneReduces || op.getNumDpsInits() != 1 ||
      op.getNumDpsInputs() != 2 || !op.hasPureBufferSemantics())
    return std::nullopt;
  // acc + widen(x) * widen(y)
  Operation *add =
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!add || !isa<arith::AddIOp, arith::AddFOp>(add))
    return std::nullopt;
  BlockArgument acc = op.getRegionOutputArgs().front();
  Value sum = add->getOperand(0) == acc ? add->getOperand(1)
                                        : add->getOperand(0);
  Operation *mul = sum.getDefiningOp();
  if (!mul || !isa<arith::MulIOp, arith::MulFOp>(mul) ||
      !llvm::is_contained(add->getOperands(), Value(acc)))
    return std::nullopt;
  auto [x, kindX] = matchWidened(mul->getOperand(0));
  auto [y, kindY] = matchWidened(mul->getOperand(1));
  if (!x || !y || x == y || x.getOwner() != op.getBlock() ||
      y.getOwner() != op.getBlock() || x == acc || y == acc)
    return std::nullopt;
  // bf16 instructions flush denormals and round after each pair.
  if (kindX == 'f' && strictFP)
    return std::nullopt;

  StringRef triple = target.triple;
  bool isX86 = triple.starts_with("x86_64"),
       isArm = triple.starts_with("aarch64");
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
      for (const DotInstruction &candidate : kInstructions) {
        if (!(candidate.arch == "x86" ? isX86 : isArm) ||
            plan.lanes * 32 != candidate.bits)
          continue;
        bool plain = scalarKind == candidate.first &&
                     vectorKind == candidate.second;
        bool swapped = scalarKind == candidate.second &&
                       vectorKind == candidate.first;
        bool offset = candidate.first == 'u' && candidate.second == 's' &&
                      scalarKind == 's' && vectorKind == 's';
        int64_t extent = plan.extents[loop];
        if ((!plain && !swapped && !offset) ||
            ShapedType::isDynamic(extent) || extent < candidate.group ||
            !hasFeature(target, candidate.feature))
          continue;
        DotForm form;
        form.scalar = scalar->getOperandNumber();
        form.vector = vector->getOperandNumber();
        form.loop = loop;
        form.group = candidate.group;
        form.intrinsic = candidate.intrinsic.str();
        form.swapped = swapped && !plain;
        form.offset = offset && !plain && !swapped;
        return form;
      }
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
