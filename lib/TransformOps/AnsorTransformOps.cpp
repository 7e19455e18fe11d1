//===- AnsorTransformOps.cpp - Ops of the transform dialect -----*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/TransformOps/AnsorTransformOps.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "ansor/TransformOps/AnsorTransformOps.cpp.inc"

void transform::ApplySplitInitialValuesPatternsOp::populatePatterns(
    RewritePatternSet &patterns) {
  mlir::ansor::populateSplitInitialValuesPatterns(patterns);
}

void transform::ApplyFoldPadsPatternsOp::populatePatterns(
    RewritePatternSet &patterns) {
  mlir::ansor::populateFoldPadsPatterns(patterns);
}

namespace {
class AnsorTransformExtension
    : public transform::TransformDialectExtension<AnsorTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AnsorTransformExtension)

  AnsorTransformExtension() {
    registerTransformOps<
#define GET_OP_LIST
#include "ansor/TransformOps/AnsorTransformOps.cpp.inc"
        >();
  }
};
} // namespace

void mlir::ansor::registerTransformExtension(DialectRegistry &registry) {
  registry.addExtensions<AnsorTransformExtension>();
}
