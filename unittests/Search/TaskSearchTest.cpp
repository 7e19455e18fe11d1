//===- TaskSearchTest.cpp - Tests of the search policy ----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Search/TaskSearch.h"
#include "../Space/SpaceTestUtils.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::ansor;

namespace {

/// Seconds of a candidate of the synthetic space: 1 at the optimum.
double trueTime(const Candidate &candidate) {
  const int64_t optimum[] = {128, 32, 4, 256, 64, 16};
  double time = candidate.sketch == 0 ? 1 : 12;
  unsigned next = 0;
  for (ArrayRef<int64_t> group : candidate.decisions)
    for (int64_t value : group)
      time += std::abs(std::log2(double(value) / optimum[next++]));
  return time;
}

/// The features of a candidate are its logarithms and sketch; candidates whose
/// first tile is 1 can't be built.
class FakeEvaluator : public Evaluator {
public:
  explicit FakeEvaluator(std::vector<size_t> *calls = nullptr) : calls(calls) {}
  std::vector<Evaluation> evaluate(ArrayRef<Candidate> candidates) override {
    std::vector<Evaluation> results;
    for (const Candidate &candidate : candidates) {
      Evaluation evaluation;
      evaluation.valid = candidate.decisions[0][0] != 1;
      if (!evaluation.valid)
        evaluation.error = "a tile of one";
      evaluation.features.data.assign(kNumFeatures, 0);
      evaluation.features.data[0] = candidate.sketch;
      unsigned next = 1;
      for (ArrayRef<int64_t> group : candidate.decisions)
        for (int64_t value : group)
          evaluation.features.data[next++] = std::log2(value);
      results.push_back(std::move(evaluation));
    }
    if (calls)
      calls->push_back(candidates.size());
    return results;
  }
  std::vector<size_t> *calls;
};

class TaskSearchTest : public SpaceTest {
protected:
  void SetUp() override {
    auto large = makeSpace(tileKnobs(0, 0, 3, 512) + tileKnobs(0, 1, 3, 512));
    auto small = makeSpace(tileKnobs(0, 0, 2, 512));
    ASSERT_TRUE(succeeded(large) && succeeded(small));
    spaces = {*large, *small};
  }

  std::unique_ptr<TaskSearch> makeSearch(std::vector<size_t> *calls = nullptr) {
    return std::make_unique<TaskSearch>(
        "a1-00", spaces, std::make_unique<FakeEvaluator>(calls), options);
  }

  /// The best time after `rounds` batches of 8, all measured ones in `log`.
  double tune(uint64_t seed, unsigned rounds, bool learned,
              std::vector<std::string> *log = nullptr) {
    auto search = makeSearch();
    std::unique_ptr<CostModel> model = createXGBoostModel();
    std::vector<TrainingSample> samples;
    RandomGenerator rng(seed);
    double best = std::numeric_limits<double>::infinity();
    for (unsigned round = 0; round < rounds; ++round) {
      if (learned && round > 0)
        EXPECT_TRUE(succeeded(model->update(samples)));
      auto batch = search->nextBatch(
          8, learned && round > 0 ? model.get() : nullptr, rng);
      EXPECT_EQ(batch.size(), 8u);
      for (const Candidate &candidate : batch) {
        EXPECT_FALSE(search->isMeasured(candidate));
        if (log)
          log->push_back(candidate.key());
        best = std::min(best, trueTime(candidate));
        samples.push_back(search->addMeasured(candidate, trueTime(candidate)));
      }
    }
    return best;
  }

