//===- LocalMeasurerTest.cpp - Candidates of every kind ---------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A candidate may be any function: modules here hold wrong functions beside the
// task's, and a script gives one of them the task's key.
//
//===----------------------------------------------------------------------===//

#include "ansor/Measure/Measure.h"
#include "gtest/gtest.h"
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include "llvm/Support/FileSystem.h"
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace mlir::ansor;

/// A function with the task's signature that computes `body`, whose value is
/// %r, and the last argument is %c.
static std::string function(const std::string &name,
                            const std::string &attributes,
                            const std::string &body) {
  return "func.func private @" + name +
         "(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>, %c: "
         "tensor<64x64xf32>) -> tensor<64x64xf32> attributes {" +
         attributes + "} {\n" + body + "  return %r : tensor<64x64xf32>\n}\n";
}

/// C = A B.
static const char kMatmul[] =
    "  %z = arith.constant 0.0 : f32\n"
    "  %f = linalg.fill {ansor.stage = 0 : i64} ins(%z : f32) outs(%c : "
    "tensor<64x64xf32>) -> tensor<64x64xf32>\n"
    "  %r = linalg.matmul {ansor.stage = 1 : i64} ins(%a, %b : "
    "tensor<64x32xf32>, tensor<32x64xf32>) outs(%f : tensor<64x64xf32>) -> "
    "tensor<64x64xf32>\n";

static std::string task() {
  return function("task_0", "ansor.task = \"a1-00\", ansor.weight = 1 : i64",
                  kMatmul);
}

/// A script of `body`, over the handle %fn of the task's function.
static std::string script(const std::string &body) {
  return "module attributes {transform.with_named_sequence} {\n"
         "transform.named_sequence @__transform_main(%m: !transform.any_op) {\n"
         "  %fn = transform.structured.match ops{[\"func.func\"]} attributes "
         "{ansor.task = \"a1-00\"} in %m : (!transform.any_op) -> "
         "!transform.any_op\n" +
         body + "  transform.yield\n}\n}\n";
}

/// A script that gives the key to wrong function number `i`, which comes before
/// the task's.
static std::string chooseWrong(size_t i) {
  return script("  %w = transform.structured.match ops{[\"func.func\"]} "
                "attributes {wrong = " +
                std::to_string(i) +
                " : i64} in %m : (!transform.any_op) -> !transform.any_op\n"
                "  %k = transform.param.constant \"a1-00\" -> "
                "!transform.any_param\n"
                "  transform.annotate %w \"ansor.task\" = %k : "
                "!transform.any_op, !transform.any_param\n");
}

static const char kTiled[] = "  %r = transform.structured.match attributes "
                             "{ansor.stage = 1 : i64} in %fn "
                             ": (!transform.any_op) -> !transform.any_op\n";

static MeasureOptions options() {
  MeasureOptions options;
  options.target = detectHostTarget();
  options.builders = 2;
  options.threads = 2;
  options.toolDir = ANSOR_TOOL_DIR;
  options.repeats = 2;
  options.minRepeatSeconds = 1e-3;
  options.runTimeout = 4;
  options.buildTimeout = 60;
  return options;
}

static MeasureInput input(std::string scriptText) {
  MeasureInput input;
  input.taskKey = "a1-00";
  input.taskModule = task();
  input.script = std::move(scriptText);
  return input;
}

namespace {
class LocalMeasurerTest : public testing::Test {
protected:
  std::vector<MeasureResult> measure(ArrayRef<std::string> scripts,
                                     MeasureOptions given = options()) {
    std::string error;
    auto measurer = createLocalMeasurer(given, error);
    EXPECT_TRUE(succeeded(measurer)) << error;
    std::vector<MeasureInput> inputs;
    for (const std::string &text : scripts)
      inputs.push_back(input(text));
    return (*measurer)->measure(inputs);
  }

