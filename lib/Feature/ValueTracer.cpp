//===- ValueTracer.cpp - Memory of tensor values ----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueTracer.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::ansor;

/// The result of a loop that a region argument carries, or null.
static Value getLoopResult(BlockArgument arg) {
  Operation *parent = arg.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return arg == loop.getInductionVar() ? Value()
                                         : loop.getTiedLoopResult(arg);
  if (auto loop = dyn_cast<scf::ForallOp>(parent)) {
    if (arg.getArgNumber() < loop.getRank())
      return {};
    return loop->getResult(arg.getArgNumber() - loop.getRank());
  }
  return {};
}

/// The value that result `number` of a loop starts from, or null.
static Value getLoopInit(Operation *op, unsigned number) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return loop.getInitArgs()[number];
  if (auto loop = dyn_cast<scf::ForallOp>(op))
    return loop.getOutputs()[number];
  return {};
}

//===----------------------------------------------------------------------===//
// Sizes and indices
//===----------------------------------------------------------------------===//

std::optional<int64_t> ValueTracer::boundOf(OpFoldResult value, bool &partial) {
  if (auto constant = getConstantIntValue(value))
    return constant;
  auto *op = cast<Value>(value).getDefiningOp();
  if (!op)
    return std::nullopt;
  std::optional<int64_t> bound;
  auto take = [&](std::optional<int64_t> other) {
    if (other && (!bound || *other < *bound))
      bound = other;
  };
  if (auto min = dyn_cast<affine::AffineMinOp>(op)) {
    for (AffineExpr expr : min.getMap().getResults()) {
      if (auto constant = dyn_cast<AffineConstantExpr>(expr))
        take(constant.getValue());
      else if (auto dim = dyn_cast<AffineDimExpr>(expr))
        take(boundOf(min.getDimOperands()[dim.getPosition()], partial));
      else if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
        take(boundOf(min.getSymbolOperands()[symbol.getPosition()], partial));
    }
    partial = true;
  } else if (isa<arith::MinSIOp, arith::MinUIOp>(op)) {
    take(boundOf(op->getOperand(0), partial));
    take(boundOf(op->getOperand(1), partial));
    partial = true;
  } else if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    if (auto index = dim.getConstantIndex())
      bound = sizeOf(dim.getSource(), *index, partial);
  } else if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    bound = boundOfExpr(apply.getMap().getResult(0), op,
                        apply.getMap().getNumDims(), partial);
  }
  return bound;
}

/// Bound of a sum, product or quotient with constants of bounded operands.
std::optional<int64_t> ValueTracer::boundOfExpr(AffineExpr expr, Operation *op,
                                                unsigned numDims,
                                                bool &partial) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return boundOf(op->getOperand(dim.getPosition()), partial);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return boundOf(op->getOperand(numDims + symbol.getPosition()), partial);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto lhs = boundOfExpr(binary.getLHS(), op, numDims, partial);
  auto rhs = boundOfExpr(binary.getRHS(), op, numDims, partial);
  if (!lhs || !rhs)
    return std::nullopt;
  int64_t result;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return llvm::AddOverflow(*lhs, *rhs, result) ? std::nullopt
                                                 : std::optional(result);
  case AffineExprKind::Mul:
    return llvm::MulOverflow(*lhs, *rhs, result) ? std::nullopt
                                                 : std::optional(result);
  case AffineExprKind::FloorDiv:
    return *rhs > 0 ? std::optional(llvm::divideFloorSigned(*lhs, *rhs))
                    : std::nullopt;
  case AffineExprKind::CeilDiv:
    return *rhs > 0 ? std::optional(llvm::divideCeilSigned(*lhs, *rhs))
                    : std::nullopt;
  default:
    return std::nullopt;
  }
}

int64_t ValueTracer::sizeOf(Value value, unsigned dim, bool &partial) {
  auto type = cast<ShapedType>(value.getType());
  if (!type.isDynamicDim(dim))
    return std::max<int64_t>(type.getDimSize(dim), 1);
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    if (Value result = getLoopResult(arg))
      return sizeOf(result, dim, partial);
    return 1;
  }
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    auto sizes = slice.getMixedSizes();
    auto dropped = slice.getDroppedDims();
    for (unsigned d = 0, kept = 0; d < sizes.size(); ++d)
      if (!dropped.test(d) && kept++ == dim)
        return std::max<int64_t>(boundOf(sizes[d], partial).value_or(1), 1);
    return 1;
  }
  if (Value init = getLoopInit(op, number))
    return sizeOf(init, dim, partial);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return sizeOf(insert.getDest(), dim, partial);
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    return sizeOf(dps.getDpsInits()[number], dim, partial);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return isa<RankedTensorType>(cast.getSource().getType())
               ? sizeOf(cast.getSource(), dim, partial)
               : 1;
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return std::max<int64_t>(
        boundOf(empty.getMixedSizes()[dim], partial).value_or(1), 1);
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    int64_t size = sizeOf(pad.getSource(), dim, partial);
    size += boundOf(pad.getMixedLowPad()[dim], partial).value_or(0);
    size += boundOf(pad.getMixedHighPad()[dim], partial).value_or(0);
    return std::max<int64_t>(size, 1);
  }
  return 1;
}

