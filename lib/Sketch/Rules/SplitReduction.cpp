//===- SplitReduction.cpp - Products in parts of the reduction --*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "Split-K": an anchor whose results make too few register tiles for the cores,
// over a long reduction. Parts of the reduction become a parallel loop, the
// outermost dimension of a tensor of partial results; each part is a product of
// its own with the usual levels of tiles. The partial results are added up, a
// few vectors at a time, in the tile of the consumer if there is one.
//
//   forall parts, T0 { T1 { initial value, R0 { T2, R1 } } }
//   for a few vectors of results { sum of the parts, consumer }
//
//===----------------------------------------------------------------------===//

#include "MultiLevelTiling.h"

using namespace mlir;
using namespace mlir::ansor;

/// Vectors of accumulators that keep the units busy.
static constexpr int64_t kTileVectors = 8;
/// Register tiles a core: with more of them the results are parallel enough.
static constexpr int64_t kTilesPerCore = 2;
/// Parts a core, at most.
static constexpr int64_t kPartsPerCore = 8;
/// Vectors of results that are added up at once.
static constexpr int64_t kSumVectors = 4;

/// The loop that is split, if `index` may be: one reduction loop whose partial
/// results are few, read at projections of the loops from outside of the task.
static int findSplitLoop(const SketchContext &context, unsigned index) {
  const Stage &stage = context.graph.getStage(index);
  SmallVector<unsigned> reductions = stage.reductionLoops();
  if (!stage.structured || !stage.needsTiling || !stage.reorderable ||
      stage.barrier || reductions.size() != 1 || !stage.write ||
      !stage.write.isProjectedPermutation())
    return -1;
  // Splitting reshapes the operands, which no producer is fused through.
  for (const StageRead &read : stage.reads)
    if (read.producer >= 0 || !read.map.isProjectedPermutation())
      return -1;
  unsigned loop = reductions.front();
  const StageLoop &info = stage.loops[loop];
  if (!info.tileable || info.multipleOf != 1)
    return -1;
  const TargetInfo &target = context.target;
  int64_t bound = std::min(info.extent, kTilesPerCore * target.cores *
                                            kTileVectors *
                                            target.lanes(stage.elementBits));
  int64_t results = 1;
  for (unsigned spatial : stage.spatialLoops()) {
    if (stage.loops[spatial].extent > bound / results)
      return -1;
    results *= stage.loops[spatial].extent;
  }
  return stage.hasTileableLoop(/*reduction=*/false) ? static_cast<int>(loop)
                                                    : -1;
}

/// The stage that computes nothing but the initial value of `index`, or -1.
static int findInitializer(const SketchContext &context, unsigned index) {
  for (unsigned producer : context.graph.getStage(index).producers) {
    const Stage &initial = context.graph.getStage(producer);
    if (initial.initializer && initial.consumers.size() == 1 &&
        !initial.output)
      return producer;
  }
  return -1;
}

namespace {
/// Builds the nest of one anchor.
class SplitBuilder {
public:
  SplitBuilder(const SketchContext &context, SketchState &state,
               unsigned anchor, std::optional<MatchedConsumer> consumer)
      : context(context), state(state), anchor(anchor),
        stage(context.graph.getStage(anchor)), consumer(consumer),
        splitLoop(findSplitLoop(context, anchor)),
        initializer(findInitializer(context, anchor)) {}

  void build() {
    nest.root = consumer ? consumer->stage : anchor;
    makeTiles();
    addParts();
    addSum();
    state.addNest(std::move(nest));
    if (consumer)
      for (unsigned between : llvm::reverse(consumer->between))
        (void)fuseWithConsumers(context, state, between);
    SmallVector<TileSize> body = spatial[2], cache = spatial[1];
    body[splitLoop] = reduction[2];
    cache[splitLoop] = reduction[1];
    addTileConstraints(context, state, anchor, body, cache);
    SketchConstraint parts;
    parts.name = "parts";
    parts.reason = "the reduction is split in no more parts than keep the "
                   "cores busy";
    parts.terms.push_back({-1, {reduction[0].knob}});
    parts.max = -llvm::divideCeil(stage.loops[splitLoop].extent,
                                  kPartsPerCore * context.target.cores);
    state.addConstraint(std::move(parts));
  }

private:
  void makeTiles();
  void addParts();
  void addSum();

