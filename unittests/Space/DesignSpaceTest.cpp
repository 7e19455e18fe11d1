//===- DesignSpaceTest.cpp - Tests of sampling and checks -------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceTestUtils.h"
#include <map>

using namespace mlir;
using namespace mlir::ansor;

namespace {

/// Pearson's statistic of `counts` against equal shares.
double chiSquare(const std::map<SmallVector<int64_t>, int64_t> &counts,
                 double numCells, double numDraws) {
  double expected = numDraws / numCells, sum = 0.0;
  for (const auto &[chain, count] : counts)
    sum += (count - expected) * (count - expected) / expected;
  // Cells that were never drawn.
  return sum + (numCells - counts.size()) * expected;
}

TEST_F(SpaceTest, SizeCountsExactFactorisations) {
  // 12 = 2^2 * 3 in 4 factors: C(5,3) * C(4,3) = 40.
  auto space = makeSpace(tileKnobs(0, 0, 3, 12));
  ASSERT_TRUE(succeeded(space));
  EXPECT_EQ(space->size(), 40.0);
  // 512 = 2^9 in 3 factors: C(11,2) = 55; a prime in 2; extent 1.
  space = makeSpace(tileKnobs(0, 0, 2, 512) + tileKnobs(0, 1, 1, 509) +
                    tileKnobs(1, 0, 3, 1) +
                    valueKnob("u", "unroll", 0, "0, 16, 64, 512"));
  ASSERT_TRUE(succeeded(space));
  EXPECT_EQ(space->size(), 55.0 * 2.0 * 1.0 * 4.0);
}

TEST_F(SpaceTest, SamplingIsUniformOverFactorisations) {
  auto space = makeSpace(tileKnobs(0, 0, 3, 12));
  ASSERT_TRUE(succeeded(space));
  RandomGenerator rng(1);
  std::map<SmallVector<int64_t>, int64_t> counts;
  for (int i = 0; i < 40000; ++i)
    ++counts[space->sample(rng)[0]];
  EXPECT_EQ(counts.size(), 40u);
  // 39 degrees of freedom: 72.1 is exceeded with probability 0.001.
  EXPECT_LT(chiSquare(counts, 40, 40000), 72.1);
}

TEST_F(SpaceTest, SamplingIsUniformUnderBounds) {
  // Chains of 48 whose sizes are multiples of 4 (or 48) and at most 24:
  // 4, 8, 12, 16, 24 with the chains 4>4; 8>8,4; 12>12,4; 16>16,8,4;
  // 24>24,12,8,4.
  auto space = makeSpace(
      tileKnobs(0, 0, 2, 48, ", multiple_of = 4 : i64, max = 24 : i64"));
  ASSERT_TRUE(succeeded(space));
  EXPECT_EQ(space->size(), 12.0);
  RandomGenerator rng(7);
  std::map<SmallVector<int64_t>, int64_t> counts;
  for (int i = 0; i < 12000; ++i)
    ++counts[space->sample(rng)[0]];
  EXPECT_EQ(counts.size(), 12u);
  // 11 degrees of freedom: 31.3 is exceeded with probability 0.001.
  EXPECT_LT(chiSquare(counts, 12, 12000), 31.3);
  for (const auto &[chain, count] : counts) {
    EXPECT_EQ(chain[0] % 4, 0);
    EXPECT_LE(chain[0], 24);
    EXPECT_EQ(chain[0] % chain[1], 0);
  }
}

TEST_F(SpaceTest, ValuesAreUniform) {
  auto space = makeSpace(valueKnob("u", "unroll", 0, "0, 16, 64, 512"));
  ASSERT_TRUE(succeeded(space));
  RandomGenerator rng(3);
  std::map<SmallVector<int64_t>, int64_t> counts;
  for (int i = 0; i < 4000; ++i)
    ++counts[space->sample(rng)[0]];
  EXPECT_EQ(counts.size(), 4u);
  EXPECT_LT(chiSquare(counts, 4, 4000), 16.3);
}

TEST_F(SpaceTest, RemainderTakesAnySizeAndFavoursGoodOnes) {
  auto space = makeSpace(tileKnobs(0, 0, 2, 509, ", policy = \"remainder\""));
  ASSERT_TRUE(succeeded(space));
  RandomGenerator rng(5);
  int64_t good = 0, other = 0;
  for (int i = 0; i < 4000; ++i) {
    Decisions decisions = space->sample(rng);
    EXPECT_FALSE(space->check(decisions));
    int64_t inner = decisions[0][1];
    bool isGood = llvm::isPowerOf2_64(inner) || inner == 509;
    ++(isGood ? good : other);
  }
  EXPECT_GT(good, other);
  EXPECT_GT(other, 400);
  // Sizes that are never drawn are legal too; the size outside is the bound.
  EXPECT_FALSE(space->check({{401, 399}}));
  EXPECT_EQ(space->check({{399, 401}})->constraint, "chain");
  EXPECT_EQ(space->check({{399, 401}})->reason,
            "s0.d0.l1 = 401 is larger than s0.d0.l0 = 399");
  EXPECT_EQ(space->check({{510, 1}})->reason,
            "s0.d0.l0 = 510 is above the extent 509");
}

TEST_F(SpaceTest, RemainderOutsideDivisorInside) {
  std::string knobs =
      R"(%a = transform.tune.knob<"s0.d0.l0"> options = {kind = "tile",
          stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 2 : i64,
          extent = 100 : i64, policy = "remainder"} -> !transform.param<i64>
         %b = transform.tune.knob<"s0.d0.l1"> options = {kind = "tile",
          stage = 0 : i64, loop = 0 : i64, level = 1 : i64, levels = 2 : i64,
          extent = 100 : i64} -> !transform.param<i64>)";
  auto space = makeSpace(knobs);
  ASSERT_TRUE(succeeded(space));
  RandomGenerator rng(5);
  bool sawRemainder = false;
  for (int i = 0; i < 1000; ++i) {
    Decisions decisions = space->sample(rng);
    EXPECT_FALSE(space->check(decisions));
    EXPECT_EQ(decisions[0][0] % decisions[0][1], 0);
    sawRemainder |= 100 % decisions[0][0] != 0;
    std::optional<Decisions> child = space->mutate(decisions, rng);
    ASSERT_TRUE(child);
    EXPECT_FALSE(space->check(*child));
  }
  EXPECT_TRUE(sawRemainder);
}

