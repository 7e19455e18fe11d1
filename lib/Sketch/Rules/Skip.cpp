//===- Skip.cpp - Stages that are left alone --------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage that no other rule takes stays at the root as it is. What a consumer
// must not compute in its tiles is kept out of their reach: a value that has
// its own allocation is not fused.
//
//===----------------------------------------------------------------------===//

#include "../Rules.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {
class SkipRule : public SketchRule {
public:
  StringRef getName() const override { return "skip"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    return Match::Apply;
  }

  void apply(const SketchContext &context, const SketchState &state,
             unsigned index,
             std::vector<Successor> &successors) const override {
    SketchState next = state;
    const Stage &stage = context.graph.getStage(index);
    if (stage.barrier && !stage.consumers.empty()) {
      next.addNest(makeTextNest(
          index,
          "{result} = transform.get_result {op}[all] : (!transform.any_op) -> "
          "!transform.any_value\n    transform.structured.promote_tensor "
          "{result} : !transform.any_value"));
    }
    next.status[index] = StageStatus::Alone;
    successors.emplace_back(std::move(next), static_cast<int>(index) - 1);
  }
};
} // namespace

std::unique_ptr<SketchRule> mlir::ansor::createSkipRule() {
  return std::make_unique<SkipRule>();
}
