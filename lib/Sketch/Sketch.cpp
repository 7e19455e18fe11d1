//===- Sketch.cpp - Derivation of sketches ----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Sketch/Sketch.h"
#include "Emitter.h"
#include "ansor/Sketch/SketchRule.h"
#include "ansor/Sketch/TaskGraph.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::ansor;

std::optional<SpaceKind> mlir::ansor::parseSpaceKind(StringRef text) {
  return llvm::StringSwitch<std::optional<SpaceKind>>(text)
      .Case("full", SpaceKind::Full)
      .Case("ansor", SpaceKind::Ansor)
      .Default(std::nullopt);
}

/// Derives all complete states, depth first and in the order of the rules.
static void derive(const SketchContext &context, const SketchRules &rules,
                   SketchState state, int stage, unsigned limit,
                   std::vector<SketchState> &complete, bool &cut) {
  while (stage >= 0 && state.status[stage] != StageStatus::Open)
    --stage;
  if (complete.size() >= limit) {
    cut = true;
    return;
  }
  if (stage < 0) {
    complete.push_back(std::move(state));
    return;
  }
  for (const auto &rule : rules) {
    SketchRule::Match match = rule->match(context, state, stage);
    if (match == SketchRule::Match::Skip)
      continue;
    std::vector<SketchRule::Successor> successors;
    rule->apply(context, state, stage, successors);
    for (auto &[next, nextStage] : successors) {
      // Notes that the rule itself has added come behind its name.
      next.derivation.insert(
          next.derivation.begin() + state.derivation.size(),
          (rule->getName() + "(s" +
           Twine(context.graph.getStage(stage).tag) + ")")
              .str());
      // A rule that stays at its stage has to decide something about it.
      int following = std::min(nextStage, stage);
      if (following == stage && next.status[stage] == StageStatus::Open &&
          next.derivation.size() > 4 * context.graph.size())
        following = stage - 1;
      derive(context, rules, std::move(next), following, limit, complete, cut);
    }
    if (match == SketchRule::Match::ApplyAndSkipRest)
      return;
  }
}

FailureOr<SmallVector<Sketch>>
mlir::ansor::generateSketches(func::FuncOp task, const TargetInfo &target,
                              const SketchOptions &options) {
  if (task.isExternal())
    return task.emitError() << "a task without a body has no sketches";
  TaskGraph graph(task);
  SketchContext context{graph, target, options.space};

  SketchState start;
  start.status.assign(graph.size(), StageStatus::Open);
  start.nestOf.assign(graph.size(), -1);
  std::vector<SketchState> states;
  bool cut = false;
  derive(context, getSketchRules(options.space), start,
         static_cast<int>(graph.size()) - 1, std::max(1u, options.maxSketches),
         states, cut);
  if (cut)
    task.emitRemark() << "only the first " << options.maxSketches
                      << " sketches are kept";

  // States without a choice are all the same: leave the task alone.
  llvm::erase_if(states,
                 [](const SketchState &state) { return state.knobs.empty(); });
  if (states.empty()) {
    task.emitRemark() << "left to the code generator: "
                      << (graph.getOpaqueReason().empty()
                              ? StringRef("no loop can be tiled")
                              : graph.getOpaqueReason());
    start.derivation.push_back("leave-alone");
    states.push_back(start);
  }

  SmallVector<Sketch> sketches;
  for (auto [index, state] : llvm::enumerate(states)) {
    Sketch sketch;
    sketch.name = "s" + std::to_string(index);
    sketch.derivation = state.derivation;
    sketch.script = emitScript(context, state, sketch.name);
    for (const SketchConstraint &constraint : state.constraints)
      sketch.reasons.emplace(constraint.name, constraint.reason);
    sketches.push_back(std::move(sketch));
  }
  return sketches;
}
