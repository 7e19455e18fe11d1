//===- TaskSearch.h - Search policy of a task -------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The search policy of one task: keeps what was measured, and proposes the
// next batch: at random at first, later by evolution under the cost model.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_SEARCH_TASKSEARCH_H
#define ANSOR_SEARCH_TASKSEARCH_H

#include "ansor/CostModel/CostModel.h"
#include "ansor/Search/Evolution.h"

namespace mlir::ansor {

/// What is known of a candidate without lowering it.
struct Evaluation {
  bool valid = false;     ///< the script ran; or it was not interpreted
  FeatureMatrix features; ///< no rows if the program can't be described
  std::string error;      ///< why it isn't valid
};

/// Builds candidates as far as the cost model needs it.
class Evaluator {
public:
  virtual ~Evaluator();
  /// One evaluation a candidate, in their order.
  virtual std::vector<Evaluation> evaluate(ArrayRef<Candidate> candidates) = 0;
  /// The same, by interpreting every script.
  virtual std::vector<Evaluation> interpret(ArrayRef<Candidate> candidates) {
    return evaluate(candidates);
  }
};

class TaskSearch {
public:
  /// `spaces` holds the design space of each sketch. The evaluator is kept.
  TaskSearch(StringRef taskKey, std::vector<DesignSpace> spaces,
             std::unique_ptr<Evaluator> evaluator,
             const EvolutionOptions &options);

  /// At most `count` distinct candidates that build and were not measured,
  /// most promising first; fewer, or none, if the spaces are exhausted. With
  /// no `model` they are random.
  std::vector<Candidate> nextBatch(unsigned count, CostModel *model,
                                   RandomGenerator &rng);

  /// The candidate that `model` expects to be the fastest of a whole evolution,
  /// or nullopt if none builds.
  std::optional<Candidate> predictBest(CostModel &model, RandomGenerator &rng);

  /// The model's scores of the last batch; empty if there was no model.
  ArrayRef<double> getBatchScores() const { return batchScores; }

  /// Candidates from elsewhere that may be good here. A first batch measures
  /// some of them, and later ones breed from them.
  void setSeeds(std::vector<Candidate> candidates) {
    seeds = std::move(candidates);
  }

  /// Notes the result of a trial, `seconds` infinite for a failed one. Returns
  /// the model's training sample.
  TrainingSample addMeasured(const Candidate &candidate, double seconds);
  /// The same for many, which are evaluated together.
  std::vector<TrainingSample>
  addMeasured(ArrayRef<std::pair<Candidate, double>> results);

  bool isMeasured(const Candidate &candidate) const {
    return measuredKeys.contains(candidate.key());
  }
  /// What was measured without failure: seconds and candidate, best first.
  ArrayRef<std::pair<double, Candidate>> getMeasured() const {
    return measured;
  }
  /// Of that candidate; infinite if it failed or was not measured.
  double getSeconds(const Candidate &candidate) const;
  ArrayRef<DesignSpace> getSpaces() const { return spaces; }

  /// Counts of violated constraints; "transform" are scripts that failed.
  const llvm::StringMap<int64_t> &getRejections() const { return rejections; }
  /// Message of the first script that failed, or the empty string.
  StringRef getFirstFailure() const { return firstFailure; }
  int64_t getScored() const { return scored; }
  double getScoreSeconds() const { return scoreSeconds; }
  double getSampleSeconds() const { return sampleSeconds; }

private:
  using EvaluationRef = std::shared_ptr<const Evaluation>;

  /// Evaluations by candidate, from the cache where it has them.
  std::vector<EvaluationRef> evaluate(ArrayRef<Candidate> candidates);
  std::vector<double> score(ArrayRef<Candidate> candidates, CostModel &model);
  /// Drops what doesn't build from a batch.
  void interpret(std::vector<Candidate> &batch);
  /// At most `count` of the best measured, shared by the sketches that rival the
  /// fastest one. Sets whether there are some, measured or unknown.
  std::vector<Candidate> bestParents(unsigned count, bool &hasRivals) const;
  /// New samples that build, at least `least` of at most `count` if there are.
  std::vector<Candidate> sampleValid(Evolution &evolution, unsigned least,
                                     unsigned count);

  /// Takes candidates into a batch that differ as programs from what was
  /// measured and from each other.
  class BatchBuilder;

  std::string taskKey;
  std::vector<DesignSpace> spaces;
  std::unique_ptr<Evaluator> evaluator;
  EvolutionOptions options;

  llvm::StringSet<> measuredKeys;
  llvm::SmallDenseMap<unsigned, unsigned> trialsOf; ///< by sketch
  llvm::StringSet<> measuredPrograms; ///< hashes of their features
  std::vector<Candidate> seeds;
  std::vector<double> batchScores;
  std::vector<std::pair<double, Candidate>> measured; ///< good ones, by time
  llvm::StringMap<EvaluationRef> cache;
  llvm::StringMap<int64_t> rejections;
  std::string firstFailure;
  int64_t scored = 0;
  double scoreSeconds = 0, sampleSeconds = 0;
};

} // namespace mlir::ansor

#endif // ANSOR_SEARCH_TASKSEARCH_H