  EvolutionOptions options;
  std::vector<DesignSpace> spaces;
};

TEST_F(TaskSearchTest, LearnedSearchBeatsRandomSearch) {
  int wins = 0;
  for (uint64_t seed = 0; seed < 5; ++seed)
    wins += tune(seed, 6, true) < tune(seed, 6, false);
  EXPECT_GE(wins, 4);
}

TEST_F(TaskSearchTest, SameSeedSameCandidates) {
  std::vector<std::string> first, second, other;
  tune(11, 4, true, &first);
  tune(11, 4, true, &second);
  tune(12, 4, true, &other);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
  llvm::StringSet<> distinct;
  for (const std::string &key : first)
    EXPECT_TRUE(distinct.insert(key).second);
}

TEST_F(TaskSearchTest, CandidatesThatCannotBeBuiltAreCountedNotProposed) {
  auto search = makeSearch();
  RandomGenerator rng(1);
  for (const Candidate &candidate : search->nextBatch(64, nullptr, rng))
    EXPECT_NE(candidate.decisions[0][0], 1);
  EXPECT_GT(search->getRejections().lookup("transform"), 0);
  EXPECT_EQ(search->getFirstFailure(), "a tile of one");
}

TEST_F(TaskSearchTest, EvaluationsAreCached) {
  std::vector<size_t> calls;
  auto search = makeSearch(&calls);
  RandomGenerator rng(1);
  auto batch = search->nextBatch(8, nullptr, rng);
  calls.clear();
  for (const Candidate &candidate : batch)
    search->addMeasured(candidate, 1);
  for (size_t size : calls)
    EXPECT_EQ(size, 0u);
}

TEST_F(TaskSearchTest, MeasuredCandidatesAreNotProposedAgain) {
  auto space = makeSpace(tileKnobs(0, 0, 1, 6));
  ASSERT_TRUE(succeeded(space));
  spaces = {*space};
  auto search = makeSearch();
  RandomGenerator rng(1);
  auto batch = search->nextBatch(2, nullptr, rng);
  ASSERT_EQ(batch.size(), 2u);
  for (const Candidate &candidate : batch)
    search->addMeasured(candidate,
                        std::numeric_limits<double>::infinity());
  // 2, 3 and 6 build: one is left, then none.
  std::unique_ptr<CostModel> model = createRandomModel(1);
  batch = search->nextBatch(8, model.get(), rng);
  ASSERT_EQ(batch.size(), 1u);
  search->addMeasured(batch[0], 1);
  EXPECT_TRUE(search->nextBatch(8, model.get(), rng).empty());
  EXPECT_TRUE(search->nextBatch(8, nullptr, rng).empty());
}

TEST_F(TaskSearchTest, ScoringIsBoundedByTheBatch) {
  std::vector<size_t> calls;
  auto search = makeSearch(&calls);
  std::unique_ptr<CostModel> model = createRandomModel(1);
  RandomGenerator rng(1);
  search->nextBatch(8, model.get(), rng);
  EXPECT_LE(search->getScored(), int64_t(8 * options.scoredPerTrial * 1.2));
  EXPECT_GT(search->getScored(), int64_t(8 * options.scoredPerTrial / 4));
}

/// The sum of the logarithms of the first group's tiles is all that tells
/// programs apart.
class CoarseEvaluator : public Evaluator {
public:
  std::vector<Evaluation> evaluate(ArrayRef<Candidate> candidates) override {
    std::vector<Evaluation> results;
    for (const Candidate &candidate : candidates) {
      Evaluation evaluation;
      evaluation.valid = true;
      evaluation.features.data.assign(kNumFeatures, candidate.sketch);
      for (int64_t value : candidate.decisions[0])
        evaluation.features.data[0] += std::log2(value);
      results.push_back(std::move(evaluation));
    }
    return results;
  }
};

TEST_F(TaskSearchTest, EqualProgramsAreMeasuredOnce) {
  TaskSearch search("a1-00", spaces, std::make_unique<CoarseEvaluator>(),
                    options);
  CoarseEvaluator evaluator;
  std::unique_ptr<CostModel> model = createRandomModel(1);
  RandomGenerator rng(1);
  llvm::StringSet<> programs;
  size_t measured = 0;
  for (int round = 0; round < 8; ++round)
    for (const Candidate &candidate :
         search.nextBatch(8, round ? model.get() : nullptr, rng)) {
      ++measured;
      EXPECT_TRUE(
          programs.insert(hashFeatures(evaluator.evaluate(candidate)[0].features))
              .second);
      search.addMeasured(candidate, 1);
    }
  EXPECT_GT(measured, 16u);
}

/// Scores all programs alike, but for those of the second sketch.
class FlatModel : public CostModel {
public:
  StringRef getName() const override { return "flat"; }
  std::vector<double> predict(ArrayRef<FeatureMatrix> programs) override {
    std::vector<double> scores;
    for (const FeatureMatrix &program : programs)
      scores.push_back(program.data[0] == 0 ? 1 : 0.5);
    return scores;
  }
  LogicalResult update(ArrayRef<TrainingSample>) override { return success(); }
  bool isTrained() const override { return true; }
  LogicalResult save(StringRef, std::string &) const override {
    return failure();
  }
  LogicalResult load(StringRef, std::string &) override { return failure(); }
  LogicalResult loadBase(StringRef, std::string &) override {
    return failure();
  }
};

TEST_F(TaskSearchTest, EqualScoresDoNotFillABatch) {
  options.epsGreedy = 0;
  auto search = makeSearch();
  FlatModel model;
  RandomGenerator rng(1);
  auto batch = search->nextBatch(4, &model, rng);
  ASSERT_EQ(batch.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(batch[i].sketch, i < 2 ? 0u : 1u);
    EXPECT_EQ(search->getBatchScores()[i], i < 2 ? 1 : 0.5);
  }
  // Where there is nothing else, they do.
  batch = search->nextBatch(8, &model, rng);
  EXPECT_EQ(batch.size(), 8u);
}

namespace {
class OneBestTest : public TaskSearchTest {
protected:
  /// The batch after one good candidate, with a model that can't choose.
  std::vector<Candidate> batchBehind(const Candidate &best) {
    auto search = makeSearch();
    search->addMeasured(best, 1);
    search->addMeasured({1, {{128, 32}}}, 10); // known to be no rival
    FlatModel model;
    RandomGenerator rng(1);
    return search->nextBatch(8, &model, rng);
  }
};
} // namespace

TEST_F(OneBestTest, NeighboursAreTried) {
  options.epsGreedy = 0;
  options.exploitShare = 0.5;
  options.exploitParents = 1;
  options.perScore = 100;
  Candidate best{0, {{128, 32, 4}, {256, 64, 16}}};
  auto batch = batchBehind(best);
  ASSERT_EQ(batch.size(), 8u);
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_EQ(batch[i].sketch, 0u);
    EXPECT_EQ((batch[i].decisions[0] != best.decisions[0]) +
                  (batch[i].decisions[1] != best.decisions[1]),
              1);
  }
}

