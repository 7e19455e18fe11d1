//===- EvolutionTest.cpp - Tests of mutation and crossover ------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceTestUtils.h"
#include <set>

using namespace mlir;
using namespace mlir::ansor;

namespace {

/// Three stages with loops of many kinds.
std::string makeKnobs() {
  return tileKnobs(0, 0, 4, 5040) + tileKnobs(0, 1, 2, 97) +
         tileKnobs(1, 0, 3, 512, ", max = 64 : i64") +
         tileKnobs(1, 1, 2, 48, ", multiple_of = 4 : i64") +
         tileKnobs(2, 0, 3, 100, ", policy = \"remainder\"") +
         tileKnobs(2, 1, 2, 1) + valueKnob("u", "unroll", 0, "0, 16, 64, 512") +
         valueKnob("p", "parallel", 2, "1, 2, 3") +
         valueKnob("l", "location", 1, "0, 1, 2, 3") +
         valueKnob("c", "choice", 2, "0, 1");
}

TEST_F(SpaceTest, MutantsAndChildrenStayLegal) {
  auto space = makeSpace(makeKnobs());
  ASSERT_TRUE(succeeded(space));
  RandomGenerator rng(11);
  Decisions a = space->sample(rng), b = space->sample(rng);
  for (int i = 0; i < 10000; ++i) {
    std::optional<Decisions> mutant = space->mutate(a, rng);
    ASSERT_TRUE(mutant);
    EXPECT_NE(*mutant, a);
    // One group changes.
    size_t changed = 0;
    for (auto [before, after] : llvm::zip_equal(a, *mutant))
      changed += before != after;
    EXPECT_EQ(changed, 1u);
    Decisions child = space->crossover(*mutant, b, rng);
    for (const Decisions &decisions : {*mutant, child})
      if (std::optional<Violation> violation = space->check(decisions))
        FAIL() << violation->constraint << ": " << violation->reason;
    b = a;
    a = child;
  }
}

TEST_F(SpaceTest, CrossoverKeepsStagesWhole) {
  auto space = makeSpace(makeKnobs());
  ASSERT_TRUE(succeeded(space));
  RandomGenerator rng(12);
  int64_t mixed = 0;
  for (int i = 0; i < 500; ++i) {
    Decisions a = space->sample(rng), b = space->sample(rng);
    Decisions child = space->crossover(a, b, rng);
    bool anyA = false, anyB = false;
    for (int64_t stage = 0; stage < 3; ++stage) {
      bool isA = true, isB = true;
      for (auto [index, group] : llvm::enumerate(space->getGroups())) {
        if (group.stage != stage)
          continue;
        isA &= child[index] == a[index];
        isB &= child[index] == b[index];
      }
      EXPECT_TRUE(isA || isB);
      anyA |= !isB;
      anyB |= !isA;
    }
    mixed += anyA && anyB;
  }
  // Three fair coins fall differently in three of four cases.
  EXPECT_GT(mixed, 300);
}

TEST_F(SpaceTest, CrossoverOfOneStageKeepsLoopsWhole) {
  auto space = makeSpace(tileKnobs(1, 0, 3, 512) + tileKnobs(1, 1, 3, 512) +
                         valueKnob("u", "unroll", 1, "0, 16, 64, 512"));
  ASSERT_TRUE(succeeded(space));
  RandomGenerator rng(18);
  Decisions a = {{512, 64, 8}, {512, 64, 8}, {16}};
  Decisions b = {{128, 32, 2}, {128, 32, 2}, {64}};
  std::set<Decisions> children;
  for (int i = 0; i < 200; ++i) {
    Decisions child = space->crossover(a, b, rng);
    EXPECT_FALSE(space->check(child));
    children.insert(child);
  }
  EXPECT_EQ(children.size(), 8u);
}

TEST_F(SpaceTest, MutationFollowsAnsorsWeights) {
  auto space = makeSpace(makeKnobs());
  ASSERT_TRUE(succeeded(space));
  RandomGenerator rng(13);
  Decisions parent = space->sample(rng);
  llvm::StringMap<int64_t> counts;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    Decisions mutant = *space->mutate(parent, rng);
    for (auto [index, group] : llvm::enumerate(space->getGroups()))
      if (mutant[index] != parent[index])
        ++counts[stringify(group.domains.front().kind)];
  }
  EXPECT_NEAR(counts["tile"] / double(kDraws), 0.90, 0.01);
  EXPECT_NEAR(counts["unroll"] / double(kDraws), 0.04, 0.01);
  EXPECT_NEAR((counts["location"] + counts["choice"]) / double(kDraws), 0.05,
              0.01);
  EXPECT_NEAR(counts["parallel"] / double(kDraws), 0.01, 0.005);
}

TEST_F(SpaceTest, WeightsOfMissingKindsGoToTheOthers) {
  auto space = makeSpace(valueKnob("u", "unroll", 0, "0, 16") +
                         valueKnob("p", "parallel", 0, "1, 2"));
  ASSERT_TRUE(succeeded(space));
  RandomGenerator rng(14);
  int64_t unrolls = 0;
  for (int i = 0; i < 5000; ++i)
    unrolls += (*space->mutate({{0}, {1}}, rng))[0][0] == 16;
  EXPECT_NEAR(unrolls / 5000.0, 0.8, 0.03);
}

TEST_F(SpaceTest, MutationReachesEveryFactorisation) {
  auto space = makeSpace(tileKnobs(0, 0, 3, 12));
  ASSERT_TRUE(succeeded(space));
  RandomGenerator rng(15);
  Decisions decisions = {{12, 12, 12}};
  std::set<SmallVector<int64_t>> seen;
  for (int i = 0; i < 2000; ++i) {
    decisions = *space->mutate(decisions, rng);
    seen.insert(decisions[0]);
  }
  EXPECT_EQ(seen.size(), 40u);
}

TEST_F(SpaceTest, NothingToMutate) {
  auto space =
      makeSpace(tileKnobs(0, 0, 3, 1) + valueKnob("u", "unroll", 0, "16"));
  ASSERT_TRUE(succeeded(space));
  RandomGenerator rng(16);
  EXPECT_FALSE(space->mutate({{1, 1, 1}, {16}}, rng));
  auto empty = makeSpace("");
  ASSERT_TRUE(succeeded(empty));
  EXPECT_EQ(empty->size(), 1.0);
  EXPECT_TRUE(empty->sample(rng).empty());
  EXPECT_FALSE(empty->check({}));
  EXPECT_FALSE(empty->mutate({}, rng));
}

TEST_F(SpaceTest, MutationAvoidsViolations) {
  // From a legal parent most moves break the bound.
  auto space = makeSpace(tileKnobs(0, 0, 3, 512) + tileKnobs(0, 1, 3, 512),
                         R"({name = "registers", max = 4 : i64, terms = [
                             {knobs = ["s0.d0.l2", "s0.d1.l2"]}]})");
  ASSERT_TRUE(succeeded(space));
  RandomGenerator rng(17);
  Decisions parent = {{512, 64, 2}, {256, 16, 2}};
  ASSERT_FALSE(space->check(parent));
  int64_t legal = 0;
  for (int i = 0; i < 1000; ++i) {
    std::optional<Decisions> mutant = space->mutate(parent, rng);
    ASSERT_TRUE(mutant);
    std::optional<Violation> violation = space->check(*mutant);
    if (violation) {
      EXPECT_EQ(violation->constraint, "registers");
      continue;
    }
    ++legal;
    parent = *mutant;
  }
  EXPECT_GT(legal, 950);
}

} // namespace
