//===- TuneTest.cpp - Tests of whole runs -----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/InitAll.h"
#include "ansor/Search/Search.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace mlir::ansor;

namespace {

/// Two tasks: a matmul with an epilogue, and a row sum.
constexpr llvm::StringLiteral kModel = R"(
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%a: tensor<32x64xf32>, %b: tensor<64x32xf32>)
    -> (tensor<32x32xf32>, tensor<32xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %m = linalg.matmul ins(%a, %b : tensor<32x64xf32>, tensor<64x32xf32>)
      outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.maximumf %x, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<32x32xf32>
  %e1 = tensor.empty() : tensor<32xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<32xf32>) -> tensor<32xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<32x64xf32>) outs(%f1 : tensor<32xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<32xf32>
  return %r, %s : tensor<32x32xf32>, tensor<32xf32>
})";

/// Times that follow from the candidate's name: tiles near 8 are fast.
class FakeMeasurer : public Measurer {
public:
  std::vector<MeasureResult> measure(ArrayRef<MeasureInput> inputs) override {
    std::vector<MeasureResult> results;
    for (const MeasureInput &input : inputs) {
      EXPECT_EQ(input.candidate.empty(), input.script.empty());
      EXPECT_NE(input.taskModule.find(input.taskKey), std::string::npos);
      measured.push_back(input.taskKey + " " + input.candidate);
      results.push_back(answer ? answer(input) : good(time(input.candidate)));
    }
    return results;
  }

  std::vector<MeasureResult> compare(ArrayRef<MeasureInput> inputs,
                                     unsigned passes) override {
    if (onCompare)
      onCompare(inputs);
    return Measurer::compare(inputs, passes);
  }

  static MeasureResult good(double seconds) {
    MeasureResult result;
    result.seconds = {seconds};
    result.median = seconds;
    return result;
  }
  static MeasureResult bad(ErrorKind kind, StringRef message) {
    MeasureResult result;
    result.error = kind;
    result.message = message.str();
    return result;
  }
  static double time(StringRef candidate) {
    if (candidate.empty())
      return 0.030;
    double time = 0.001;
    for (size_t at = 0; at < candidate.size();) {
      if (!llvm::isDigit(candidate[at])) {
        ++at;
        continue;
      }
      double value = 0;
      for (; at < candidate.size() && llvm::isDigit(candidate[at]); ++at)
        value = value * 10 + (candidate[at] - '0');
      time += 0.001 * std::abs(std::log2((value + 1) / 8));
    }
    return time;
  }

  std::function<MeasureResult(const MeasureInput &)> answer;
  std::function<void(ArrayRef<MeasureInput>)> onCompare;
  std::vector<std::string> measured;
};

class TuneTest : public ::testing::Test {
protected:
  TuneTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            errors.push_back(diagnostic.str());
        }) {
    DialectRegistry registry;
    registerUpstream(registry);
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    for (std::string *path : {&records, &library}) {
      SmallString<128> name;
      EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("tune", "test", name));
      *path = std::string(name);
      llvm::sys::fs::remove(name);
    }
    options.target.name = "test";
    options.target.cores = 2;
    options.trials = 32;
    options.seed = 5;
    options.recordsPath = records;
    options.scoreThreads = 1;
    options.evolution.scoredPerTrial = 16;
    options.measurer = &measurer;
    options.finalists = 0;
  }
  ~TuneTest() override {
    llvm::sys::fs::remove(records);
    llvm::sys::fs::remove(library);
  }

  /// Runs on a fresh copy of the model.
  FailureOr<TuneResult> run(const std::function<bool()> &stop = {}) {
    module = parseSourceString<ModuleOp>(model, &context);
    EXPECT_TRUE(module);
    measurer.measured.clear();
    errors.clear();
    progress.clear();
    return tune(
        *module, options,
        [&](const TuneProgress &now) { progress.push_back(now.trialsDone); },
        stop);
  }
  /// The lines of a log, without those that tell of the wall time.
  static std::string read(StringRef path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return "";
    std::string text;
    SmallVector<StringRef> lines;
    (*buffer)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (StringRef line : lines)
      if (!line.contains("\"kind\":\"run\""))
        text += (line + "\n").str();
    return text;
  }

  MLIRContext context;
  std::vector<std::string> errors;
  ScopedDiagnosticHandler handler;
  std::string model = kModel.str(), records, library;
  FakeMeasurer measurer;
  TuneOptions options;
  OwningOpRef<ModuleOp> module;
  std::vector<int64_t> progress;
};

