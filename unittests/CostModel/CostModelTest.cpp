//===- CostModelTest.cpp - Tests of the cost models -------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/CostModel/CostModel.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace mlir::ansor;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {

/// A path that is removed when the test ends.
class TemporaryFile {
public:
  TemporaryFile() {
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("cost-model", "txt", path));
  }
  ~TemporaryFile() { llvm::sys::fs::remove(path); }
  StringRef str() const { return path; }
  std::string read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
  void write(StringRef text) const {
    std::error_code code;
    llvm::raw_fd_ostream file(path, code);
    ASSERT_FALSE(code);
    file << text;
  }

private:
  llvm::SmallString<128> path;
};

} // namespace

static FeatureMatrix makeRandomProgram(std::mt19937_64 &rng, unsigned rows) {
  FeatureMatrix matrix;
  matrix.data.assign(rows * kNumFeatures, 0);
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = 0; c < 40; ++c)
      matrix.data[r * kNumFeatures + c] = rng() % 1000 / 50.0f;
  return matrix;
}

/// Seconds of a machine that is easy to describe: each row costs something
/// that depends on three of its features and an interaction.
static double simulate(const FeatureMatrix &program) {
  double seconds = 0;
  for (unsigned r = 0; r < program.rows(); ++r) {
    const float *row = program.data.data() + r * kNumFeatures;
    seconds += 1 + row[3] + (row[7] > 10 ? row[11] : 0.2 * row[20]);
  }
  return seconds * 1e-4;
}

static std::vector<TrainingSample> makeSamples(unsigned count, uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<TrainingSample> samples(count);
  for (unsigned i = 0; i < count; ++i) {
    // The second task is a hundred times as slow: only the normalisation makes
    // the two comparable.
    samples[i].task = i % 2 ? "slow" : "fast";
    samples[i].features = makeRandomProgram(rng, 2 + i % 2);
    samples[i].seconds = simulate(samples[i].features) * (i % 2 ? 100 : 1);
  }
  return samples;
}

static std::vector<double> predictAll(CostModel &model,
                                      ArrayRef<TrainingSample> samples) {
  std::vector<FeatureMatrix> programs;
  for (const TrainingSample &sample : samples)
    programs.push_back(sample.features);
  return model.predict(programs);
}

/// Share of the pairs of programs of one task that are ranked rightly.
static double rankingAccuracy(CostModel &model,
                              ArrayRef<TrainingSample> samples) {
  std::vector<double> scores = predictAll(model, samples);
  double right = 0, pairs = 0;
  for (size_t i = 0; i < samples.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      if (samples[i].task != samples[j].task)
        continue;
      ++pairs;
      right +=
          (samples[i].seconds < samples[j].seconds) == (scores[i] > scores[j]);
    }
  return right / pairs;
}

TEST(XGBoostModel, RanksHeldOutPrograms) {
  auto model = createXGBoostModel();
  EXPECT_FALSE(model->isTrained());
  ASSERT_TRUE(succeeded(model->update(makeSamples(600, 1))));
  EXPECT_TRUE(model->isTrained());
  EXPECT_EQ(model->getLastError(), "");
  EXPECT_GT(rankingAccuracy(*model, makeSamples(200, 2)), 0.8);
}

TEST(XGBoostModel, ScoresSumOverRows) {
  auto model = createXGBoostModel();
  ASSERT_TRUE(succeeded(model->update(makeSamples(100, 1))));
  std::mt19937_64 rng(9);
  FeatureMatrix both = makeRandomProgram(rng, 2), first, second;
  first.data.assign(both.data.begin(), both.data.begin() + kNumFeatures);
  second.data.assign(both.data.begin() + kNumFeatures, both.data.end());
  std::vector<double> scores = model->predict({both, first, second});
  EXPECT_DOUBLE_EQ(scores[0], scores[1] + scores[2]);
}

