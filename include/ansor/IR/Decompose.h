//===- Decompose.h - Ops that stand for several -----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_IR_DECOMPOSE_H
#define ANSOR_IR_DECOMPOSE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ansor {

/// Makes the structured ops that `op` stands for, and returns what replaces its
/// results. A maximum starts from minus infinity, not from a NaN as upstream: a
/// row of NaNs gives NaNs in any case, and fast code wants to know that the
/// maximum never is one.
FailureOr<SmallVector<Value>>
decomposeAggregate(linalg::AggregatedOpInterface op, OpBuilder &builder);

} // namespace mlir::ansor

#endif // ANSOR_IR_DECOMPOSE_H
