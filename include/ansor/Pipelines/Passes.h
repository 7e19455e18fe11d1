//===- Passes.h - Passes of the code generation -----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_PIPELINES_PASSES_H
#define ANSOR_PIPELINES_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::ansor {

#define GEN_PASS_DECL
#include "ansor/Pipelines/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ansor/Pipelines/Passes.h.inc"

} // namespace mlir::ansor

#endif // ANSOR_PIPELINES_PASSES_H
