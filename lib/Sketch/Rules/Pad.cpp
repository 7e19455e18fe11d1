//===- Pad.cpp - Where padding is done --------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A padded tensor is either made as a whole before its users (a fill and a
// copy of the source into it, both in parallel), or each tile of a user pads
// what it reads.
//
//===----------------------------------------------------------------------===//

#include "../Rules.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ansor;

/// Outer dimensions along which a padded tensor is made in parallel.
static constexpr int64_t kParallelDims = 2;

/// The script that makes pad `{op}` as a whole.
static std::string wholeText(tensor::PadOp pad) {
  std::string any = "!transform.any_op";
  std::string text =
      "{result} = transform.structured.rewrite_in_destination_passing_style "
      "{op} : (" + any + ") -> " + any;
  int64_t rank = pad.getResultType().getRank();
  if (rank <= kParallelDims)
    return text;
  // One tile for each index of the outer dimensions.
  std::string sizes = "[1";
  for (int64_t dim = 1; dim < rank; ++dim)
    sizes += dim < kParallelDims ? ", 1" : ", 0";
  sizes += "]";
  auto parallel = [&](const std::string &name) {
    return "\n    {result}_" + name + "t, {result}_" + name +
           "l = transform.structured.tile_using_forall {result}_" + name +
           " tile_sizes " + sizes + " : (" + any + ") -> (" + any + ", " + any +
           ")\n    transform.annotate {result}_" + name +
           "l \"ansor.parallel\" : " + any;
  };
  text += "\n    {result}_f = transform.get_producer_of_operand {result}[1] : (" +
          any + ") -> " + any +
          "\n    {result}_c = transform.structured.insert_slice_to_copy {result} "
          ": (" + any + ") -> " + any;
  text += parallel("f") + parallel("c");
  return text;
}

/// Pads the tensor as a whole.
static void addWhole(const SketchState &state, const Stage &stage,
                     unsigned index,
                     std::vector<SketchRule::Successor> &successors) {
  SketchState whole = state;
  Nest nest =
      makeTextNest(index, wholeText(cast<tensor::PadOp>(stage.op)));
  nest.members.push_back({index, -1, {}, false, false});
  whole.addNest(std::move(nest));
  whole.derivation.push_back("whole");
  successors.emplace_back(std::move(whole), static_cast<int>(index) - 1);
}

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
    const Stage &stage = context.graph.getStage(index);
    bool isFolded = llvm::any_of(stage.consumers, [&](unsigned consumer) {
      int nest = state.nestOf[consumer];
      return nest >= 0 && state.nests[nest].foldPads;
    });
    if (!isFolded)
      addWhole(state, stage, index, successors);
    // Greedy fusion pads in the parallel tile of the user's nest.
    bool tiled = !stage.output && !stage.consumers.empty() &&
                 llvm::all_of(stage.consumers, [&](unsigned consumer) {
                   return state.nestOf[consumer] >= 0;
                 });
    if (!tiled || context.space != SpaceKind::Full)
      return;
    SketchState fused = state;
    fused.status[index] = StageStatus::Fused;
    fused.nestOf[index] = state.nestOf[stage.consumers.front()];
    fused.derivation.push_back("in-tile");
    successors.emplace_back(std::move(fused), static_cast<int>(index) - 1);
  }
};
} // namespace

std::unique_ptr<SketchRule> mlir::ansor::createPadRule() {
  return std::make_unique<PadRule>();
}
