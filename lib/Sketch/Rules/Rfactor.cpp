//===- Rfactor.cpp - Reductions in parallel parts ---------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "Add rfactor" (OSDI 2020): a reduction with few results is cut along its
// longest reduction loop; the parts are reduced in parallel into partial
// results, which are combined at the end. It needs a neutral element.
//
//===----------------------------------------------------------------------===//

#include "../Rules.h"

using namespace mlir;
using namespace mlir::ansor;

/// Results (and parts) a core: a reduction with more results is parallel enough
/// (the paper's constant).
static constexpr int64_t kPerCore = 16;

/// The reduction loop with the largest extent, or -1.
static int longestReduction(const Stage &stage) {
  int best = -1;
  for (unsigned loop : stage.reductionLoops())
    if (stage.loops[loop].tileable && stage.loops[loop].multipleOf == 1 &&
        (best < 0 || stage.loops[loop].extent > stage.loops[best].extent))
      best = loop;
  return best;
}

/// The numbers of parts that `stage` may be cut in.
static SmallVector<int64_t> partCounts(const SketchContext &context,
                                       const Stage &stage) {
  SmallVector<int64_t> counts;
  if (!stage.structured || !stage.reorderable || stage.barrier)
    return counts;
  int64_t results = 1, terms = 1, bound = kPerCore * context.target.cores;
  for (const StageLoop &loop : stage.loops) {
    int64_t &product = loop.reduction ? terms : results;
    product *= std::min<int64_t>(loop.extent, bound + 1);
    product = std::min<int64_t>(product, bound + 1);
  }
  int loop = longestReduction(stage);
  if (loop < 0 || results > bound || terms <= bound)
    return counts;
  int64_t extent = stage.loops[loop].extent;
  for (int64_t count = 2; count <= std::min(bound, extent / 2); ++count)
    if (extent % count == 0)
      counts.push_back(count);
  return counts;
}

namespace {
class RfactorRule : public SketchRule {
public:
  StringRef getName() const override { return "rfactor"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    return partCounts(context, context.graph.getStage(index)).empty() ||
                   context.graph.matchedConsumer(index)
               ? Match::Skip
               : Match::Apply;
  }

  void apply(const SketchContext &context, const SketchState &state,
             unsigned index,
             std::vector<Successor> &successors) const override {
    const Stage &stage = context.graph.getStage(index);
    SketchState next = state;
    KnobDomain domain;
    domain.kind = KnobKind::Choice;
    domain.stage = stage.tag;
    domain.values = partCounts(context, stage);
    std::string knob = ("s" + Twine(stage.tag) + ".rfactor").str();
    next.addKnob(knob, domain);

    // The op takes attributes only: a binding fills them from the knob.
    std::string threads, binding;
    int cut = longestReduction(stage);
    for (int loop = 0, e = stage.loops.size(); loop < e; ++loop) {
      threads += loop ? ", " : "";
      binding += loop ? ", " : "";
      threads += loop == cut ? std::to_string(domain.values.front()) : "0";
      binding += loop == cut ? "\"" + knob + "\"" : "0 : i64";
    }
    Nest nest = makeTextNest(
        index,
        "{result}_f, {result}, {result}_c, {result}_l = "
        "transform.structured.tile_reduction_using_forall {op} by num_threads "
        "= [" + threads + "] tile_sizes = [] {ansor.bind = {num_threads = [" + binding +
        "]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, "
        "!transform.any_op, !transform.any_op)\n"
        "    transform.annotate {result}_l \"ansor.parallel\" : "
        "!transform.any_op\n"
        "    transform.annotate {result} \"ansor.vectorize\" : "
        "!transform.any_op");
    NestMember member;
    member.stage = index;
    member.tile.resize(stage.loops.size());
    member.initialOutside = true;
    nest.members.push_back(std::move(member));
    next.addNest(std::move(nest));
    successors.emplace_back(std::move(next), static_cast<int>(index) - 1);
  }
};
} // namespace

std::unique_ptr<SketchRule> mlir::ansor::createRfactorRule() {
  return std::make_unique<RfactorRule>();
}
