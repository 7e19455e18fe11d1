//===- Objective.cpp - What a run minimises ---------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Search/Objective.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::ansor;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Relative step of the numeric slope.
static constexpr double kStep = 1e-4;

/// Reads positive numbers of milliseconds, as seconds.
static LogicalResult parseMilliseconds(StringRef text,
                                       SmallVectorImpl<double> &seconds) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    double value;
    if (part.trim().getAsDouble(value) || !(value > 0) || std::isinf(value))
      return failure();
    seconds.push_back(value / 1e3);
  }
  return success();
}

FailureOr<Objective> Objective::parse(StringRef text, size_t networks,
                                      std::string &error) {
  Objective objective;
  auto [name, argument] = text.split(':');
  bool hasArgument = text.contains(':');
  if (name == "sum" && !hasArgument)
    return objective;
  if (name == "latency" || name == "speedup") {
    objective.kind = name == "latency" ? Kind::Latency : Kind::Speedup;
    if (!hasArgument && objective.kind == Kind::Speedup)
      return objective;
    if (failed(parseMilliseconds(argument, objective.seconds))) {
      error = ("objective '" + text + "': give positive milliseconds, as in " +
               name + ":1.5,20")
                  .str();
      return failure();
    }
    if (objective.seconds.size() == networks)
      return objective;
    error = ("objective '" + text + "' has " +
             Twine(objective.seconds.size()) + " times for " +
             Twine(networks) + (networks == 1 ? " network" : " networks"))
                .str();
    return failure();
  }
  if (name == "early-stop") {
    objective.kind = Kind::EarlyStop;
    if (!argument.getAsInteger(10, objective.patience) &&
        objective.patience > 0)
      return objective;
    error = ("objective '" + text +
             "': give a number of trials, as in early-stop:64")
                .str();
    return failure();
  }
  error = ("unknown objective '" + text +
           "': use sum, latency:MS, speedup, speedup:MS or early-stop:TRIALS")
              .str();
  return failure();
}

std::vector<double> ansor::currentCosts(ArrayRef<ScheduledTask> tasks) {
  std::vector<double> costs;
  double worst = 0;
  for (const ScheduledTask &task : tasks) {
    costs.push_back(task.history.empty() ? kInfinity : task.history.back());
    if (std::isfinite(costs.back()))
      worst = std::max(worst, costs.back());
  }
  for (double &cost : costs)
    if (!std::isfinite(cost))
      cost = worst > 0 ? worst : 1;
  return costs;
}

double Objective::evaluate(ArrayRef<ScheduledTask> tasks,
                           ArrayRef<double> costs) const {
  size_t networks = 0;
  for (const ScheduledTask &task : tasks)
    networks = std::max<size_t>(networks, task.weights.size());
  double value = 0, weightSum = 0;
  for (size_t network = 0; network < networks; ++network) {
    double weight = weights.empty() ? 1 : weights[network];
    double latency = 0, unscheduled = 0;
    for (auto [task, cost] : llvm::zip_equal(tasks, costs)) {
      if (network >= task.weights.size())
        continue;
      double seconds = cost;
      if (kind == Kind::EarlyStop && task.rounds() > 0 &&
          task.trials - task.lastGain >= patience)
        seconds = std::max(cost, task.history.back());
      latency += task.weights[network] * seconds;
      unscheduled +=
          task.weights[network] * (task.reference > 0 ? task.reference : cost);
    }
    switch (kind) {
    case Kind::Sum:
    case Kind::EarlyStop:
      value += weight * latency;
      break;
    case Kind::Latency:
      value += weight * std::max(latency, seconds[network]);
      break;
    case Kind::Speedup:
      // The logarithm of the weighted product.
      if (latency > 0)
        value += weight * std::log((seconds.empty() ? unscheduled
                                                    : seconds[network]) /
                                   latency);
      weightSum += weight;
      break;
    }
  }
  if (kind == Kind::Speedup)
    return weightSum > 0 ? -std::exp(value / weightSum) : 0;
  return value;
}

double Objective::slope(ArrayRef<ScheduledTask> tasks, ArrayRef<double> costs,
                        unsigned index) const {
  std::vector<double> faster(costs.begin(), costs.end());
  double step = kStep * costs[index];
  faster[index] -= step;
  return (evaluate(tasks, costs) - evaluate(tasks, faster)) / step;
}
