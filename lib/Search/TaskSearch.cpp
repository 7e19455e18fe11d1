//===- TaskSearch.cpp - Search policy of a task -----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Search/TaskSearch.h"
#include "ansor/Support/Stopwatch.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

using namespace mlir;
using namespace mlir::ansor;

/// Evaluations kept; about 2 kB each. It bounds memory, not results.
static constexpr size_t kCacheLimit = 32768;
/// Rounds of sampling before too few valid samples are taken as they are.
static constexpr unsigned kSampleRounds = 8;
/// Share of a task's first batch that is random if a model picks it already: it
/// shows how wrong the model is about this task.
static constexpr double kFirstEpsilon = 0.25;
/// Sketches whose fastest candidate is within this of the fastest of all are
/// rivals, as are those with less than this share of what trials would be theirs
/// evenly: no sketch with a rival gets more than half of a batch. Which structure
/// is best shows only after its sizes were tuned, and a search that tunes the
/// first good one alone stays with it: of 200 trials, 117 to 167 went to one
/// sketch, and the winner came from another.
static constexpr double kRivalry = 1.15, kUnknownShare = 0.5;
/// Partial programs that a beam keeps, for each candidate wanted.
static constexpr unsigned kBeamWidth = 2;
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

class TaskSearch::BatchBuilder {
public:
  BatchBuilder(TaskSearch &search, unsigned count)
      : search(search), count(count) {}

  bool isFull() const { return batch.size() == count; }
  size_t size() const { return batch.size(); }

  /// Takes `candidate`, unless it is in the batch, or is the same program as
  /// one that was measured or is in the batch: other decisions may give the
  /// same loops.
  bool add(const Candidate &candidate) {
    if (isFull() || search.measuredKeys.contains(candidate.key()) ||
        !keys.insert(candidate.key()).second)
      return false;
    const FeatureMatrix &features =
        search.evaluate(candidate).front()->features;
    if (features.rows() > 0) {
      std::string program = hashFeatures(features);
      if (search.measuredPrograms.contains(program) ||
          !programs.insert(program).second)
        return false;
    }
    batch.push_back(candidate);
    return true;
  }

  /// The batch, filled up from `spare`.
  std::vector<Candidate> take(ArrayRef<Candidate> spare) {
    for (const Candidate &candidate : spare)
      add(candidate);
    return std::move(batch);
  }

private:
  TaskSearch &search;
  unsigned count;
  std::vector<Candidate> batch;
  llvm::StringSet<> keys, programs;
};

std::vector<Candidate> TaskSearch::bestParents(unsigned count,
                                               bool &hasRivals) const {
  llvm::SmallDenseMap<unsigned, unsigned> taken; // rivals, parents of each
  for (const auto &[seconds, candidate] : measured)
    if (seconds <= kRivalry * measured.front().first)
      taken.try_emplace(candidate.sketch, 0);
  const double even = double(measuredKeys.size()) / double(spaces.size());
  const size_t rivals = llvm::count_if(
      llvm::seq<unsigned>(0, spaces.size()), [&](unsigned sketch) {
        return taken.contains(sketch) ||
               trialsOf.lookup(sketch) < kUnknownShare * even;
      });
  hasRivals = rivals > 1;
  const unsigned most = hasRivals ? (count + 1) / 2 : count;
  std::vector<Candidate> parents;
  for (const auto &[seconds, candidate] : measured) {
    auto it = taken.find(candidate.sketch);
    if (parents.size() == count)
      break;
    if (it == taken.end() || it->second == most)
      continue;
    ++it->second;
    parents.push_back(candidate);
  }
  return parents;
}

