//===- Rfactor.cpp - Reductions in parallel parts ---------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "Add rfactor" (OSDI 2020): a reduction with few results is factored along its
// longest loop, in two forms. It needs a neutral element.
//
//   outer  parts of the loop are reduced in parallel into partial results,
//          which are combined at the end
//   inner  the new axis is the innermost, and as long as a few vectors: these
//          are accumulated element by element, and combined at the end
//
// An elementwise consumer is computed where the partial results are combined.
//
//===----------------------------------------------------------------------===//

#include "../Rules.h"

using namespace mlir;
using namespace mlir::ansor;

/// Results (and parts) a core: a reduction with more results is parallel enough
/// (the paper's constant).
static constexpr int64_t kPerCore = 16;
/// Vectors that the inner form accumulates, at most.
static constexpr int64_t kInnerVectors = 8;

/// The reduction loop with the largest extent, or -1.
static int longestReduction(const Stage &stage) {
  int best = -1;
  for (unsigned loop : stage.reductionLoops())
    if (stage.loops[loop].tileable && stage.loops[loop].multipleOf == 1 &&
        (best < 0 || stage.loops[loop].extent > stage.loops[best].extent))
      best = loop;
  return best;
}

/// Numbers of parts that `loop` may be cut in, `bound` at most.
static bool hasParts(const StageLoop &loop, int64_t bound) {
  for (int64_t count = 2; count <= std::min(bound, loop.extent / 2); ++count)
    if (loop.extent % count == 0)
      return true;
  return false;
}

/// The loop that is factored, or -1: there have to be few results, many terms,
/// and a divisor that makes parts.
static int findLoop(const SketchContext &context, const Stage &stage) {
  if (!stage.structured || !stage.reorderable || stage.barrier)
    return -1;
  int64_t results = 1, terms = 1, bound = kPerCore * context.target.cores;
  for (const StageLoop &loop : stage.loops) {
    int64_t &product = loop.reduction ? terms : results;
    product *= std::min<int64_t>(loop.extent, bound + 1);
    product = std::min<int64_t>(product, bound + 1);
  }
  int loop = longestReduction(stage);
  if (loop < 0 || results > bound || terms <= bound ||
      !hasParts(stage.loops[loop], bound))
    return -1;
  return loop;
}

/// Lengths of the inner form's new axis. Its vectors lie along the loop that is
/// cut, which has to be the only reduction, and contiguous.
static SmallVector<int64_t> innerLengths(const SketchContext &context,
                                         const Stage &stage, int cut) {
  SmallVector<int64_t> lengths;
  unsigned reductions = llvm::count_if(stage.loops, [](const StageLoop &loop) {
    return loop.reduction && loop.extent > 1;
  });
  bool contiguous = llvm::any_of(stage.reads, [&](const StageRead &read) {
    return read.map.getNumResults() > 0 &&
           read.map.getResults().back() ==
               getAffineDimExpr(cut, read.map.getContext());
  });
  if (reductions != 1 || !contiguous)
    return lengths;
  int64_t lanes = context.target.lanes(stage.elementBits);
  for (int64_t vectors = 1; vectors <= kInnerVectors; vectors *= 2)
    if (stage.loops[cut].extent % (vectors * lanes) == 0)
      lengths.push_back(vectors * lanes);
  return lengths;
}

namespace {
/// Builds the nest of one anchor.
class RfactorBuilder {
public:
  RfactorBuilder(const SketchContext &context, SketchState &state,
                 unsigned anchor, const std::optional<MatchedConsumer> &consumer)
      : context(context), state(state), anchor(anchor),
        stage(context.graph.getStage(anchor)), consumer(consumer),
        cut(findLoop(context, stage)) {}

  void build(bool inner) {
    nest.root = consumer ? consumer->stage : anchor;
    if (inner)
      addVectors();
    else
      addParts();
    addCombination();
    state.addNest(std::move(nest));
    if (consumer)
      for (unsigned between : llvm::reverse(consumer->between))
        (void)fuseWithConsumers(context, state, between);
  }

private:
  void addParts();
  void addVectors();
  void addCombination();

  int addStep(Step::Kind kind, unsigned index, int from) {
    Step step;
    step.kind = kind;
    step.stage = index;
    step.from = from;
    step.vectorize = true;
    nest.steps.push_back(std::move(step));
    return static_cast<int>(nest.steps.size()) - 1;
  }

  /// An array with `value` for the loop that is cut, and `other` for the rest.
  std::string arrayOf(StringRef value, StringRef other) {
    std::string text = "[";
    for (int loop = 0, e = stage.loops.size(); loop < e; ++loop)
      text += (loop ? ", " : "") + (loop == cut ? value : other).str();
    return text + "]";
  }

  std::string knobName() { return ("s" + Twine(stage.tag) + ".rfactor").str(); }

  const SketchContext &context;
  SketchState &state;
  unsigned anchor;
  const Stage &stage;
  const std::optional<MatchedConsumer> &consumer;
  int cut;
  Nest nest;
};
} // namespace

