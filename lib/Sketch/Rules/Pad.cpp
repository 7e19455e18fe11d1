//===- Pad.cpp - Where padding is done --------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A padded tensor is either made as a whole before its users (a fill and a
// copy), or each tile pads what it reads.
//
//===----------------------------------------------------------------------===//

#include "../Rules.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {
class PadRule : public SketchRule {
public:
  StringRef getName() const override { return "pad"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    return context.graph.getStage(index).pad ? Match::ApplyAndSkipRest
                                             : Match::Skip;
  }

  void apply(const SketchContext &context, const SketchState &state,
             unsigned index,
             std::vector<Successor> &successors) const override {
    SketchState whole = state;
    Nest nest;
    nest.root = index;
    nest.members.push_back({index, -1, {}});
    Step step;
    step.kind = Step::Kind::Text;
    step.stage = index;
    step.text = "{result} = transform.structured.rewrite_in_destination_"
                "passing_style {op} : (!transform.any_op) -> "
                "!transform.any_op";
    nest.steps.push_back(std::move(step));
    whole.addNest(std::move(nest));
    successors.emplace_back(std::move(whole), static_cast<int>(index) - 1);
  }
};
} // namespace

std::unique_ptr<SketchRule> mlir::ansor::createPadRule() {
  return std::make_unique<PadRule>();
}
