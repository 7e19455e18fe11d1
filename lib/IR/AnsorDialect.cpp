//===- AnsorDialect.cpp - The ansor dialect ---------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/IR/AnsorDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace mlir::ansor;

#include "ansor/IR/AnsorDialect.cpp.inc"

void AnsorDialect::initialize() {}

LogicalResult AnsorDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attr) {
  return success();
}
