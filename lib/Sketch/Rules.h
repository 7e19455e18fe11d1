//===- Rules.h - Built-in derivation rules ----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_SKETCH_RULES_H
#define ANSOR_LIB_SKETCH_RULES_H

#include "ansor/Sketch/SketchRule.h"

namespace mlir::ansor {

std::unique_ptr<SketchRule> createInitializerRule();
std::unique_ptr<SketchRule> createInlineRule();
std::unique_ptr<SketchRule> createPadRule();
std::unique_ptr<SketchRule> createRfactorRule();
std::unique_ptr<SketchRule> createRowWiseRule();
std::unique_ptr<SketchRule> createTileAndFuseRule();
std::unique_ptr<SketchRule> createTileRule();
std::unique_ptr<SketchRule> createTileReductionRule();
std::unique_ptr<SketchRule> createTileElementwiseRule();
std::unique_ptr<SketchRule> createSkipRule();

} // namespace mlir::ansor

#endif // ANSOR_LIB_SKETCH_RULES_H