  /// Measures functions of these bodies, and then the right one.
  std::vector<MeasureResult> measureBodies(ArrayRef<std::string> bodies,
                                           MeasureOptions given = options(),
                                           const std::string &declare = "") {
    std::string error, text = declare;
    for (auto [i, body] : llvm::enumerate(bodies))
      text += function("wrong_" + std::to_string(i),
                       "wrong = " + std::to_string(i) + " : i64", body);
    text += task();
    auto measurer = createLocalMeasurer(given, error);
    EXPECT_TRUE(succeeded(measurer)) << error;
    std::vector<MeasureInput> inputs;
    for (size_t i = 0; i <= bodies.size(); ++i) {
      inputs.push_back(input(i < bodies.size() ? chooseWrong(i) : ""));
      inputs.back().taskModule = text;
    }
    auto results = (*measurer)->measure(inputs);
    expectKind(results.back(), ErrorKind::None, "");
    return results;
  }

  void expectKind(const MeasureResult &result, ErrorKind kind,
                  StringRef message) {
    EXPECT_EQ(stringify(result.error), stringify(kind)) << result.message;
    EXPECT_TRUE(StringRef(result.message).contains(message)) << result.message;
    if (kind != ErrorKind::None) {
      EXPECT_TRUE(result.seconds.empty());
      EXPECT_EQ(result.median, INFINITY);
    }
  }
};
} // namespace

TEST_F(LocalMeasurerTest, RightCandidatesAreTimed) {
  std::string tiled =
      script(std::string(kTiled) +
             "  %t, %l = transform.structured.tile_using_forall %r tile_sizes "
             "[32, 16] : (!transform.any_op) -> (!transform.any_op, "
             "!transform.any_op)\n"
             "  %u, %k = transform.structured.tile_using_for %t tile_sizes "
             "[0, 0, 8] : (!transform.any_op) -> (!transform.any_op, "
             "!transform.any_op)\n");
  auto results = measure({"", tiled, ""});
  ASSERT_EQ(results.size(), 3u);
  for (const MeasureResult &result : results) {
    EXPECT_EQ(stringify(result.error), "none") << result.message;
    EXPECT_EQ(result.seconds.size(), 2u);
    EXPECT_GT(result.median, 0);
    EXPECT_LT(result.median, 1);
    EXPECT_LE(result.maxError, 1);
    EXPECT_GT(result.buildSeconds, 0);
    EXPECT_GT(result.runSeconds, 0);
  }
}

TEST_F(LocalMeasurerTest, ComparisonsTakeTurns) {
  std::string error;
  auto measurer = createLocalMeasurer(options(), error);
  ASSERT_TRUE(succeeded(measurer)) << error;
  auto results =
      (*measurer)->compare({input(""), input("not a script"), input("")}, 3);
  ASSERT_EQ(results.size(), 3u);
  for (size_t i : {0, 2}) {
    EXPECT_EQ(stringify(results[i].error), "none") << results[i].message;
    ASSERT_EQ(results[i].seconds.size(), 3u); // one a pass
    std::vector<double> sorted = results[i].seconds;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(results[i].median, sorted[1]);
  }
  EXPECT_EQ(stringify(results[1].error), "transform");
  EXPECT_EQ(results[1].median, INFINITY);
  MeasureCost cost = (*measurer)->getCost();
  EXPECT_GT(cost.build, 0);
  EXPECT_GT(cost.run, 0);
  EXPECT_GT(cost.check, 0);
}

