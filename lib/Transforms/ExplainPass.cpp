//===- ExplainPass.cpp - See Passes.td --------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Record/Record.h"
#include "ansor/Task/Task.h"
#include "ansor/Transforms/Explain.h"
#include "ansor/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_EXPLAINPASS
#include "ansor/Transforms/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

namespace {
struct ExplainPass : public ansor::impl::ExplainPassBase<ExplainPass> {
  using ExplainPassBase::ExplainPassBase;

  void runOnOperation() override {
    if (failed(explain()))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

  LogicalResult explain();
  LogicalResult schedule(ModuleOp copy, ApplyCounts &counts);
};
} // namespace

/// Applies the library, or else the script in the module.
LogicalResult ExplainPass::schedule(ModuleOp copy, ApplyCounts &counts) {
  if (!library.empty())
    return applyLibrary(copy, StringRef(library), nullptr, &counts);
  auto main = copy.lookupSymbol<transform::NamedSequenceOp>(
      transform::TransformDialect::kTransformEntryPointSymbolName);
  if (!main)
    return success();
  if (failed(transform::applyTransformNamedSequence(
          copy, main, copy, transform::TransformOptions())))
    return emitError(main.getLoc())
           << "this script does not apply; decide its knobs first "
              "(--ansor-apply-decisions)";
  SmallVector<transform::NamedSequenceOp> sequences(
      copy.getOps<transform::NamedSequenceOp>());
  for (transform::NamedSequenceOp sequence : sequences)
    sequence.erase();
  for (auto func : copy.getOps<func::FuncOp>())
    counts.functions.push_back(
        {func.getName().str(), "the module's script", "", 0});
  return success();
}

LogicalResult ExplainPass::explain() {
  OwningOpRef<ModuleOp> copy(getOperation().clone());
  FailureOr<TargetInfo> info = resolveTarget(*copy, target);
  if (failed(info))
    return failure();
  if (!hasTasks(*copy) &&
      failed(library.empty() ? extractTasks(*copy)
                             : extractForLibrary(*copy, library)))
    return failure();
  for (auto func : copy->getOps<func::FuncOp>())
    if (func->hasAttr(kTaskAttr) && func.walk([](LoopLikeOpInterface loop) {
                                          return WalkResult::interrupt();
                                        })
                                        .wasInterrupted())
      return func.emitError() << "has loops already: explain a schedule by its "
                                 "script in the module, or by a library";
  auto tasks = describeTaskWork(*copy, *info);
  if (tasks.empty())
    emitRemark(copy->getLoc()) << "the module has no tasks to explain";
  ApplyCounts counts;
  if (failed(schedule(*copy, counts)))
    return failure();
  for (const AppliedSchedule &applied : counts.functions)
    if (auto it = tasks.find(applied.task); it != tasks.end()) {
      it->second.schedule = applied.schedule;
      it->second.seconds = applied.medianMs * 1e-3;
    }
  std::vector<TaskExplanation> rows;
  for (auto &[name, task] : tasks) {
    if (auto func = copy->lookupSymbol<func::FuncOp>(name))
      explainCode(func, *info, task);
    rows.push_back(std::move(task));
  }
  MachineRates rates{peak * 1e9, l2 * 1e9, l3 * 1e9, memory * 1e9};
  raw_ostream &os = llvm::outs();
  if (json)
    os << explanationsToJSON(rows, rates, *info) << "\n";
  else
    printExplanations(rows, rates, *info, os);
  os.flush();
  return success();
}
