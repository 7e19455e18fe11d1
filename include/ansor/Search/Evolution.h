//===- Evolution.h - Evolutionary search ------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The evolutionary search of one task (OSDI 2020, section 5.1): sampling of
// legal candidates, mutation, node-wise crossover, selection by the cost
// model's scores. In: the design spaces of the task's sketches and a score
// function; out: the candidates worth measuring. Nothing here knows IR, models
// or devices.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_SEARCH_EVOLUTION_H
#define ANSOR_SEARCH_EVOLUTION_H

#include "ansor/Space/DesignSpace.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <string>
#include <vector>

namespace mlir::ansor {

/// How the next batch is found in the spaces: by evolution, or by a beam of
/// partial programs (Evolution::beam), to compare with.
enum class StrategyKind { Evolution, Beam };
/// "evolution", "beam". Nullopt for another text.
std::optional<StrategyKind> parseStrategyKind(StringRef text);

struct EvolutionOptions {
  StrategyKind strategy = StrategyKind::Evolution;
  unsigned population = 2048; ///< upper bound, see scoredPerTrial
  unsigned generations = 4;   ///< 0: no fine-tuning, samples are only ranked
  double mutationProbability = 0.85;
  double crossoverProbability = 0.15;
  /// The best so far that breed, as a share of the population. The paper
  /// breeds from the last generation alone, and copies parents into the next;
  /// a population of a thousand needs the stronger selection.
  double parentShare = 0.25;
  /// Of a batch, from the neighbours of the best measured. A model of few
  /// samples errs most on what it likes best far from them: in runs of 64
  /// trials, neighbours were better in the median by a tenth to a third.
  double exploitShare = 0.5;
  unsigned exploitParents = 4; ///< of these, the best measured
  /// Candidates of one score that a batch may hold: trees can't tell them
  /// apart, so that more of them teach little.
  unsigned perScore = 2;
  double epsGreedy = 0.1;     ///< share of a batch that is picked at random
  unsigned initialValid = 50; ///< least number of valid samples, if there are
                              ///< as many
  double measuredShare = 0.2; ///< of the population, from the best measured
  /// Candidates scored for each one measured, over all generations. Scoring
  /// takes about 1 ms a candidate and core, measuring about 250 ms a trial:
  /// with this bound it costs less than a third of the measuring time,
  /// whatever the batch. It is a number, not a clock, so that a run repeats.
  unsigned scoredPerTrial = 128;
};

/// A sketch (by its index) with all its choices made.
struct Candidate {
  unsigned sketch = 0;
  Decisions decisions;

  /// Equal for equal candidates only.
  std::string key() const;
};

/// A number below `bound` (> 0), uniformly; the same on every platform, which
/// the distributions of <random> don't promise.
uint64_t uniformIndex(RandomGenerator &rng, uint64_t bound);
/// A number in [0, 1).
double uniformReal(RandomGenerator &rng);

/// The score of each candidate, -infinity for one that can't be built.
using ScoreFn = function_ref<std::vector<double>(ArrayRef<Candidate>)>;

/// The candidate of `to` that is closest to `decisions` of `from`, a space of
/// the same groups over other extents: the same choices, and tiles of nearly the
/// same sizes, the inner ones first. Nullopt if the groups differ, or if nothing
/// legal is found.
std::optional<Decisions> refit(const DesignSpace &from,
                               const Decisions &decisions,
                               const DesignSpace &to, RandomGenerator &rng);

/// The generations of one round. All randomness comes from `rng`; ties are
/// broken by age, so that equal input gives equal output.
class Evolution {
public:
  /// `excluded` holds the keys of candidates that must not be proposed (the
  /// measured ones); `rejections` counts violated constraints.
  Evolution(ArrayRef<DesignSpace> spaces, const EvolutionOptions &options,
            const llvm::StringSet<> &excluded, RandomGenerator &rng,
            llvm::StringMap<int64_t> &rejections)
      : spaces(spaces), options(options), excluded(excluded), rng(rng),
        rejections(rejections) {}

  /// At most `count` legal, distinct candidates that are not excluded, over
  /// all sketches with equal chance. Fewer if the spaces are (nearly)
  /// exhausted. Calls go on where the last one ended: no candidate twice.
  std::vector<Candidate> sample(unsigned count);

  /// At most `count` legal, distinct candidates that are one mutation away from
  /// one of `parents` and not excluded.
  std::vector<Candidate> neighbours(ArrayRef<Candidate> parents,
                                    unsigned count);

  /// Evolves `initial` (scored as it is, may hold excluded candidates), and
  /// returns the best `count` that are not excluded, best first.
  std::vector<Candidate> run(std::vector<Candidate> initial, unsigned count,
                             ScoreFn score);

  /// Beam search, as earlier auto-schedulers do it: groups are decided one after
  /// the other, in the order of the space; of all partial programs the best
  /// `width` go on, each with some values of the next group. The score of a
  /// partial program is that of its best random completion. About `scored` are
  /// scored in all, at least one for each that goes on. Returns what is left,
  /// complete and not excluded, best first.
  std::vector<Candidate> beam(unsigned width, unsigned scored, ScoreFn score);

private:
  /// `prefix` with its first `decided` groups kept and the others drawn anew;
  /// nullopt if no draw is legal.
  std::optional<Candidate> complete(const Candidate &prefix, size_t decided);
  /// A child of one or two of `parents`, or nullopt if it isn't legal.
  std::optional<Candidate> breed(ArrayRef<Candidate> parents,
                                 ArrayRef<double> cumulative);
  size_t select(ArrayRef<double> cumulative);

  ArrayRef<DesignSpace> spaces;
  const EvolutionOptions &options;
  const llvm::StringSet<> &excluded;
  RandomGenerator &rng;
  llvm::StringMap<int64_t> &rejections;
  llvm::StringSet<> sampled;
};

} // namespace mlir::ansor

#endif // ANSOR_SEARCH_EVOLUTION_H
