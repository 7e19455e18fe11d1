//===- CheckTest.cpp - The check catches what it must -----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entries here are written by hand: the right program, the same in another
// order of evaluation, and wrong ones.
//
//===----------------------------------------------------------------------===//

#include "ansor/Runtime/Check.h"
#include "ansor/Runtime/Timing.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <thread>
#include <unistd.h>

using namespace ansor::runtime;

static constexpr int N = 32, K = 96;

/// The data of argument `i`.
template <typename T = float> static T *arg(void **args, int i) {
  return reinterpret_cast<T *>(static_cast<int64_t *>(args[i])[1]);
}

static Manifest manifest(const std::string &args, unsigned inits,
                         const std::string &check) {
  Json json;
  std::string error;
  EXPECT_TRUE(Json::parse("{\"entry\": \"f\", \"args\": [" + args +
                              "], \"inits\": " + std::to_string(inits) +
                              ", \"check\": " + check + "}",
                          json, error))
      << error;
  Manifest result;
  EXPECT_TRUE(Manifest::parse(json, 3, Json(), result, error)) << error;
  return result;
}

static std::string memref(const std::string &type, const std::string &shape) {
  return "{\"kind\": \"memref\", \"type\": \"" + type + "\", \"shape\": [" +
         shape + "]}";
}

static Manifest matmulManifest(int gridBits) {
  return manifest(memref("f32", "32, 96") + "," + memref("f32", "96, 32") +
                      "," + memref("f32", "32, 32"),
                  1,
                  "{\"terms\": 96, \"accumulator\": 6e-8, \"storage\": 6e-8, "
                  "\"grid_bits\": " +
                      std::to_string(gridBits) + "}");
}

/// C = A B, with a choice of what goes wrong.
enum Fault {
  Right,
  Reordered,
  SkippedTile,
  RepeatedFill,
  DroppedStep,
  NoFill,
  Poisoned
};
template <Fault fault> static void matmul(void **args) {
  const float *a = arg(args, 0), *b = arg(args, 1);
  float *c = arg(args, 2);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      if (fault == SkippedTile && i >= 24 && j >= 24)
        continue;
      float sum = fault == NoFill ? c[i * N + j] : 0;
      int last = fault == DroppedStep ? K - 1 : K;
      for (int k = 0; k < last; ++k) {
        if (fault == RepeatedFill && k == K / 2)
          sum = 0;
        int at = fault == Reordered ? (k * 37) % K : k;
        sum += a[i * K + at] * b[at * N + j];
      }
      c[i * N + j] = fault == Poisoned && i == 3 ? NAN : sum;
    }
}

static Comparison checkEntry(const Manifest &spec, Entry right,
                             Entry candidate) {
  Reference reference;
  std::string error;
  EXPECT_TRUE(makeReference(spec, right, 1, 0, reference, error)) << error;
  Call inputs(spec, candidate), call(spec, candidate);
  inputs.fill(reference.draw);
  call.copyFrom(inputs);
  call.run();
  std::vector<Output> outputs;
  EXPECT_TRUE(call.collect(outputs, error)) << error;
  Comparison comparison;
  compare(reference, outputs, comparison);
  return comparison;
}

class MatmulCheckTest : public testing::TestWithParam<int> {};

TEST_P(MatmulCheckTest, AcceptsAnotherOrder) {
  Manifest spec = matmulManifest(GetParam());
  EXPECT_TRUE(checkEntry(spec, matmul<Right>, matmul<Right>).passes());
  Comparison other = checkEntry(spec, matmul<Right>, matmul<Reordered>);
  EXPECT_TRUE(other.passes()) << other.message;
  EXPECT_EQ(other.compared, size_t(N) * N);
}

TEST_P(MatmulCheckTest, CatchesFaults) {
  Manifest spec = matmulManifest(GetParam());
  Entry faults[] = {matmul<SkippedTile>, matmul<RepeatedFill>,
                    matmul<DroppedStep>, matmul<NoFill>, matmul<Poisoned>};
  for (Entry fault : faults) {
    Comparison comparison = checkEntry(spec, matmul<Right>, fault);
    EXPECT_FALSE(comparison.passes());
    // By far, not by luck.
    EXPECT_GT(comparison.worst, 100);
    EXPECT_NE(comparison.message.find("argument 2 at ["), std::string::npos);
  }
}
INSTANTIATE_TEST_SUITE_P(ExactAndMoved, MatmulCheckTest,
                         testing::Values(3, -1));

