//===- OpCounting.h - Scalar operations of a statement ----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_FEATURE_OPCOUNTING_H
#define ANSOR_LIB_FEATURE_OPCOUNTING_H

#include "ansor/Feature/NestDesc.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace mlir::ansor {

/// Counts the operations of one iteration of a linalg body, by class.
OpCounts countOps(Block &body);

/// The same for an op without such a body: one iteration makes one element of
/// the result.
OpCounts countPlainOps(Operation *op);

} // namespace mlir::ansor

#endif // ANSOR_LIB_FEATURE_OPCOUNTING_H