TEST(XGBoostModel, LearnsFromFailures) {
  // Everything with a large feature 5 fails; nothing else tells.
  auto fails = [](const TrainingSample &sample) {
    return sample.features.data[5] > 12;
  };
  auto make = [&](unsigned count, uint64_t seed) {
    std::vector<TrainingSample> samples = makeSamples(count, seed);
    for (TrainingSample &sample : samples) {
      std::vector<float> &data = sample.features.data;
      for (unsigned r = 1; r < sample.features.rows(); ++r)
        data[r * kNumFeatures + 5] = data[5];
      sample.seconds = fails(sample) ? kInfinity : 1e-3;
    }
    return samples;
  };
  std::vector<TrainingSample> samples = make(300, 3), heldOut = make(100, 4);
  // Mean score of the failing programs over that of the others.
  auto train = [&](const XGBoostOptions &options) {
    auto model = createXGBoostModel(options);
    EXPECT_TRUE(succeeded(model->update(samples)));
    std::vector<double> scores = predictAll(*model, heldOut);
    double good = 0, bad = 0, numGood = 0, numBad = 0;
    for (size_t i = 0; i < heldOut.size(); ++i) {
      (fails(heldOut[i]) ? bad : good) += scores[i];
      ++(fails(heldOut[i]) ? numBad : numGood);
    }
    return bad / numBad / (good / numGood);
  };
  EXPECT_LT(train({}), 0.3);
  // Without the floor and pairs, failures teach nothing: they score like the
  // others.
  XGBoostOptions noFloor;
  noFloor.minWeight = 0;
  noFloor.pairWeight = 0;
  noFloor.squaredWeight = 1;
  EXPECT_GT(train(noFloor), 0.8);
}

TEST(XGBoostModel, SameDataSameModel) {
  TemporaryFile a, b, c;
  std::string error;
  auto first = createXGBoostModel(), second = createXGBoostModel();
  ASSERT_TRUE(succeeded(first->update(makeSamples(200, 5))));
  // Retraining starts anew: what was learned before leaves no trace.
  ASSERT_TRUE(succeeded(second->update(makeSamples(100, 6))));
  ASSERT_TRUE(succeeded(second->save(c.str(), error)));
  ASSERT_TRUE(succeeded(second->update(makeSamples(200, 5))));
  ASSERT_TRUE(succeeded(first->save(a.str(), error))) << error;
  ASSERT_TRUE(succeeded(second->save(b.str(), error))) << error;
  EXPECT_FALSE(a.read().empty());
  EXPECT_EQ(a.read(), b.read());
  EXPECT_NE(a.read(), c.read());
}

TEST(XGBoostModel, SavesAndLoads) {
  TemporaryFile file;
  std::string error;
  auto model = createXGBoostModel(), loaded = createXGBoostModel();
  ASSERT_TRUE(succeeded(model->update(makeSamples(150, 7))));
  ASSERT_TRUE(succeeded(model->save(file.str(), error))) << error;
  ASSERT_TRUE(succeeded(loaded->load(file.str(), error))) << error;
  EXPECT_TRUE(loaded->isTrained());
  std::vector<TrainingSample> heldOut = makeSamples(50, 8);
  EXPECT_EQ(predictAll(*model, heldOut), predictAll(*loaded, heldOut));
  // A loaded model can be trained again.
  EXPECT_TRUE(succeeded(loaded->update(makeSamples(50, 9))));
}

// The scores of a base hold until something is learned, and count then, too.
TEST(XGBoostModel, StartsFromABase) {
  TemporaryFile file;
  std::string error;
  auto base = createXGBoostModel(), model = createXGBoostModel(),
       alone = createXGBoostModel();
  ASSERT_TRUE(succeeded(base->update(makeSamples(400, 7))));
  ASSERT_TRUE(succeeded(base->save(file.str(), error))) << error;
  EXPECT_FALSE(model->isTrained());
  ASSERT_TRUE(succeeded(model->loadBase(file.str(), error))) << error;
  EXPECT_TRUE(model->isTrained());
  std::vector<TrainingSample> heldOut = makeSamples(200, 8);
  EXPECT_EQ(predictAll(*model, heldOut), predictAll(*base, heldOut));

  // Learning adds to them, and learning nothing leaves them.
  std::vector<TrainingSample> few = makeSamples(12, 9);
  ASSERT_TRUE(succeeded(model->update(few)));
  ASSERT_TRUE(succeeded(alone->update(few)));
  EXPECT_NE(predictAll(*model, heldOut), predictAll(*base, heldOut));
  EXPECT_NE(predictAll(*model, heldOut), predictAll(*alone, heldOut));
  ASSERT_TRUE(succeeded(model->update({})));
  EXPECT_EQ(predictAll(*model, heldOut), predictAll(*base, heldOut));
}

