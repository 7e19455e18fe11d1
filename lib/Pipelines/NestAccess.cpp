//===- NestAccess.cpp - Loads and stores of emitted nests -------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "NestEmitter.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::ansor;

Value NestEmitter::toVector(Value value, int64_t width) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      b, loc, VectorType::get({width}, value.getType()), value);
}

Value NestEmitter::indexOf(unsigned loop, int64_t point) {
  Value base = positions[loop].base;
  int64_t offset = positions[loop].offset + point;
  if (!base)
    return constant(offset);
  if (offset == 0)
    return base;
  Value &sum = sums[{base, offset}];
  if (!sum)
    sum = arith::AddIOp::create(b, loc, base, constant(offset));
  return sum;
}

SmallVector<Value> NestEmitter::indicesOf(unsigned operand,
                                          ArrayRef<int64_t> point) {
  AffineMap map = maps[operand];
  unsigned numDims = map.getNumDims();
  SmallVector<Value> indices;
  for (auto [r, expr] : llvm::enumerate(map.getResults())) {
    SmallVector<int64_t> flat;
    bool linear = succeeded(getFlattenedAffineExpr(
                      expr, numDims, map.getNumSymbols(), &flat)) &&
                  flat.size() == map.getNumInputs() + 1;
    if (!linear) {
      SmallVector<Value> dims;
      for (unsigned d = 0; d < numDims; ++d)
        dims.push_back(indexOf(d, point[d]));
      indices.push_back(affine::AffineApplyOp::create(
          b, loc, AffineMap::get(numDims, 0, expr), dims));
      continue;
    }
    int64_t offset = flat.back();
    bool hasBase = false;
    for (unsigned d = 0; d < numDims; ++d) {
      offset += flat[d] * (positions[d].offset + point[d]);
      hasBase |= flat[d] && positions[d].base;
    }
    if (!hasBase) {
      indices.push_back(constant(offset));
      continue;
    }
    Value &base = bases[{operand, static_cast<unsigned>(r)}];
    if (!base) {
      Value sum;
      for (unsigned d = 0; d < numDims; ++d) {
        if (!flat[d] || !positions[d].base)
          continue;
        Value term = positions[d].base;
        if (flat[d] != 1)
          term = arith::MulIOp::create(b, loc, term, constant(flat[d]));
        sum = sum ? arith::AddIOp::create(b, loc, sum, term) : term;
      }
      base = sum;
    }
    if (offset == 0) {
      indices.push_back(base);
      continue;
    }
    Value key = base;
    Value &sum = sums[{key, offset}];
    if (!sum)
      sum = arith::AddIOp::create(b, loc, key, constant(offset));
    indices.push_back(sum);
  }
  return indices;
}

Value NestEmitter::loadScalar(Value source, ValueRange indices) {
  if (isa<TensorType>(source.getType()))
    return tensor::ExtractOp::create(b, loc, source, indices);
  if (isa<MemRefType>(source.getType()))
    return memref::LoadOp::create(b, loc, source, indices);
  return source; // A scalar operand.
}

int64_t NestEmitter::countActive(ArrayRef<int64_t> point,
                                 int64_t width) const {
  if (!plan.masks)
    return width;
  return std::min(width, positions[*plan.lane].size - point[*plan.lane]);
}

Value NestEmitter::getMask(int64_t width, int64_t active) {
  if (active == width)
    return {};
  SmallVector<bool> bits(width);
  std::fill_n(bits.begin(), active, true);
  auto type = VectorType::get({width}, b.getI1Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, bits));
}