TEST_F(TuneTest, TunesAllTasks) {
  options.scheduler = SchedulerKind::RoundRobin;
  options.libraryPath = library;
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result)) << llvm::join(errors, "\n");
  ASSERT_EQ(result->tasks.size(), 2u);
  EXPECT_FALSE(result->interrupted);
  EXPECT_EQ(progress.front(), 0);
  EXPECT_EQ(progress.back(), 32);
  EXPECT_EQ(measurer.measured.size(), 34u); // two references
  for (const TaskState &state : result->tasks) {
    EXPECT_EQ(state.trials, 16);
    EXPECT_EQ(state.rounds, 2);
    EXPECT_EQ(state.learnedRounds, 1);
    EXPECT_EQ(state.reference, 0.030);
    EXPECT_TRUE(state.improved());
    EXPECT_NE(state.bestScript.find("transform.named_sequence"),
              std::string::npos);
    EXPECT_TRUE(state.errors.empty());
  }
  EXPECT_GT(result->cost.scored, 32);
  EXPECT_GT(result->cost.total, 0);

  // What was found can be applied.
  unsigned applied = 0;
  EXPECT_TRUE(succeeded(applyLibrary(*module, StringRef(library), &applied)))
      << llvm::join(errors, "\n");
  EXPECT_EQ(applied, 2u);

  std::string error;
  FailureOr<RecordLog> log = loadRecords(records, error);
  ASSERT_TRUE(succeeded(log)) << error;
  EXPECT_EQ(log->tasks.size(), 2u);
  EXPECT_EQ(log->trials.size(), 34u);
}

TEST_F(TuneTest, SameSeedSameLogWhateverTheThreads) {
  ASSERT_TRUE(succeeded(run()));
  std::string first = read(records);
  auto measured = measurer.measured;
  llvm::sys::fs::remove(records);
  options.scoreThreads = 3;
  ASSERT_TRUE(succeeded(run()));
  EXPECT_EQ(first, read(records));
  EXPECT_EQ(measured, measurer.measured);
  llvm::sys::fs::remove(records);
  options.seed = 6;
  ASSERT_TRUE(succeeded(run()));
  EXPECT_NE(first, read(records));
}

TEST_F(TuneTest, ReplayIsTheSameSearch) {
  ASSERT_TRUE(succeeded(run()));
  std::string first = read(records);
  options.measurer = nullptr;
  options.replayPath = records;
  options.recordsPath = library; // another file
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result)) << llvm::join(errors, "\n");
  EXPECT_TRUE(measurer.measured.empty());
  EXPECT_TRUE(result->notes.empty());
  EXPECT_EQ(first, read(library));
}

TEST_F(TuneTest, InterruptedRunsGoOnAsIfNothingHadHappened) {
  options.trials = 64;
  options.gradient.epsilon = 0.3;
  ASSERT_TRUE(succeeded(run()));
  std::string whole = read(records);
  // Stopped after each number of batches in turn.
  for (size_t stopAt : {2, 3, 4, 5, 7}) {
    llvm::sys::fs::remove(records);
    FailureOr<TuneResult> part =
        run([&] { return progress.size() >= stopAt; });
    ASSERT_TRUE(succeeded(part));
    EXPECT_TRUE(part->interrupted);
    size_t before = measurer.measured.size();
    EXPECT_LT(before, 66u);
    FailureOr<TuneResult> rest = run();
    ASSERT_TRUE(succeeded(rest));
    EXPECT_EQ(before + measurer.measured.size(), 66u);
    EXPECT_EQ(rest->tasks[0].resumed + rest->tasks[1].resumed, progress[0]);
    // The lines of tasks come first in one run, too.
    EXPECT_EQ(whole, read(records));
  }
  // Nothing is left to do.
  FailureOr<TuneResult> again = run();
  ASSERT_TRUE(succeeded(again));
  EXPECT_TRUE(measurer.measured.empty());
  EXPECT_TRUE(again->tasks[0].improved());
  EXPECT_EQ(whole, read(records));
}

