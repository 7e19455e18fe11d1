//===- Inline.cpp - Inlining of tasks ---------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/IR/AnsorDialect.h"
#include "ansor/Task/Task.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::ansor;

LogicalResult mlir::ansor::inlineTasks(ModuleOp module) {
  SymbolTable symbols(module);
  SmallVector<func::FuncOp> tasks;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func->hasAttr(kTaskAttr) || func.isDeclaration())
      continue;
    if (!func.getBody().hasOneBlock())
      return func.emitError("the task has more than one block and can't be "
                            "inlined; inline tasks before they are lowered to "
                            "branches");
    tasks.push_back(func);
  }

  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (callee && llvm::is_contained(tasks, callee))
      calls.push_back(call);
  });
  for (func::CallOp call : calls) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    OpBuilder builder(call);
    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    Block &body = callee.getBody().front();
    for (Operation &op : body.without_terminator())
      // Stages are numbered within their task only.
      builder.clone(op, mapping)->walk([](Operation *copy) {
        copy->removeDiscardableAttr(kStageAttr);
      });
    for (auto [result, value] :
         llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
  }
  for (func::FuncOp func : tasks)
    if (func.isPrivate() && SymbolTable::symbolKnownUseEmpty(func, module))
      func.erase();
  return success();
}