TEST_F(SpaceTest, CheckSaysWhy) {
  auto space = makeSpace(tileKnobs(0, 0, 2, 12, ", max = 6 : i64") +
                             valueKnob("u", "unroll", 0, "0, 16"),
                         R"({name = "area", max = 20 : i64, terms = [
                             {coefficient = 2 : i64,
                              knobs = ["s0.d0.l0", "s0.d0.l1"]},
                             {knobs = ["u"]}]})");
  ASSERT_TRUE(succeeded(space));
  EXPECT_FALSE(space->check({{4, 2}, {0}}));
  EXPECT_EQ(space->check({{4, 2}})->reason,
            "expected 2 groups of decisions, got 1");
  EXPECT_EQ(space->check({{4}, {0}})->reason, "s0.d0 takes 2 values, got 1");
  EXPECT_EQ(space->check({{4}, {0}})->constraint, "arity");
  EXPECT_EQ(space->check({{12, 2}, {0}})->reason,
            "s0.d0.l0 = 12 is above the largest size 6");
  EXPECT_EQ(space->check({{5, 1}, {0}})->reason,
            "s0.d0.l0 = 5 is no divisor of the extent 12");
  EXPECT_EQ(space->check({{0, 1}, {0}})->reason,
            "s0.d0.l0 = 0 is not positive");
  EXPECT_EQ(space->check({{-4, 1}, {0}})->constraint, "domain");
  EXPECT_EQ(space->check({{6, 4}, {0}})->reason,
            "s0.d0.l1 = 4 is no divisor of s0.d0.l0 = 6");
  EXPECT_EQ(space->check({{4, 2}, {7}})->reason, "u = 7 is not among 0, 16");
  EXPECT_EQ(space->check({{4, 2}, {16}})->constraint, "area");
  EXPECT_EQ(space->check({{4, 2}, {16}})->reason,
            "2 * s0.d0.l0 * s0.d0.l1 + u is 32, more than 20");
}

TEST_F(SpaceTest, ConstraintKinds) {
  // A lower bound by a negative coefficient, and a constant term.
  auto space = makeSpace(tileKnobs(0, 0, 1, 64),
                         R"({name = "at-least", reason = "a vector is full", max = -8 : i64, terms = [
                             {coefficient = -1 : i64, knobs = ["s0.d0.l0"]}]},
                            {name = "at-most", max = 32 : i64, terms = [
                             {knobs = ["s0.d0.l0"]},
                             {coefficient = 10 : i64, knobs = []}]})");
  ASSERT_TRUE(succeeded(space));
  EXPECT_EQ(space->check({{4}})->constraint, "at-least");
  EXPECT_EQ(space->check({{4}})->reason,
            "s0.d0.l0 is 4, less than 8 (a vector is full)");
  EXPECT_FALSE(space->check({{8}}));
  EXPECT_FALSE(space->check({{16}}));
  EXPECT_EQ(space->check({{32}})->reason, "s0.d0.l0 + 10 is 42, more than 32");
}