TEST_F(TuneTest, MoreTrialsExtendALog) {
  options.scheduler = SchedulerKind::RoundRobin;
  options.trials = 8;
  ASSERT_TRUE(succeeded(run()));
  options.trials = 24;
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(measurer.measured.size(), 16u);
  EXPECT_EQ(result->tasks[0].trials, 12);
  EXPECT_EQ(result->tasks[1].trials, 12);
}

TEST_F(TuneTest, TheGradientSpendsTrialsUnevenly) {
  options.trials = 64;
  // The second task, a row sum, is done at once; the first one improves.
  measurer.answer = [&](const MeasureInput &input) {
    bool isSum = input.taskModule.find("maximumf") == std::string::npos;
    double time = FakeMeasurer::time(input.candidate);
    return FakeMeasurer::good(isSum ? 1e-4 : time);
  };
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->tasks[0].trials + result->tasks[1].trials, 64);
  EXPECT_GT(result->tasks[0].trials, 2 * result->tasks[1].trials);
}

TEST_F(TuneTest, ReachedTargetsEndTheRun) {
  std::string error;
  options.objective = *Objective::parse("latency:1000", 1, error);
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->tasks[0].trials + result->tasks[1].trials, 16);
  ASSERT_EQ(result->notes.size(), 1u);
  EXPECT_EQ(result->notes[0], "16 trials were not needed: no task can improve "
                              "the objective");
}

TEST_F(TuneTest, UsersChooseTheTask) {
  options.chooseTask =
      [](ArrayRef<ScheduledTask> tasks) -> std::optional<unsigned> {
    if (tasks[1].trials >= 24)
      return std::nullopt;
    return 1;
  };
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->tasks[0].trials, 0);
  EXPECT_EQ(result->tasks[1].trials, 24);
}

TEST_F(TuneTest, NetworksShareTheirTasks) {
  module = parseSourceString<ModuleOp>(model, &context);
  auto other = parseSourceString<ModuleOp>(model, &context);
  ModuleOp networks[] = {*module, *other};
  FailureOr<TuneResult> result = tune(networks, options);
  ASSERT_TRUE(succeeded(result));
  ASSERT_EQ(result->tasks.size(), 2u);
  for (const TaskState &state : result->tasks) {
    EXPECT_EQ(state.task.weight, 2);
    EXPECT_EQ(ArrayRef(state.weights), ArrayRef<int64_t>({1, 1}));
  }
  for (ModuleOp network : networks) {
    unsigned applied = 0;
    std::string error;
    auto library = buildLibrary(result->bestEntries(), options.target, &context,
                                error);
    ASSERT_TRUE(succeeded(library)) << error;
    EXPECT_TRUE(succeeded(applyLibrary(network, **library, &applied)));
    EXPECT_EQ(applied, 2u);
  }
}

