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
#include "ansor/Search/Evolution.h"
#include "ansor/Search/TaskScheduler.h"
#include "ansor/Sketch/Sketch.h"
#include "ansor/Space/DesignSpace.h"
#include "ansor/Task/NetworkLayout.h"
#include "ansor/Task/Task.h"
#include <functional>
#include <map>

namespace mlir::ansor {

enum class ModelKind { XGBoost, Random };
/// "xgboost", "random". Nullopt for another text.
std::optional<ModelKind> parseModelKind(StringRef text);

struct TuneOptions {
  TargetInfo target;
  int64_t trials = 0;              ///< total over all tasks; 0: only predict
  uint64_t seed = 0;
  SpaceKind space = SpaceKind::Full;
  ModelKind model = ModelKind::XGBoost; ///< Random: random candidates only
  /// Model that the search starts from (CostModel::loadBase); empty: none.
  std::string costModelPath;
  EvolutionOptions evolution;
  SchedulerKind scheduler = SchedulerKind::Gradient;
  Objective objective;             ///< of the gradient; weighs the networks
  GradientOptions gradient;
  ChooseTask chooseTask;           ///< instead of `scheduler`, if set
  MeasureOptions measure;          ///< `target`, `coldBytes` and `seed` are set
                                   ///< by tune()
  bool coldWeights = true;         ///< measure tasks with the weights as cold as
                                   ///< they are in the network
  std::string recordsPath;         ///< resumed from and appended to
  std::string libraryPath;         ///< best schedules, written at the end
  bool keepSlower = false;         ///< also schedules slower than unscheduled ones
  std::string replayPath;          ///< measure from this log, no device
  /// Sizes that functions with dynamic extents are copied for (Task/Sizes.h);
  /// empty: those that the module names, if any.
  std::string dynamicSizes;
  /// What networks are converted to before their tasks are extracted. If it is
  /// not given, channels last where that pays (Task/NetworkLayout.h), and
  /// networks whose tasks are extracted already stay as they are.
  std::optional<NetworkLayout> layout;
  unsigned finalists = 12;         ///< at most so many are compared at the end;
                                   ///< below 2 none
  double finalShare = 0.05;        ///< those slower than the best by no more
  unsigned finalPasses = 3;        ///< measurements of each; of the
                                   ///< last four twice as many
  int64_t earlyStop = 0;           ///< trials without gain that end a task; 0 off
  int scoreThreads = 0;            ///< 0: one a core
  Measurer *measurer = nullptr;    ///< instead of this machine, if set
};

struct TaskState {
  Task task;                       ///< its weight is that of all networks
  SmallVector<int64_t> weights;    ///< by network
  int64_t trials = 0;              ///< measured, the resumed ones included
  int64_t resumed = 0;             ///< of these, taken from the records
  double best = std::numeric_limits<double>::infinity(); ///< seconds
  double reference = 0;            ///< seconds of the unscheduled program; 0
                                   ///< if it could not be measured
  std::string bestSketch;
  std::string bestScript;
  std::map<std::string, int64_t> errors;     ///< trials by error kind
  std::map<std::string, std::string> firstMessage; ///< by error kind
  std::map<std::string, int64_t> rejections; ///< decisions by constraint
  std::map<std::string, std::string> reasons; ///< what has to hold, likewise
  int64_t learnedRounds = 0, rounds = 0;
  /// How well the model ranked within the batches that it chose: pairs of
  /// candidates whose times differ by more than 2%, and those in the right
  /// order; the fastest quarter of each batch, and how many of it the model had
  /// in its own first quarter.
  int64_t pairs = 0, rightPairs = 0, top = 0, rightTop = 0;
  bool finished = false;           ///< nothing new to try, or stopped early
  bool unmeasurable = false;       ///< given up: see `errors`
  bool predicted = false;          ///< by the cost model, and not measured
  int64_t compared = 0;            ///< candidates that were measured again
  bool overturned = false;         ///< that gave another winner

  /// True if a schedule was found that beats the unscheduled program.
  bool improved() const {
    return best < std::numeric_limits<double>::infinity() &&
           (reference <= 0 || best < reference);
  }
};

/// Where the wall time of a run went, seconds.
struct CostOfSearch {
  double extract = 0, sketch = 0, sample = 0, score = 0, train = 0;
  double measure = 0; ///< building, running and checking, as seen from here
  double build = 0, run = 0, check = 0; ///< of these, if the measurer knows
  double total = 0;
  int64_t scored = 0; ///< candidates that were described for a score
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
  std::vector<std::string> notes; ///< what the user should know, sentences

  /// An entry a task that was measured or predicted; without a script where no schedule
  /// beats the unscheduled program, unless `keepSlower`.
  std::vector<BestEntry> bestEntries(bool keepSlower = false) const;
};

/// Resolves the target of a run: `spec` if it isn't empty, else the target of
/// the replayed log, else the module's, else the host. Emits on bad input.
FailureOr<TargetInfo> resolveTuneTarget(ModuleOp module, StringRef spec,
                                        StringRef replayPath);

/// Extracts the tasks of `networks` (in place, unless they have some; at least
/// one network, all of one context), merges equal ones, tunes them in the order
/// of the scheduler, and applies nothing. With no trials, it predicts the best
/// schedule of each task instead. Emits and fails if there is nothing to tune,
/// trials are fewer than tasks, a file can't be used, or no candidate
/// can be measured at all. A task that can't be measured is given up, noted,
/// and costs the others nothing. `progress` is called after each batch; `stop` is
/// polled, also from another thread, and ends the run cleanly with what was
/// measured.
FailureOr<TuneResult>
tune(ArrayRef<ModuleOp> networks, const TuneOptions &options,
     const std::function<void(const TuneProgress &)> &progress = {},
     const std::function<bool()> &stop = {});
/// The same for one network.
FailureOr<TuneResult>
tune(ModuleOp module, const TuneOptions &options,
     const std::function<void(const TuneProgress &)> &progress = {},
     const std::function<bool()> &stop = {});

} // namespace mlir::ansor

#endif // ANSOR_SEARCH_SEARCH_H