//===----------------------------------------------------------------------===//
// Sensitive programs
//===----------------------------------------------------------------------===//

static constexpr int kLong = 100003;

/// A sum of about half the length, and its sine.
template <bool backwards> static void sumAndSine(void **args) {
  const float *x = arg(args, 0);
  float sum = 0;
  for (int i = 0; i < kLong; ++i)
    sum += x[backwards ? kLong - 1 - i : i] + 0.5f;
  *arg(args, 1) = sum;
  *arg(args, 2) = std::sin(sum);
}

static void sumDoubled(void **args) {
  sumAndSine<false>(args);
  *arg(args, 1) *= 1.01f;
}

TEST(CheckTest, DoesNotTakeReassociationForAnError) {
  Manifest spec = manifest(
      memref("f32", "100003") + "," + memref("f32", "") + "," +
          memref("f32", ""),
      2, "{\"terms\": 100259, \"accumulator\": 6e-8, \"storage\": 6e-8}");
  Comparison other = checkEntry(spec, sumAndSine<false>, sumAndSine<true>);
  EXPECT_TRUE(other.passes()) << other.message;
  EXPECT_FALSE(checkEntry(spec, sumAndSine<false>, sumDoubled).passes());
}

//===----------------------------------------------------------------------===//
// Inputs that don't suit
//===----------------------------------------------------------------------===//

/// NaN for a negative argument.
static void rootOf(void **args) {
  for (int i = 0; i < 64; ++i)
    arg(args, 1)[i] = std::sqrt(arg(args, 0)[i]);
}
static void zeroRoot(void **args) { std::memset(arg(args, 1), 0, 64 * 4); }
static void nanRoot(void **args) {
  for (int i = 0; i < 64; ++i)
    arg(args, 1)[i] = NAN;
}

TEST(CheckTest, RedrawsUntilTheReferenceIsFinite) {
  Manifest spec =
      manifest(memref("f32", "64") + "," + memref("f32", "64"), 1,
               "{\"terms\": 256, \"accumulator\": 6e-8, \"storage\": 6e-8}");
  Reference reference;
  std::string error;
  ASSERT_TRUE(makeReference(spec, rootOf, 0, 0, reference, error)) << error;
  EXPECT_EQ(reference.draw.attempt, 1);
  EXPECT_TRUE(checkEntry(spec, rootOf, rootOf).passes());
  EXPECT_FALSE(checkEntry(spec, rootOf, zeroRoot).passes());
  EXPECT_FALSE(checkEntry(spec, rootOf, nanRoot).passes());
}

TEST(CheckTest, RefusesAProgramWithoutFiniteResults) {
  Manifest spec = manifest(memref("f32", "64") + "," + memref("f32", "64"), 1,
                           "{\"accumulator\": 6e-8}");
  Reference reference;
  std::string error;
  EXPECT_FALSE(makeReference(spec, nanRoot, 0, 0, reference, error));
  EXPECT_EQ(error, "no inputs were found that give a finite reference");
}

static void infiniteRoot(void **args) {
  for (int i = 0; i < 64; ++i)
    arg(args, 1)[i] = i % 2 ? INFINITY : -INFINITY;
}
static void largestRoot(void **args) {
  infiniteRoot(args);
  arg(args, 1)[63] = std::numeric_limits<float>::max();
}
static void otherInfinity(void **args) {
  infiniteRoot(args);
  arg(args, 1)[63] = -INFINITY;
}

