//===- TaskScheduler.cpp - Which task is tuned next -------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Search/TaskScheduler.h"
#include "ansor/Search/Evolution.h"
#include "ansor/Support/Hash.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace mlir::ansor;

TaskScheduler::~TaskScheduler() = default;

std::optional<SchedulerKind> ansor::parseSchedulerKind(StringRef text) {
  return llvm::StringSwitch<std::optional<SchedulerKind>>(text)
      .Case("gradient", SchedulerKind::Gradient)
      .Case("round-robin", SchedulerKind::RoundRobin)
      .Default(std::nullopt);
}

//===----------------------------------------------------------------------===//
// Similar tasks
//===----------------------------------------------------------------------===//

std::string ansor::similarityGroup(const ScheduledTask &task) {
  int64_t size = std::floor(std::log(task.flops + 1) / std::log(1.618));
  return task.structure + "/" + std::to_string(size);
}

std::string ansor::computeStructureKey(func::FuncOp task) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::DenseMap<Value, unsigned> numbers;
  auto print = [&](Value value) {
    os << " %" << numbers.try_emplace(value, numbers.size()).first->second;
    if (auto shaped = dyn_cast<ShapedType>(value.getType()))
      os << ":" << (shaped.hasRank() ? shaped.getRank() : -1) << "x"
         << shaped.getElementType();
    else
      os << ":" << value.getType();
  };
  task.walk<WalkOrder::PreOrder>([&](Operation *op) {
    os << op->getName();
    llvm::for_each(op->getOperands(), print);
    os << " ->";
    llvm::for_each(op->getResults(), print);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), print);
    for (NamedAttribute attribute : op->getAttrs()) {
      // Extents, names, and numbers that follow from extents. Scalars, maps,
      // loops' kinds and flags stay.
      Attribute value = attribute.getValue();
      if (op == task.getOperation() ||
          isa<DenseArrayAttr, ElementsAttr, TypeAttr, SymbolRefAttr>(value))
        continue;
      os << " " << attribute.getName() << "=" << value;
    }
    os << "\n";
  });
  return hashText(text);
}

//===----------------------------------------------------------------------===//
// Schedulers
//===----------------------------------------------------------------------===//

namespace {

class RoundRobin : public TaskScheduler {
public:
  std::optional<unsigned> next(ArrayRef<ScheduledTask> tasks,
                               RandomGenerator &) override {
    std::optional<unsigned> fewest;
    for (auto [index, task] : llvm::enumerate(tasks))
      if (!task.finished &&
          (!fewest || task.trials < tasks[*fewest].trials))
        fewest = index;
    return fewest;
  }
};

class UserScheduler : public TaskScheduler {
public:
  explicit UserScheduler(ChooseTask choose) : choose(std::move(choose)) {}
  std::optional<unsigned> next(ArrayRef<ScheduledTask> tasks,
                               RandomGenerator &) override {
    std::optional<unsigned> index = choose(tasks);
    if (!index || *index >= tasks.size() || tasks[*index].finished)
      return std::nullopt;
    return index;
  }

private:
  ChooseTask choose;
};

class Gradient : public TaskScheduler {
public:
  Gradient(const Objective &objective, const GradientOptions &options)
      : objective(objective), options(options) {}

  std::optional<unsigned> next(ArrayRef<ScheduledTask> tasks,
                               RandomGenerator &rng) override;
  void roundDone(ArrayRef<ScheduledTask> tasks, unsigned index) override;

private:
  /// The other tasks like task `index`.
  SmallVector<unsigned> peers(ArrayRef<ScheduledTask> tasks, unsigned index);
  /// Expected change of the task's seconds by one more round, at most 0.
  double expectedChange(ArrayRef<ScheduledTask> tasks, ArrayRef<double> costs,
                        unsigned index);

  Objective objective;
  GradientOptions options;
  std::vector<std::string> groups; ///< by task; empty for one that left
};

} // namespace

SmallVector<unsigned> Gradient::peers(ArrayRef<ScheduledTask> tasks,
                                      unsigned index) {
  if (groups.empty())
    for (const ScheduledTask &task : tasks)
      groups.push_back(similarityGroup(task));
  SmallVector<unsigned> result;
  if (groups[index].empty() || tasks[index].flops <= 0)
    return result;
  for (unsigned i = 0; i < tasks.size(); ++i)
    if (i != index && groups[i] == groups[index])
      result.push_back(i);
  return result;
}

double Gradient::expectedChange(ArrayRef<ScheduledTask> tasks,
                                ArrayRef<double> costs, unsigned index) {
  const ScheduledTask &task = tasks[index];
  const double now = costs[index];
  const int64_t rounds = std::max<int64_t>(1, task.rounds());

  double past = 0;
  if (rounds > options.window) {
    double before = task.history[rounds - 1 - options.window];
    if (std::isfinite(before))
      past = (now - before) / options.window;
  }
  double forecast = now - now / rounds;
  SmallVector<unsigned> others = peers(tasks, index);
  if (!others.empty()) {
    double rate = task.flops / now;
    for (unsigned other : others)
      rate = std::max(rate, tasks[other].flops / costs[other]);
    forecast = std::min(forecast, options.beta * task.flops / rate);
  }
  return options.alpha * past + (1 - options.alpha) * (forecast - now);
}

std::optional<unsigned> Gradient::next(ArrayRef<ScheduledTask> tasks,
                                       RandomGenerator &rng) {
  SmallVector<unsigned> open;
  for (unsigned i = 0; i < tasks.size(); ++i) {
    if (tasks[i].finished)
      continue;
    if (tasks[i].history.empty())
      return i; // warm-up
    open.push_back(i);
  }
  std::vector<double> costs = currentCosts(tasks);
  std::optional<unsigned> best;
  double least = 0;
  for (unsigned index : open) {
    double gradient = objective.slope(tasks, costs, index) *
                      expectedChange(tasks, costs, index);
    if (gradient < least) {
      least = gradient;
      best = index;
    }
  }
  if (best && uniformReal(rng) < options.epsilon)
    return open[uniformIndex(rng, open.size())];
  return best;
}

void Gradient::roundDone(ArrayRef<ScheduledTask> tasks, unsigned index) {
  SmallVector<unsigned> others = peers(tasks, index);
  if (others.empty())
    return;
  std::vector<double> costs = currentCosts(tasks);
  double rate = tasks[index].flops / costs[index], best = rate;
  int64_t rounds = 0;
  for (unsigned other : others) {
    best = std::max(best, tasks[other].flops / costs[other]);
    rounds = std::max(rounds, tasks[other].rounds());
  }
  if (rate < best / options.beta &&
      tasks[index].rounds() > options.patience + rounds)
    groups[index].clear();
}

std::unique_ptr<TaskScheduler> ansor::createRoundRobinScheduler() {
  return std::make_unique<RoundRobin>();
}

std::unique_ptr<TaskScheduler> ansor::createUserScheduler(ChooseTask choose) {
  return std::make_unique<UserScheduler>(std::move(choose));
}

std::unique_ptr<TaskScheduler>
ansor::createGradientScheduler(const Objective &objective,
                               const GradientOptions &options) {
  return std::make_unique<Gradient>(objective, options);
}
