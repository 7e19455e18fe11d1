//===- main.cpp - Embeds ansor-mlir -----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses a module, extracts its tasks and prints their sketches, from C++
// outside the project's tree, with a derivation rule of its own.
//
//===----------------------------------------------------------------------===//

#include "ansor/InitAll.h"
#include "ansor/Sketch/Sketch.h"
#include "ansor/Sketch/SketchRule.h"
#include "ansor/Target/Target.h"
#include "ansor/Task/Task.h"
#include "ansor/Transforms/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {
/// One parallel loop over rows of a result, with all that it needs computed in
/// it.
class RowsRule : public ansor::SketchRule {
public:
  StringRef getName() const override { return "rows"; }

  Match match(const ansor::SketchContext &context,
              const ansor::SketchState &state, unsigned index) const override {
    const ansor::Stage &stage = context.graph.getStage(index);
    return stage.output && stage.elementwise &&
                   stage.hasTileableLoop(/*reduction=*/false)
               ? Match::Apply
               : Match::Skip;
  }

  void apply(const ansor::SketchContext &context,
             const ansor::SketchState &state, unsigned index,
             std::vector<Successor> &successors) const override {
    ansor::SketchState next = state;
    const ansor::Stage &stage = context.graph.getStage(index);
    ansor::Step step;
    step.kind = ansor::Step::Kind::FuseForall;
    step.stage = index;
    step.sizes.resize(stage.loops.size());
    step.sizes[0] = ansor::addTileKnob(next, stage, 0, /*level=*/0,
                                       /*levels=*/1);
    ansor::Nest nest;
    nest.root = index;
    nest.members.push_back({index, /*scope=*/0, step.sizes});
    nest.steps.push_back(std::move(step));
    next.addNest(std::move(nest));
    for (int producer = int(index) - 1; producer >= 0; --producer)
      if (failed(ansor::fuseWithConsumers(context, next, producer)))
        return;
    successors.emplace_back(std::move(next), /*complete*/ -1);
  }
};
} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: out-of-tree MODULE.mlir\n";
    return 2;
  }
  ansor::registerSketchRule([] { return std::make_unique<RowsRule>(); });
  DialectRegistry registry;
  ansor::registerUpstream(registry);
  ansor::registerAllDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  PassManager manager(&context);
  manager.addPass(ansor::createExtractTasksPass());
  if (failed(manager.run(*module)))
    return 1;

  FailureOr<ansor::TargetInfo> target =
      ansor::lookupTarget("x86-64-v3", UnknownLoc::get(&context));
  if (failed(target))
    return 1;
  for (auto task : module->getOps<func::FuncOp>()) {
    if (!task->hasAttr("ansor.task"))
      continue;
    FailureOr<SmallVector<ansor::Sketch>> sketches =
        ansor::generateSketches(task, *target);
    if (failed(sketches))
      return 1;
    for (const ansor::Sketch &sketch : *sketches) {
      llvm::outs() << task.getName() << " " << sketch.name << ":";
      for (const std::string &rule : sketch.derivation)
        llvm::outs() << " " << rule;
      llvm::outs() << "\n";
    }
  }

  // Each candidate is applied to a copy, and must succeed.
  PassManager sampling(&context);
  ansor::SamplePassOptions options;
  options.target = "x86-64-v3";
  options.count = 6;
  options.check = true;
  sampling.addPass(ansor::createSamplePass(options));
  return failed(sampling.run(*module));
}
