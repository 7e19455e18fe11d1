//===- ReplayMeasurer.cpp - A measurer that answers from a log --*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Record/Record.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {
class ReplayMeasurer : public Measurer {
public:
  explicit ReplayMeasurer(RecordLog log) : log(std::move(log)) {
    for (const TrialRecord &trial : this->log.trials)
      trials.try_emplace(
          key(trial.taskKey, candidateId(trial.sketch, trial.decisions)),
          &trial);
    for (const TrialRecord &trial : this->log.finals)
      finals[key(trial.taskKey, candidateId(trial.sketch, trial.decisions))] =
          &trial;
  }

  std::vector<MeasureResult> measure(ArrayRef<MeasureInput> inputs) override {
    std::vector<MeasureResult> results;
    for (const MeasureInput &input : inputs)
      results.push_back(lookup(trials, input));
    return results;
  }

  std::vector<MeasureResult> compare(ArrayRef<MeasureInput> inputs,
                                     unsigned) override {
    std::vector<MeasureResult> results;
    for (const MeasureInput &input : inputs)
      results.push_back(lookup(finals, input));
    return results;
  }

private:
  static std::string key(StringRef task, StringRef candidate) {
    return (task + "|" + candidate).str();
  }

  using Table = llvm::StringMap<const TrialRecord *>;

  static MeasureResult lookup(const Table &trials, const MeasureInput &input) {
    MeasureResult result;
    result.median = std::numeric_limits<double>::infinity();
    auto it = trials.find(key(input.taskKey, input.candidate));
    if (it == trials.end()) {
      result.error = ErrorKind::Device;
      result.message = "the replayed log has no record of this candidate";
      return result;
    }
    const TrialRecord &trial = *it->second;
    result.error = trial.error;
    result.message = trial.message;
    result.seconds = trial.seconds;
    result.median = trial.median;
    result.maxError = trial.maxError;
    result.buildSeconds = trial.buildSeconds;
    result.runSeconds = trial.runSeconds;
    result.coldBytes = trial.coldBytes;
    return result;
  }

  RecordLog log;
  Table trials, finals;
};
} // namespace

std::unique_ptr<Measurer> ansor::createReplayMeasurer(RecordLog log) {
  return std::make_unique<ReplayMeasurer>(std::move(log));
}
