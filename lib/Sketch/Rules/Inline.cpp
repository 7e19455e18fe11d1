//===- Inline.cpp - Cheap stages are computed with their users --*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "Always inline" (OSDI 2020): an elementwise stage with a cheap body is
// computed again wherever it is used, in the innermost tile of its consumer
// that holds its producers.
//
//===----------------------------------------------------------------------===//

#include "../Rules.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {
class InlineRule : public FuseWithConsumersRule {
public:
  StringRef getName() const override { return "inline"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    const Stage &stage = context.graph.getStage(index);
    if (!stage.elementwise || stage.initializer)
      return Match::Skip;
    // The paper never computes an expensive body twice on a CPU.
    if (!stage.inlinable && context.space == SpaceKind::Ansor)
      return Match::Skip;
    SketchState trial = state;
    if (failed(fuseWithConsumers(context, trial, index)))
      return Match::Skip;
    if (!stage.inlinable)
      return Match::Apply;
    // It may be the consumer of an anchor rather than a producer.
    bool consumer = findAnchor(context, state, index, [](const Stage &anchor) {
                      return anchor.structured && anchor.reduces;
                    }).has_value();
    return consumer && context.space == SpaceKind::Full
               ? Match::Apply
               : Match::ApplyAndSkipRest;
  }
};
} // namespace

std::unique_ptr<SketchRule> mlir::ansor::createInlineRule() {
  return std::make_unique<InlineRule>();
}
