//===- SketchRule.cpp - Registry and helpers of derivation rules -*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Sketch/SketchRule.h"
#include "Rules.h"
#include "ansor/IR/AnsorDialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <mutex>
#include <numeric>

using namespace mlir;
using namespace mlir::ansor;

SketchRule::~SketchRule() = default;

//===----------------------------------------------------------------------===//
// Registry
//===----------------------------------------------------------------------===//

namespace {
struct Registry {
  std::mutex mutex;
  std::vector<std::function<std::unique_ptr<SketchRule>()>> factories;
};
} // namespace

static Registry &getRegistry() {
  static Registry registry;
  return registry;
}

void mlir::ansor::registerSketchRule(
    std::function<std::unique_ptr<SketchRule>()> factory) {
  Registry &registry = getRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.factories.push_back(std::move(factory));
}

SketchRules mlir::ansor::getSketchRules(SpaceKind space) {
  SketchRules rules;
  {
    Registry &registry = getRegistry();
    std::lock_guard<std::mutex> lock(registry.mutex);
    for (auto &factory : registry.factories)
      rules.push_back(factory());
  }
  rules.push_back(createInitializerRule());
  rules.push_back(createPadRule());
  rules.push_back(createReadThroughRule());
  rules.push_back(createInlineRule());
  if (space == SpaceKind::Full)
    rules.push_back(createRowWiseRule());
  rules.push_back(createRfactorRule());
  if (space == SpaceKind::Full)
    rules.push_back(createSplitReductionRule());
  rules.push_back(createTileAndFuseRule());
  rules.push_back(createTileRule());
  rules.push_back(createTileReductionRule());
  rules.push_back(createTileElementwiseRule());
  rules.push_back(createSkipRule());
  return rules;
}

//===----------------------------------------------------------------------===//
// SketchState
//===----------------------------------------------------------------------===//

TileSize SketchState::addKnob(StringRef name, KnobDomain domain) {
  if (llvm::none_of(knobs, [&](auto &knob) { return knob.name == name; }))
    knobs.push_back({name.str(), std::move(domain)});
  return TileSize(name.str());
}

void SketchState::addConstraint(SketchConstraint constraint) {
  constraints.push_back(std::move(constraint));
}