TEST(MergePassesTest, MedianOfMedians) {
  auto pass = [](double median, double error) {
    MeasureResult result;
    result.seconds = {1, 2, 3};
    result.median = median;
    result.maxError = error;
    result.runSeconds = 1;
    return result;
  };
  MeasureResult merged =
      mergePasses({pass(5, 0.5), pass(3, 0), pass(4, 0), pass(9, 0)});
  EXPECT_EQ(merged.seconds, std::vector<double>({5, 3, 4, 9}));
  EXPECT_EQ(merged.median, 4.5);
  EXPECT_EQ(merged.maxError, 0.5);
  EXPECT_EQ(merged.runSeconds, 4);
  EXPECT_EQ(mergePasses(pass(2, 0)).seconds.size(), 3u);
  MeasureResult bad;
  bad.error = ErrorKind::RunCrash;
  EXPECT_EQ(mergePasses({pass(5, 0), bad}).error, ErrorKind::RunCrash);
}

TEST_F(LocalMeasurerTest, WrongResultsCannotWin) {
  // Rows 48 to 63 are left as they were.
  std::string skippedTile =
      ("  %z = arith.constant 0.0 : f32\n"
       "  %as = tensor.extract_slice %a[0, 0] [48, 32] [1, 1] : "
       "tensor<64x32xf32> to tensor<48x32xf32>\n"
       "  %cs = tensor.extract_slice %c[0, 0] [48, 64] [1, 1] : "
       "tensor<64x64xf32> to tensor<48x64xf32>\n"
       "  %f = linalg.fill ins(%z : f32) outs(%cs : tensor<48x64xf32>) -> "
       "tensor<48x64xf32>\n"
       "  %m = linalg.matmul ins(%as, %b : tensor<48x32xf32>, "
       "tensor<32x64xf32>) outs(%f : tensor<48x64xf32>) -> tensor<48x64xf32>\n"
       "  %r = tensor.insert_slice %m into %c[0, 0] [48, 64] [1, 1] : "
       "tensor<48x64xf32> into tensor<64x64xf32>\n"
       "");
  // k runs to 31.
  std::string droppedStep =
      ("  %z = arith.constant 0.0 : f32\n"
       "  %as = tensor.extract_slice %a[0, 0] [64, 31] [1, 1] : "
       "tensor<64x32xf32> to tensor<64x31xf32>\n"
       "  %bs = tensor.extract_slice %b[0, 0] [31, 64] [1, 1] : "
       "tensor<32x64xf32> to tensor<31x64xf32>\n"
       "  %f = linalg.fill ins(%z : f32) outs(%c : tensor<64x64xf32>) -> "
       "tensor<64x64xf32>\n"
       "  %r = linalg.matmul ins(%as, %bs : tensor<64x31xf32>, "
       "tensor<31x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>\n"
       "");
  // The fill runs again before the second half of k.
  std::string repeatedFill =
      "  %z = arith.constant 0.0 : f32\n"
      "  %a0 = tensor.extract_slice %a[0, 0] [64, 16] [1, 1] : "
      "tensor<64x32xf32> to tensor<64x16xf32>\n"
      "  %b0 = tensor.extract_slice %b[0, 0] [16, 64] [1, 1] : "
      "tensor<32x64xf32> to tensor<16x64xf32>\n"
      "  %f0 = linalg.fill ins(%z : f32) outs(%c : tensor<64x64xf32>) -> "
      "tensor<64x64xf32>\n"
      "  %m = linalg.matmul ins(%a0, %b0 : tensor<64x16xf32>, "
      "tensor<16x64xf32>) outs(%f0 : tensor<64x64xf32>) -> "
      "tensor<64x64xf32>\n"
      "  %a1 = tensor.extract_slice %a[0, 16] [64, 16] [1, 1] : "
      "tensor<64x32xf32> to tensor<64x16xf32>\n"
      "  %b1 = tensor.extract_slice %b[16, 0] [16, 64] [1, 1] : "
      "tensor<32x64xf32> to tensor<16x64xf32>\n"
      "  %f1 = linalg.fill ins(%z : f32) outs(%m : tensor<64x64xf32>) -> "
      "tensor<64x64xf32>\n"
      "  %r = linalg.matmul ins(%a1, %b1 : tensor<64x16xf32>, "
      "tensor<16x64xf32>) outs(%f1 : tensor<64x64xf32>) -> "
      "tensor<64x64xf32>\n";
  auto results = measureBodies({skippedTile, droppedStep, repeatedFill});
  for (int i = 0; i < 3; ++i) {
    expectKind(results[i], ErrorKind::WrongResult, "argument 2 at [");
    EXPECT_GT(results[i].maxError, 10);
  }
}

