//===- TaskSearch.cpp - Search policy of a task -----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Search/TaskSearch.h"
#include "Clock.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::ansor;

/// Evaluations kept; about 2 kB each. It bounds memory, not results.
static constexpr size_t kCacheLimit = 32768;
/// Rounds of sampling before too few valid samples are taken as they are.
static constexpr unsigned kSampleRounds = 8;
/// Share of a task's first batch that is random if a model picks it already: it
/// shows how wrong the model is about this task.
static constexpr double kFirstEpsilon = 0.25;
/// The best predicted of which the first that builds is taken.
static constexpr unsigned kPredicted = 16;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

Evaluator::~Evaluator() = default;

TaskSearch::TaskSearch(StringRef taskKey, std::vector<DesignSpace> spaces,
                       std::unique_ptr<Evaluator> evaluator,
                       const EvolutionOptions &options)
    : taskKey(taskKey), spaces(std::move(spaces)),
      evaluator(std::move(evaluator)), options(options) {}

std::vector<TaskSearch::EvaluationRef>
TaskSearch::evaluate(ArrayRef<Candidate> candidates) {
  Stopwatch watch(scoreSeconds);
  if (cache.size() + candidates.size() > kCacheLimit)
    cache.clear();
  std::vector<std::string> keys;
  std::vector<Candidate> fresh;
  llvm::StringSet<> asked;
  for (const Candidate &candidate : candidates) {
    keys.push_back(candidate.key());
    if (!cache.contains(keys.back()) && asked.insert(keys.back()).second)
      fresh.push_back(candidate);
  }
  std::vector<Evaluation> evaluations = evaluator->evaluate(fresh);
  scored += fresh.size();
  for (auto [candidate, evaluation] : llvm::zip_equal(fresh, evaluations)) {
    if (!evaluation.valid) {
      ++rejections["transform"];
      if (firstFailure.empty())
        firstFailure = evaluation.error;
    }
    cache[candidate.key()] =
        std::make_shared<const Evaluation>(std::move(evaluation));
  }
  std::vector<EvaluationRef> results;
  for (const std::string &key : keys)
    results.push_back(cache.lookup(key));
  return results;
}

void TaskSearch::interpret(std::vector<Candidate> &batch) {
  Stopwatch watch(scoreSeconds);
  std::vector<Evaluation> evaluations = evaluator->interpret(batch);
  std::vector<Candidate> valid;
  for (auto [candidate, evaluation] : llvm::zip_equal(batch, evaluations)) {
    std::string key = candidate.key();
    if (evaluation.valid) {
      valid.push_back(std::move(candidate));
    } else {
      ++rejections["transform"];
      if (firstFailure.empty())
        firstFailure = evaluation.error;
    }
    cache[key] = std::make_shared<const Evaluation>(std::move(evaluation));
  }
  batch = std::move(valid);
}

std::vector<double> TaskSearch::score(ArrayRef<Candidate> candidates,
                                      CostModel &model) {
  std::vector<EvaluationRef> evaluations = evaluate(candidates);
  Stopwatch watch(scoreSeconds);
  std::vector<FeatureMatrix> programs;
  for (const EvaluationRef &evaluation : evaluations)
    if (evaluation->valid)
      programs.push_back(evaluation->features);
  std::vector<double> predictions = model.predict(programs);
  std::vector<double> scores;
  size_t next = 0;
  for (const EvaluationRef &evaluation : evaluations) {
    if (!evaluation->valid) {
      scores.push_back(-kInfinity);
      continue;
    }
    // A program that can't be described may still be measured, but last.
    double prediction = predictions[next++];
    scores.push_back(std::isfinite(prediction)
                         ? prediction
                         : std::numeric_limits<double>::lowest());
  }
  return scores;
}

std::vector<Candidate> TaskSearch::sampleValid(Evolution &evolution,
                                               unsigned least, unsigned count) {
  std::vector<Candidate> valid;
  for (unsigned round = 0; round < kSampleRounds; ++round) {
    std::vector<Candidate> samples;
    {
      Stopwatch watch(sampleSeconds);
      samples = evolution.sample(count - valid.size());
    }
    if (samples.empty())
      break;
    std::vector<EvaluationRef> evaluations = evaluate(samples);
    for (auto [candidate, evaluation] : llvm::zip_equal(samples, evaluations))
      if (evaluation->valid)
        valid.push_back(std::move(candidate));
    if (valid.size() >= least)
      break;
  }
  return valid;
}