TEST_F(SpaceTest, OverflowIsAViolation) {
  std::string big = std::to_string(int64_t(1) << 40);
  auto space =
      makeSpace(tileKnobs(0, 0, 1, int64_t(1) << 40) +
                    tileKnobs(0, 1, 1, int64_t(1) << 40),
                R"({name = "area", max = 9223372036854775806 : i64, terms = [
          {knobs = ["s0.d0.l0", "s0.d1.l0", "s0.d0.l0", "s0.d1.l0"]},
          {coefficient = 9223372036854775807 : i64, knobs = ["s0.d0.l0"]}]})");
  ASSERT_TRUE(succeeded(space));
  int64_t size = int64_t(1) << 40;
  EXPECT_EQ(space->check({{size}, {size}})->constraint, "area");
  EXPECT_EQ(space->check({{2}, {1}})->reason,
            "s0.d0.l0 * s0.d1.l0 * s0.d0.l0 * s0.d1.l0 + 9223372036854775807 * "
            "s0.d0.l0 is a number above the range of i64, more than "
            "9223372036854775806");
  // Negative saturation stays on its side.
  space = makeSpace(tileKnobs(0, 0, 1, size),
                    R"({name = "low", max = 0 : i64, terms = [
                        {coefficient = -9223372036854775807 : i64,
                         knobs = ["s0.d0.l0", "s0.d0.l0", "s0.d0.l0"]}]})");
  ASSERT_TRUE(succeeded(space));
  EXPECT_FALSE(space->check({{size}}));
}

TEST_F(SpaceTest, LargeExtentsAreQuick) {
  // A large prime, a large power, and the largest i64.
  auto space = makeSpace(
      tileKnobs(0, 0, 4, 2305843009213693951) +
      tileKnobs(0, 1, 4, int64_t(1) << 62) + tileKnobs(0, 2, 4, INT64_MAX) +
      tileKnobs(0, 3, 4, INT64_MAX, ", policy = \"remainder\""));
  ASSERT_TRUE(succeeded(space));
  RandomGenerator rng(1);
  Decisions decisions = space->sample(rng);
  EXPECT_FALSE(space->check(decisions));
  for (int i = 0; i < 200; ++i) {
    decisions = *space->mutate(decisions, rng);
    EXPECT_FALSE(space->check(decisions));
  }
}

TEST_F(SpaceTest, SampleLegalCountsRejections) {
  // Two loops of 512 at 4 levels, innermost tile of at most 32: a few in a
  // hundred samples are legal.
  std::string knobs = tileKnobs(0, 0, 4, 512) + tileKnobs(0, 1, 4, 512);
  auto space = makeSpace(knobs, R"({name = "registers", max = 2 : i64, terms = [
                                   {knobs = ["s0.d0.l2", "s0.d1.l2"]}]})");
  ASSERT_TRUE(succeeded(space));
  RandomGenerator rng(2);
  llvm::StringMap<int64_t> rejections;
  for (int i = 0; i < 200; ++i) {
    auto decisions = space->sampleLegal(rng, 100, rejections);
    ASSERT_TRUE(decisions);
    EXPECT_FALSE(space->check(*decisions));
  }
  EXPECT_GT(rejections["registers"], 50);

  // No decision at all is legal: nothing is returned, each attempt counted.
  space = makeSpace(knobs, R"({name = "never", max = 0 : i64, terms = [
                               {knobs = ["s0.d0.l2"]}]})");
  ASSERT_TRUE(succeeded(space));
  EXPECT_FALSE(space->sampleLegal(rng, 5, rejections));
  EXPECT_EQ(rejections["never"], 5);
}

TEST_F(SpaceTest, SampleLegalFindsRareDecisions) {
  // Each of four loops has to be untiled: one sample in 715^4.
  std::string knobs, constraints;
  for (int64_t loop = 0; loop < 4; ++loop) {
    knobs += tileKnobs(0, loop, 4, 512);
    std::string name = "s0.d" + std::to_string(loop) + ".l3";
    constraints +=
        (loop ? ", " : "") + ("{name = \"" + name +
                              "\", max = -512 : i64, terms = ["
                              "{coefficient = -1 : i64, knobs = [\"" +
                              name + "\"]}]}");
  }
  auto space = makeSpace(knobs, constraints);
  ASSERT_TRUE(succeeded(space));
  RandomGenerator rng(4);
  llvm::StringMap<int64_t> rejections;
  for (int i = 0; i < 5; ++i) {
    auto decisions = space->sampleLegal(rng, 1000, rejections);
    ASSERT_TRUE(decisions);
    EXPECT_EQ(*decisions, Decisions(4, {512, 512, 512, 512}));
  }
}

