//===- GenerateSketches.cpp - See Passes.td ---------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/IR/AnsorDialect.h"
#include "ansor/Sketch/Sketch.h"
#include "ansor/Target/Target.h"
#include "ansor/Transforms/Passes.h"
#include "mlir/Analysis/CallGraph.h"
#include "llvm/ADT/SCCIterator.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_GENERATESKETCHESPASS
#include "ansor/Transforms/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

/// Moves the contents of a sketch's script into `main` (dispatch) and `module`
/// (the structure, with the attributes of the script).
static LogicalResult addSketch(ModuleOp module, const Sketch &sketch,
                               transform::NamedSequenceOp &main, bool selected,
                               Location loc) {
  OwningOpRef<ModuleOp> script =
      parseSourceString<ModuleOp>(sketch.script, module.getContext());
  if (!script)
    return emitError(loc) << "sketch " << sketch.name << " does not parse";
  for (auto sequence : llvm::make_early_inc_range(
           script->getOps<transform::NamedSequenceOp>())) {
    bool isMain = sequence.getSymName() ==
                  transform::TransformDialect::kTransformEntryPointSymbolName;
    if (!isMain) {
      if (module.lookupSymbol(sequence.getSymName()))
        return emitError(loc)
               << "the module has a @" << sequence.getSymName()
               << " already: another function has this task's key, or sketches "
                  "were generated before";
      for (StringRef name : {kSketchAttr, kDerivationAttr, kConstraintsAttr})
        sequence->setAttr(name, (*script)->getAttr(name));
      sequence->moveBefore(module.getBody(), module.getBody()->end());
      continue;
    }
    if (!selected)
      continue;
    if (!main) {
      sequence->moveBefore(module.getBody(), module.getBody()->end());
      main = sequence;
      continue;
    }
    // Append this task's dispatch to that of the tasks before it.
    Block &from = sequence.getBody().front(), &to = main.getBody().front();
    from.getArgument(0).replaceAllUsesWith(to.getArgument(0));
    to.getOperations().splice(to.getTerminator()->getIterator(),
                              from.getOperations(), from.begin(),
                              from.getTerminator()->getIterator());
  }
  return success();
}

/// Says which functions call themselves: a module that has some can't hold
/// transform scripts, by the rules of the dialect.
static bool remarkOnRecursion(ModuleOp module) {
  CallGraph graph(module);
  DenseSet<Operation *> recursive;
  for (auto scc = llvm::scc_begin<const CallGraph *>(&graph); !scc.isAtEnd();
       ++scc)
    if (scc.hasCycle())
      for (CallGraphNode *node : *scc)
        if (!node->isExternal())
          recursive.insert(node->getCallableRegion()->getParentOp());
  if (recursive.empty())
    return false;
  for (Operation &op : *module.getBody())
    if (recursive.contains(&op))
      op.emitRemark("calls itself, and a module with a recursive function can't "
                    "hold transform scripts: no sketches are added; ansor-tune "
                    "tunes the tasks nevertheless");
  return true;
}

/// An entry point for what has nothing to apply.
static void addEmptyMain(ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  Type handle = transform::AnyOpType::get(module.getContext());
  auto main = transform::NamedSequenceOp::create(
      builder, loc, transform::TransformDialect::kTransformEntryPointSymbolName,
      handle, TypeRange(), [](OpBuilder &nested, Location loc, BlockArgument) {
        transform::YieldOp::create(nested, loc);
      });
  main.setArgAttr(0, transform::TransformDialect::kArgReadOnlyAttrName,
                  builder.getUnitAttr());
}

namespace {
struct GenerateSketchesPass
    : public ansor::impl::GenerateSketchesPassBase<GenerateSketchesPass> {
  using GenerateSketchesPassBase::GenerateSketchesPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<SpaceKind> spaceKind = parseSpaceKind(space);
    if (!spaceKind) {
      module.emitError() << "unknown space '" << space
                         << "': use \"full\" or \"ansor\"";
      return signalPassFailure();
    }
    StringRef entry =
        transform::TransformDialect::kTransformEntryPointSymbolName;
    if (module.lookupSymbol(entry)) {
      module.emitError() << "the module has a @" << entry
                         << " already: generate sketches from the extracted "
                            "module, once";
      return signalPassFailure();
    }
    FailureOr<TargetInfo> info = resolveTarget(module, target);
    if (failed(info))
      return signalPassFailure();
    SketchOptions options;
    options.space = *spaceKind;

    transform::NamedSequenceOp main;
    SmallVector<func::FuncOp> tasks;
    for (auto func : module.getOps<func::FuncOp>()) {
      auto key = func->getAttrOfType<StringAttr>(kTaskAttr);
      if (key && (task.empty() || key.getValue() == task ||
                  func.getSymName() == task))
        tasks.push_back(func);
    }
    if (tasks.empty()) {
      if (!task.empty()) {
        module.emitError() << "no task has the key or the name '" << task
                           << "'";
        return signalPassFailure();
      }
      module.emitRemark() << "no function has " << kTaskAttr
                          << ": extract tasks first (--ansor-extract-tasks)";
      if (remarkOnRecursion(module))
        return;
      addEmptyMain(module);
      module->setAttr(transform::TransformDialect::kWithNamedSequenceAttrName,
                      UnitAttr::get(&getContext()));
      return;
    }
    if (remarkOnRecursion(module))
      return;
    for (func::FuncOp func : tasks) {
      FailureOr<SmallVector<Sketch>> sketches =
          generateSketches(func, *info, options);
      if (failed(sketches))
        return signalPassFailure();
      if (sketch < 0 || sketch >= static_cast<int>(sketches->size())) {
        // With several tasks, those with fewer sketches apply their last.
        if (!task.empty() || sketch < 0) {
          func.emitError() << "has " << sketches->size()
                           << " sketches, there is no number "
                           << static_cast<int64_t>(sketch);
          return signalPassFailure();
        }
      }
      unsigned selected = std::min<unsigned>(sketch, sketches->size() - 1);
      for (auto [index, item] : llvm::enumerate(*sketches))
        if (failed(addSketch(module, item, main, index == selected,
                             func.getLoc())))
          return signalPassFailure();
    }
    module->setAttr(transform::TransformDialect::kWithNamedSequenceAttrName,
                    UnitAttr::get(&getContext()));
  }
};
} // namespace