TEST(CheckTest, ComparesInfinities) {
  Manifest spec = manifest(memref("f32", "64") + "," + memref("f32", "64"), 1,
                           "{\"accumulator\": 6e-8}");
  Reference reference;
  std::string error;
  ASSERT_TRUE(makeReference(spec, infiniteRoot, 0, 0, reference, error));
  EXPECT_EQ(reference.note, "no inputs were found that give finite results: "
                            "only that they are infinite is checked");
  EXPECT_TRUE(checkEntry(spec, infiniteRoot, infiniteRoot).passes());
  EXPECT_FALSE(checkEntry(spec, infiniteRoot, largestRoot).passes());
  EXPECT_FALSE(checkEntry(spec, infiniteRoot, otherInfinity).passes());
  EXPECT_FALSE(checkEntry(spec, infiniteRoot, nanRoot).passes());
}

/// Mostly zeros, as a rectifier gives, and exact.
static void rectified(void **args) {
  for (int i = 0; i < 64; ++i)
    arg(args, 1)[i] = i % 4 ? 0 : arg(args, 0)[i] + 2;
}

TEST(CheckTest, ZerosAreNotChaos) {
  Manifest spec = manifest(
      memref("f32", "64") + "," + memref("f32", "64"), 1,
      "{\"terms\": 1, \"accumulator\": 6e-8, \"storage\": 6e-8, "
      "\"grid_bits\": 3}");
  Reference reference;
  std::string error;
  ASSERT_TRUE(makeReference(spec, rectified, 0, 0, reference, error));
  EXPECT_EQ(reference.note, "");
  EXPECT_EQ(reference.draw.attempt, 0);
  EXPECT_TRUE(reference.exact);
}

/// Adds to memory that nobody wrote.
static void uninitialised(void **args) {
  auto *scratch = static_cast<volatile float *>(std::malloc(16384 * 4));
  for (int i = 0; i < 64; ++i)
    arg(args, 1)[i] = i < 8 ? scratch[i] : arg(args, 0)[i];
  std::free(const_cast<float *>(scratch));
}

TEST(CheckTest, FindsWhatWasNeverDefined) {
#ifndef __GLIBC__
  GTEST_SKIP() << "needs a poisoning allocator";
#endif
  Manifest spec = manifest(memref("f32", "64") + "," + memref("f32", "64"), 1,
                           "{\"accumulator\": 6e-8}");
  Reference reference;
  std::string error;
  ASSERT_TRUE(makeReference(spec, uninitialised, 0, 0, reference, error));
  EXPECT_EQ(reference.note, "8 of 64 values depend on uninitialised memory and "
                            "are not checked");
  EXPECT_EQ(reference.tolerances[0][7], INFINITY);
  EXPECT_LT(reference.tolerances[0][8], 1);
}

/// Writes one element too many.
static void overrun(void **args) {
  rootOf(args);
  arg(args, 1)[64] = 1;
}

TEST(CheckTest, SeesWritesBehindAnArgument) {
  Manifest spec =
      manifest(memref("f32", "64") + "," + memref("f32", "64"), 1, "{}");
  Call call(spec, overrun);
  call.fill(Draw());
  call.run();
  std::vector<Output> outputs;
  std::string error;
  EXPECT_FALSE(call.collect(outputs, error));
  EXPECT_EQ(error, "memory behind argument 1 was written");
}

//===----------------------------------------------------------------------===//
// Integers, results, files
//===----------------------------------------------------------------------===//

template <int wrong> static void addIntegers(void **args) {
  // args[0] is a result: allocated here, given back strided.
  auto *descriptor = static_cast<int64_t *>(args[0]);
  auto *data = static_cast<int32_t *>(std::malloc(2 * 8 * 4));
  for (int i = 0; i < 8; ++i) {
    data[2 * i] = arg<int32_t>(args, 1)[i] + 5 + (i == 6 ? wrong : 0);
    data[2 * i + 1] = -999;
  }
  int64_t address = reinterpret_cast<int64_t>(data);
  int64_t words[] = {address, address, 0, 8, 2};
  std::memcpy(descriptor, words, sizeof(words));
}

TEST(CheckTest, IntegersAreExactAndResultsMayBeStrided) {
  Json json;
  std::string error;
  ASSERT_TRUE(Json::parse("{\"entry\": \"f\", \"args\": [" +
                              memref("i32", "8") + "], \"results\": [" +
                              memref("i32", "8") + "]}",
                          json, error));
  Manifest spec;
  ASSERT_TRUE(Manifest::parse(json, 3, Json(), spec, error));
  EXPECT_TRUE(checkEntry(spec, addIntegers<0>, addIntegers<0>).passes());
  Comparison wrong = checkEntry(spec, addIntegers<0>, addIntegers<1>);
  EXPECT_FALSE(wrong.passes());
  EXPECT_NE(wrong.message.find("result 0 at [6]: got "), std::string::npos)
      << wrong.message;
}

