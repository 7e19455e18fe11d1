//===- TileReduction.cpp - Tiling of reductions without reuse ---*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction that reads each element once per result (a sum of rows, a
// pooling): parallel tiles of the results, tiles of a few results in them, and
// in these the reduction, tile by tile. An elementwise consumer is computed
// with its tile of results.
//
//===----------------------------------------------------------------------===//

#include "MultiLevelTiling.h"

using namespace mlir;
using namespace mlir::ansor;

/// The loop along the fastest dimension of the first tensor that is read.
static int fastestReadLoop(const Stage &stage) {
  if (stage.reads.empty() || stage.reads.front().map.getNumResults() == 0)
    return -1;
  auto dim = dyn_cast<AffineDimExpr>(
      stage.reads.front().map.getResults().back());
  return dim ? static_cast<int>(dim.getPosition()) : -1;
}

static bool isReduction(const Stage &stage) {
  return stage.structured && stage.reduces && !stage.needsTiling;
}

/// Adds the nest of `index`, computed with `consumer` if there is one.
static void addReductionNest(const SketchContext &context, SketchState &state,
                             unsigned index,
                             std::optional<MatchedConsumer> consumer) {
  const Stage &stage = context.graph.getStage(index);
  unsigned numLoops = stage.loops.size();
  SmallVector<TileSize> outer(numLoops), inner(numLoops), steps(numLoops);
  SmallVector<LoopCut> cuts =
      chooseCuts(context, stage, fastestReadLoop(stage));
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    if (!stage.loops[loop].reduction) {
      outer[loop] = addTileKnob(state, stage, loop, 0, 2, cuts[loop]);
      inner[loop] = addTileKnob(state, stage, loop, 1, 2, cuts[loop]);
    } else if (stage.cuttable) {
      steps[loop] = addTileKnob(state, stage, loop, 0, 1, cuts[loop]);
    }
  }

  Nest nest;
  nest.root = consumer ? consumer->stage : index;
  auto rootTiles = [&](ArrayRef<TileSize> tiles) {
    return consumer ? consumerTiles(*consumer, tiles)
                    : SmallVector<TileSize>(tiles);
  };
  Step parallel;
  parallel.kind = Step::Kind::FuseForall;
  parallel.stage = nest.root;
  parallel.sizes = rootTiles(outer);
  nest.steps.push_back(parallel);
  Step results;
  results.kind = Step::Kind::Fuse;
  results.stage = nest.root;
  results.from = 0;
  results.sizes = rootTiles(inner);
  results.vectorize = consumer.has_value();
  nest.steps.push_back(results);
  Step body;
  body.kind = Step::Kind::Tile;
  body.stage = index;
  body.from = consumer ? -1 : 1;
  body.scope = consumer ? 1 : -1;
  body.sizes = steps;
  body.order = spatialFirst(stage);
  body.vectorize = true;
  KnobDomain unroll;
  unroll.kind = KnobKind::Unroll;
  unroll.stage = stage.tag;
  if (context.space == SpaceKind::Ansor)
    unroll.values = {0, 16, 64, 512};
  else
    unroll.values = {0, 2, 4, 8, 16};
  bool loops = llvm::any_of(
      steps, [](const TileSize &size) { return !size.isZero(); });
  if (loops) {
    body.unroll = ("s" + Twine(stage.tag) + ".unroll").str();
    state.addKnob(body.unroll, unroll);
  }
  nest.steps.push_back(body);

  SmallVector<TileSize> tile = inner;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (stage.loops[loop].reduction)
      tile[loop] = steps[loop];
  if (consumer)
    nest.members.push_back({nest.root, 1, rootTiles(inner), false, false});
  nest.members.push_back({index, 1, tile, false, false});
  state.addNest(std::move(nest));
  if (consumer)
    for (unsigned between : llvm::reverse(consumer->between))
      (void)fuseWithConsumers(context, state, between);
  addTileConstraints(context, state, index, tile, tile);
}

namespace {
class TileReductionRule : public SketchRule {
public:
  StringRef getName() const override { return "tile-reduction"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    const Stage &stage = context.graph.getStage(index);
    if (findAnchor(context, state, index, isReduction))
      return Match::ApplyAndSkipRest;
    if (!isReduction(stage))
      return Match::Skip;
    return stage.hasTileableLoop(/*reduction=*/false) ||
                   (stage.cuttable &&
                    stage.hasTileableLoop(/*reduction=*/true))
               ? Match::ApplyAndSkipRest
               : Match::Skip;
  }

  void apply(const SketchContext &context, const SketchState &state,
             unsigned index,
             std::vector<Successor> &successors) const override {
    unsigned anchor = index;
    std::optional<MatchedConsumer> consumer;
    if (auto found = findAnchor(context, state, index, isReduction)) {
      anchor = found->first;
      consumer = found->second;
    }
    SketchState next = state;
    addReductionNest(context, next, anchor, consumer);
    successors.emplace_back(std::move(next), static_cast<int>(index) - 1);
    addBorders(context, state, anchor, consumer, index, successors);
  }

private:
  /// A pooling of a padded image: without its borders it reads the image as it
  /// is. The window is a tile of the reduction.
  static void addBorders(const SketchContext &context,
                         const SketchState &state, unsigned anchor,
                         const std::optional<MatchedConsumer> &consumer,
                         unsigned index, std::vector<Successor> &successors) {
    if (context.space != SpaceKind::Full)
      return;
    MultiLevelOptions options;
    options.consumer = consumer;
    options.fuseLevel = consumer ? 2 : 0;
    options.borders = findBorders(context, anchor, consumer);
    if (options.borders.empty())
      return;
    SketchState next = state;
    for (const Border &border : options.borders)
      next.derivation.push_back(
          describe(border, context.graph.getStage(anchor)));
    addMultiLevelNest(context, next, anchor, options);
    successors.emplace_back(std::move(next), static_cast<int>(index) - 1);
  }
};
} // namespace

std::unique_ptr<SketchRule> mlir::ansor::createTileReductionRule() {
  return std::make_unique<TileReductionRule>();
}