// What a task's programs have in common must not hide what tells them apart: how
// far they spread is no feature here.
TEST(XGBoostModel, OrdersWithinTasks) {
  auto make = [](unsigned tasks, unsigned first) {
    std::mt19937_64 rng(first);
    std::vector<TrainingSample> samples;
    for (unsigned t = first; t < first + tasks; ++t) {
      double spread = (t % 7 + 1) * 0.1;
      for (unsigned i = 0; i < 24; ++i) {
        TrainingSample sample{makeRandomProgram(rng, 1), std::to_string(t), 0};
        sample.seconds = 1 + spread * sample.features.data[3] / 20;
        samples.push_back(std::move(sample));
      }
    }
    return samples;
  };
  XGBoostOptions plain;
  plain.pairWeight = 0;
  plain.squaredWeight = 1;
  auto model = createXGBoostModel(), other = createXGBoostModel(plain);
  std::vector<TrainingSample> samples = make(20, 0), heldOut = make(10, 100);
  ASSERT_TRUE(succeeded(model->update(samples)));
  ASSERT_TRUE(succeeded(other->update(samples)));
  EXPECT_GT(rankingAccuracy(*model, heldOut), 0.85);
  EXPECT_GT(rankingAccuracy(*model, heldOut),
            rankingAccuracy(*other, heldOut));
}

// A task of many programs is learned from by a sample of its pairs.
TEST(XGBoostModel, EachPairCountsOnce) {
  // Who is whose neighbour in the list must not matter: all pairs are met, and
  // none twice, for odd and even numbers.
  for (unsigned count : {3u, 6u, 7u, 9u}) {
    std::vector<TrainingSample> samples(count);
    for (unsigned i = 0; i < count; ++i) {
      samples[i].features.data.assign(kNumFeatures, 0);
      samples[i].features.data[0] = i;
      samples[i].task = "t";
      samples[i].seconds = 1e-3 * (1 + (i * i) % 5 + 0.3 * i);
    }
    XGBoostOptions options;
    options.rounds = 4;
    options.featureShare = 1;
    auto model = createXGBoostModel(options);
    ASSERT_TRUE(succeeded(model->update(samples)));
    std::vector<double> scores = predictAll(*model, samples);
    std::vector<TrainingSample> dealt; // the even ones, then the odd ones
    for (unsigned first : {0u, 1u})
      for (unsigned i = first; i < count; i += 2)
        dealt.push_back(samples[i]);
    ASSERT_TRUE(succeeded(model->update(dealt)));
    std::vector<double> again = predictAll(*model, samples);
    for (unsigned i = 0; i < count; ++i)
      EXPECT_NEAR(scores[i], again[i], 1e-5) << i << " of " << count;
  }
}

TEST(XGBoostModel, ManyProgramsOfATask) {
  std::mt19937_64 rng(5);
  std::vector<TrainingSample> samples;
  for (unsigned i = 0; i < 1500; ++i) {
    TrainingSample sample{makeRandomProgram(rng, 1), "task", 0};
    sample.seconds = simulate(sample.features);
    samples.push_back(std::move(sample));
  }
  auto model = createXGBoostModel();
  ASSERT_TRUE(succeeded(model->update(samples)));
  EXPECT_GT(rankingAccuracy(*model, samples), 0.85);
}

// All rows of a program move at once: steps must not add up beyond the error.
TEST(XGBoostModel, ManyRowsConverge) {
  std::mt19937_64 rng(3);
  std::vector<TrainingSample> samples;
  for (unsigned i = 0; i < 60; ++i)
    samples.push_back({makeRandomProgram(rng, 24), "task", 1.0 + i});
  XGBoostOptions squared;
  squared.pairWeight = 0;
  squared.squaredWeight = 1;
  for (const XGBoostOptions &options : {XGBoostOptions(), squared}) {
    auto model = createXGBoostModel(options);
    ASSERT_TRUE(succeeded(model->update(samples)));
    for (double score : predictAll(*model, samples)) {
      EXPECT_GT(score, -1);
      EXPECT_LT(score, 1.5);
    }
  }
}