TEST(ReferenceTest, SurvivesAFile) {
  Manifest spec = matmulManifest(-1);
  Reference reference, loaded;
  std::string error;
  ASSERT_TRUE(makeReference(spec, matmul<Right>, 9, 0, reference, error));
  std::string path =
      testing::TempDir() + "ansor-reference-" + std::to_string(getpid());
  ASSERT_TRUE(reference.save(path, error)) << error;
  ASSERT_TRUE(Reference::load(path, loaded, error)) << error;
  EXPECT_EQ(loaded.draw.seed, 9u);
  EXPECT_EQ(loaded.outputs[0].data, reference.outputs[0].data);
  EXPECT_EQ(loaded.tolerances, reference.tolerances);
  ASSERT_EQ(truncate(path.c_str(), 3000), 0);
  EXPECT_FALSE(Reference::load(path, loaded, error));
  EXPECT_EQ(error, path + " is cut short or damaged");
  ASSERT_EQ(truncate(path.c_str(), 5), 0);
  EXPECT_FALSE(Reference::load(path, loaded, error));
  EXPECT_EQ(error, path + " is not a reference file");
  std::remove(path.c_str());
}

TEST(TimingTest, FlushesCountAsTime) {
  // A flush takes thousands of times longer than this kernel; as many calls
  // as would fill the time without flushes take minutes.
  long calls = 0;
  TimingOptions options;
  options.flush = true;
  options.minRepeat = 0.01;
  Timing timing = timeKernel([&] { ++calls; }, [] {}, options);
  EXPECT_EQ(timing.seconds.size(), size_t(options.repeats));
  EXPECT_GE(timing.iterations, 4);
  EXPECT_LT(calls, 20000);
}

TEST(TimingTest, RepeatsThatAreSlowAreDoneAgain) {
  // Every other one of the first repeats takes ten times longer.
  int repeat = 0;
  bool calibrated = false;
  TimingOptions options;
  options.repeats = 4;
  options.minRepeat = 2e-3;
  options.cpuTime = true;
  auto spent = [] { return double(std::clock()) / CLOCKS_PER_SEC; };
  Timing timing = timeKernel(
      [&] {
        bool slow = calibrated && repeat < 6 && repeat % 2 == 0;
        double end = spent() + (slow ? 2e-2 : 2e-3);
        while (spent() < end)
          ;
      },
      [&] { repeat += calibrated, calibrated = true; }, options);
  ASSERT_EQ(timing.seconds.size(), 4u);
  EXPECT_GE(timing.disturbed, 2);
  for (double seconds : timing.seconds)
    EXPECT_LT(seconds, 1.5e-2);
}

TEST(TimingTest, AThreadStaysWhereItIsKept) {
  std::thread([] {
    int here = pinThread();
    ASSERT_GE(here, 0);
    EXPECT_EQ(pinThread(here), here);
    // There is no such processor.
    EXPECT_EQ(pinThread(100000), here);
  }).join();
}

TEST(TimingTest, RunsLongEnoughAndMedianIsInTheMiddle) {
  int calls = 0, refreshes = 0;
  TimingOptions options;
  options.minRepeat = 1e-4;
  options.repeats = 3;
  volatile double sink = 0;
  Timing timing = timeKernel(
      [&] {
        ++calls;
        for (int i = 0; i < 100; ++i)
          sink = sink + i;
      },
      [&] { ++refreshes; }, options);
  EXPECT_EQ(timing.seconds.size(), 3u);
  EXPECT_EQ(timing.clock.size(), 3u);
  EXPECT_GT(timing.iterations, 1);
  EXPECT_GE(calls, 3 * timing.iterations);
  EXPECT_EQ(refreshes, 1 + 3 + timing.disturbed);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({}), INFINITY);
}