unsigned SketchState::addNest(Nest nest) {
  unsigned index = nests.size();
  for (const NestMember &member : nest.members) {
    status[member.stage] = member.stage == nest.root ? StageStatus::Root
                                                     : StageStatus::Fused;
    nestOf[member.stage] = index;
  }
  nests.push_back(std::move(nest));
  return index;
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

TileSize mlir::ansor::addTileKnob(SketchState &state, const Stage &stage,
                                  unsigned loop, unsigned level,
                                  unsigned levels, int64_t multipleOf,
                                  int64_t max, int64_t extent,
                                  TilePolicy policy) {
  const StageLoop &info = stage.loops[loop];
  if (info.extent == 1 || !info.tileable)
    return TileSize(0);
  KnobDomain domain;
  domain.kind = KnobKind::Tile;
  domain.stage = stage.tag;
  domain.loop = loop;
  domain.level = level;
  domain.levels = levels;
  domain.extent = extent ? extent : info.extent;
  domain.multipleOf = std::lcm(info.multipleOf, multipleOf);
  domain.max = max;
  domain.policy = policy;
  std::string name = ("s" + Twine(stage.tag) + ".d" + Twine(loop) + ".l" +
                      Twine(level))
                         .str();
  return state.addKnob(name, domain);
}

int64_t mlir::ansor::vectorMultiple(const SketchContext &context,
                                    const Stage &stage, unsigned loop) {
  int64_t extent = stage.loops[loop].extent;
  int64_t multiple = context.target.lanes(stage.elementBits);
  while (multiple > 1 && extent % multiple)
    multiple /= 2;
  return multiple;
}

/// Divisors, multiples of the vector's length, that leave a choice.
static constexpr int64_t kManyDivisors = 4;
/// Loops up to this length, windows mostly, are cut by divisors.
static constexpr int64_t kShortLoop = 16;
/// A stage with fewer tilings than this has little to choose from.
static constexpr int64_t kManyTilings = 24;
/// Tiles of a loop that leave a choice.
static constexpr int64_t kManyTiles = 10;

/// Numbers of (chains of) tiles that are divisors and multiples of `multiple`.
static std::pair<int64_t, int64_t> countDivisors(int64_t extent,
                                                 int64_t multiple) {
  SmallVector<int64_t> sizes;
  auto add = [&](int64_t size) {
    if (size % multiple == 0)
      sizes.push_back(size);
  };
  for (int64_t size = 1; size <= extent / size; ++size) {
    if (extent % size)
      continue;
    add(size);
    if (size != extent / size)
      add(extent / size);
  }
  int64_t chains = 0;
  for (int64_t outer : sizes)
    chains += llvm::count_if(
        sizes, [&](int64_t inner) { return outer % inner == 0; });
  return {sizes.size(), chains};
}

SmallVector<LoopCut> mlir::ansor::chooseCuts(const SketchContext &context,
                                             const Stage &stage,
                                             int vectorLoop) {
  SmallVector<LoopCut> cuts(stage.loops.size());
  if (context.space == SpaceKind::Ansor)
    return cuts;
  int64_t lanes = context.target.lanes(stage.elementBits), tilings = 1;
  for (auto [loop, info] : llvm::enumerate(stage.loops)) {
    if (!info.tileable || info.extent == 1)
      continue;
    bool vectors = static_cast<int>(loop) == vectorLoop;
    if (vectors)
      cuts[loop].multipleOf = vectorMultiple(context, stage, loop);
    auto [divisors, chains] = countDivisors(
        info.extent, std::lcm(cuts[loop].multipleOf, info.multipleOf));
    bool ragged = vectors ? info.extent > lanes && info.extent % lanes
                          : info.extent > kShortLoop;
    if (ragged && divisors < kManyDivisors) {
      cuts[loop].policy = TilePolicy::Remainder;
      tilings = kManyTilings;
    }
    if (!info.reduction || stage.cuttable)
      tilings = std::min(kManyTilings,
                         tilings * (info.reduction ? divisors : chains));
  }
  for (auto [loop, info] : llvm::enumerate(stage.loops)) {
    if (tilings < kManyTilings)
      cuts[loop].policy = TilePolicy::Remainder;
    if (cuts[loop].policy == TilePolicy::Divisor)
      continue;
    cuts[loop].multipleOf = 1;
    if (static_cast<int>(loop) == vectorLoop)
      while (cuts[loop].multipleOf * 2 <=
             std::min(lanes, info.extent / kManyTiles))
        cuts[loop].multipleOf *= 2;
  }
  return cuts;
}

TileSize mlir::ansor::addTileKnob(SketchState &state, const Stage &stage,
                                  unsigned loop, unsigned level,
                                  unsigned levels, const LoopCut &cut) {
  return addTileKnob(state, stage, loop, level, levels, cut.multipleOf,
                     /*max=*/0, /*extent=*/0,
                     level == 0 ? cut.policy : TilePolicy::Divisor);
}

SmallVector<int64_t> mlir::ansor::spatialFirst(const Stage &stage) {
  SmallVector<int64_t> order;
  for (bool reduction : {false, true})
    for (auto [index, loop] : llvm::enumerate(stage.loops))
      if (loop.reduction == reduction)
        order.push_back(index);
  if (llvm::is_sorted(order))
    order.clear();
  return order;
}

SmallVector<TileSize> mlir::ansor::followTiles(const SketchContext &context,
                                               const Stage &stage,
                                               AffineMap read,
                                               ArrayRef<TileSize> tiles) {
  SmallVector<TileSize> result(stage.loops.size());
  // Another result than the first may have another rank.
  if (stage.write.getNumResults() != read.getNumResults())
    return result;
  for (auto [written, asked] :
       llvm::zip_equal(stage.write.getResults(), read.getResults())) {
    auto from = dyn_cast<AffineDimExpr>(written);
    if (!from || stage.loops[from.getPosition()].extent == 1)
      continue;
    unsigned loop = from.getPosition();
    auto to = dyn_cast<AffineDimExpr>(asked);
    if (to && !tiles[to.getPosition()].isZero())
      result[loop] = tiles[to.getPosition()];
    else if (static_cast<int>(loop) == stage.contiguousLoop())
      result[loop] = vectorMultiple(context, stage, loop);
    else
      result[loop] = 1;
  }
  return result;
}

bool mlir::ansor::isRepeated(const SketchContext &context, const Nest &nest,
                             unsigned stage) {
  llvm::SmallDenseSet<unsigned> users;
  for (const NestMember &member : nest.members) {
    if (!llvm::is_contained(context.graph.getStage(member.stage).producers,
                            stage))
      continue;
    if (member.repeated)
      return true;
    users.insert(member.stage);
  }
  return users.size() > 1;
}

LogicalResult mlir::ansor::fuseWithConsumers(const SketchContext &context,
                                             SketchState &state,
                                             unsigned index) {
  const Stage &stage = context.graph.getStage(index);
  if (stage.consumers.empty() || stage.output || stage.barrier)
    return failure();
  SmallVector<unsigned> done;
  for (unsigned consumer : stage.consumers) {
    int nestIndex = state.nestOf[consumer];
    if (nestIndex < 0)
      return failure();
    if (llvm::is_contained(done, nestIndex))
      continue;
    done.push_back(nestIndex);
    Nest &nest = state.nests[nestIndex];
    const Stage &userStage = context.graph.getStage(consumer);
    AffineMap read = userStage.write;
    bool initial = true;
    for (const StageRead &candidate : userStage.reads)
      if (candidate.producer == static_cast<int>(index)) {
        read = candidate.map;
        initial = false;
      }
    if (!stage.write || !read)
      return failure();
    bool repeated = isRepeated(context, nest, index);
    SmallVector<NestMember> added;
    for (const NestMember &user : nest.members) {
      if (user.stage != consumer)
        continue;
      if (initial && user.initialOutside)
        return failure();
      NestMember member;
      member.stage = index;
      member.scope = user.scope;
      member.repeated = repeated;
      member.tile = followTiles(context, stage, read, user.tile);
      Step step;
      step.kind = Step::Kind::Tile;
      step.stage = index;
      step.scope = member.scope;
      step.sizes = member.tile;
      step.vectorize = true;
      step.repeated = repeated;
      nest.steps.push_back(std::move(step));
      added.push_back(std::move(member));
    }
    if (added.empty())
      return failure();
    nest.members.insert(nest.members.end(), added.begin(), added.end());
    state.nestOf[index] = nestIndex;
  }
  state.status[index] = StageStatus::Fused;
  return success();
}

std::optional<std::pair<unsigned, MatchedConsumer>>
mlir::ansor::findAnchor(const SketchContext &context, const SketchState &state,
                        unsigned consumer,
                        function_ref<bool(const Stage &)> accept) {
  for (unsigned index = consumer; index-- > 0;) {
    if (state.status[index] != StageStatus::Open ||
        !accept(context.graph.getStage(index)))
      continue;
    auto match = context.graph.matchedConsumer(index);
    if (match && match->stage == consumer)
      return std::make_pair(index, *match);
  }
  return std::nullopt;
}

SmallVector<TileSize> mlir::ansor::consumerTiles(const MatchedConsumer &consumer,
                                                 ArrayRef<TileSize> tiles) {
  SmallVector<TileSize> result;
  for (unsigned loop : consumer.anchorLoop)
    result.push_back(tiles[loop]);
  return result;
}
