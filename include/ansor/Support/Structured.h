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

/// If all that `op` does is to permute the dimensions of its input: the map from
/// places in the result to places in the input.
std::optional<AffineMap> getPermutation(linalg::GenericOp op);

} // namespace mlir::ansor

#endif // ANSOR_SUPPORT_STRUCTURED_H