TEST_F(LocalMeasurerTest, RacesAreFound) {
  // Plain: k in parallel, which the loop itself shows.
  std::string plain =
      script(std::string(kTiled) +
             "  %t, %l = transform.structured.tile_using_forall %r tile_sizes "
             "[0, 0, 8] : (!transform.any_op) -> (!transform.any_op, "
             "!transform.any_op)\n");
  // Hidden: all iterations add into the same rows, by an index that hangs on
  // the loop. Only running it shows.
  std::string hidden =
      ("  %z = arith.constant 0.0 : f32\n"
       "  %f = linalg.fill ins(%z : f32) outs(%c : tensor<64x64xf32>) -> "
       "tensor<64x64xf32>\n"
       "  %r = scf.forall (%k) in (32) shared_outs(%o = %f) -> "
       "(tensor<64x64xf32>) {\n"
       "    %i = affine.apply affine_map<(d) -> (d floordiv 64)>(%k)\n"
       "    %as = tensor.extract_slice %a[0, %k] [64, 1] [1, 1] : "
       "tensor<64x32xf32> to tensor<64x1xf32>\n"
       "    %bs = tensor.extract_slice %b[%k, 0] [1, 64] [1, 1] : "
       "tensor<32x64xf32> to tensor<1x64xf32>\n"
       "    %os = tensor.extract_slice %o[%i, 0] [64, 64] [1, 1] : "
       "tensor<64x64xf32> to tensor<64x64xf32>\n"
       "    %m = linalg.matmul ins(%as, %bs : tensor<64x1xf32>, "
       "tensor<1x64xf32>) outs(%os : tensor<64x64xf32>) -> tensor<64x64xf32>\n"
       "    scf.forall.in_parallel { tensor.parallel_insert_slice %m into "
       "%o[%i, 0] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<64x64xf32> "
       "}\n"
       "  }\n");
  expectKind(measure({plain})[0], ErrorKind::Illegal, "write the same slice");
  // It shows by chance, and seldom where another process has the other core.
  MeasureResult result;
  for (int attempt = 0; attempt < 80 && result.error == ErrorKind::None;
       ++attempt)
    result = measureBodies({hidden})[0];
  expectKind(result, ErrorKind::WrongResult, "argument 2 at [");
}

/// The right program, after `body`.
static std::string after(const std::string &body) { return body + kMatmul; }

TEST_F(LocalMeasurerTest, EndlessLoopsTimeOut) {
  MeasureOptions given = options();
  given.runTimeout = 0.7;
  // Volatile, so that the compiler can't take it for a loop that ends.
  auto results =
      measureBodies({after("  %n = llvm.mlir.constant(8 : i64) : i64\n"
                           "  %p = llvm.alloca %n x i8 : (i64) -> !llvm.ptr\n"
                           "  llvm.store volatile %n, %p : i64, !llvm.ptr\n"
                           "  scf.while : () -> () {\n"
                           "    %v = llvm.load volatile %p : !llvm.ptr -> i64\n"
                           "    %go = arith.cmpi eq, %v, %n : i64\n"
                           "    scf.condition(%go)\n"
                           "  } do {\n    scf.yield\n  }\n")},
                    given);
  expectKind(results[0], ErrorKind::RunTimeout, "not run in 0.7 s");
}

TEST_F(LocalMeasurerTest, CrashesAreTold) {
  auto results =
      measureBodies({after("  %addr = llvm.mlir.constant(64 : i64) : i64\n"
                           "  %p = llvm.inttoptr %addr : i64 to !llvm.ptr\n"
                           "  llvm.store volatile %addr, %p : i64, "
                           "!llvm.ptr\n")});
  expectKind(results[0], ErrorKind::RunCrash,
             "segmentation fault while checking");
}