TEST_F(TuneTest, TheLuckiestDoesNotWin) {
  options.finalists = 8;
  options.trials = 96;
  options.earlyStop = 0;
  // All candidates are alike, but for luck in their one trial: the first one
  // has most. Against each other, one with a certain name is best.
  int number = 0;
  measurer.answer = [&](const MeasureInput &input) {
    if (input.candidate.empty())
      return FakeMeasurer::good(1);
    return FakeMeasurer::good(1e-3 * (1 + 1e-4 * number++));
  };
  // The one before is as lucky once more, in the first of two comparisons.
  std::string best, lucky;
  std::map<std::string, int> passes;
  unsigned comparisons = 0;
  measurer.onCompare = [&](ArrayRef<MeasureInput> inputs) {
    bool first = comparisons++ % 2 == 0;
    if (first) {
      EXPECT_GT(inputs.size(), 4u);
      passes.clear();
      best = inputs.back().candidate;
      lucky = inputs.drop_back().back().candidate;
    } else {
      EXPECT_EQ(inputs.size(), 4u);
    }
    measurer.answer = [&, first](const MeasureInput &input) {
      ++passes[input.candidate];
      return FakeMeasurer::good(input.candidate == best              ? 9e-4
                                : first && input.candidate == lucky ? 8e-4
                                                                     : 1.1e-3);
    };
  };
  model = kModel.str();
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result));
  const TaskState &state = result->tasks[1];
  EXPECT_TRUE(state.overturned);
  EXPECT_GE(state.compared, 2);
  EXPECT_LE(state.compared, std::max<int64_t>(2, state.trials / 8));
  EXPECT_EQ(state.best, 9e-4);
  for (auto &[candidate, count] : passes)
    EXPECT_TRUE(count == 3 || count == 9) << candidate;
  EXPECT_EQ(passes[best], 9);
  EXPECT_EQ(passes[lucky], 9);

  std::string error, whole = read(records);
  FailureOr<RecordLog> log = loadRecords(records, error);
  ASSERT_TRUE(succeeded(log)) << error;
  EXPECT_EQ(int64_t(log->finals.size()),
            result->tasks[0].compared + result->tasks[1].compared);
  EXPECT_EQ(log->finals.back().median, 9e-4);
  EXPECT_EQ(log->finals.back().seconds.size(), 6u);
  ASSERT_EQ(log->runs.size(), 1u);
  EXPECT_EQ(log->runs[0].trials, 96);

  // Nothing is left to try: what was decided stays, and nothing is measured.
  FailureOr<TuneResult> again = run();
  ASSERT_TRUE(succeeded(again));
  EXPECT_TRUE(measurer.measured.empty());
  EXPECT_EQ(again->tasks[1].best, 9e-4);
  EXPECT_EQ(again->tasks[1].bestScript, state.bestScript);
  EXPECT_EQ(whole, read(records));

  // A replay decides alike.
  options.measurer = nullptr;
  options.replayPath = records;
  options.recordsPath = library;
  FailureOr<TuneResult> replay = run();
  ASSERT_TRUE(succeeded(replay)) << llvm::join(errors, "\n");
  EXPECT_EQ(whole, read(library));
  EXPECT_EQ(replay->tasks[1].bestScript, state.bestScript);

  // More trials, another comparison.
  options.measurer = &measurer;
  options.replayPath.clear();
  options.recordsPath = records;
  options.trials = 112;
  passes.clear();
  result = run();
  ASSERT_TRUE(succeeded(result));
  EXPECT_FALSE(passes.empty());
}

TEST_F(TuneTest, ADriftingMachineDecidesNothing) {
  options.finalists = 8;
  options.trials = 96;
  options.earlyStop = 0;
  int number = 0;
  measurer.answer = [&](const MeasureInput &input) {
    if (input.candidate.empty())
      return FakeMeasurer::good(1);
    return FakeMeasurer::good(1e-3 * (1 + 1e-4 * number++));
  };
  // In the second comparison the machine is half as fast from the fourth pass
  // on. The best is disturbed in one of the fast passes, so that the median of
  // its seconds is worse than the others'.
  std::string best;
  std::map<std::string, unsigned> passes;
  unsigned comparisons = 0;
  measurer.onCompare = [&](ArrayRef<MeasureInput> inputs) {
    const bool first = comparisons++ % 2 == 0;
    if (first)
      best = inputs.back().candidate;
    passes.clear();
    measurer.answer = [&, first](const MeasureInput &input) {
      const unsigned pass = passes[input.candidate]++;
      double seconds = input.candidate == best ? 9e-4 : 1e-3;
      if (!first && input.candidate == best && pass == 2)
        seconds = 1.3e-3;
      return FakeMeasurer::good(first || pass < 3 ? seconds : 2 * seconds);
    };
  };
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(comparisons, 4u);
  EXPECT_EQ(passes[best], 6u);
  EXPECT_TRUE(result->tasks[1].overturned);
  EXPECT_DOUBLE_EQ(result->tasks[1].best, (1.3e-3 + 1.8e-3) / 2);
}

