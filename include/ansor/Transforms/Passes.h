//===- Passes.h - Passes of the auto-scheduler ------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_TRANSFORMS_PASSES_H
#define ANSOR_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::ansor {

#define GEN_PASS_DECL
#include "ansor/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ansor/Transforms/Passes.h.inc"

} // namespace mlir::ansor

#endif // ANSOR_TRANSFORMS_PASSES_H