TEST_F(LocalMeasurerTest, StackAndMemoryAreBounded) {
  // Its size is volatile, so that the compiler can't make it smaller.
  std::string stack =
      after("  %one = llvm.mlir.constant(1 : i64) : i64\n"
            "  %size = llvm.mlir.constant(100000000 : i64) : i64\n"
            "  %q = llvm.alloca %one x i64 : (i64) -> !llvm.ptr\n"
            "  llvm.store volatile %size, %q : i64, !llvm.ptr\n"
            "  %n = llvm.load volatile %q : !llvm.ptr -> i64\n"
            "  %p = llvm.alloca %n x i8 : (i64) -> !llvm.ptr\n"
            "  llvm.store volatile %n, %p : i64, !llvm.ptr\n");
  // A chain of blocks, each holding the address of the one before.
  std::string memory =
      after("  %null = llvm.mlir.zero : !llvm.ptr\n"
            "  %size = llvm.mlir.constant(16777216 : i64) : i64\n"
            "  %lo = arith.constant 0 : index\n"
            "  %hi = arith.constant 1000000 : index\n"
            "  %st = arith.constant 1 : index\n"
            "  %last = scf.for %i = %lo to %hi step %st iter_args(%prev = "
            "%null) -> !llvm.ptr {\n"
            "    %p = llvm.call @malloc(%size) : (i64) -> !llvm.ptr\n"
            "    llvm.store volatile %prev, %p : !llvm.ptr, !llvm.ptr\n"
            "    scf.yield %p : !llvm.ptr\n  }\n");
  MeasureOptions given = options();
  given.memoryLimit = int64_t(1) << 30;
  given.runTimeout = 10;
  auto results = measureBodies({stack, memory}, given,
                               "llvm.func @malloc(i64) -> !llvm.ptr\n");
  expectKind(results[0], ErrorKind::TooLarge, "the stack overflowed");
  expectKind(results[1], ErrorKind::TooLarge, "memory ran out");
}

TEST_F(LocalMeasurerTest, BuildFailuresAreTold) {
  MeasureOptions given = options();
  auto results = measure(
      {"nonsense",
       script("  %t, %l = transform.structured.tile_using_for %fn tile_sizes "
              "[4] : (!transform.any_op) -> (!transform.any_op, "
              "!transform.any_op)\n"),
       ""},
      given);
  EXPECT_EQ(stringify(results[0].error), "transform");
  EXPECT_FALSE(results[0].message.empty());
  EXPECT_EQ(stringify(results[1].error), "transform");
  EXPECT_FALSE(results[1].message.empty());
  expectKind(results[2], ErrorKind::None, "");
  given.maxObjectBytes = 100;
  given.check = false;
  expectKind(measure({""}, given)[0], ErrorKind::TooLarge, "bytes: too large");
}

/// Builders that die are named, and the next candidate gets a new one.
TEST_F(LocalMeasurerTest, DyingBuildersAreTold) {
  llvm::SmallString<128> dir;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("builders", dir));
  std::string builder = (dir + "/ansor-builder").str();
  {
    std::error_code code;
    llvm::raw_fd_ostream file(builder, code);
    ASSERT_FALSE(code);
    // It takes a request, and ends as after a failed assertion.
    file << "#!/bin/sh\nread line\necho 'Assertion failed: injected' >&2\n"
            "kill -ABRT $$\n";
  }
  ASSERT_FALSE(llvm::sys::fs::setPermissions(builder,
                                             llvm::sys::fs::all_all));
  ASSERT_FALSE(llvm::sys::fs::create_link(
      std::string(ANSOR_TOOL_DIR) + "/ansor-runner", dir + "/ansor-runner"));
  MeasureOptions given = options();
  given.toolDir = dir.str().str();
  std::string error;
  auto measurer = createLocalMeasurer(given, error);
  ASSERT_TRUE(succeeded(measurer)) << error;
  MeasureInput unscheduled = input("");
  std::vector<MeasureResult> results =
      (*measurer)->measure({unscheduled, unscheduled});
  ASSERT_EQ(results.size(), 2u);
  for (const MeasureResult &result : results) {
    EXPECT_EQ(result.error, ErrorKind::BuildCrash) << result.message;
    EXPECT_NE(result.message.find("injected"), std::string::npos)
        << result.message;
  }
  llvm::sys::fs::remove_directories(dir);
}

