//===- AnsorTransformOps.td - transform.ansor ops ----------*- tablegen -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_TRANSFORMOPS_ANSORTRANSFORMOPS_TD
#define ANSOR_TRANSFORMOPS_ANSORTRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Dialect/Transform/IR/TransformTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

#endif // ANSOR_TRANSFORMOPS_ANSORTRANSFORMOPS_TD
