//===- Session.h - A tuning run ---------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a run and its steps, see the reading guide in Search.cpp.
//

#ifndef ANSOR_LIB_SEARCH_SESSION_H
#define ANSOR_LIB_SEARCH_SESSION_H

#include "EvaluationPool.h"
#include "ansor/Search/Search.h"
#include "ansor/Search/TaskSearch.h"
#include "ansor/Support/Stopwatch.h"
#include <atomic>
#include <thread>

namespace mlir::ansor {

/// Polls `stop` while the measurer works, and ends its children then.
class StopWatcher {
public:
  StopWatcher(const std::function<bool()> &stop, Measurer &measurer) {
    if (!stop)
      return;
    thread = std::thread([this, &stop, &measurer] {
      while (!done) {
        if (stop()) {
          measurer.interrupt();
          return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
  }
  ~StopWatcher() {
    done = true;
    if (thread.joinable())
      thread.join();
  }

private:
  std::atomic<bool> done{false};
  std::thread thread;
};

/// One task under search.
struct TunedTask {
  std::unique_ptr<TaskSearch> search;
  std::vector<std::string> sketchNames;
  std::vector<std::string> sketchHashes;
  unsigned program = 0;       ///< number in the pool
  Candidate best;
  std::vector<TrialRecord> finals; ///< of the last comparison
  bool hasReference = false;  ///< measured, or failed for good
  bool hasWeights = false;    ///< among its arguments
};

class Session {
public:
  Session(ArrayRef<ModuleOp> networks, const TuneOptions &options,
          const std::function<void(const TuneProgress &)> &progress,
          const std::function<bool()> &stop)
      : networks(networks), options(options), progress(progress), stop(stop) {}

  LogicalResult prepare();
  LogicalResult run();
  LogicalResult finish();

  TuneResult result;

private:
  // Search.cpp: tasks in, schedules out.
  LogicalResult addTasks();
  int64_t findColdBytes() const;
  LogicalResult addTask(func::FuncOp func, Task task);
  LogicalResult openMeasurer();
  /// With how many bytes of weights task `index` is measured; 0: warm ones.
  int64_t coldBytesOf(unsigned index) const {
    return tasks[index].hasWeights ? coldBytes : 0;
  }
  LogicalResult predict();
  int64_t batchSize(unsigned index) const;
  void report();
  LogicalResult endCost();

  // Resume.cpp: what the log knows.
  LogicalResult openFiles();
  LogicalResult resume(const RecordLog &log);
  void note(unsigned index, const Candidate &candidate,
            const TrialRecord &trial);

  // Round.cpp: one round of one task.
  LogicalResult tuneOnce(unsigned index, int64_t count);
  LogicalResult measureReference(unsigned index);
  LogicalResult measureBatch(unsigned index, ArrayRef<Candidate> batch);
  /// Ends task `index`, none of whose candidates can be measured.
  void giveUp(unsigned index, const MeasureResult &why);
  std::vector<MeasureResult> measure(ArrayRef<MeasureInput> inputs);
  LogicalResult train(StringRef key);
  /// Good candidates of tasks like this one, fitted to it.
  std::vector<Candidate> borrow(unsigned index, RandomGenerator &rng) const;
  void noteRanking(unsigned index, ArrayRef<Candidate> batch,
                   ArrayRef<double> scores);
  LogicalResult append(const TrialRecord &trial);
  /// What to measure for a candidate; its names go to `record`.
  FailureOr<MeasureInput> describe(unsigned index, const Candidate &candidate,
                                   TrialRecord &record);
  /// The record of a result for `described`, whose number is left out.
  TrialRecord makeRecord(unsigned index, TrialRecord described,
                         const MeasureResult &measured) const;
  /// The trials since the last call were a round of task `index`.
  void endRound(unsigned index);

  // Finals.cpp: which one is the best.
  std::vector<Candidate> finalists(unsigned index) const;
  LogicalResult compareFinalists(unsigned index);
  void decide(unsigned index);

  InFlightDiagnostic emitError() const {
    ModuleOp module = networks.front();
    return module.emitError();
  }
  bool stopped() const { return stop && stop(); }
  int64_t trialsDone() const {
    int64_t done = 0;
    for (const TaskState &state : result.tasks)
      done += state.trials;
    return done;
  }

  ArrayRef<ModuleOp> networks;
  const TuneOptions &options;
  const std::function<void(const TuneProgress &)> &progress;
  const std::function<bool()> &stop;

  std::unique_ptr<EvaluationPool> pool;
  std::vector<TunedTask> tasks;
  std::unique_ptr<TaskScheduler> scheduler;
  std::vector<ScheduledTask> schedule; ///< what the scheduler sees of `tasks`
  std::unique_ptr<CostModel> model;
  std::vector<TrainingSample> samples;
  int64_t coldBytes = 0; ///< that tasks with weights are measured with
  size_t trainedOn = 0; ///< samples that the model has seen
  std::unique_ptr<Measurer> ownMeasurer;
  Measurer *measurer = nullptr;
  std::unique_ptr<RecordWriter> writer;
  Stopwatch watch; ///< since the start
  int64_t trialsAtStart = 0;
  std::string firstFailure; ///< of a task that was given up
};

/// The generator of one choice: seeded by the run's seed, by whom it is for,
/// and by the trials behind it.
RandomGenerator makeGenerator(uint64_t seed, StringRef key, int64_t trials);

} // namespace mlir::ansor

#endif // ANSOR_LIB_SEARCH_SESSION_H