Linear ValueTracer::evalExpr(AffineExpr expr,
                             function_ref<Linear(unsigned, bool)> operand) {
  Linear result;
  if (isa<AffineConstantExpr>(expr))
    return result;
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operand(dim.getPosition(), false);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operand(symbol.getPosition(), true);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Linear lhs = evalExpr(binary.getLHS(), operand);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    result = std::move(lhs);
    addScaled(result, evalExpr(binary.getRHS(), operand), 1);
    return result;
  case AffineExprKind::Mul:
    if (constant)
      addScaled(result, lhs, constant.getValue());
    return result;
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    if (constant && constant.getValue() > 0)
      for (auto [loop, coefficient] : lhs)
        result.push_back(
            {loop, llvm::divideCeilSigned(coefficient, constant.getValue())});
    return result;
  default:
    return lhs;
  }
}

Linear ValueTracer::evalIndex(OpFoldResult index) {
  Linear result;
  auto value = dyn_cast<Value>(index);
  if (!value)
    return result;
  if (auto it = indices.find(value); it != indices.end()) {
    result.push_back(it->second);
    return result;
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return result;
  auto evalMap = [&](AffineMap map, unsigned number, OperandRange operands) {
    return evalExpr(map.getResult(number), [&](unsigned i, bool isSymbol) {
      return evalIndex(operands[isSymbol ? map.getNumDims() + i : i]);
    });
  };
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return evalMap(apply.getMap(), 0, apply->getOperands());
  // The last tile may be moved inward to be full: min(i, n - tile).
  if (auto min = dyn_cast<affine::AffineMinOp>(op)) {
    for (unsigned i = 0; i < min.getMap().getNumResults(); ++i)
      if (!isa<AffineConstantExpr>(min.getMap().getResult(i)))
        return evalMap(min.getMap(), i, min->getOperands());
    return result;
  }
  if (isa<arith::AddIOp>(op)) {
    result = evalIndex(op->getOperand(0));
    addScaled(result, evalIndex(op->getOperand(1)), 1);
  } else if (isa<arith::SubIOp>(op)) {
    result = evalIndex(op->getOperand(0));
    addScaled(result, evalIndex(op->getOperand(1)), -1);
  } else if (isa<arith::MulIOp>(op)) {
    for (unsigned i : {0u, 1u})
      if (auto constant = getConstantIntValue(op->getOperand(i)))
        addScaled(result, evalIndex(op->getOperand(1 - i)), *constant);
  } else if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    result = evalIndex(op->getOperand(0));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

View ValueTracer::makeBuffer(Value value, bool temporary, unsigned depth) {
  auto type = cast<ShapedType>(value.getType());
  Buffer buffer;
  bool partial = false;
  for (unsigned d = 0, e = type.hasRank() ? type.getRank() : 0; d < e; ++d)
    buffer.shape.push_back(sizeOf(value, d, partial));
  Type element = type.getElementType();
  buffer.elementBytes =
      element.isIntOrFloat()
          ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
          : 8;
  buffer.temporary = temporary;
  buffer.depth = depth;
  View view;
  view.buffer = buffers.size();
  view.offsets.resize(buffer.shape.size());
  for (unsigned d = 0, e = buffer.shape.size(); d < e; ++d)
    view.dims.push_back({d, 1});
  buffers.push_back(std::move(buffer));
  return view;
}

unsigned ValueTracer::depthOf(Operation *op) const {
  auto it = blockDepth.find(op->getBlock());
  return it == blockDepth.end() ? openDepth : it->second;
}

const View &ValueTracer::viewOf(Value value) {
  if (auto it = views.find(value); it != views.end())
    return *it->second;
  View view = trace(value);
  storage.push_back(std::move(view));
  views[value] = &storage.back();
  return storage.back();
}

/// What op writes when its init is `init`: the init's memory, or an
/// allocation of its own if nothing holds that yet.
View ValueTracer::written(Value init) {
  View view = viewOf(init);
  if (!view.fresh)
    return view;
  Buffer buffer = buffers[view.buffer];
  view.buffer = buffers.size();
  view.fresh = false;
  buffers.push_back(std::move(buffer));
  return view;
}

View ValueTracer::trace(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    if (Value result = getLoopResult(arg))
      return viewOf(result);
    return makeBuffer(value, /*temporary=*/false, 0);
  }
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return traceSlice(slice);
  if (Value init = getLoopInit(op, number))
    return written(init);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return written(insert.getDest());
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    return written(dps.getDpsInits()[number]);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    if (isa<RankedTensorType>(cast.getSource().getType()))
      return viewOf(cast.getSource());
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return traceReshape(op);
  if (isa<tensor::EmptyOp>(op)) {
    View view = makeBuffer(value, /*temporary=*/true, depthOf(op));
    view.fresh = true;
    return view;
  }
  bool constant = op->hasTrait<OpTrait::ConstantLike>() || !op->getNumRegions();
  bool temporary = isa<tensor::PadOp, tensor::GenerateOp>(op) || !constant;
  return makeBuffer(value, temporary, depthOf(op));
}

View ValueTracer::traceSlice(tensor::ExtractSliceOp slice) {
  View view = viewOf(slice.getSource());
  // The mixed forms (getMixedOffsets, …) make an attribute of each constant,
  // which costs more than all else here.
  ArrayRef<int64_t> offsets = slice.getStaticOffsets(),
                    sizes = slice.getStaticSizes(),
                    strides = slice.getStaticStrides();
  unsigned dynamicOffset = 0, dynamicStride = 0;
  for (unsigned d = 0, e = offsets.size(); d < e; ++d) {
    auto &[dim, scale] = view.dims[d];
    if (ShapedType::isDynamic(offsets[d]))
      addScaled(view.offsets[dim],
                evalIndex(slice.getOffsets()[dynamicOffset++]), scale);
    if (!ShapedType::isDynamic(strides[d]))
      scale *= strides[d];
    else
      scale *=
          getConstantIntValue(slice.getStrides()[dynamicStride++]).value_or(1);
  }
  if (view.fresh) {
    // Bufferization turns a slice of an empty tensor into an allocation of
    // the slice's size, where the slice is.
    Buffer buffer = buffers[view.buffer];
    bool partial = false;
    unsigned dynamicSize = 0;
    for (unsigned d = 0, e = sizes.size(); d < e; ++d) {
      int64_t size = sizes[d];
      if (ShapedType::isDynamic(size))
        size = boundOf(slice.getSizes()[dynamicSize++], partial).value_or(1);
      buffer.shape[view.dims[d].first] = std::max<int64_t>(size, 1);
    }
    buffer.depth = depthOf(slice);
    view.buffer = buffers.size();
    buffers.push_back(std::move(buffer));
  }
  if (slice.getSourceType().getRank() != slice.getType().getRank()) {
    auto dropped = slice.getDroppedDims();
    SmallVector<std::pair<unsigned, int64_t>, 4> kept;
    for (unsigned d = 0, e = view.dims.size(); d < e; ++d)
      if (!dropped.test(d))
        kept.push_back(view.dims[d]);
    view.dims = std::move(kept);
  }
  return view;
}

/// A reshape keeps the memory and gives it other dimensions. Exact for whole
/// buffers; for slices of one, the rows of the slice count as adjacent.
View ValueTracer::traceReshape(Operation *op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  View view = viewOf(source);
  const Buffer &old = buffers[view.buffer];
  int root = old.root >= 0 ? old.root : view.buffer;
  View reshaped = makeBuffer(result, old.temporary, old.depth);
  bool whole = view.dims.size() == old.shape.size();
  if (!whole)
    return reshaped;
  Buffer &buffer = buffers[reshaped.buffer];
  buffer.root = root;
  reshaped.fresh = view.fresh;
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    for (auto [d, group] :
         llvm::enumerate(collapse.getReassociationIndices())) {
      int64_t inner = 1;
      for (int64_t s : llvm::reverse(group)) {
        addScaled(reshaped.offsets[d], view.offsets[s], inner);
        inner = multiplySaturating(inner, buffers[view.buffer].shape[s]);
      }
      buffer.shape[d] = inner;
    }
    return reshaped;
  }
  auto expand = cast<tensor::ExpandShapeOp>(op);
  for (auto [s, group] : llvm::enumerate(expand.getReassociationIndices())) {
    for (auto [loop, coefficient] : view.offsets[s]) {
      int64_t inner = 1;
      int64_t target = group.back();
      for (int64_t d : llvm::reverse(group)) {
        if (coefficient % inner != 0)
          break;
        target = d;
        if (d != group.front() &&
            coefficient % multiplySaturating(inner, buffer.shape[d]) != 0)
          break;
        if (d != group.front())
          inner = multiplySaturating(inner, buffer.shape[d]);
      }
      reshaped.offsets[target].push_back({loop, coefficient / inner});
    }
  }
  return reshaped;
}