std::vector<Candidate> TaskSearch::nextBatch(unsigned count, CostModel *model,
                                             RandomGenerator &rng) {
  if (count == 0)
    return {};
  Evolution evolution(spaces, options, measuredKeys, rng, rejections);
  if (!model)
    return sampleValid(evolution, count, count);

  // The population follows the batch, see EvolutionOptions::scoredPerTrial.
  unsigned population = std::clamp<unsigned>(
      options.scoredPerTrial * count / (options.generations + 1), 16,
      std::max(16u, options.population));
  size_t fromMeasured = std::min<size_t>(
      measured.size(), size_t(options.measuredShare * population));
  unsigned wanted = std::max<unsigned>(population - fromMeasured, 1);
  std::vector<Candidate> samples = sampleValid(
      evolution, std::min({options.initialValid, wanted}), wanted);
  std::vector<Candidate> initial = samples;
  for (size_t i = 0; i < fromMeasured; ++i)
    initial.push_back(measured[i].second);
  std::vector<Candidate> ranked = evolution.run(
      std::move(initial), count,
      [&](ArrayRef<Candidate> candidates) { return score(candidates, *model); });

  // eps-greedy: now and then a random one instead of the best ranked.
  double epsilon = options.epsGreedy;
  if (measuredKeys.empty())
    epsilon = std::max(epsilon, kFirstEpsilon);
  std::vector<Candidate> batch;
  llvm::StringSet<> picked;
  size_t nextRanked = 0;
  while (batch.size() < count) {
    std::optional<Candidate> pick;
    bool random = nextRanked == ranked.size() ||
                  uniformReal(rng) < epsilon;
    if (random && !samples.empty()) {
      size_t index = uniformIndex(rng, samples.size());
      pick = std::move(samples[index]);
      samples.erase(samples.begin() + index);
    } else if (nextRanked < ranked.size()) {
      pick = std::move(ranked[nextRanked++]);
    } else {
      break;
    }
    if (picked.insert(pick->key()).second)
      batch.push_back(std::move(*pick));
  }
  interpret(batch);
  return batch;
}

std::optional<Candidate> TaskSearch::predictBest(CostModel &model,
                                                 RandomGenerator &rng) {
  Evolution evolution(spaces, options, measuredKeys, rng, rejections);
  unsigned population = std::max(16u, options.population);
  std::vector<Candidate> ranked = evolution.run(
      sampleValid(evolution, std::min(options.initialValid, population),
                  population),
      kPredicted,
      [&](ArrayRef<Candidate> candidates) { return score(candidates, model); });
  interpret(ranked);
  if (ranked.empty())
    return std::nullopt;
  return ranked.front();
}

std::vector<TrainingSample> TaskSearch::addMeasured(
    ArrayRef<std::pair<Candidate, double>> results) {
  std::vector<Candidate> candidates;
  for (const auto &[candidate, seconds] : results)
    candidates.push_back(candidate);
  std::vector<EvaluationRef> evaluations = evaluate(candidates);

  std::vector<TrainingSample> samples;
  for (auto [result, evaluation] : llvm::zip_equal(results, evaluations)) {
    auto &[candidate, seconds] = result;
    measuredKeys.insert(candidate.key());
    if (std::isfinite(seconds)) {
      auto position = std::upper_bound(
          measured.begin(), measured.end(), seconds,
          [](double value, const auto &entry) { return value < entry.first; });
      measured.insert(position, {seconds, candidate});
    }
    TrainingSample sample;
    sample.features = evaluation->features;
    sample.task = taskKey;
    sample.seconds = seconds;
    samples.push_back(std::move(sample));
  }
  return samples;
}

TrainingSample TaskSearch::addMeasured(const Candidate &candidate,
                                       double seconds) {
  return addMeasured({std::make_pair(candidate, seconds)}).front();
}