TEST_F(LocalMeasurerTest, SlowBuildsTimeOut) {
  MeasureOptions given = options();
  given.check = false;
  given.buildTimeout = 1e-3;
  auto results = measure({"", ""}, given);
  expectKind(results[0], ErrorKind::BuildTimeout, "not built in 0.001 s");
  expectKind(results[1], ErrorKind::BuildTimeout, "not built in 0.001 s");
}

TEST_F(LocalMeasurerTest, ABadTaskFailsAllItsCandidates) {
  std::string error;
  auto measurer = createLocalMeasurer(options(), error);
  ASSERT_TRUE(succeeded(measurer)) << error;
  MeasureInput broken = input("");
  broken.taskKey = "other";
  broken.taskModule = "func.func @f(";
  auto results = (*measurer)->measure({broken, input(""), broken});
  expectKind(results[0], ErrorKind::Device, "the unscheduled program failed");
  expectKind(results[1], ErrorKind::None, "");
  expectKind(results[2], ErrorKind::Device, "the task's module");
}

TEST_F(LocalMeasurerTest, MissingToolsAreNamed) {
  MeasureOptions given = options();
  given.toolDir = "/nonexistent";
  std::string error;
  EXPECT_TRUE(failed(createLocalMeasurer(given, error)));
  EXPECT_EQ(error, "can't find the program 'ansor-builder' in /nonexistent or "
                   "on the path");
}

TEST_F(LocalMeasurerTest, InterruptEndsMeasuring) {
  std::string error;
  auto measurer = createLocalMeasurer(options(), error);
  ASSERT_TRUE(succeeded(measurer)) << error;
  (*measurer)->interrupt();
  auto results = (*measurer)->measure({input(""), input("")});
  for (const MeasureResult &result : results) {
    EXPECT_EQ(result.error, ErrorKind::Device);
    EXPECT_TRUE(StringRef(result.message).contains("interrupted"));
  }
}

//===----------------------------------------------------------------------===//
// Death of the parent
//===----------------------------------------------------------------------===//

/// Children of any thread of `pid`.
static std::vector<pid_t> childrenOf(pid_t pid) {
  std::vector<pid_t> found;
  for (pid_t thread = pid; thread < pid + 64; ++thread) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/task/" +
                       std::to_string(thread) + "/children");
    for (pid_t child; file >> child;)
      found.push_back(child);
  }
  return found;
}

static bool isGone(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return !(stat >> number >> name >> state) || state == "Z";
}

TEST_F(LocalMeasurerTest, NoChildSurvivesItsParent) {
  pid_t parent = fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    std::string error;
    MeasureOptions given = options();
    auto measurer = createLocalMeasurer(given, error);
    std::vector<MeasureInput> inputs(50, input(""));
    while (succeeded(measurer))
      (*measurer)->measure(inputs);
    _exit(1);
  }
  std::vector<pid_t> children;
  for (int i = 0; i < 500 && children.size() < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    children = childrenOf(parent);
  }
  ASSERT_GE(children.size(), 2u);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  for (pid_t child : children) {
    bool gone = false;
    for (int i = 0; i < 200 && !gone; ++i) {
      gone = isGone(child);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(gone) << child;
  }
}