TEST_F(TuneTest, TheUnscheduledProgramIsComparedToo) {
  options.finalists = 8;
  measurer.answer = [](const MeasureInput &input) {
    return FakeMeasurer::good(input.candidate.empty() ? 1.02e-3 : 1e-3);
  };
  measurer.onCompare = [&](ArrayRef<MeasureInput> inputs) {
    EXPECT_EQ(inputs.back().candidate, "");
    measurer.answer = [](const MeasureInput &input) {
      return FakeMeasurer::good(input.candidate.empty() ? 1e-3 : 1.02e-3);
    };
  };
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result));
  EXPECT_FALSE(result->tasks[1].improved());
  EXPECT_EQ(result->tasks[1].reference, 1e-3);
}

TEST_F(TuneTest, ASlowerMachineAtTheEndDecidesNothing) {
  options.finalists = 8;
  measurer.answer = [](const MeasureInput &input) {
    return FakeMeasurer::good(input.candidate.empty() ? 1.5e-3 : 1e-3);
  };
  // Since the unscheduled program was measured, all has become half as fast.
  measurer.onCompare = [&](ArrayRef<MeasureInput>) {
    measurer.answer = [](const MeasureInput &input) {
      return FakeMeasurer::good(input.candidate.empty() ? 3e-3 : 2e-3);
    };
  };
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result));
  EXPECT_TRUE(result->tasks[1].improved());
  EXPECT_EQ(result->tasks[1].reference, 3e-3);
  EXPECT_EQ(result->tasks[1].best, 2e-3);
}

TEST_F(TuneTest, FailuresAreCountedByKind) {
  options.scheduler = SchedulerKind::RoundRobin;
  int number = 0;
  measurer.answer = [&](const MeasureInput &input) {
    if (!input.candidate.empty() && ++number % 2 == 0)
      return number % 4 == 0
                 ? FakeMeasurer::bad(ErrorKind::RunCrash, "signal 11")
                 : FakeMeasurer::bad(ErrorKind::WrongResult,
                                     "message " + std::to_string(number));
    return FakeMeasurer::good(FakeMeasurer::time(input.candidate));
  };
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result));
  for (const TaskState &state : result->tasks) {
    EXPECT_EQ(state.trials, 16);
    EXPECT_EQ(state.errors.at("run-crash"), 4);
    EXPECT_EQ(state.errors.at("wrong-result"), 4);
    EXPECT_EQ(state.firstMessage.at("run-crash"), "signal 11");
  }
  EXPECT_EQ(result->tasks[0].firstMessage.at("wrong-result"), "message 2");
}

TEST_F(TuneTest, SlowerSchedulesDoNotReplaceTheProgram) {
  measurer.answer = [](const MeasureInput &input) {
    return FakeMeasurer::good(input.candidate.empty() ? 1e-6 : 1e-3);
  };
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result));
  for (const BestEntry &entry : result->bestEntries())
    EXPECT_TRUE(entry.script.empty());
  EXPECT_FALSE(result->tasks[0].improved());
}

TEST_F(TuneTest, AllTrialsMayFail) {
  measurer.answer = [](const MeasureInput &input) {
    return FakeMeasurer::bad(ErrorKind::BuildCrash, "no luck");
  };
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result)) << llvm::join(errors, "\n");
  EXPECT_EQ(result->tasks[0].errors.at("build-crash"), 16);
  EXPECT_FALSE(result->tasks[0].improved());
  ASSERT_EQ(result->notes.size(), 2u);
  EXPECT_NE(result->notes[0].find("the unscheduled program of task"),
            std::string::npos);
}

TEST_F(TuneTest, ADeadDeviceEndsTheRun) {
  measurer.answer = [](const MeasureInput &input) {
    return FakeMeasurer::bad(ErrorKind::Device, "no such machine");
  };
  ASSERT_TRUE(failed(run()));
  EXPECT_EQ(errors.front(), "cannot measure on this device: no such machine");
  measurer.answer = [](const MeasureInput &input) {
    MeasureResult result =
        FakeMeasurer::bad(ErrorKind::RunTimeout, "not run in 300 s");
    result.ofReference = true;
    return result;
  };
  ASSERT_TRUE(failed(run()));
  EXPECT_EQ(errors.front(), "no task can be measured: not run in 300 s");
}

