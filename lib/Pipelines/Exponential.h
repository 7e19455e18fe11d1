//===- Exponential.h - The exponential function on vectors ------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_PIPELINES_EXPONENTIAL_H
#define ANSOR_LIB_PIPELINES_EXPONENTIAL_H

#include "ansor/Target/Target.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::ansor {

/// Expands math.exp on f32, as a scalar or on vectors, for `target`.
void populateExponentialPatterns(RewritePatternSet &patterns,
                                 const TargetInfo &target);

} // namespace mlir::ansor

#endif // ANSOR_LIB_PIPELINES_EXPONENTIAL_H
