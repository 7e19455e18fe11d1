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

/// A rule whose stages are computed in the nests of their consumers.
class FuseWithConsumersRule : public SketchRule {
public:
  void apply(const SketchContext &context, const SketchState &state,
             unsigned index, std::vector<Successor> &successors) const override;
};

/// A nest of stage `index` made by one step of script text.
Nest makeTextNest(unsigned index, std::string text);

/// Whether `stage` only permutes the dimensions of the tensor that it reads.
bool permutesOnly(const Stage &stage);

std::unique_ptr<SketchRule> createInitializerRule();
std::unique_ptr<SketchRule> createInlineRule();
std::unique_ptr<SketchRule> createPadRule();
std::unique_ptr<SketchRule> createReadThroughRule();
std::unique_ptr<SketchRule> createRfactorRule();
std::unique_ptr<SketchRule> createRowWiseRule();
std::unique_ptr<SketchRule> createTileAndFuseRule();
std::unique_ptr<SketchRule> createTileRule();
std::unique_ptr<SketchRule> createTileReductionRule();
std::unique_ptr<SketchRule> createTileElementwiseRule();
std::unique_ptr<SketchRule> createSplitReductionRule();
std::unique_ptr<SketchRule> createSkipRule();

} // namespace mlir::ansor

#endif // ANSOR_LIB_SKETCH_RULES_H