Value NestEmitter::loadVector(Value source, ValueRange indices, int64_t width,
                              int64_t active) {
  auto type =
      VectorType::get({width}, getElementTypeOrSelf(source.getType()));
  bool inBounds[] = {true};
  if (Value mask = getMask(width, active)) {
    // Zero: what is computed of it is not used, but must not cost more.
    Value zero = arith::ConstantOp::create(
        b, loc, b.getZeroAttr(type.getElementType()));
    auto read = vector::TransferReadOp::create(b, loc, type, source, indices,
                                               zero, inBounds);
    read.getMaskMutable().assign(mask);
    return read;
  }
  return vector::TransferReadOp::create(
      b, loc, type, source, indices,
      ub::PoisonOp::create(b, loc, type.getElementType()), inBounds);
}

Value NestEmitter::load(unsigned operand, Value source,
                        ArrayRef<int64_t> point, int64_t width) {
  if (!isa<ShapedType>(source.getType()))
    return source;
  LaneAccess access = LaneAccess::Invariant;
  if (vectors())
    access = classifyAccess(maps[operand], *plan.lane);
  if (access != LaneAccess::Invariant && width == 1 &&
      (plan.laneReduces || access != LaneAccess::Contiguous)) {
    Value scalar = loadScalar(source, indicesOf(operand, point));
    return plan.laneReduces ? scalar : toVector(scalar, 1);
  }
  if (access == LaneAccess::Invariant)
    return loadScalar(source, indicesOf(operand, point));
  if (access == LaneAccess::Contiguous)
    return loadVector(source, indicesOf(operand, point), width,
                      countActive(point, width));
  if (access == LaneAccess::Interleaved)
    return loadInterleaved(source, indicesOf(operand, point), width,
                           interleavedStep(maps[operand], *plan.lane));
  if (std::optional<unsigned> loop =
          findBlockLoop(maps[operand], *plan.lane, plan.tile))
    if (Value value = loadFromBlock(operand, source, point, width, *loop))
      return value;
  SmallVector<int64_t> lane(point);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < width; ++i, ++lane[*plan.lane])
    elements.push_back(loadScalar(source, indicesOf(operand, lane)));
  return vector::FromElementsOp::create(
      b, loc, VectorType::get({width}, elements.front().getType()), elements);
}

Value NestEmitter::dotScalars(ArrayRef<int64_t> point) {
  const DotForm &form = *plan.dot;
  std::vector<int64_t> key(point.begin(), point.end());
  for (unsigned d = 0, e = key.size(); d < e; ++d)
    if (!maps[form.scalar].isFunctionOfDim(d))
      key[d] = 0;
  key.push_back(-form.group); // No width of a plain load.
  Value &value = loads[{form.scalar, key}];
  if (!value)
    value = broadcastGroup(b, loc,
                           loadVector(op->getOperand(form.scalar),
                                      indicesOf(form.scalar, point),
                                      form.group),
                           plan.lanes * form.group, form.offset);
  return value;
}

Value NestEmitter::dotVectors(ArrayRef<int64_t> point, int64_t width) {
  const DotForm &form = *plan.dot;
  std::vector<int64_t> key(point.begin(), point.end());
  for (unsigned d = 0, e = key.size(); d < e; ++d)
    if (!maps[form.vector].isFunctionOfDim(d))
      key[d] = 0;
  key.push_back(-form.group);
  Value &value = loads[{form.vector, key}];
  if (value)
    return value;
  SmallVector<int64_t> step(point);
  SmallVector<Value> rows;
  for (int64_t i = 0; i < form.group; ++i, ++step[form.loop])
    rows.push_back(loadVector(op->getOperand(form.vector),
                              indicesOf(form.vector, step), width));
  // `loads` may have grown since.
  return loads[{form.vector, key}] = interleaveRows(b, loc, rows);
}

/// Every `step`-th element from `indices` on. Nothing behind the last of them
/// is read.
Value NestEmitter::loadInterleaved(Value source, ValueRange indices,
                                   int64_t width, int64_t step) {
  int64_t total = (width - 1) * step + 1;
  Value result;
  for (int64_t part = 0; part < step; ++part) {
    int64_t start = std::min(part * width, total - width);
    SmallVector<Value> at(indices);
    if (start)
      at.back() = arith::AddIOp::create(b, loc, at.back(), constant(start));
    Value vector = loadVector(source, at, width);
    SmallVector<int64_t> mask;
    for (int64_t i = 0; i < width; ++i) {
      int64_t element = i * step;
      bool here = element >= part * width && element < (part + 1) * width;
      mask.push_back(here ? (result ? width : 0) + element - start : i);
    }
    result = vector::ShuffleOp::create(b, loc, result ? result : vector, vector,
                                       mask);
  }
  return result;
}

