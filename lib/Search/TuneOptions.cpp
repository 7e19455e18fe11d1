//===- TuneOptions.cpp - Requests and results of a run ----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Search/Search.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::ansor;

std::optional<ModelKind> ansor::parseModelKind(StringRef text) {
  return llvm::StringSwitch<std::optional<ModelKind>>(text)
      .Case("xgboost", ModelKind::XGBoost)
      .Case("random", ModelKind::Random)
      .Default(std::nullopt);
}

std::vector<BestEntry> TuneResult::bestEntries(bool keepSlower) const {
  std::vector<BestEntry> entries;
  for (const TaskState &state : tasks) {
    if (state.trials == 0 && !state.predicted)
      continue;
    BestEntry entry;
    entry.taskKey = state.task.key;
    entry.trials = state.trials;
    entry.reference = state.reference;
    entry.median = state.reference;
    if (state.improved() || (keepSlower && !state.bestScript.empty())) {
      entry.sketch = state.bestSketch;
      entry.script = state.bestScript;
      entry.median = state.best;
    }
    if (state.predicted) {
      entry.sketch = state.bestSketch;
      entry.script = state.bestScript;
      entry.median = 0;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

FailureOr<TargetInfo> ansor::resolveTuneTarget(ModuleOp module, StringRef spec,
                                               StringRef replayPath) {
  if (!spec.empty() || replayPath.empty())
    return resolveTarget(module, spec);
  std::string error;
  FailureOr<RecordLog> log = loadRecords(replayPath, error);
  if (failed(log))
    return module.emitError() << error;
  if (log->tasks.empty())
    return module.emitError() << "nothing to replay: '" << replayPath
                              << "' has no task; does the file exist?";
  return log->tasks.front().target;
}