// Whatever keeps one task from being measured, from the start or later on: the
// others get the trials, and the failure is counted.
TEST_F(TuneTest, ATaskThatCantBeMeasuredCostsItselfOnly) {
  for (ErrorKind kind : {ErrorKind::Device, ErrorKind::RunTimeout})
    for (int64_t after : {0, 5}) {
      llvm::sys::fs::remove(records);
      std::string bad;
      int64_t answered = 0;
      measurer.answer = [&](const MeasureInput &input) {
        if (bad.empty())
          bad = input.taskKey;
        if (input.taskKey != bad || answered++ < after)
          return FakeMeasurer::good(FakeMeasurer::time(input.candidate));
        MeasureResult result = FakeMeasurer::bad(kind, "no way");
        result.ofReference = kind != ErrorKind::Device;
        return result;
      };
      FailureOr<TuneResult> result = run();
      ASSERT_TRUE(succeeded(result)) << llvm::join(errors, "\n");
      const TaskState &failed = result->tasks[0], &other = result->tasks[1];
      ASSERT_EQ(failed.task.key, bad);
      EXPECT_TRUE(failed.unmeasurable);
      EXPECT_EQ(failed.errors.count(stringify(kind).str()), 1u);
      EXPECT_EQ(failed.firstMessage.at(stringify(kind).str()), "no way");
      EXPECT_FALSE(other.unmeasurable);
      EXPECT_TRUE(other.errors.empty());
      EXPECT_TRUE(other.improved());
      EXPECT_EQ(failed.trials + other.trials, 32);
      if (after == 0)
        EXPECT_EQ(other.trials, 32);
      // The next run knows what this one measured.
      ASSERT_TRUE(succeeded(run()));
    }
}

TEST_F(TuneTest, EarlyStopEndsATask) {
  options.trials = 200;
  options.earlyStop = 12;
  measurer.answer = [](const MeasureInput &input) {
    return FakeMeasurer::good(1e-3);
  };
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result));
  EXPECT_TRUE(result->tasks[0].finished);
  EXPECT_LT(result->tasks[0].trials, 60);
}

TEST_F(TuneTest, RandomModelNeverLearns) {
  options.scheduler = SchedulerKind::RoundRobin;
  options.model = ModelKind::Random;
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->tasks[0].learnedRounds, 0);
  EXPECT_EQ(result->tasks[0].trials, 16);
}

TEST_F(TuneTest, BadRequestsAreRefused) {
  options.trials = 1;
  EXPECT_TRUE(failed(run()));
  EXPECT_EQ(errors.front(), "too few trials: 1 for 2 tasks; trials are the "
                            "total over all tasks: give at least 2, better "
                            "128");
  EXPECT_FALSE(llvm::sys::fs::exists(records));
  options.trials = 32;

  model = "func.func @f(%x: i32) -> i32 { return %x : i32 }";
  EXPECT_TRUE(failed(run()));
  EXPECT_NE(errors.front().find("nothing to schedule"), std::string::npos);
  model = kModel.str();

  {
    std::error_code code;
    llvm::raw_fd_ostream os(records, code);
    os << "my thesis\n";
  }
  EXPECT_TRUE(failed(run()));
  EXPECT_NE(errors.front().find(records + ":1: not a JSON object"),
            std::string::npos);
  EXPECT_EQ(read(records), "my thesis\n");
}

TEST_F(TuneTest, RecordsOfAnotherTargetAreRefused) {
  ASSERT_TRUE(succeeded(run()));
  options.target.cores = 64;
  EXPECT_TRUE(failed(run()));
  EXPECT_NE(errors.front().find("on another target"), std::string::npos);
}

TEST_F(TuneTest, RecordsOfOtherThreadsAreNotUsed) {
  ASSERT_TRUE(succeeded(run()));
  options.measure.threads = 2;
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->tasks[0].resumed, 0);
  ASSERT_EQ(result->notes.size(), 1u);
  EXPECT_NE(result->notes[0].find("another number of threads"),
            std::string::npos);
}