  /// `tiles` of the anchor's loops for those of the split one, whose first loop
  /// is over the parts.
  SmallVector<TileSize> withParts(ArrayRef<TileSize> tiles, TileSize part,
                                  TileSize rest) {
    SmallVector<TileSize> result(tiles);
    result[splitLoop] = rest;
    result.insert(result.begin(), part);
    return result;
  }

  int addStep(Step::Kind kind, unsigned index, int from, int scope,
              ArrayRef<TileSize> sizes, bool vectorize = false) {
    Step step;
    step.kind = kind;
    step.stage = index;
    step.from = from;
    step.scope = scope;
    step.sizes.assign(sizes.begin(), sizes.end());
    step.vectorize = vectorize;
    nest.steps.push_back(std::move(step));
    return static_cast<int>(nest.steps.size()) - 1;
  }

  const SketchContext &context;
  SketchState &state;
  unsigned anchor;
  const Stage &stage;
  std::optional<MatchedConsumer> consumer;
  int splitLoop, initializer;
  Nest nest;
  SmallVector<TileSize> spatial[3];
  TileSize reduction[3]; ///< a part, R0, R1
};
} // namespace

void SplitBuilder::makeTiles() {
  for (auto &tiles : spatial)
    tiles.resize(stage.loops.size());
  for (unsigned loop : stage.spatialLoops()) {
    int64_t multiple = static_cast<int>(loop) == stage.contiguousLoop()
                           ? vectorMultiple(context, stage, loop)
                           : 1;
    for (unsigned level = 0; level < 3; ++level)
      spatial[level][loop] =
          addTileKnob(state, stage, loop, level, 3, multiple);
  }
  int64_t extent = stage.loops[splitLoop].extent;
  int64_t group = productGroup(stage, splitLoop);
  for (unsigned level = 0; level < 3; ++level)
    reduction[level] = addTileKnob(state, stage, splitLoop, level, 3, group,
                                   /*max=*/level == 0 ? extent / 2 : 0);
}

/// The parts: what the op becomes, and its tiles.
void SplitBuilder::addParts() {
  int split = addStep(Step::Kind::Text, anchor, -1, -1, {});
  auto setTag = [&](StringRef suffix, unsigned index) {
    int64_t tag = context.graph.getStage(index).tag;
    std::string handle = ("{result}" + suffix).str();
    return "\n    " + handle + "_t = transform.param.constant " +
           std::to_string(tag) + " : i64 -> !transform.param<i64>" +
           "\n    transform.annotate " + handle + " \"ansor.stage\" = " +
           handle + "_t : !transform.any_op, !transform.param<i64>";
  };
  // Sums are matched by the anchor's tag, the parts by their handle.
  nest.steps[split].text =
      "{result}_i, {result}_f, {result}, {result}_c = "
      "transform.structured.split_reduction {op} {split_factor = 2 : i64, "
      "insert_split_dimension = 0 : i64, ansor.bind = {split_factor = {knob = "
      "\"" + reduction[0].knob + "\", extent = " +
      std::to_string(stage.loops[splitLoop].extent) +
      " : i64}}} : (!transform.any_op) -> (!transform.any_op, "
      "!transform.any_op, !transform.any_op, !transform.any_op)" +
      setTag("_c", anchor) + setTag("_f", initializer);

  int root = addStep(Step::Kind::FuseForall, anchor, split, -1,
                     withParts(spatial[0], 1, 0));
  int tile = addStep(Step::Kind::Fuse, anchor, root, -1,
                     withParts(spatial[1], 0, 0));
  int outer = addStep(
      Step::Kind::Tile, anchor, tile, -1,
      withParts(SmallVector<TileSize>(stage.loops.size()), 0, reduction[1]));
  int body = addStep(Step::Kind::Tile, anchor, outer, -1,
                     withParts(spatial[2], 0, reduction[2]),
                     /*vectorize=*/true);
  for (unsigned loop = 0; loop <= stage.loops.size(); ++loop)
    if (static_cast<int>(loop) != splitLoop + 1)
      nest.steps[body].order.push_back(loop);
  nest.steps[body].order.push_back(splitLoop + 1);
  KnobDomain unroll;
  unroll.kind = KnobKind::Unroll;
  unroll.stage = stage.tag;
  unroll.values = {0, 2, 4, 8, 16};
  nest.steps[body].unroll = ("s" + Twine(stage.tag) + ".unroll").str();
  state.addKnob(nest.steps[body].unroll, unroll);
  // The initial value of the parts has the dimensions of their results.
  SmallVector<TileSize> fill = {TileSize(0)};
  for (AffineExpr expr : stage.write.getResults())
    fill.push_back(spatial[2][cast<AffineDimExpr>(expr).getPosition()]);
  addStep(Step::Kind::Tile, initializer, -1, tile, fill, /*vectorize=*/true);
}

