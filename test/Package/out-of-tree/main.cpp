//===- main.cpp - Embeds ansor-mlir -----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses a module, extracts its tasks and prints their sketches, from C++
// outside the project's tree.
//
//===----------------------------------------------------------------------===//

#include "ansor/InitAll.h"
#include "ansor/Sketch/Sketch.h"
#include "ansor/Target/Target.h"
#include "ansor/Task/Task.h"
#include "ansor/Transforms/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: out-of-tree MODULE.mlir\n";
    return 2;
  }
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
  return 0;
}
