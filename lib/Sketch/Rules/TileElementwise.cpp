//===- TileElementwise.cpp - Tiling without data reuse ----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage without reduction and without reuse: parallel tiles, and in them
// tiles of a few vectors.
//
//===----------------------------------------------------------------------===//

#include "../Rules.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {
class TileElementwiseRule : public SketchRule {
public:
  StringRef getName() const override { return "tile-elementwise"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    const Stage &stage = context.graph.getStage(index);
    return stage.structured && !stage.reduces &&
                   stage.hasTileableLoop(/*reduction=*/false)
               ? Match::ApplyAndSkipRest
               : Match::Skip;
  }

  void apply(const SketchContext &context, const SketchState &state,
             unsigned index,
             std::vector<Successor> &successors) const override {
    SketchState next = state;
    const Stage &stage = context.graph.getStage(index);
    unsigned numLoops = stage.loops.size();
    SmallVector<TileSize> outer(numLoops), inner(numLoops);
    SmallVector<LoopCut> cuts =
        chooseCuts(context, stage, stage.contiguousLoop());
    for (unsigned loop = 0; loop < numLoops; ++loop) {
      outer[loop] = addTileKnob(next, stage, loop, 0, 2, cuts[loop]);
      inner[loop] = addTileKnob(next, stage, loop, 1, 2, cuts[loop]);
    }
    Nest nest;
    nest.root = index;
    Step parallel;
    parallel.kind = Step::Kind::FuseForall;
    parallel.stage = index;
    parallel.sizes = outer;
    nest.steps.push_back(parallel);
    Step body;
    body.kind = Step::Kind::Fuse;
    body.stage = index;
    body.from = 0;
    body.sizes = inner;
    body.vectorize = true;
    nest.steps.push_back(body);
    nest.members.push_back({index, 1, inner, false, false});
    next.addNest(std::move(nest));
    addTileConstraints(context, next, index, inner, inner);
    successors.emplace_back(std::move(next), static_cast<int>(index) - 1);
  }
};
} // namespace

std::unique_ptr<SketchRule> mlir::ansor::createTileElementwiseRule() {
  return std::make_unique<TileElementwiseRule>();
}