TEST(XGBoostModel, EmptySets) {
  auto model = createXGBoostModel();
  EXPECT_TRUE(succeeded(model->update({})));
  EXPECT_FALSE(model->isTrained());
  EXPECT_TRUE(model->predict({}).empty());
  // Training on nothing forgets what was learned.
  ASSERT_TRUE(succeeded(model->update(makeSamples(20, 1))));
  EXPECT_TRUE(model->predict({}).empty());
  EXPECT_TRUE(succeeded(model->update({})));
  EXPECT_FALSE(model->isTrained());
}

TEST(XGBoostModel, OnlyFailures) {
  std::vector<TrainingSample> samples = makeSamples(20, 1);
  for (TrainingSample &sample : samples)
    sample.seconds = kInfinity;
  samples[0].seconds = std::numeric_limits<double>::quiet_NaN();
  samples[1].seconds = 0;
  samples[2].seconds = -1;
  auto model = createXGBoostModel();
  EXPECT_TRUE(succeeded(model->update(samples)));
  EXPECT_FALSE(model->isTrained());
  for (double score : predictAll(*model, samples))
    EXPECT_EQ(score, 0);
}

TEST(XGBoostModel, OneSample) {
  std::vector<TrainingSample> samples = makeSamples(1, 1);
  auto model = createXGBoostModel();
  ASSERT_TRUE(succeeded(model->update(samples)));
  EXPECT_TRUE(model->isTrained());
  EXPECT_EQ(predictAll(*model, samples)[0], 0); // nothing to order it by
  XGBoostOptions squared;
  squared.pairWeight = 0;
  squared.squaredWeight = 1;
  model = createXGBoostModel(squared);
  ASSERT_TRUE(succeeded(model->update(samples)));
  // It is the best of its task, so its label is 1.
  EXPECT_NEAR(predictAll(*model, samples)[0], 1, 0.1);
}

TEST(XGBoostModel, ProgramsWithoutRows) {
  std::vector<TrainingSample> samples = makeSamples(20, 1);
  samples[5].features = {};
  auto model = createXGBoostModel();
  FeatureMatrix empty;
  EXPECT_EQ(model->predict({empty})[0], -kInfinity);
  ASSERT_TRUE(succeeded(model->update(samples)));
  std::vector<double> scores = predictAll(*model, samples);
  for (size_t i = 0; i < scores.size(); ++i)
    EXPECT_EQ(std::isfinite(scores[i]), i != 5);
  // Nothing but such programs is nothing to learn from.
  samples.resize(1);
  samples[0].features = {};
  EXPECT_TRUE(succeeded(model->update(samples)));
  EXPECT_FALSE(model->isTrained());
}

TEST(XGBoostModel, RefusesBadFiles) {
  TemporaryFile file;
  std::string error;
  auto model = createXGBoostModel();
  EXPECT_TRUE(failed(model->save(file.str(), error)));
  EXPECT_EQ(error,
            "the cost model is not trained yet: there is nothing to save");
  ASSERT_TRUE(succeeded(model->update(makeSamples(50, 1))));
  EXPECT_TRUE(failed(model->save("/no/such/folder/model", error)));
  EXPECT_NE(error.find("cannot write '/no/such/folder/model'"),
            std::string::npos);
  EXPECT_TRUE(failed(model->load("/no/such/folder/model", error)));
  EXPECT_NE(error.find("can't read '/no/such/folder/model'"),
            std::string::npos);

  ASSERT_TRUE(succeeded(model->save(file.str(), error)));
  std::string good = file.read();
  std::vector<TrainingSample> heldOut = makeSamples(10, 2);
  std::vector<double> before = predictAll(*model, heldOut);
  auto expectRefusal = [&](StringRef text, StringRef message) {
    file.write(text);
    error.clear();
    EXPECT_TRUE(failed(model->load(file.str(), error)));
    EXPECT_NE(error.find(message.str()), std::string::npos) << error;
    // The model is as before.
    EXPECT_EQ(predictAll(*model, heldOut), before);
  };
  auto replaced = [&](StringRef from, StringRef to) {
    std::string text = good;
    size_t at = text.find(from.str());
    EXPECT_NE(at, std::string::npos);
    return text.replace(at, from.size(), to.str());
  };
  expectRefusal("", "is not a saved cost model");
  expectRefusal("not a model", "is not a saved cost model");
  expectRefusal("[1, 2]\n", "is not a saved cost model");
  expectRefusal(StringRef(good).drop_back(100), "is damaged");
  expectRefusal(StringRef(good).split('\n').first, "is damaged");
  std::string version = "\"features\":" + std::to_string(kFeatureVersion);
  expectRefusal(replaced(version, "\"features\":999"),
                "was trained on version 999 of the features; this is version " +
                    std::to_string(kFeatureVersion));
  expectRefusal(replaced("\"columns\":164", "\"columns\":163"),
                "was trained on version");
  expectRefusal(replaced("\"ansor_cost_model\":1", "\"ansor_cost_model\":2"),
                "has version 2 of the file format");
  expectRefusal(replaced("\"kind\":\"xgboost\"", "\"kind\":\"linear\""),
                "holds another kind of cost model");
}