/// `rounds` times, the vectors, seen as one sequence, become the elements of
/// its halves in turn. Vectors grow up to `most` elements by it. With as many
/// rounds as a matrix of 2^rounds rows has, this is its transposition.
SmallVector<Value> NestEmitter::zip(SmallVector<Value> vectors, unsigned rounds,
                                    int64_t most) {
  for (unsigned round = 0; round < rounds; ++round) {
    int64_t length = cast<VectorType>(vectors.front().getType()).getDimSize(0);
    unsigned half = vectors.size() / 2;
    SmallVector<Value> next;
    if (half == 0) { // One vector holds all.
      SmallVector<int64_t> mask;
      for (int64_t i = 0; i < length; ++i)
        mask.push_back(i / 2 + i % 2 * (length / 2));
      next.push_back(vector::ShuffleOp::create(b, loc, vectors[0], vectors[0],
                                               mask));
    }
    for (unsigned k = 0; k < half; ++k) {
      SmallVector<int64_t> mask;
      for (int64_t i = 0; i < length; ++i) {
        mask.push_back(i);
        mask.push_back(length + i);
      }
      bool whole = 2 * length <= most;
      for (int64_t part = 0; part < (whole ? 1 : 2); ++part)
        next.push_back(vector::ShuffleOp::create(
            b, loc, vectors[k], vectors[k + half],
            whole ? ArrayRef(mask) : ArrayRef(mask).slice(part * length, length)));
    }
    vectors = std::move(next);
  }
  return vectors;
}

/// Loads a strided vector out of a block, which is loaded along `loop` and
/// transposed; null if the point is in none.
Value NestEmitter::loadFromBlock(unsigned operand, Value source,
                                 ArrayRef<int64_t> point, int64_t width,
                                 unsigned loop) {
  for (Chunk across : chunks(positions[loop].size, width)) {
    int64_t index = point[loop] - across.offset;
    if (index < 0 || index >= across.width || across.width < 2)
      continue;
    std::vector<int64_t> key(point.begin(), point.end());
    for (unsigned d = 0, e = key.size(); d < e; ++d)
      if (!maps[operand].isFunctionOfDim(d))
        key[d] = 0;
    key[loop] = across.offset;
    std::vector<int64_t> at = key;
    key.push_back(width);
    SmallVector<Value> &block = blocks[{operand, key}];
    if (block.empty()) {
      SmallVector<Value> rows;
      for (int64_t i = 0; i < width; ++i, ++at[*plan.lane])
        rows.push_back(
            loadVector(source, indicesOf(operand, at), across.width));
      block = zip(rows, llvm::Log2_64(width), width);
    }
    return block[index];
  }
  return Value();
}

void NestEmitter::store(unsigned init, Value value, ArrayRef<int64_t> point,
                        int64_t width) {
  SmallVector<Value> indices = indicesOf(op.getNumDpsInputs() + init, point);
  Value &target = inits[init];
  if (vectors() && !plan.laneReduces) {
    bool inBounds[] = {true};
    Value mask = getMask(width, countActive(point, width));
    auto write = vector::TransferWriteOp::create(
        b, loc, toVector(value, width), target, indices, inBounds);
    if (mask)
      write.getMaskMutable().assign(mask);
    if (!buffers)
      target = write.getResult();
    return;
  }
  if (buffers)
    memref::StoreOp::create(b, loc, value, target, indices);
  else
    target = tensor::InsertOp::create(b, loc, value, target, indices);
}
