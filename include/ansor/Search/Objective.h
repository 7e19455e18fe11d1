//===- Objective.h - What a run minimises -----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The objectives of the task scheduler (OSDI 2020, section 6, table 2), over
// networks j with weights W and tasks i that network j calls w times and that
// take g seconds:
//
//   f1  sum            sum_j W sum_i w g
//   f2  latency        sum_j W max(sum_i w g, L_j)
//   f3  speed-up       -(prod_j (B_j / sum_i w g)^W)^(1 / sum_j W)
//   f4  early stop     sum_j W sum_i w max(g, ES(g, t))
//
// L are latency targets, B reference latencies, and ES is the best of a task
// that has not improved for a number of trials, else 0: where it holds, a
// further gain of the task counts for nothing.
//

#ifndef ANSOR_SEARCH_OBJECTIVE_H
#define ANSOR_SEARCH_OBJECTIVE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace mlir::ansor {

/// What a scheduler knows of a task.
struct ScheduledTask {
  std::string key;
  /// Equal for tasks that differ in their extents alone (computeStructureKey).
  std::string structure;
  double flops = 0;            ///< of one call
  SmallVector<double> weights; ///< calls, by network
  double reference = 0;        ///< seconds of the unscheduled program; 0 unknown
  int64_t trials = 0;
  int64_t lastGain = 0;        ///< trials when the best one was found
  /// Best seconds after each round: of a schedule or of the unscheduled
  /// program, which runs where no schedule is faster. Infinite if neither is
  /// known.
  std::vector<double> history;
  bool finished = false;       ///< nothing new to try, or stopped

  int64_t rounds() const { return history.size(); }
};

struct Objective {
  enum class Kind { Sum, Latency, Speedup, EarlyStop };
  Kind kind = Kind::Sum;
  /// By network: targets of Latency, references of Speedup; without any, the
  /// references are the unscheduled programs.
  SmallVector<double> seconds;
  int64_t patience = 0;         ///< trials, of EarlyStop
  SmallVector<double> weights;  ///< of the networks; empty: all 1

  /// Reads "sum", "latency:MS[,MS...]", "speedup[:MS[,MS...]]" or
  /// "early-stop:TRIALS", for `networks` networks. `error` says what is wrong.
  static FailureOr<Objective> parse(StringRef text, size_t networks,
                                    std::string &error);

  /// The value for tasks that take `costs` seconds.
  double evaluate(ArrayRef<ScheduledTask> tasks, ArrayRef<double> costs) const;

  /// How much the value falls when task `index` gets faster, a second: the
  /// slope towards smaller costs, by a difference of a ten thousandth. 0 where
  /// a gain counts for nothing.
  double slope(ArrayRef<ScheduledTask> tasks, ArrayRef<double> costs,
               unsigned index) const;
};

/// Seconds of each task: the last of its history; for one without any, the
/// worst of the others.
std::vector<double> currentCosts(ArrayRef<ScheduledTask> tasks);

} // namespace mlir::ansor

#endif // ANSOR_SEARCH_OBJECTIVE_H