/// How many of a batch are of the first sketch, which the model prefers, if the
/// best of the second one took `seconds` (none was measured if that is 0), and
/// that of the first 1.
class RivalsTest : public OneBestTest {
protected:
  unsigned ofFirst(double seconds) {
    options.epsGreedy = 0;
    options.perScore = 100;
    auto search = makeSearch();
    search->addMeasured({0, {{128, 32, 4}, {256, 64, 16}}}, 1);
    if (seconds > 0)
      search->addMeasured({1, {{128, 32}}}, seconds);
    FlatModel model;
    RandomGenerator rng(1);
    auto batch = search->nextBatch(8, &model, rng);
    EXPECT_EQ(batch.size(), 8u);
    return llvm::count_if(batch, [](const Candidate &candidate) {
      return candidate.sketch == 0;
    });
  }
};

TEST_F(RivalsTest, OneAsFastGetsItsHalf) { EXPECT_EQ(ofFirst(1.1), 4u); }

TEST_F(RivalsTest, OneThatIsUnknownGetsItsHalf) { EXPECT_EQ(ofFirst(0), 4u); }

TEST_F(RivalsTest, SlowerOnesGetNone) { EXPECT_EQ(ofFirst(2), 8u); }

TEST_F(OneBestTest, WithoutGenerationsThereAreNoNeighbours) {
  options.epsGreedy = 0;
  options.exploitShare = 1;
  options.exploitParents = 1;
  options.generations = 0;
  Candidate best{0, {{128, 32, 4}, {256, 64, 16}}};
  auto batch = batchBehind(best);
  ASSERT_EQ(batch.size(), 8u);
  EXPECT_TRUE(llvm::any_of(batch, [&](const Candidate &candidate) {
    return candidate.sketch != 0 ||
           (candidate.decisions[0] != best.decisions[0] &&
            candidate.decisions[1] != best.decisions[1]);
  }));
}