TEST_F(TuneTest, RecordsOfWarmerWeightsAreNotUsed) {
  const std::string plain = "%b: tensor<64x32xf32>";
  model.replace(model.find(plain), plain.size(), plain + " {ansor.weight}");
  ASSERT_TRUE(succeeded(run()));
  std::string first = read(records);
  std::string error;
  FailureOr<RecordLog> log = loadRecords(records, error);
  ASSERT_TRUE(succeeded(log)) << error;
  for (const TrialRecord &trial : log->trials)
    EXPECT_EQ(trial.coldBytes,
              trial.taskKey == log->tasks[0].task.key ? 64 * 32 * 4 : 0);

  // The task without weights goes on.
  options.coldWeights = false;
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->tasks[0].resumed, 0);
  EXPECT_GT(result->tasks[1].resumed, 0);
  ASSERT_EQ(result->notes.size(), 1u);
  EXPECT_NE(result->notes[0].find("warmer or colder"), std::string::npos);

  // A log is replayed as it is.
  {
    std::error_code code;
    llvm::raw_fd_ostream os(records, code);
    os << first;
  }
  options.measurer = nullptr;
  options.replayPath = records;
  options.recordsPath = library;
  ASSERT_TRUE(succeeded(run())) << llvm::join(errors, "\n");
  EXPECT_EQ(first, read(library));
}

TEST_F(TuneTest, TasksOfWeightsAreNotTuned) {
  // Both arguments are weights: the row sum leaves the network. Then the whole
  // does, and is tuned nevertheless.
  const std::string plain = "%a: tensor<32x64xf32>";
  model.replace(model.find(plain), plain.size(), plain + " {ansor.weight}");
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result)) << llvm::join(errors, "\n");
  EXPECT_EQ(result->tasks.size(), 1u);
  const std::string other = "%b: tensor<64x32xf32>";
  model.replace(model.find(other), other.size(), other + " {ansor.weight}");
  result = run();
  ASSERT_TRUE(succeeded(result)) << llvm::join(errors, "\n");
  EXPECT_EQ(result->tasks.size(), 2u);
}

TEST_F(TuneTest, NetworksOfAboutOneSizeShareRecords) {
  auto modelOf = [](unsigned layers) {
    std::string text = "func.func @main(%x0: tensor<8x32xf32>";
    llvm::raw_string_ostream os(text);
    for (unsigned i = 0; i < layers; ++i)
      os << ", %w" << i << ": tensor<32x32xf32> {ansor.weight}";
    os << ") -> tensor<8x32xf32> {\n%zero = arith.constant 0.0 : f32\n"
          "%e = tensor.empty() : tensor<8x32xf32>\n"
          "%f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> "
          "tensor<8x32xf32>\n";
    for (unsigned i = 0; i < layers; ++i)
      os << "%x" << i + 1 << " = linalg.matmul ins(%x" << i << ", %w" << i
         << " : tensor<8x32xf32>, tensor<32x32xf32>) outs(%f : "
            "tensor<8x32xf32>) -> tensor<8x32xf32>\n";
    os << "return %x" << layers << " : tensor<8x32xf32>\n}";
    return text;
  };
  model = modelOf(2);
  ASSERT_TRUE(succeeded(run())) << llvm::join(errors, "\n");
  model = modelOf(4);
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->tasks[0].resumed, 32);
  model = modelOf(5);
  result = run();
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->tasks[0].resumed, 0);
}

TEST_F(TuneTest, RecordsOfAnotherSpaceAreNotUsed) {
  ASSERT_TRUE(succeeded(run()));
  options.space = SpaceKind::Ansor;
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result)) << llvm::join(errors, "\n");
  EXPECT_EQ(result->tasks[0].resumed, 0);
  ASSERT_FALSE(result->notes.empty());
  EXPECT_NE(result->notes[0].find("belong to other sketches"),
            std::string::npos);
}

TEST_F(TuneTest, ATornLineIsDroppedAndTold) {
  options.scheduler = SchedulerKind::RoundRobin;
  ASSERT_TRUE(succeeded(run()));
  {
    std::error_code code;
    llvm::raw_fd_ostream os(records, code, llvm::sys::fs::OF_Append);
    os << "{\"kind\":\"tri";
  }
  FailureOr<TuneResult> result = run();
  ASSERT_TRUE(succeeded(result)) << llvm::join(errors, "\n");
  EXPECT_EQ(result->tasks[0].resumed, 16);
  ASSERT_FALSE(result->notes.empty());
  EXPECT_NE(result->notes[0].find("was torn, and is dropped"),
            std::string::npos);
}

} // namespace
