//===- EvolutionTest.cpp - Tests of the evolution ---------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Search/Evolution.h"
#include "../Space/SpaceTestUtils.h"
#include <cmath>

using namespace mlir;
using namespace mlir::ansor;

namespace {

/// Two sketches over the loops of a matmul, the second with a smaller space.
class EvolutionTest : public SpaceTest {
protected:
  void SetUp() override {
    auto large = makeSpace(tileKnobs(0, 0, 3, 512) + tileKnobs(0, 1, 3, 512) +
                           tileKnobs(1, 2, 2, 512) +
                           valueKnob("u", "unroll", 1, "0, 16, 64, 512"));
    auto small = makeSpace(tileKnobs(0, 0, 2, 512) + tileKnobs(0, 1, 2, 512));
    ASSERT_TRUE(succeeded(large) && succeeded(small));
    spaces = {*large, *small};
  }

  /// Highest (0) at one point of the first sketch only.
  static double quality(const Candidate &candidate) {
    if (candidate.sketch != 0)
      return 0.05;
    const int64_t optimum[] = {128, 32, 4, 256, 64, 16, 64, 2};
    double distance = 0;
    unsigned next = 0;
    for (ArrayRef<int64_t> group :
         ArrayRef<SmallVector<int64_t>>(candidate.decisions).take_front(3))
      for (int64_t value : group)
        distance += std::abs(std::log2(double(value) / optimum[next++]));
    distance += candidate.decisions[3][0] == 64 ? 0 : 1;
    return 1 / (1 + distance);
  }

  static std::vector<double> score(ArrayRef<Candidate> candidates) {
    std::vector<double> scores;
    for (const Candidate &candidate : candidates)
      scores.push_back(quality(candidate));
    return scores;
  }

  static std::vector<std::string> keys(ArrayRef<Candidate> candidates) {
    std::vector<std::string> result;
    for (const Candidate &candidate : candidates)
      result.push_back(candidate.key());
    return result;
  }

  std::vector<DesignSpace> spaces;
  EvolutionOptions options;
  llvm::StringSet<> excluded;
  llvm::StringMap<int64_t> rejections;
};

TEST_F(EvolutionTest, UniformIndexIsTheSameEverywhere) {
  RandomGenerator rng(7);
  std::vector<int> counts(5, 0);
  for (int i = 0; i < 5000; ++i)
    ++counts[uniformIndex(rng, 5)];
  for (int count : counts)
    EXPECT_NEAR(count, 1000, 150);
  // std::mt19937_64 is defined by the standard; so are these.
  RandomGenerator fixed(42);
  uint64_t first = RandomGenerator(42)();
  EXPECT_EQ(uniformIndex(fixed, 1000), first % 1000);
  for (int i = 0; i < 1000; ++i) {
    double value = uniformReal(rng);
    EXPECT_TRUE(value >= 0 && value < 1);
  }
}

TEST_F(EvolutionTest, BeatsRandomSamplesAtTheSameCost) {
  int wins = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    RandomGenerator rng(seed);
    Evolution evolution(spaces, options, excluded, rng, rejections);
    size_t scored = 0;
    auto best = evolution.run(evolution.sample(128), 8,
                              [&](ArrayRef<Candidate> candidates) {
                                scored += candidates.size();
                                return score(candidates);
                              });
    ASSERT_EQ(best.size(), 8u);
    double random = 0;
    for (const Candidate &sample : evolution.sample(scored))
      random = std::max(random, quality(sample));
    wins += quality(best.front()) > random;
    EXPECT_GE(quality(best.front()), random);
  }
  EXPECT_GE(wins, 4);
}

TEST_F(EvolutionTest, MoreGenerationsReachTheOptimum) {
  options.generations = 60;
  RandomGenerator rng(1);
  Evolution evolution(spaces, options, excluded, rng, rejections);
  auto best = evolution.run(evolution.sample(128), 1, score);
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(quality(best.front()), 1.0);
}

TEST_F(EvolutionTest, BeamDecidesWhatPartialProgramsShow) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    RandomGenerator rng(seed);
    Evolution evolution(spaces, options, excluded, rng, rejections);
    size_t scored = 0;
    auto found = evolution.beam(16, 1024, [&](ArrayRef<Candidate> candidates) {
      scored += candidates.size();
      return score(candidates);
    });
    EXPECT_LE(scored, 1024u);
    ASSERT_FALSE(found.empty());
    EXPECT_LE(found.size(), 16u);
    llvm::StringSet<> seen;
    for (auto [i, candidate] : llvm::enumerate(found)) {
      EXPECT_TRUE(seen.insert(candidate.key()).second);
      EXPECT_FALSE(spaces[candidate.sketch].check(candidate.decisions));
      if (i > 0)
        EXPECT_LE(quality(candidate), quality(found[i - 1]));
    }
    double random = 0;
    for (const Candidate &sample : evolution.sample(scored))
      random = std::max(random, quality(sample));
    EXPECT_GE(quality(found.front()), random);

    // The same again, without its result.
    llvm::StringSet<> measured;
    measured.insert(found.front().key());
    RandomGenerator again(seed);
    Evolution other(spaces, options, measured, again, rejections);
    for (const Candidate &candidate : other.beam(16, 1024, score))
      EXPECT_NE(candidate.key(), found.front().key());
  }
}

