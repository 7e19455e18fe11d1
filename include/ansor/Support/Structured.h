//===- Structured.h - Questions about structured ops ------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Questions about linalg ops that several parts ask.
//
//===----------------------------------------------------------------------===//
#ifndef ANSOR_SUPPORT_STRUCTURED_H
#define ANSOR_SUPPORT_STRUCTURED_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ansor {

/// True if `op` writes every element of init number `i`. Others keep what the
/// init holds: it is read then, even if the body doesn't use it.
bool overwritesInit(linalg::LinalgOp op, unsigned i);

/// The factors, if `op` adds up products: its result is `acc + x * y`.
std::optional<std::pair<Value, Value>>
matchSumOfProducts(linalg::LinalgOp op);

/// Products of widened elements of two inputs that `op` adds up, and how each is
/// widened: 's' and 'u' from 8 to 32 bits, signed and unsigned; 'f' from bf16 to
/// f32.
struct WidenedProduct {
  BlockArgument x, y;
  char kindX, kindY;
};
std::optional<WidenedProduct> matchWidenedProduct(linalg::LinalgOp op);

/// If all that `op` does is to permute the dimensions of its input: the map from
/// places in the result to places in the input.
std::optional<AffineMap> getPermutation(linalg::GenericOp op);

/// The source's dimensions in the order of the outer dimensions of the result.
SmallVector<int64_t> getOuterOrder(linalg::PackOp pack);

/// Of a pack of static shape with one inner tile: the number of outer dimensions
/// that code generation makes a parallel loop of. Those up to the panels', and
/// more if these are few pieces.
unsigned getNumParallelDims(linalg::PackOp pack);

} // namespace mlir::ansor

#endif // ANSOR_SUPPORT_STRUCTURED_H
