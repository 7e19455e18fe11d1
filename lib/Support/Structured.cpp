//===- Structured.cpp - Questions about structured ops ----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Support/Structured.h"

using namespace mlir;

bool ansor::overwritesInit(linalg::LinalgOp op, unsigned i) {
  OpOperand *init = op.getDpsInitOperand(i);
  ArrayRef<int64_t> shape = cast<ShapedType>(init->get().getType()).getShape();
  llvm::SmallDenseSet<unsigned> dims;
  for (auto [expr, size] :
       llvm::zip_equal(op.getMatchingIndexingMap(init).getResults(), shape)) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim ? !dims.insert(dim.getPosition()).second
            : !(isa<AffineConstantExpr>(expr) && size == 1))
      return false;
  }
  return true;
}

std::optional<AffineMap> ansor::getPermutation(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumReductionLoops() ||
      !llvm::hasSingleElement(*op.getBody()) ||
      op.getBody()->getTerminator()->getOperand(0) !=
          op.getBody()->getArgument(0))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!maps[0].isPermutation() || !maps[1].isPermutation())
    return std::nullopt;
  return maps[0].compose(inversePermutation(maps[1]));
}
