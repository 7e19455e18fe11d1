//===- RowWise.cpp - Chains of reductions over the same rows ----*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage whose producers reduce along some loops and are read back along them
// (a normalisation): all of it is computed row by row. Only loops that every
// producer follows are tiled, so that nothing is computed twice.
//
//===----------------------------------------------------------------------===//

#include "../Rules.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {
/// A root and its producers that are computed with its rows.
struct Rows {
  SmallVector<unsigned> stages; ///< producers, last first
  /// For each loop of each stage (by index), the root's loop that it follows.
  llvm::DenseMap<unsigned, SmallVector<int>> follows;
  SmallVector<unsigned> loops; ///< loops of the root that all follow
};
} // namespace

/// Adds to `follows` the loops of `producer` that follow the root's, as its
/// consumer `stage` reads it.
static void propagate(const Stage &stage, ArrayRef<int> follows,
                      const StageRead &read, const Stage &producer,
                      SmallVectorImpl<int> &result) {
  if (producer.op->getNumResults() != 1)
    return;
  for (auto [written, asked] : llvm::zip_equal(producer.write.getResults(),
                                               read.map.getResults())) {
    auto to = dyn_cast<AffineDimExpr>(written);
    auto from = dyn_cast<AffineDimExpr>(asked);
    if (to && from && result[to.getPosition()] < 0)
      result[to.getPosition()] = follows[from.getPosition()];
  }
}

static std::optional<Rows> findRows(const SketchContext &context,
                                    const SketchState &state, unsigned root) {
  const TaskGraph &graph = context.graph;
  const Stage &rootStage = graph.getStage(root);
  if (!rootStage.structured || rootStage.needsTiling || !rootStage.write)
    return std::nullopt;
  Rows rows;
  SmallVector<int> own(rootStage.loops.size(), -1);
  for (unsigned loop : rootStage.spatialLoops())
    own[loop] = loop;
  rows.follows[root] = own;
  bool reduces = false;
  for (unsigned index = root; index-- > 0;) {
    const Stage &stage = graph.getStage(index);
    if (state.status[index] != StageStatus::Open || !stage.structured ||
        stage.initializer || stage.needsTiling || stage.barrier ||
        stage.output || stage.consumers.empty() || !stage.write)
      continue;
    if (!llvm::all_of(stage.consumers, [&](unsigned consumer) {
          return rows.follows.count(consumer);
        }))
      continue;
    SmallVector<int> follows(stage.loops.size(), -1);
    for (unsigned consumer : stage.consumers)
      for (const StageRead &read : graph.getStage(consumer).reads)
        if (read.producer == static_cast<int>(index))
          propagate(graph.getStage(consumer), rows.follows[consumer], read,
                    stage, follows);
    rows.follows[index] = follows;
    rows.stages.push_back(index);
    reduces |= stage.reduces;
  }
  if (!reduces)
    return std::nullopt;
  for (unsigned loop : rootStage.spatialLoops()) {
    const StageLoop &info = rootStage.loops[loop];
    bool all = llvm::all_of(rows.stages, [&](unsigned index) {
      const Stage &stage = graph.getStage(index);
      return stage.inlinable ||
             llvm::is_contained(rows.follows[index], static_cast<int>(loop));
    });
    if (info.extent > 1 && info.tileable && all)
      rows.loops.push_back(loop);
  }
  if (rows.loops.empty())
    return std::nullopt;
  return rows;
}

namespace {
class RowWiseRule : public SketchRule {
public:
  StringRef getName() const override { return "row-wise"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    return findRows(context, state, index) ? Match::Apply : Match::Skip;
  }

  void apply(const SketchContext &context, const SketchState &state,
             unsigned root,
             std::vector<Successor> &successors) const override {
    Rows rows = *findRows(context, state, root);
    SketchState next = state;
    const Stage &rootStage = context.graph.getStage(root);
    SmallVector<TileSize> outer(rootStage.loops.size()),
        inner(rootStage.loops.size());
    for (unsigned loop : rows.loops) {
      outer[loop] = addTileKnob(next, rootStage, loop, 0, 2);
      inner[loop] = addTileKnob(next, rootStage, loop, 1, 2);
    }
    Nest nest;
    nest.root = root;
    Step parallel;
    parallel.kind = Step::Kind::FuseForall;
    parallel.stage = root;
    parallel.sizes = outer;
    nest.steps.push_back(parallel);
    Step fewRows;
    fewRows.kind = Step::Kind::Fuse;
    fewRows.stage = root;
    fewRows.from = 0;
    fewRows.sizes = inner;
    nest.steps.push_back(fewRows);
    // Greedy fusion makes a copy of a producer for each of its users.
    Step merge;
    merge.kind = Step::Kind::Text;
    merge.stage = root;
    merge.from = 1;
    merge.text = "transform.apply_cse to {loop} : !transform.any_op";
    nest.steps.push_back(merge);

    // Inside the rows each stage runs over its other loops on its own.
    SmallVector<unsigned> members = {root};
    members.append(rows.stages.begin(), rows.stages.end());
    for (unsigned index : members) {
      const Stage &stage = context.graph.getStage(index);
      SmallVector<TileSize> tile(stage.loops.size()), body(stage.loops.size());
      for (auto [loop, info] : llvm::enumerate(stage.loops)) {
        int follows = rows.follows[index][loop];
        if (follows >= 0 && llvm::is_contained(rows.loops, unsigned(follows))) {
          body[loop] = inner[follows];
          continue;
        }
        if (info.reduction && !stage.reorderable)
          continue;
        int64_t multiple = loop + 1 == stage.loops.size()
                               ? vectorMultiple(context, stage, loop)
                               : 1;
        tile[loop] = addTileKnob(next, stage, loop, 0, 1, multiple);
        body[loop] = tile[loop];
      }
      Step step;
      step.kind = Step::Kind::Tile;
      step.stage = index;
      step.from = index == root ? 1 : -1;
      step.scope = index == root ? -1 : 1;
      step.sizes = tile;
      step.vectorize = true;
      step.repeated = index != root && isRepeated(context, nest, index);
      nest.steps.push_back(step);
      nest.members.push_back({index, 1, body, step.repeated, false});
      addTileConstraints(context, next, index, body, body);
    }
    next.addNest(std::move(nest));
    successors.emplace_back(std::move(next), static_cast<int>(root) - 1);
  }
};
} // namespace

std::unique_ptr<SketchRule> mlir::ansor::createRowWiseRule() {
  return std::make_unique<RowWiseRule>();
}
