//===- Initializer.cpp - Initial values are computed with their user -*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage that reads no tensor (the initial value of a reduction) is computed
// where its user is, in the tile that the user accumulates into.
//
//===----------------------------------------------------------------------===//

#include "../Rules.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {
class InitializerRule : public FuseWithConsumersRule {
public:
  StringRef getName() const override { return "initialize"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    if (!context.graph.getStage(index).initializer)
      return Match::Skip;
    SketchState trial = state;
    return succeeded(fuseWithConsumers(context, trial, index))
               ? Match::ApplyAndSkipRest
               : Match::Skip;
  }
};
} // namespace

std::unique_ptr<SketchRule> mlir::ansor::createInitializerRule() {
  return std::make_unique<InitializerRule>();
}
