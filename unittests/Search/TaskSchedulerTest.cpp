//===- TaskSchedulerTest.cpp - Tests of the task scheduler ------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Search/TaskScheduler.h"
#include "ansor/InitAll.h"
#include "ansor/Search/Simulation.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace mlir::ansor;

namespace {

ScheduledTask makeTask(std::vector<double> history, double weight = 1,
                       double flops = 1e6, StringRef structure = "s") {
  ScheduledTask task;
  task.structure = structure.str();
  task.flops = flops;
  task.weights = {weight};
  task.trials = 8 * history.size();
  task.history = std::move(history);
  return task;
}

Objective parse(StringRef text, size_t networks = 1) {
  std::string error;
  FailureOr<Objective> objective = Objective::parse(text, networks, error);
  EXPECT_TRUE(succeeded(objective)) << error;
  return succeeded(objective) ? *objective : Objective();
}

/// Two networks: the first calls task 0 twice and task 1 once, the second only
/// task 1, three times.
std::vector<ScheduledTask> twoNetworks() {
  std::vector<ScheduledTask> tasks = {makeTask({0.010}), makeTask({0.004})};
  tasks[0].weights = {2, 0};
  tasks[1].weights = {1, 3};
  tasks[0].reference = 0.030;
  tasks[1].reference = 0.012;
  return tasks;
}

//===----------------------------------------------------------------------===//
// Objectives
//===----------------------------------------------------------------------===//

TEST(ObjectiveTest, Sum) {
  auto tasks = twoNetworks();
  std::vector<double> costs = currentCosts(tasks);
  Objective objective = parse("sum");
  // 2 * 10 + 4 and 3 * 4 milliseconds.
  EXPECT_NEAR(objective.evaluate(tasks, costs), 0.036, 1e-12);
  EXPECT_NEAR(objective.slope(tasks, costs, 0), 2, 1e-6);
  EXPECT_NEAR(objective.slope(tasks, costs, 1), 4, 1e-6);
  objective.weights = {10, 0.5};
  EXPECT_NEAR(objective.evaluate(tasks, costs), 0.246, 1e-12);
  EXPECT_NEAR(objective.slope(tasks, costs, 1), 10 + 1.5, 1e-6);
}

TEST(ObjectiveTest, LatencyTargetsEndTheGain) {
  auto tasks = twoNetworks();
  std::vector<double> costs = currentCosts(tasks);
  // The first network, 24 ms, is above its target; the second, 12, below.
  Objective objective = parse("latency:20,15", 2);
  EXPECT_NEAR(objective.evaluate(tasks, costs), 0.024 + 0.015, 1e-12);
  EXPECT_NEAR(objective.slope(tasks, costs, 0), 2, 1e-6);
  EXPECT_NEAR(objective.slope(tasks, costs, 1), 1, 1e-6);
  objective = parse("latency:30,15", 2);
  EXPECT_EQ(objective.slope(tasks, costs, 0), 0);
  EXPECT_EQ(objective.slope(tasks, costs, 1), 0);
}

TEST(ObjectiveTest, SpeedupIsTheGeometricMean) {
  auto tasks = twoNetworks();
  std::vector<double> costs = currentCosts(tasks);
  // 48 / 24 and 48 / 12: the root of 8.
  Objective objective = parse("speedup:48,48", 2);
  EXPECT_NEAR(objective.evaluate(tasks, costs), -std::sqrt(8.0), 1e-12);
  // d/dg of -sqrt(8) * (L1/L1')^.5: sqrt(8) / 2 * (w1/L1 + w2/L2).
  EXPECT_NEAR(objective.slope(tasks, costs, 0),
              std::sqrt(8.0) / 2 * (2 / 0.024), 0.02);
  EXPECT_NEAR(objective.slope(tasks, costs, 1),
              std::sqrt(8.0) / 2 * (1 / 0.024 + 3 / 0.012), 0.1);
  // Without references: the unscheduled programs, 72 and 36 ms.
  EXPECT_NEAR(parse("speedup", 2).evaluate(tasks, costs), -3, 1e-12);
  objective.weights = {1, 3};
  EXPECT_NEAR(objective.evaluate(tasks, costs), -std::pow(2 * 64, 0.25), 1e-12);
}

TEST(ObjectiveTest, EarlyStopIgnoresATaskWithoutGain) {
  auto tasks = twoNetworks();
  tasks[0].trials = 40;
  tasks[0].lastGain = 9;
  tasks[1].trials = 40;
  tasks[1].lastGain = 8;
  std::vector<double> costs = currentCosts(tasks);
  Objective objective = parse("early-stop:32");
  EXPECT_NEAR(objective.evaluate(tasks, costs), 0.036, 1e-12);
  EXPECT_NEAR(objective.slope(tasks, costs, 0), 2, 1e-6);
  EXPECT_EQ(objective.slope(tasks, costs, 1), 0);
}

TEST(ObjectiveTest, UnknownCostsCountAsTheWorst) {
  double infinity = std::numeric_limits<double>::infinity();
  std::vector<ScheduledTask> tasks = {makeTask({0.010, 0.002}), makeTask({}),
                                      makeTask({infinity})};
  EXPECT_EQ(currentCosts(tasks), std::vector<double>({0.002, 0.002, 0.002}));
}

TEST(ObjectiveTest, BadTextIsRefused) {
  std::pair<StringRef, StringRef> cases[] = {
      {"", "unknown objective ''"},
      {"sum:1", "unknown objective 'sum:1'"},
      {"fastest", "use sum, latency:MS, speedup, speedup:MS or "
                  "early-stop:TRIALS"},
      {"latency", "give positive milliseconds, as in latency:1.5,20"},
      {"latency:", "give positive milliseconds"},
      {"latency:-1,2", "give positive milliseconds"},
      {"latency:1,x", "give positive milliseconds"},
      {"latency:inf,1", "give positive milliseconds"},
      {"latency:1", "has 1 times for 2 networks"},
      {"speedup:1,2,3", "has 3 times for 2 networks"},
      {"early-stop", "give a number of trials"},
      {"early-stop:0", "give a number of trials"},
      {"early-stop:1.5", "give a number of trials"}};
  for (auto [text, message] : cases) {
    std::string error;
    EXPECT_TRUE(failed(Objective::parse(text, 2, error))) << text.str();
    EXPECT_NE(error.find(message.str()), std::string::npos) << error;
  }
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

class SchedulerTest : public ::testing::Test {
protected:
  SchedulerTest() { options.epsilon = 0; }

  std::optional<unsigned> gradient(ArrayRef<ScheduledTask> tasks,
                                   StringRef objective = "sum") {
    return createGradientScheduler(parse(objective), options)->next(tasks, rng);
  }
  GradientOptions options;
  RandomGenerator rng{1};
};

TEST_F(SchedulerTest, WarmUpGivesEachTaskARound) {
  std::vector<ScheduledTask> tasks = {makeTask({1}), makeTask({}),
                                      makeTask({})};
  EXPECT_EQ(gradient(tasks), 1u);
  tasks[1].finished = true;
  EXPECT_EQ(gradient(tasks), 2u);
}

TEST_F(SchedulerTest, HistoryAndForecast) {
  // Groups differ: no peers. After four rounds, with window 3:
  //   a: .2 * (6 - 12) / 3 + .8 * (-6 / 4)  = -1.6
  //   b: .2 * (7 - 7) / 3  + .8 * (-7 / 4)  = -1.4
  std::vector<ScheduledTask> tasks = {makeTask({12, 9, 8, 6}, 1, 1e6, "a"),
                                      makeTask({7, 7, 7, 7}, 1, 1e6, "b")};
  EXPECT_EQ(gradient(tasks), 0u);
  // Only history tells them apart, and only within the window:
  //   b: -1.4, a: .2 * (7 - 7) / 3 ...
  tasks[0].history = {100, 7, 7, 7, 7};
  tasks[1].history = {100, 100, 7, 7, 7};
  //   a: 0 - 1.12, b: .2 * (7 - 100) / 3 - 1.12
  EXPECT_EQ(gradient(tasks), 1u);
  options.alpha = 0; // equal now: the first
  EXPECT_EQ(gradient(tasks), 0u);
}

TEST_F(SchedulerTest, WeightsAndRoundsCount) {
  // -3 / 1 * .8 * 1 against -4 / 2 * .8 * 1 and -2 / 2 * .8 * 4.
  std::vector<ScheduledTask> tasks = {makeTask({3}, 1, 1e6, "a"),
                                      makeTask({4, 4}, 1, 1e6, "b"),
                                      makeTask({2, 2}, 4, 1e6, "c")};
  EXPECT_EQ(gradient(tasks), 2u);
  tasks[2].weights = {2};
  EXPECT_EQ(gradient(tasks), 0u);
  tasks[0].finished = true;
  tasks[2].weights = {1};
  EXPECT_EQ(gradient(tasks), 1u);
}

TEST_F(SchedulerTest, SimilarTasksTellWhatIsPossible) {
  // Both do 1e6 operations. The second one is known to reach 1e6 a second, so
  // the first, after ten rounds at 10 s, is expected at beta * 1 s:
  //   .8 * (2 - 10) = -6.4. A third one that is no peer promises -5 * .8.
  std::vector<double> flat(10, 10.0);
  std::vector<ScheduledTask> tasks = {makeTask(flat), makeTask({1}),
                                      makeTask({5}, 1, 1e6, "other")};
  EXPECT_EQ(gradient(tasks), 0u);
  tasks[1].structure = "different";
  EXPECT_EQ(gradient(tasks), 2u); // -1 * .8 against -5 * .8
  tasks[1].structure = "s";
  tasks[1].flops = 2e6; // another power of 1.618
  EXPECT_EQ(gradient(tasks), 2u);
}

TEST_F(SchedulerTest, SlowTasksLeaveTheirGroup) {
  std::vector<ScheduledTask> tasks = {makeTask(std::vector<double>(6, 10.0)),
                                      makeTask({1}),
                                      makeTask({5}, 1, 1e6, "other")};
  auto scheduler = createGradientScheduler(Objective(), options);
  // Six rounds are not more than 5 + 1.
  scheduler->roundDone(tasks, 0);
  EXPECT_EQ(scheduler->next(tasks, rng), 0u);
  tasks[0].history.push_back(10);
  scheduler->roundDone(tasks, 0);
  EXPECT_EQ(scheduler->next(tasks, rng), 2u); // -10 / 7 * .8 against -5 * .8
  // Of half the rate or better: it stays.
  tasks[0].history.assign(7, 2.0);
  tasks[2].history = {0.1};
  auto other = createGradientScheduler(Objective(), options);
  other->roundDone(tasks, 0);
  EXPECT_EQ(other->next(tasks, rng), 1u);
}

TEST_F(SchedulerTest, NothingToGainEndsTheRun) {
  std::vector<ScheduledTask> tasks = {makeTask({0.003}), makeTask({0.004})};
  EXPECT_EQ(gradient(tasks, "latency:10"), std::nullopt);
  EXPECT_TRUE(gradient(tasks, "latency:5").has_value());
  tasks[0].finished = tasks[1].finished = true;
  EXPECT_EQ(gradient(tasks), std::nullopt);
}

TEST_F(SchedulerTest, EpsilonDrawsNowAndThen) {
  options.epsilon = 0.25;
  std::vector<ScheduledTask> tasks(5, makeTask({1, 1, 1}));
  tasks[1].weights = {100};
  tasks[4].finished = true;
  auto scheduler = createGradientScheduler(Objective(), options);
  std::vector<unsigned> count(5, 0);
  for (int i = 0; i < 1000; ++i)
    ++count[scheduler->next(tasks, rng).value()];
  for (unsigned index : {0, 2, 3}) {
    EXPECT_GT(count[index], 30u); // 1000 * .25 / 4 each
    EXPECT_LT(count[index], 100u);
  }
  EXPECT_EQ(count[4], 0u);
}

TEST_F(SchedulerTest, RoundRobinTakesTheFewestTrials) {
  auto scheduler = createRoundRobinScheduler();
  std::vector<ScheduledTask> tasks = {makeTask({1, 1}), makeTask({1}),
                                      makeTask({1})};
  EXPECT_EQ(scheduler->next(tasks, rng), 1u);
  tasks[1].finished = true;
  EXPECT_EQ(scheduler->next(tasks, rng), 2u);
  tasks[0].finished = tasks[2].finished = true;
  EXPECT_EQ(scheduler->next(tasks, rng), std::nullopt);
}

TEST_F(SchedulerTest, UsersChoose) {
  std::vector<ScheduledTask> tasks(3, makeTask({1}));
  tasks[2].finished = true;
  unsigned answer = 1;
  auto scheduler = createUserScheduler(
      [&](ArrayRef<ScheduledTask>) { return std::optional(answer); });
  EXPECT_EQ(scheduler->next(tasks, rng), 1u);
  for (unsigned wrong : {2, 3}) {
    answer = wrong;
    EXPECT_EQ(scheduler->next(tasks, rng), std::nullopt);
  }
}

//===----------------------------------------------------------------------===//
// Similar tasks
//===----------------------------------------------------------------------===//

TEST_F(SchedulerTest, StructureIgnoresExtentsAndNames) {
  MLIRContext context;
  DialectRegistry registry;
  registerUpstream(registry);
  context.appendDialectRegistry(registry);
  auto key = [&](StringRef m, StringRef type, StringRef op, StringRef name) {
    std::string matrix = ("tensor<" + m + "x64x" + type + ">").str();
    std::string text =
        ("#id = affine_map<(d0, d1) -> (d0, d1)>\n"
         "func.func private @" + name + "(%a: " + matrix + ", %b: " + matrix +
         ") -> " + matrix + " attributes {ansor.task = \"" + name + "\"} {\n"
         "%0 = linalg.generic {indexing_maps = [#id, #id], "
         "iterator_types = [\"parallel\", \"parallel\"]} ins(%a : " + matrix +
         ") outs(%b : " + matrix + ") {\n^bb0(%x: " + type + ", %y: " + type +
         "):\n %r = " + op + " %x, %x : " + type + "\n linalg.yield %r : " +
         type + "\n} -> " + matrix + "\n return %0 : " + matrix + "\n}")
            .str();
    auto module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return computeStructureKey(*module->getOps<func::FuncOp>().begin());
  };
  std::string base = key("32", "f32", "arith.addf", "a");
  EXPECT_EQ(base, key("7", "f32", "arith.addf", "b"));
  EXPECT_NE(base, key("32", "f64", "arith.addf", "a"));
  EXPECT_NE(base, key("32", "f32", "arith.mulf", "a"));
}

TEST_F(SchedulerTest, GroupsArePowersOfTheGoldenRatio) {
  auto group = [](double flops) {
    return similarityGroup(makeTask({}, 1, flops, "x"));
  };
  EXPECT_EQ(group(0), "x/0");
  EXPECT_EQ(group(1), "x/1");    // log 2 = 1.44
  EXPECT_EQ(group(1e6), "x/28"); // 28.7
  EXPECT_EQ(group(1.1e6), "x/28");
  EXPECT_EQ(group(1.2e6), "x/29");
}

//===----------------------------------------------------------------------===//
// Simulation
//===----------------------------------------------------------------------===//

/// The first task is slow, and gets faster and faster; the second one soon is
/// as fast as it gets.
std::vector<TaskCurve> makeCurves() {
  std::vector<TaskCurve> curves(2);
  for (auto [index, curve] : llvm::enumerate(curves)) {
    curve.task = makeTask({}, 1, 1e6, index ? "b" : "a");
    for (int trial = 0; trial < 64; ++trial)
      curve.seconds.push_back(index ? 1e-3 : 0.1 / (1 + trial));
  }
  return curves;
}

TEST_F(SchedulerTest, SimulationTakesTrialsFromTheCurves) {
  auto curves = makeCurves();
  curves[0].seconds[1] = std::numeric_limits<double>::infinity();
  SimulationOptions simulation;
  simulation.trials = 6;
  simulation.batch = 2;
  auto scheduler = createRoundRobinScheduler();
  auto rounds = simulate(curves, *scheduler, Objective(), simulation);
  ASSERT_EQ(rounds.size(), 3u);
  EXPECT_EQ(rounds[0].task, 0u);
  EXPECT_EQ(rounds[1].task, 1u);
  EXPECT_EQ(rounds[2].task, 0u);
  EXPECT_EQ(rounds[2].trials, 6);
  EXPECT_NEAR(rounds[1].latency, 0.1 + 1e-3, 1e-12);
  EXPECT_NEAR(rounds[2].latency, 0.1 / 4 + 1e-3, 1e-12);
  EXPECT_EQ(rounds[2].objective, rounds[2].latency);
}

TEST_F(SchedulerTest, TheGradientSpendsWhereItHelps) {
  auto curves = makeCurves();
  SimulationOptions simulation;
  simulation.trials = 64;
  simulation.batch = 8;
  auto even = createRoundRobinScheduler();
  auto gradient = createGradientScheduler(Objective(), options);
  auto slow = simulate(curves, *even, Objective(), simulation);
  auto fast = simulate(curves, *gradient, Objective(), simulation);
  EXPECT_EQ(slow.back().trials, 64);
  EXPECT_EQ(fast.back().trials, 64);
  EXPECT_NEAR(slow.back().latency, 0.1 / 32 + 1e-3, 1e-9);
  EXPECT_LT(fast.back().latency, 0.1 / 40 + 1e-3);
}

TEST_F(SchedulerTest, CurvesThatEndAreFinished) {
  auto curves = makeCurves();
  curves[1].seconds.resize(3);
  SimulationOptions simulation;
  simulation.trials = 1000;
  simulation.batch = 8;
  auto scheduler = createRoundRobinScheduler();
  auto rounds = simulate(curves, *scheduler, Objective(), simulation);
  EXPECT_EQ(rounds.back().trials, 67);
}

TEST(RoundSizeTest, FollowsTrialsAndTasks) {
  EXPECT_EQ(roundSize(10000, 1), 64);
  EXPECT_EQ(roundSize(1000, 1), 41);
  EXPECT_EQ(roundSize(200, 1), 8);
  EXPECT_EQ(roundSize(2880, 10), 12);
  EXPECT_EQ(roundSize(100, 10), 5); // half of a task's share
  EXPECT_EQ(roundSize(10, 10), 1);
}

} // namespace