TEST_F(EvolutionTest, BeamStaysInItsBounds) {
  RandomGenerator rng(0);
  Evolution evolution(spaces, options, excluded, rng, rejections);
  EXPECT_TRUE(evolution.beam(0, 100, score).empty());
  EXPECT_LE(evolution.beam(3, 0, score).size(), 3u);
  auto none = [](ArrayRef<Candidate> candidates) {
    return std::vector<double>(candidates.size(),
                               -std::numeric_limits<double>::infinity());
  };
  EXPECT_TRUE(evolution.beam(4, 100, none).empty());
  Evolution empty({}, options, excluded, rng, rejections);
  EXPECT_TRUE(empty.beam(4, 100, score).empty());
}

TEST_F(EvolutionTest, SameSeedSameResult) {
  std::vector<std::vector<std::string>> runs;
  for (uint64_t seed : {3, 3, 4}) {
    RandomGenerator rng(seed);
    Evolution evolution(spaces, options, excluded, rng, rejections);
    runs.push_back(keys(evolution.run(evolution.sample(64), 16, score)));
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0], runs[2]);
}

TEST_F(EvolutionTest, ProposesNothingTwiceAndNothingExcluded) {
  RandomGenerator rng(5);
  Evolution first(spaces, options, excluded, rng, rejections);
  auto measured = first.run(first.sample(64), 16, score);
  for (const Candidate &candidate : measured)
    EXPECT_TRUE(excluded.insert(candidate.key()).second);

  // Excluded candidates may be parents, but come out no more.
  Evolution second(spaces, options, excluded, rng, rejections);
  std::vector<Candidate> initial = second.sample(48);
  llvm::append_range(initial, measured);
  llvm::StringSet<> seen;
  for (const Candidate &candidate :
       second.run(std::move(initial), 64, score)) {
    EXPECT_FALSE(excluded.contains(candidate.key()));
    EXPECT_TRUE(seen.insert(candidate.key()).second);
    EXPECT_FALSE(spaces[candidate.sketch].check(candidate.decisions));
  }
}

TEST_F(EvolutionTest, CandidatesThatCannotBeBuiltAreNotProposed) {
  RandomGenerator rng(5);
  Evolution evolution(spaces, options, excluded, rng, rejections);
  auto best = evolution.run(
      evolution.sample(64), 1000, [](ArrayRef<Candidate> candidates) {
        std::vector<double> scores = score(candidates);
        for (auto [candidate, value] : llvm::zip_equal(candidates, scores))
          if (candidate.sketch == 1)
            value = -std::numeric_limits<double>::infinity();
        return scores;
      });
  EXPECT_FALSE(best.empty());
  for (const Candidate &candidate : best)
    EXPECT_EQ(candidate.sketch, 0u);
}

TEST_F(EvolutionTest, TinySpacesAreExhausted) {
  auto tiny = makeSpace(tileKnobs(0, 0, 1, 6));
  ASSERT_TRUE(succeeded(tiny));
  std::vector<DesignSpace> one = {*tiny};
  RandomGenerator rng(5);
  Evolution evolution(one, options, excluded, rng, rejections);
  EXPECT_EQ(evolution.sample(100).size(), 4u); // 1, 2, 3, 6
  EXPECT_TRUE(evolution.sample(100).empty());
}

TEST_F(EvolutionTest, RejectionsAreCounted) {
  auto space = makeSpace(
      tileKnobs(0, 0, 2, 512),
      "{name = \"impossible\", terms = [{coefficient = 1 : i64, knobs = "
      "[\"s0.d0.l0\"]}], max = 0 : i64}");
  ASSERT_TRUE(succeeded(space));
  std::vector<DesignSpace> one = {*space};
  RandomGenerator rng(5);
  Evolution evolution(one, options, excluded, rng, rejections);
  EXPECT_TRUE(evolution.sample(4).empty());
  EXPECT_GT(rejections.lookup("impossible"), 0);
}

} // namespace