TEST_F(SpaceTest, SameSeedSameSamples) {
  std::string knobs = tileKnobs(0, 0, 4, 5040) + tileKnobs(1, 1, 2, 97) +
                      valueKnob("u", "unroll", 0, "0, 16, 64, 512");
  auto space = makeSpace(knobs), again = makeSpace(knobs);
  ASSERT_TRUE(succeeded(space) && succeeded(again));
  RandomGenerator first(42), second(42), third(43);
  bool differs = false;
  for (int i = 0; i < 50; ++i) {
    Decisions decisions = space->sample(first);
    EXPECT_EQ(decisions, again->sample(second));
    differs |= decisions != again->sample(third);
  }
  EXPECT_TRUE(differs);
}

TEST_F(SpaceTest, JSONRoundTrip) {
  auto space =
      makeSpace(tileKnobs(2, 0, 3, 128) + valueKnob("u", "unroll", 0, "0, 16"));
  ASSERT_TRUE(succeeded(space));
  llvm::json::Value value = space->toJSON({{128, 64, 8}, {16}});
  EXPECT_EQ(llvm::formatv("{0}", value).str(),
            R"({"s2.d0":[128,64,8],"u":[16]})");
  std::string error;
  auto decisions = space->fromJSON(value, error);
  ASSERT_TRUE(succeeded(decisions));
  EXPECT_EQ(*decisions, (Decisions{{128, 64, 8}, {16}}));

  auto errorOf = [&](StringRef text) {
    llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
    EXPECT_TRUE(bool(parsed));
    EXPECT_TRUE(failed(space->fromJSON(*parsed, error)));
    return error;
  };
  EXPECT_EQ(errorOf("[1]"), "decisions must be a JSON object");
  EXPECT_EQ(errorOf(R"({"u": [1]})"), "decisions lack \"s2.d0\"");
  EXPECT_EQ(errorOf(R"({"s2.d0": [1, 2], "u": 0})"),
            "\"s2.d0\" takes 3 values, got 2");
  EXPECT_EQ(errorOf(R"({"s2.d0": [1, 2, "x"], "u": 0})"),
            "the values of \"s2.d0\" must be integers");
  EXPECT_EQ(errorOf(R"({"s2.d0": "x", "u": 0})"),
            "the values of \"s2.d0\" must be an array of integers");
  EXPECT_EQ(errorOf(R"({"s2.d0": [1, 1, 1], "u": 0, "v": 0, "w": 0})"),
            "unknown group \"v\" in decisions; known are s2.d0, u");
}

TEST_F(SpaceTest, BadScriptsAreRefused) {
  auto errorOf = [&](StringRef knobs, StringRef constraints = "") {
    diagnostics.clear();
    EXPECT_TRUE(failed(makeSpace(knobs, constraints)));
    return diagnostics.empty() ? std::string() : diagnostics.front();
  };
  EXPECT_EQ(errorOf(valueKnob("u", "unroll", 0, "0") +
                    "%v = transform.tune.knob<\"u\"> options = [1] -> "
                    "!transform.param<i64>\n"),
            "knob name \"u\" is used twice");
  EXPECT_EQ(errorOf(R"(%a = transform.tune.knob<"a"> options = 7
                       -> !transform.param<i64>)"),
            "the options of a knob must be a knob domain (a dictionary) or an "
            "array of i64, got 7 : i64");
  std::string levels = tileKnobs(0, 0, 2, 16);
  EXPECT_EQ(errorOf(levels.substr(0, levels.find('\n'))),
            "loop \"s0.d0\" has 2 levels, but knobs for 1 of them");
  EXPECT_EQ(errorOf(tileKnobs(0, 0, 1, 6,
                              ", multiple_of = 4 : i64, "
                              "max = 5 : i64")),
            "no choice of the tile sizes of loop \"s0.d0\" satisfies its "
            "domains");
  EXPECT_EQ(errorOf(levels, R"({name = "c", max = 1 : i64, terms = [
                               {knobs = ["s9"]}]})"),
            "constraint 'c' names the unknown knob \"s9\"");
}

TEST_F(SpaceTest, ConstraintAttributeRoundTrip) {
  Constraint constraint;
  constraint.name = "footprint";
  constraint.max = 1 << 20;
  constraint.terms.push_back({4, {"a", "b"}});
  constraint.terms.push_back({-1, {}});
  DictionaryAttr attr = constraint.toAttr(&context);
  auto parsed = Constraint::parse(
      attr, [&] { return emitError(UnknownLoc::get(&context)); });
  ASSERT_TRUE(succeeded(parsed));
  EXPECT_EQ(parsed->toAttr(&context), attr);
}

} // namespace