std::vector<Candidate> TaskSearch::nextBatch(unsigned count, CostModel *model,
                                             RandomGenerator &rng) {
  batchScores.clear();
  if (count == 0)
    return {};
  Evolution evolution(spaces, options, measuredKeys, rng, rejections);
  BatchBuilder batch(*this, count);
  if (!model) {
    for (const Candidate &seed : seeds)
      if (batch.size() < (count + 3) / 4 && evaluate(seed).front()->valid)
        batch.add(seed);
    for (unsigned round = 0; round < kSampleRounds && !batch.isFull();
         ++round) {
      unsigned wanted = count - batch.size();
      std::vector<Candidate> samples = sampleValid(evolution, wanted, wanted);
      if (samples.empty())
        break;
      for (const Candidate &candidate : samples)
        batch.add(candidate);
    }
    return batch.take({});
  }

  // The population follows the batch, see EvolutionOptions::scoredPerTrial.
  unsigned population = std::clamp<unsigned>(
      options.scoredPerTrial * count / (options.generations + 1), 16,
      std::max(16u, options.population));
  std::vector<Candidate> best;
  size_t fromMeasured = std::min<size_t>(
      options.generations == 0 ? 0 : measured.size(),
      size_t(options.measuredShare * population));
  for (const auto &[seconds, candidate] :
       ArrayRef(measured).take_front(fromMeasured))
    best.push_back(candidate);
  unsigned wanted = std::max<unsigned>(population - fromMeasured, 1);
  std::vector<Candidate> samples = sampleValid(
      evolution, std::min({options.initialValid, wanted}), wanted);
  std::vector<Candidate> initial = samples;
  llvm::append_range(initial, best);
  llvm::append_range(initial, seeds);
  auto scoreAll = [&](ArrayRef<Candidate> candidates) {
    return score(candidates, *model);
  };
  const unsigned scored = population * (options.generations + 1);
  const bool isBeam = options.strategy == StrategyKind::Beam;
  const bool isTuned = options.generations > 0 && !isBeam;
  std::vector<Candidate> ranked =
      isBeam ? evolution.beam(kBeamWidth * count, scored, scoreAll)
             : evolution.run(std::move(initial), scored, scoreAll);
  std::vector<Candidate> near;
  bool hasRivals = false;
  if (isTuned)
    near = evolution.neighbours(bestParents(options.exploitParents, hasRivals),
                                4 * population / 5);

  // Equal scores are the model's ignorance: a few of each. eps-greedy: now and
  // then a random one instead of the best ranked.
  double epsilon = options.epsGreedy;
  if (measuredKeys.empty())
    epsilon = std::max(epsilon, kFirstEpsilon);
  std::map<double, unsigned> ofScore;
  llvm::SmallDenseMap<unsigned, size_t> ofSketch;
  std::vector<Candidate> spare;
  auto addRanked = [&](ArrayRef<Candidate> candidates, size_t end) {
    std::vector<double> scores = score(candidates, *model);
    std::vector<size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](size_t a, size_t b) {
      return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    });
    for (size_t position : order) {
      const Candidate &candidate = candidates[position];
      double value = scores[position];
      if (batch.size() >= end || value == -kInfinity)
        break;
      if (!samples.empty() && uniformReal(rng) < epsilon) {
        size_t index = uniformIndex(rng, samples.size());
        batch.add(samples[index]);
        samples.erase(samples.begin() + index);
        if (batch.size() >= end)
          break;
      }
      unsigned &taken = ofScore[value];
      size_t &ofThis = ofSketch[candidate.sketch];
      if (taken >= options.perScore || (hasRivals && ofThis >= (end + 1) / 2)) {
        spare.push_back(candidate);
      } else if (batch.add(candidate)) {
        ++taken;
        ++ofThis;
      }
    }
  };
  addRanked(near, isTuned ? std::lround(options.exploitShare * count) : 0);
  addRanked(ranked, count);
  llvm::append_range(spare, samples);
  std::vector<Candidate> result = batch.take(spare);
  interpret(result);
  batchScores = score(result, *model);
  return result;
}

double TaskSearch::getSeconds(const Candidate &candidate) const {
  std::string key = candidate.key();
  for (const auto &[seconds, other] : measured)
    if (other.key() == key)
      return seconds;
  return kInfinity;
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
    if (measuredKeys.insert(candidate.key()).second)
      ++trialsOf[candidate.sketch];
    if (evaluation->features.rows() > 0)
      measuredPrograms.insert(hashFeatures(evaluation->features));
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