TEST(RandomModel, IsReproducible) {
  std::vector<TrainingSample> samples = makeSamples(100, 1);
  auto a = createRandomModel(7), b = createRandomModel(7),
       c = createRandomModel(8);
  std::vector<double> first = predictAll(*a, samples);
  EXPECT_EQ(first, predictAll(*b, samples));
  EXPECT_NE(first, predictAll(*c, samples));
  EXPECT_NE(first, predictAll(*a, samples)); // goes on, doesn't repeat
  double sum = 0;
  for (double score : first) {
    EXPECT_GE(score, 0);
    EXPECT_LT(score, 1);
    sum += score;
  }
  EXPECT_NEAR(sum / first.size(), 0.5, 0.15);
  EXPECT_TRUE(succeeded(a->update(samples)));
  EXPECT_FALSE(a->isTrained());
  EXPECT_EQ(a->predict({FeatureMatrix()})[0], -kInfinity);
  std::string error;
  EXPECT_TRUE(failed(a->save("x", error)));
  EXPECT_EQ(error, "a random cost model has nothing to save or load");
}

TEST(RecordedModel, ReadsScores) {
  std::vector<TrainingSample> samples = makeSamples(3, 1);
  TemporaryFile file;
  file.write("{\"hash\": \"" + hashFeatures(samples[0].features) +
             "\", \"score\": 0.25}\n\n{\"hash\": \"" +
             hashFeatures(samples[2].features) + "\", \"score\": 3}\n");
  std::string error;
  auto model = createRecordedModel(file.str(), error);
  ASSERT_TRUE(succeeded(model)) << error;
  EXPECT_EQ(predictAll(**model, samples), (std::vector<double>{0.25, 0, 3}));
  EXPECT_EQ((*model)->predict({FeatureMatrix()})[0], -kInfinity);
}

TEST(RecordedModel, RefusesBadFiles) {
  TemporaryFile file;
  std::string error;
  EXPECT_TRUE(failed(createRecordedModel("/no/such/file", error)));
  EXPECT_NE(error.find("can't read '/no/such/file'"), std::string::npos);
  file.write("{\"hash\": \"00\", \"score\": 1}\n{\"hash\": ");
  EXPECT_TRUE(failed(createRecordedModel(file.str(), error)));
  EXPECT_NE(error.find(":2: "), std::string::npos) << error;
  file.write("{\"hash\": \"00\"}\n");
  EXPECT_TRUE(failed(createRecordedModel(file.str(), error)));
  EXPECT_NE(error.find(":1: expected {\"hash\": string"), std::string::npos);
}

TEST(HashFeatures, TellsProgramsApart) {
  std::vector<TrainingSample> samples = makeSamples(2, 1);
  std::string hash = hashFeatures(samples[0].features);
  EXPECT_EQ(hash.size(), 16u);
  EXPECT_EQ(hash, hashFeatures(samples[0].features));
  EXPECT_NE(hash, hashFeatures(samples[1].features));
}