/// The sum of the parts, and the consumer.
void SplitBuilder::addSum() {
  SmallVector<TileSize> tiles(stage.loops.size());
  int64_t left = kSumVectors * context.target.lanes(stage.elementBits);
  for (AffineExpr expr : llvm::reverse(stage.write.getResults())) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    int64_t extent = stage.loops[loop].extent;
    // Whole vectors; both units divide the extent.
    int64_t unit = static_cast<int>(loop) == stage.contiguousLoop()
                       ? vectorMultiple(context, stage, loop)
                       : 1;
    int64_t size = std::max(unit, std::min(extent, left));
    while (size > unit && (extent % size || size % unit))
      --size;
    left /= size;
    if (extent > 1)
      tiles[loop] = size;
  }
  // The loops of the sum: the parts, then the dimensions of the result.
  SmallVector<TileSize> sum = {TileSize(0)};
  for (AffineExpr expr : stage.write.getResults())
    sum.push_back(tiles[cast<AffineDimExpr>(expr).getPosition()]);
  int scope;
  if (consumer) {
    SmallVector<TileSize> root = consumerTiles(*consumer, tiles);
    scope = addStep(Step::Kind::Fuse, nest.root, -1, -1, root,
                    /*vectorize=*/true);
    addStep(Step::Kind::Tile, anchor, -1, scope, sum, /*vectorize=*/true);
    nest.members.push_back({nest.root, scope, root, false, false});
  } else {
    scope = addStep(Step::Kind::Fuse, anchor, -1, -1, sum, /*vectorize=*/true);
  }
  nest.members.push_back({anchor, scope, tiles, false, false});
}

namespace {
class SplitReductionRule : public SketchRule {
public:
  StringRef getName() const override { return "split-reduction"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    auto found = find(context, state, index);
    return found && findInitializer(context, found->first) >= 0
               ? Match::Apply
               : Match::Skip;
  }

  void apply(const SketchContext &context, const SketchState &state,
             unsigned index,
             std::vector<Successor> &successors) const override {
    auto [anchor, consumer] = *find(context, state, index);
    SketchState next = state;
    SplitBuilder(context, next, anchor, consumer).build();
    successors.emplace_back(std::move(next), static_cast<int>(index) - 1);
  }

private:
  /// The anchor that is taken when stage `index` is visited: with its consumer.
  static std::optional<std::pair<unsigned, std::optional<MatchedConsumer>>>
  find(const SketchContext &context, const SketchState &state,
       unsigned index) {
    for (unsigned anchor = 0; anchor <= index; ++anchor) {
      if (state.status[anchor] != StageStatus::Open ||
          findSplitLoop(context, anchor) < 0)
        continue;
      auto consumer = context.graph.matchedConsumer(anchor);
      if (consumer ? consumer->stage == index : anchor == index)
        return std::make_pair(anchor, consumer);
    }
    return std::nullopt;
  }
};
} // namespace

std::unique_ptr<SketchRule> mlir::ansor::createSplitReductionRule() {
  return std::make_unique<SplitReductionRule>();
}
