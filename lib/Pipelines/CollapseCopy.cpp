//===- CollapseCopy.cpp - See Nest.h ----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::ansor;

/// Whether dimensions `dim` and `dim + 1` of `type` are one in memory.
static bool areContiguous(MemRefType type, unsigned dim) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  int64_t inner = strides[dim + 1], size = type.getDimSize(dim + 1);
  return !ShapedType::isDynamic(strides[dim]) &&
         !ShapedType::isDynamic(inner) && !ShapedType::isDynamic(size) &&
         !ShapedType::isDynamic(type.getDimSize(dim)) &&
         strides[dim] == inner * size;
}

linalg::LinalgOp ansor::collapseCopy(linalg::LinalgOp op) {
  auto copy = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!copy || !copy.hasPureBufferSemantics() || copy.getNumDpsInputs() != 1 ||
      copy.getNumDpsInits() != 1 || copy.getNumReductionLoops() ||
      copy.hasIndexSemantics())
    return op;
  SmallVector<AffineMap> maps = copy.getIndexingMapsArray();
  auto inType = dyn_cast<MemRefType>(copy.getInputs()[0].getType());
  auto outType = dyn_cast<MemRefType>(copy.getOutputs()[0].getType());
  if (!inType || !outType || !maps[0].isPermutation() ||
      !maps[1].isPermutation() || maps[0] == maps[1])
    return op;

  // Dimension of the input for each of the output.
  AffineMap toInput = inversePermutation(maps[0]);
  unsigned rank = outType.getRank();
  SmallVector<unsigned> from;
  for (unsigned dim = 0; dim < rank; ++dim)
    from.push_back(toInput.getDimPosition(maps[1].getDimPosition(dim)));
  SmallVector<ReassociationIndices> out;
  for (unsigned dim = 0; dim < rank; ++dim) {
    bool joined = dim > 0 && from[dim] == from[dim - 1] + 1 &&
                  areContiguous(outType, dim - 1) &&
                  areContiguous(inType, from[dim - 1]);
    if (!joined)
      out.emplace_back();
    out.back().push_back(dim);
  }
  if (out.size() == rank)
    return op;
  // The groups in the order of the input.
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, out.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return from[out[a].front()] < from[out[b].front()];
  });
  SmallVector<ReassociationIndices> in;
  SmallVector<AffineExpr> read;
  OpBuilder b(copy);
  for (unsigned group : order) {
    in.emplace_back();
    for (int64_t dim : out[group])
      in.back().push_back(from[dim]);
    read.push_back(b.getAffineDimExpr(group));
  }
  if (!memref::CollapseShapeOp::isGuaranteedCollapsible(inType, in) ||
      !memref::CollapseShapeOp::isGuaranteedCollapsible(outType, out))
    return op;
  Location loc = copy.getLoc();
  Value source =
      memref::CollapseShapeOp::create(b, loc, copy.getInputs()[0], in);
  Value target =
      memref::CollapseShapeOp::create(b, loc, copy.getOutputs()[0], out);
  auto result = linalg::GenericOp::create(
      b, loc, TypeRange(), source, target,
      {AffineMap::get(out.size(), 0, read, b.getContext()),
       b.getMultiDimIdentityMap(out.size())},
      SmallVector<utils::IteratorType>(out.size(),
                                       utils::IteratorType::parallel));
  result.getRegion().takeBody(copy.getRegion());
  copy.erase();
  return cast<linalg::LinalgOp>(result.getOperation());
}
