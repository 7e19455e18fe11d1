//===- Simulation.h - Task scheduling on recorded curves --------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replays the curves of a record log, the best time of each task by its number
// of trials, under a task scheduler: what would the run have reached by trials
// spent otherwise? No device is needed, and no candidate is built.
//

#ifndef ANSOR_SEARCH_SIMULATION_H
#define ANSOR_SEARCH_SIMULATION_H

#include "ansor/Record/Record.h"
#include "ansor/Search/TaskScheduler.h"

namespace mlir::ansor {

/// The trials of a task, in their order.
struct TaskCurve {
  ScheduledTask task;          ///< nothing of it is measured yet
  std::vector<double> seconds; ///< by trial; infinite for a failed one
};

/// The curves of the tasks of `log` that have trials. Their structure is read
/// from the tasks' IR, in `context`.
std::vector<TaskCurve> readCurves(const RecordLog &log, MLIRContext *context);

struct SimulationOptions {
  int64_t trials = 0; ///< in total
  int64_t batch = 0;  ///< trials a round; 0: as a run does
  uint64_t seed = 0;
};

/// A step of a simulated run.
struct SimulatedRound {
  unsigned task = 0;
  int64_t trials = 0;        ///< in total, after the round
  double latency = 0;        ///< weighted sum of the tasks' seconds
  double objective = 0;
  std::vector<double> costs; ///< seconds, by task
};

/// The rounds of a run over `curves`. A task whose curve ends is finished.
std::vector<SimulatedRound> simulate(ArrayRef<TaskCurve> curves,
                                     TaskScheduler &scheduler,
                                     const Objective &objective,
                                     const SimulationOptions &options);

/// Trials of a round of a run of `trials` over `tasks` tasks.
int64_t roundSize(int64_t trials, int64_t tasks);

} // namespace mlir::ansor

#endif // ANSOR_SEARCH_SIMULATION_H
