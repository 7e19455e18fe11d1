//===- Simulation.cpp - Task scheduling on recorded curves ------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Search/Simulation.h"
#include "Session.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mlir;
using namespace mlir::ansor;

std::vector<TaskCurve> ansor::readCurves(const RecordLog &log,
                                         MLIRContext *context) {
  std::vector<TaskCurve> curves;
  llvm::StringMap<size_t> numbers;
  for (const RecordLog::TaskLine &line : log.tasks) {
    TaskCurve curve;
    curve.task.key = line.task.key;
    curve.task.flops = line.task.flops;
    curve.task.weights = {double(line.task.weight)};
    // Without its IR a task is like no other.
    curve.task.structure = line.task.key;
    auto module = parseSourceString<ModuleOp>(line.task.module, context);
    if (module)
      for (auto func : module->getOps<func::FuncOp>())
        if (!func.isExternal())
          curve.task.structure = computeStructureKey(func);
    numbers[line.task.key] = curves.size();
    curves.push_back(std::move(curve));
  }
  for (const TrialRecord &trial : log.trials) {
    auto number = numbers.find(trial.taskKey);
    if (number == numbers.end() || trial.error == ErrorKind::Device)
      continue;
    TaskCurve &curve = curves[number->second];
    if (!trial.isReference())
      curve.seconds.push_back(trial.median);
    else if (trial.error == ErrorKind::None)
      curve.task.reference = trial.median;
  }
  llvm::erase_if(curves,
                 [](const TaskCurve &curve) { return curve.seconds.empty(); });
  return curves;
}

std::vector<SimulatedRound>
ansor::simulate(ArrayRef<TaskCurve> curves, TaskScheduler &scheduler,
                const Objective &objective, const SimulationOptions &options) {
  std::vector<ScheduledTask> tasks;
  for (const TaskCurve &curve : curves)
    tasks.push_back(curve.task);
  const int64_t batch = options.batch > 0
                            ? options.batch
                            : roundSize(options.trials, curves.size());
  std::vector<double> best(curves.size(),
                           std::numeric_limits<double>::infinity());
  std::vector<SimulatedRound> rounds;
  int64_t done = 0;
  while (done < options.trials) {
    RandomGenerator rng = makeGenerator(options.seed, "task scheduler", done);
    std::optional<unsigned> index = scheduler.next(tasks, rng);
    if (!index)
      break;
    ScheduledTask &task = tasks[*index];
    const std::vector<double> &seconds = curves[*index].seconds;
    int64_t end = std::min<int64_t>(
        {task.trials + batch, int64_t(seconds.size()),
         task.trials + options.trials - done});
    for (int64_t trial = task.trials; trial < end; ++trial)
      if (seconds[trial] < best[*index]) {
        best[*index] = seconds[trial];
        task.lastGain = trial + 1;
      }
    done += end - task.trials;
    task.trials = end;
    task.finished = end == int64_t(seconds.size());
    task.history.push_back(task.reference > 0
                               ? std::min(best[*index], task.reference)
                               : best[*index]);
    scheduler.roundDone(tasks, *index);

    SimulatedRound round;
    round.task = *index;
    round.trials = done;
    round.costs = currentCosts(tasks);
    round.latency = Objective().evaluate(tasks, round.costs);
    round.objective = objective.evaluate(tasks, round.costs);
    rounds.push_back(std::move(round));
  }
  return rounds;
}