static constexpr StringLiteral kOneToFour =
    " : (!transform.any_op) -> (!transform.any_op, !transform.any_op, "
    "!transform.any_op, !transform.any_op)";

/// The outer form: tiles of the loop, and tiles in them. The op takes
/// attributes only, which a binding fills from the knob.
void RfactorBuilder::addParts() {
  int64_t extent = stage.loops[cut].extent;
  TileSize part = addTileKnob(state, stage, cut, 0, 2, /*multipleOf=*/1,
                              /*max=*/extent / 2);
  TileSize step = addTileKnob(state, stage, cut, 1, 2);
  SketchConstraint parts;
  parts.name = "parts";
  parts.reason = "the reduction is cut in no more parts than keep the cores "
                 "busy";
  parts.terms.push_back({-1, {part.knob}});
  parts.max =
      -llvm::divideCeil(extent, kPerCore * context.target.cores);
  state.addConstraint(std::move(parts));

  int factor = addStep(Step::Kind::Text, anchor, -1);
  nest.steps[factor].text =
      "{result}_f, {result}, {result}_rest, {result}_l = "
      "transform.structured.tile_reduction_using_forall {op} by num_threads "
      "= " + arrayOf("2", "0") + " tile_sizes = [] {ansor.bind = "
      "{num_threads = " +
      arrayOf("{knob = \"" + part.knob + "\", extent = " +
                  std::to_string(extent) + " : i64}",
              "0 : i64") +
      "}}" + kOneToFour.str() +
      "\n    transform.annotate {result}_l \"ansor.parallel\" : "
      "!transform.any_op";
  int body = addStep(Step::Kind::Tile, anchor, factor);
  nest.steps[body].sizes.resize(stage.loops.size());
  nest.steps[body].sizes[cut] = step;
}

/// The inner form: vectors of the new axis, accumulated from step to step.
void RfactorBuilder::addVectors() {
  KnobDomain domain;
  domain.kind = KnobKind::Choice;
  domain.stage = stage.tag;
  domain.values = innerLengths(context, stage, cut);
  std::string first = std::to_string(domain.values.front());
  state.addKnob(knobName(), domain);
  int factor = addStep(Step::Kind::Text, anchor, -1);
  nest.steps[factor].text =
      "{result}_f, {result}, {result}_rest, {result}_l = "
      "transform.structured.tile_reduction_using_for {op} reduction_dims = [" +
      std::to_string(cut) + "] by tile_sizes = " + arrayOf(first, "0") +
      " {ansor.bind = {tile_sizes = " +
      arrayOf("\"" + knobName() + "\"", "0 : i64") + "}}" + kOneToFour.str() +
      "\n    transform.annotate {result} \"ansor.vectorize\" : "
      "!transform.any_op";
}

/// The partial results are combined, and the consumer follows, at once: they
/// are few.
void RfactorBuilder::addCombination() {
  constexpr int kFactor = 0;
  int combine = addStep(Step::Kind::Tile, anchor, kFactor);
  nest.steps[combine].rest = true;
  nest.steps[combine].sizes.resize(stage.loops.size());
  if (consumer) {
    addStep(Step::Kind::Tile, consumer->stage, -1);
    nest.members.push_back(
        {consumer->stage, -1,
         SmallVector<TileSize>(consumer->anchorLoop.size()), false, false});
  }
  nest.members.push_back(
      {anchor, -1, SmallVector<TileSize>(stage.loops.size()), false, false});
}

namespace {
class RfactorRule : public SketchRule {
public:
  StringRef getName() const override { return "rfactor"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    return findAnchorOf(context, state, index) ? Match::Apply : Match::Skip;
  }

  void apply(const SketchContext &context, const SketchState &state,
             unsigned index,
             std::vector<Successor> &successors) const override {
    auto [anchor, consumer] = *findAnchorOf(context, state, index);
    const Stage &stage = context.graph.getStage(anchor);
    bool hasInner =
        !innerLengths(context, stage, findLoop(context, stage)).empty();
    for (bool inner : {false, true}) {
      if (inner && !hasInner)
        continue;
      SketchState next = state;
      next.derivation.push_back(inner ? "inner" : "outer");
      RfactorBuilder(context, next, anchor, consumer).build(inner);
      successors.emplace_back(std::move(next), static_cast<int>(index) - 1);
    }
  }

private:
  /// The reduction that is taken when stage `index` is visited, which is its
  /// consumer if it has one.
  static std::optional<std::pair<unsigned, std::optional<MatchedConsumer>>>
  findAnchorOf(const SketchContext &context, const SketchState &state,
               unsigned index) {
    if (auto found = findAnchor(context, state, index, [&](const Stage &stage) {
          return findLoop(context, stage) >= 0;
        }))
      return std::make_pair(found->first, std::make_optional(found->second));
    if (findLoop(context, context.graph.getStage(index)) >= 0 &&
        !context.graph.matchedConsumer(index))
      return std::make_pair(index, std::optional<MatchedConsumer>());
    return std::nullopt;
  }
};
} // namespace

std::unique_ptr<SketchRule> mlir::ansor::createRfactorRule() {
  return std::make_unique<RfactorRule>();
}
