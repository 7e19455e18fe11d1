//===- Search.h - The search ------------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tunes the tasks of a module: sketches, random samples, evolutionary search
// guided by the cost model, measuring, retraining (OSDI 2020, sections 4 to
// 6). Start reading at lib/Search/Search.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_SEARCH_SEARCH_H
#define ANSOR_SEARCH_SEARCH_H

#include "ansor/CostModel/CostModel.h"
#include "ansor/Measure/Measure.h"
#include "ansor/Record/Record.h"
#include "ansor/Sketch/Sketch.h"
#include "ansor/Space/DesignSpace.h"
#include "ansor/Task/Task.h"
#include <functional>
#include <map>

namespace mlir::ansor {

struct EvolutionOptions {
  unsigned population = 2048;
  unsigned generations = 4;
  double mutationProbability = 0.85;
  double crossoverProbability = 0.05;
  double epsGreedy = 0.05;
  unsigned initialValid = 50;      ///< least number of valid samples
  double measuredShare = 0.2;      ///< of the population, from the best measured
};

enum class ModelKind { XGBoost, Random };

struct TuneOptions {
  TargetInfo target;
  int64_t trials = 0;              ///< total over all tasks
  uint64_t seed = 0;
  SpaceKind space = SpaceKind::Full;
  ModelKind model = ModelKind::XGBoost;
  EvolutionOptions evolution;
  MeasureOptions measure;
  std::string recordsPath;         ///< resumed from and appended to
  std::string libraryPath;         ///< best schedules, written at the end
  std::string replayPath;          ///< measure from this log, no device
  int64_t earlyStop = 0;           ///< trials without gain that end a task; 0 off
  int scoreThreads = 0;            ///< 0: one a core
};

struct TaskState {
  Task task;
  int64_t trials = 0;
  double best = std::numeric_limits<double>::infinity(); ///< seconds
  double reference = 0;            ///< seconds of the unscheduled program
  std::string bestSketch;
  std::string bestScript;
  std::map<std::string, int64_t> errors;     ///< trials by error kind
  std::map<std::string, std::string> firstMessage; ///< by error kind
  std::map<std::string, int64_t> rejections; ///< decisions by constraint
  int64_t learnedRounds = 0, rounds = 0;
};

/// Where the wall time of a run went, seconds.
struct CostOfSearch {
  double extract = 0, sketch = 0, sample = 0, score = 0, train = 0, build = 0,
         run = 0, total = 0;
  int64_t scored = 0;
};

struct TuneProgress {
  ArrayRef<TaskState> tasks;
  int64_t trialsDone = 0, trialsTotal = 0;
  double elapsed = 0, remaining = 0; ///< seconds
};

struct TuneResult {
  std::vector<TaskState> tasks;
  CostOfSearch cost;
  bool interrupted = false;
};

/// Extracts the tasks of `module` (in place), tunes them round-robin, and
/// applies nothing. Emits and fails if there is nothing to tune, trials are
/// fewer than tasks, or a file can't be used. `progress` is called after each
/// batch; `stop` is polled, and ends the run cleanly with what was measured.
FailureOr<TuneResult>
tune(ModuleOp module, const TuneOptions &options,
     const std::function<void(const TuneProgress &)> &progress = {},
     const std::function<bool()> &stop = {});

} // namespace mlir::ansor

#endif // ANSOR_SEARCH_SEARCH_H
