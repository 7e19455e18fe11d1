//===- TaskScheduler.h - Which task is tuned next ---------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Spends the trials of a run on its tasks (OSDI 2020, section 6). A scheduler
// is asked before each round, and told of each round that ended; also, in their
// order, of the rounds that a resumed run finds in its records, so that it
// chooses as an uninterrupted one does.
//

#ifndef ANSOR_SEARCH_TASKSCHEDULER_H
#define ANSOR_SEARCH_TASKSCHEDULER_H

#include "ansor/Search/Objective.h"
#include "ansor/Space/DesignSpace.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <functional>
#include <memory>
#include <optional>

namespace mlir::ansor {

class TaskScheduler {
public:
  virtual ~TaskScheduler();
  /// The task that gets the next round, never a finished one; nullopt if no
  /// round can lower the objective.
  virtual std::optional<unsigned> next(ArrayRef<ScheduledTask> tasks,
                                       RandomGenerator &rng) = 0;
  /// A round of task `index` ended; its history has one more entry.
  virtual void roundDone(ArrayRef<ScheduledTask> tasks, unsigned index) {}
};

/// The constants of the gradient.
struct GradientOptions {
  double alpha = 0.2;    ///< share of the history against the forecast
  double beta = 2;       ///< trust in similar tasks' rates
  int64_t window = 3;    ///< rounds that the history's slope looks back
  double epsilon = 0.05; ///< share of rounds that go to a random task
  int64_t patience = 5;  ///< rounds above its peers before a slow task leaves
                         ///< its group
};

/// The task with the fewest trials.
std::unique_ptr<TaskScheduler> createRoundRobinScheduler();

/// The task whose next round is expected to lower `objective` most:
///
///   argmin  df/dg (alpha (g(t) - g(t - window)) / window
///                  + (1 - alpha) (min(g - g / t, beta C / max V) - g))
///
/// t are rounds, C the operations of the task, and V the rates (operations a
/// second) of similar tasks: the same structure, and operations in the same
/// power of the golden ratio. A task that stays slower than 1 / beta of its
/// group's best, `patience` rounds longer than the others, is not similar, and
/// leaves. Each task gets one round first. Now and then (epsilon) a task is
/// drawn.
std::unique_ptr<TaskScheduler>
createGradientScheduler(const Objective &objective,
                        const GradientOptions &options = {});

/// Asks a function; what it answers is used if that task isn't finished.
using ChooseTask =
    std::function<std::optional<unsigned>(ArrayRef<ScheduledTask>)>;
std::unique_ptr<TaskScheduler> createUserScheduler(ChooseTask choose);

enum class SchedulerKind { Gradient, RoundRobin };
/// "gradient", "round-robin". Nullopt for another text.
std::optional<SchedulerKind> parseSchedulerKind(StringRef text);

/// Similar tasks have the same group, see createGradientScheduler.
std::string similarityGroup(const ScheduledTask &task);

/// Hash of a task's function without its extents and names: operations, maps,
/// loops, element types and who uses what.
std::string computeStructureKey(func::FuncOp task);

} // namespace mlir::ansor

#endif // ANSOR_SEARCH_TASKSCHEDULER_H