TEST_F(TaskSearchTest, SeedsAreMeasuredFirst) {
  auto search = makeSearch();
  std::vector<Candidate> seeds;
  for (int64_t tile : {1, 2, 4, 8, 16})
    seeds.push_back({1, {{tile, 1}}});
  search->setSeeds(seeds);
  RandomGenerator rng(1);
  auto batch = search->nextBatch(8, nullptr, rng);
  ASSERT_EQ(batch.size(), 8u);
  // A quarter; the first one can't be built.
  EXPECT_EQ(batch[0].key(), seeds[1].key());
  EXPECT_EQ(batch[1].key(), seeds[2].key());
  EXPECT_NE(batch[2].key(), seeds[3].key());
  for (const Candidate &candidate : batch)
    search->addMeasured(candidate, 1);
  for (const Candidate &candidate : search->nextBatch(8, nullptr, rng))
    EXPECT_NE(candidate.key(), seeds[1].key());
}

TEST_F(TaskSearchTest, TimesAreFoundByCandidate) {
  auto search = makeSearch();
  Candidate good{1, {{2, 1}}}, bad{1, {{4, 1}}}, unknown{1, {{8, 1}}};
  search->addMeasured(good, 0.5);
  search->addMeasured(bad, std::numeric_limits<double>::infinity());
  EXPECT_EQ(search->getSeconds(good), 0.5);
  EXPECT_TRUE(std::isinf(search->getSeconds(bad)));
  EXPECT_TRUE(std::isinf(search->getSeconds(unknown)));
}

TEST_F(TaskSearchTest, SchedulesAreFittedToOtherExtents) {
  auto small = makeSpace(tileKnobs(0, 0, 3, 64) + tileKnobs(0, 1, 3, 48) +
                         valueKnob("u", "unroll", 1, "0, 16, 64, 512"));
  auto large = makeSpace(tileKnobs(0, 0, 3, 512) + tileKnobs(0, 1, 3, 96) +
                         valueKnob("u", "unroll", 1, "0, 16, 64, 512"));
  auto other = makeSpace(tileKnobs(0, 0, 2, 512));
  ASSERT_TRUE(succeeded(small) && succeeded(large) && succeeded(other));
  RandomGenerator rng(3);
  Decisions decisions = {{32, 16, 8}, {48, 24, 8}, {64}};
  ASSERT_FALSE(small->check(decisions));
  std::optional<Decisions> fitted = refit(*small, decisions, *large, rng);
  ASSERT_TRUE(fitted);
  EXPECT_FALSE(large->check(*fitted));
  EXPECT_EQ((*fitted)[0][2], 8);
  EXPECT_EQ((*fitted)[1][2], 8);
  EXPECT_EQ((*fitted)[1][1], 24);
  EXPECT_EQ((*fitted)[2][0], 64);
  EXPECT_FALSE(refit(*small, decisions, *other, rng));

  // The way back, under a constraint that the closest tiles break.
  auto tight = makeSpace(tileKnobs(0, 0, 3, 64) + tileKnobs(0, 1, 3, 48) +
                             valueKnob("u", "unroll", 1, "0, 16, 64, 512"),
                         R"({name = "small", max = 40 : i64, terms = [
                            {knobs = ["s0.d0.l2", "s0.d1.l2"]}]})");
  ASSERT_TRUE(succeeded(tight));
  fitted = refit(*large, {{512, 64, 32}, {96, 48, 16}, {16}}, *tight, rng);
  ASSERT_TRUE(fitted);
  EXPECT_FALSE(tight->check(*fitted));
}

} // namespace
