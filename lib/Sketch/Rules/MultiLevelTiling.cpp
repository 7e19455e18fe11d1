//===- MultiLevelTiling.cpp - Multi-level tiling ----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The nest of an anchor, from the outermost:
//
//   S0  scf.forall over tiles T0 of the parallel loops
//   S1  scf.for over tiles T1; the initial value is computed here
//   R0  scf.for over tiles of the reductions
//   S2  scf.for over tiles T2 (the register tile), and with it
//   R1  scf.for over the innermost tiles of the reductions
//
// With T1 = T2 and R0 as long as the reduction, a register tile is initialised,
// accumulated and (if the consumer is computed at S1) consumed without leaving
// the registers.
//
//===----------------------------------------------------------------------===//

#include "MultiLevelTiling.h"

using namespace mlir;
using namespace mlir::ansor;

/// Innermost tile of the paper's space.
static constexpr int64_t kAnsorMaxInnermost = 64;

void mlir::ansor::addMultiLevelNest(const SketchContext &context,
                                    SketchState &state, unsigned anchor,
                                    const MultiLevelOptions &options) {
  const Stage &stage = context.graph.getStage(anchor);
  unsigned numLoops = stage.loops.size();
  bool ansor = context.space == SpaceKind::Ansor;
  // The loop that becomes the vectors.
  int vectorLoop = stage.contiguousLoop();
  if (vectorLoop >= 0 && stage.loops[vectorLoop].reduction)
    vectorLoop = -1;

  SmallVector<TileSize> spatial[3], reduction[2];
  for (auto &tiles : spatial)
    tiles.resize(numLoops);
  for (auto &tiles : reduction)
    tiles.resize(numLoops);
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    const StageLoop &info = stage.loops[loop];
    if (!info.reduction) {
      int64_t multiple = static_cast<int>(loop) == vectorLoop && !ansor
                             ? vectorMultiple(context, stage, loop)
                             : 1;
      for (unsigned level = 0; level < 3; ++level)
        spatial[level][loop] =
            addTileKnob(state, stage, loop, level, 3, multiple,
                        ansor && level == 2 ? kAnsorMaxInnermost : 0);
      continue;
    }
    if (!stage.reorderable)
      continue;
    // A sliding window is never cut inside the vectors.
    for (unsigned level = 0; level < 2; ++level)
      reduction[level][loop] =
          addTileKnob(state, stage, loop, level, 2, 1,
                      level == 1 && info.window && !ansor
                          ? info.multipleOf
                          : (ansor && level == 1 ? kAnsorMaxInnermost : 0));
  }

  Nest nest;
  nest.root = options.consumer ? options.consumer->stage : anchor;
  auto addStep = [&](Step::Kind kind, unsigned index, int from, int scope,
                     ArrayRef<TileSize> sizes) -> Step & {
    Step step;
    step.kind = kind;
    step.stage = index;
    step.from = from;
    step.scope = scope;
    step.sizes.assign(sizes.begin(), sizes.end());
    nest.steps.push_back(std::move(step));
    return nest.steps.back();
  };
  auto last = [&]() { return static_cast<int>(nest.steps.size()) - 1; };
  auto rootTiles = [&](unsigned level) {
    return options.consumer ? consumerTiles(*options.consumer, spatial[level])
                            : spatial[level];
  };

  // S0 and S1.
  addStep(Step::Kind::FuseForall, nest.root, -1, -1, rootTiles(0));
  int rootStep = last(), anchorFrom = last(), anchorScope = -1;
  if (options.fuseLevel == 2) {
    addStep(Step::Kind::Fuse, nest.root, rootStep, -1, rootTiles(1));
    rootStep = last();
    anchorFrom = -1;
    anchorScope = last();
  } else {
    bool fused = options.fuseLevel == 1;
    addStep(Step::Kind::Fuse, anchor, fused ? -1 : rootStep,
            fused ? rootStep : -1, spatial[1]);
    anchorFrom = last();
  }
  int producerScope = last();

  // R0, then S2 and R1 at once.
  SmallVector<TileSize> inner = spatial[2];
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (stage.loops[loop].reduction)
      inner[loop] = reduction[1][loop];
  addStep(Step::Kind::Tile, anchor, anchorFrom, anchorScope, reduction[0]);
  Step &body = addStep(Step::Kind::Tile, anchor, last(), -1, inner);
  body.order = spatialFirst(stage);
  body.vectorize = true;
  if (stage.reduces) {
    KnobDomain unroll;
    unroll.kind = KnobKind::Unroll;
    unroll.stage = stage.tag;
    if (ansor)
      unroll.values = {0, 16, 64, 512};
    else
      unroll.values = {0, 2, 4, 8, 16};
    body.unroll = ("s" + Twine(stage.tag) + ".unroll").str();
    state.addKnob(body.unroll, unroll);
  }

  if (options.consumer) {
    // The consumer, register tile by register tile.
    Step &step = addStep(Step::Kind::Tile, nest.root, rootStep, -1,
                         rootTiles(2));
    step.vectorize = true;
    nest.members.push_back({nest.root, rootStep, rootTiles(2)});
  }
  nest.members.push_back({anchor, producerScope, inner});
  state.addNest(std::move(nest));
  if (options.consumer)
    for (unsigned between : llvm::reverse(options.consumer->between))
      (void)fuseWithConsumers(context, state, between);

  SmallVector<TileSize> cache = spatial[1];
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (stage.loops[loop].reduction)
      cache[loop] = reduction[0][loop];
  addTileConstraints(context, state, anchor, inner, cache);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Stages that the multi-level rules take.
static bool isAnchor(const Stage &stage) {
  return stage.needsTiling && stage.hasTileableLoop(/*reduction=*/false);
}

namespace {
/// Multi-level tiling: the anchor is the root of its nest.
class TileRule : public SketchRule {
public:
  StringRef getName() const override { return "tile"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    return isAnchor(context.graph.getStage(index)) ? Match::ApplyAndSkipRest
                                                   : Match::Skip;
  }

  void apply(const SketchContext &context, const SketchState &state,
             unsigned index,
             std::vector<Successor> &successors) const override {
    SketchState next = state;
    addMultiLevelNest(context, next, index, {});
    successors.emplace_back(std::move(next), static_cast<int>(index) - 1);
  }
};

/// Multi-level tiling that the consumer follows: two sketches. The rule takes
/// anchor and consumer when the consumer is visited.
class TileAndFuseRule : public SketchRule {
public:
  StringRef getName() const override { return "tile-and-fuse"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    return findAnchor(context, state, index, isAnchor)
               ? Match::ApplyAndSkipRest
               : Match::Skip;
  }

  void apply(const SketchContext &context, const SketchState &state,
             unsigned index,
             std::vector<Successor> &successors) const override {
    auto found = findAnchor(context, state, index, isAnchor);
    for (unsigned level : {2, 1}) {
      MultiLevelOptions options;
      options.consumer = found->second;
      options.fuseLevel = level;
      SketchState next = state;
      addMultiLevelNest(context, next, found->first, options);
      successors.emplace_back(std::move(next), static_cast<int>(index) - 1);
    }
  }
};
} // namespace

std::unique_ptr<SketchRule> mlir::ansor::createTileRule() {
  return std::make_unique<TileRule>();
}

std::unique_ptr<SketchRule> mlir::ansor::createTileAndFuseRule() {
  return std::make_unique<TileAndFuseRule>();
}
