//===- KernelTest.cpp - Calls of an artifact --------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Runtime/Kernel.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

using namespace ansor::runtime;

namespace {

/// What the entry below was given: for each argument, by call, its address and
/// the sum of its elements.
struct Seen {
  std::vector<const float *> addresses;
  std::vector<float> sums;
};
std::vector<Seen> seen;
size_t numResults, countOf[3];

void remember(void **args) {
  seen.resize(3);
  for (size_t i = 0; i < 3; ++i) {
    auto *words = static_cast<int64_t *>(args[numResults + i]);
    auto *data = reinterpret_cast<const float *>(words[1]);
    EXPECT_EQ(words[0], words[1]);
    float sum = 0;
    for (size_t j = 0; j < countOf[i]; ++j)
      sum += data[j];
    seen[i].addresses.push_back(data);
    seen[i].sums.push_back(sum);
  }
}

/// Gives back its last argument.
void giveWeight(void **args) {
  remember(args);
  std::copy_n(static_cast<int64_t *>(args[numResults + 2]), 5,
              static_cast<int64_t *>(args[0]));
}

/// Packs argument 1 into twice as many elements.
void pack(void **args) {
  auto *to = reinterpret_cast<float *>(static_cast<int64_t *>(args[0])[1]);
  auto *from = reinterpret_cast<float *>(static_cast<int64_t *>(args[1])[1]);
  for (size_t i = 0; i < 32; ++i)
    to[i] = from[i / 2];
}

class KernelTest : public ::testing::Test {
protected:
  KernelTest() {
    seen.clear();
    numResults = 0;
    countOf[0] = countOf[1] = countOf[2] = 16;
  }

  static Manifest parse(const std::string &rest, const char *first = "") {
    auto arg = [](const std::string &more) {
      return R"({"kind": "memref", "type": "f32", "shape": [16])" + more + "}";
    };
    const std::string weight = R"(, "weight": true)";
    Json json;
    Manifest manifest;
    std::string error;
    EXPECT_TRUE(Json::parse(R"({"entry": "f", "args": [)" + arg(first) + ", " +
                                arg(weight) + ", " + arg(weight) + "]" + rest +
                                "}",
                            json, error) &&
                Manifest::parse(json, 3, Json(), manifest, error))
        << error;
    return manifest;
  }

  static size_t countDistinct(const std::vector<const float *> &addresses) {
    return std::set<const float *>(addresses.begin(), addresses.end()).size();
  }
  static void expectOneValue(const std::vector<float> &sums) {
    for (float sum : sums)
      EXPECT_EQ(sum, sums.front());
  }
};

TEST_F(KernelTest, WeightsAreTakenInTurn) {
  Manifest manifest = parse("");
  Call call(manifest, remember);
  call.fill(Draw());
  call.run();
  EXPECT_EQ(call.spreadWeights(10 * 2 * 64), 10u);
  for (int i = 0; i < 20; ++i)
    call.run();
  // Data stays where it is; each weight has ten places, each taken twice, and
  // the values of before.
  EXPECT_EQ(countDistinct(seen[0].addresses), 1u);
  for (int i : {1, 2}) {
    std::vector<const float *> &places = seen[i].addresses;
    places.erase(places.begin());
    std::map<const float *, int> uses;
    for (const float *place : places)
      ++uses[place];
    EXPECT_EQ(uses.size(), 10u);
    for (auto [place, count] : uses)
      EXPECT_EQ(count, 2);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(places.front()) % 64, 0u);
  }
  for (int i = 0; i < 3; ++i)
    expectOneValue(seen[i].sums);
}

TEST_F(KernelTest, FewBytesLeaveWeightsAlone) {
  Manifest manifest = parse("");
  Call call(manifest, remember);
  call.fill(Draw());
  EXPECT_EQ(call.spreadWeights(2 * 2 * 64 - 1), 1u);
  for (int i = 0; i < 3; ++i)
    call.run();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(countDistinct(seen[i].addresses), 1u);
}

TEST_F(KernelTest, WithoutWeightsThereAreNoCopies) {
  Json json;
  Manifest manifest;
  std::string error;
  ASSERT_TRUE(Json::parse(
      R"({"entry": "f", "args": [{"kind": "memref", "type": "f32", "shape": [16]}]})",
      json, error));
  ASSERT_TRUE(Manifest::parse(json, 3, Json(), manifest, error));
  Call call(manifest, remember);
  EXPECT_EQ(call.spreadWeights(1 << 20), 1u);
}

TEST_F(KernelTest, PackedWeightsAreCopied) {
  // Weight 1 is packed, and the run takes it in place of that; weight 2 stays.
  Manifest manifest = parse(
      R"(, "prepack": {"entry": "p", "args": [1], "run": "r", "run_args": [0, -1, 2],
          "results": [{"kind": "memref", "type": "f32", "shape": [32]}]})");
  countOf[1] = 32;
  Call call(manifest, remember, {}, pack);
  call.fill(Draw());
  call.packWeights();
  call.run();
  EXPECT_EQ(call.spreadWeights(4 * (128 + 64)), 4u);
  for (int i = 0; i < 8; ++i)
    call.run();
  EXPECT_EQ(countDistinct(seen[0].addresses), 1u);
  for (int i : {1, 2})
    EXPECT_EQ(countDistinct(seen[i].addresses), 5u); // the first call's, too
  for (int i = 0; i < 3; ++i)
    expectOneValue(seen[i].sums);
}

TEST_F(KernelTest, WeightsAreNotRefreshed) {
  Manifest manifest = parse("");
  Call inputs(manifest, remember), call(manifest, remember);
  Draw first, second;
  second.seed = 1;
  call.fill(first);
  call.run();
  inputs.fill(second);
  call.refreshFrom(inputs);
  call.run();
  EXPECT_NE(seen[0].sums[0], seen[0].sums[1]);
  expectOneValue(seen[1].sums);
  expectOneValue(seen[2].sums);
}

TEST_F(KernelTest, TheFirstRefreshWritesWeights) {
  // Else they would be pages of zeros, which are always near.
  Manifest manifest = parse("");
  Call inputs(manifest, remember), call(manifest, remember);
  inputs.fill(Draw());
  call.refreshFrom(inputs);
  call.run();
  inputs.run();
  for (int i = 0; i < 3; ++i) {
    expectOneValue(seen[i].sums);
    EXPECT_NE(seen[i].sums[0], 0);
  }
}

TEST_F(KernelTest, AWeightThatIsReturnedIsNotFreed) {
  numResults = 1;
  Manifest manifest = parse(
      R"(, "results": [{"kind": "memref", "type": "f32", "shape": [16]}])");
  Call call(manifest, giveWeight);
  call.fill(Draw());
  call.spreadWeights(3 * 128);
  for (int i = 0; i < 6; ++i)
    call.run();
  std::vector<Output> outputs;
  std::string error;
  EXPECT_TRUE(call.collect(outputs, error)) << error;
}

} // namespace
