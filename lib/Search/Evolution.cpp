//===- Evolution.cpp - Evolutionary search ----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Search/Evolution.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::ansor;

/// Attempts to get one legal sample before a sketch counts as barren once.
static constexpr unsigned kSampleAttempts = 64;
/// A sketch that gives nothing new so often in a row is left out of a call.
static constexpr unsigned kBarrenLimit = 16;
/// Samples that a schedule of another extent is fitted to.
static constexpr unsigned kRefitSamples = 256;
/// Draws to complete a partial program before it counts as a dead end.
static constexpr unsigned kCompletions = 16;
/// Mates that are looked at to find one of the same sketch.
static constexpr unsigned kMateAttempts = 8;

std::optional<StrategyKind> ansor::parseStrategyKind(StringRef text) {
  return llvm::StringSwitch<std::optional<StrategyKind>>(text)
      .Case("evolution", StrategyKind::Evolution)
      .Case("beam", StrategyKind::Beam)
      .Default(std::nullopt);
}

std::string Candidate::key() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << sketch;
  for (ArrayRef<int64_t> group : decisions) {
    os << '/';
    llvm::interleave(group, os, ",");
  }
  return text;
}

uint64_t ansor::uniformIndex(RandomGenerator &rng, uint64_t bound) {
  // Reject the values of the last, incomplete block.
  uint64_t threshold = (0 - bound) % bound;
  while (true) {
    uint64_t value = rng();
    if (value >= threshold)
      return value % bound;
  }
}

double ansor::uniformReal(RandomGenerator &rng) {
  return double(rng() >> 11) * 0x1.0p-53;
}

/// How far a group's values are from those of another extent: inner levels count
/// more, and a choice is the same or not.
static double distance(const KnobGroup &group, ArrayRef<int64_t> a,
                       ArrayRef<int64_t> b) {
  double sum = 0;
  for (size_t level = 0; level < a.size(); ++level) {
    if (group.domains[level].kind != KnobKind::Tile)
      sum += a[level] != b[level];
    else
      sum += (level + 1) * std::abs(std::log2(double(std::max<int64_t>(1, a[level])) /
                                              std::max<int64_t>(1, b[level])));
  }
  return sum;
}

std::optional<Decisions> ansor::refit(const DesignSpace &from,
                                      const Decisions &decisions,
                                      const DesignSpace &to,
                                      RandomGenerator &rng) {
  ArrayRef<KnobGroup> groups = to.getGroups();
  auto alike = [](const KnobGroup &a, const KnobGroup &b) {
    return a.name == b.name && a.knobs.size() == b.knobs.size();
  };
  if (!llvm::equal(from.getGroups(), groups, alike) ||
      decisions.size() != groups.size())
    return std::nullopt;

  // Group by group, the closest of some samples.
  Decisions best = to.sample(rng);
  for (unsigned i = 0; i < kRefitSamples; ++i) {
    Decisions other = to.sample(rng);
    for (size_t g = 0; g < groups.size(); ++g)
      if (distance(groups[g], decisions[g], other[g]) <
          distance(groups[g], decisions[g], best[g]))
        best[g] = other[g];
  }
  if (!to.check(best))
    return best;

  // Together they break a constraint: the closest legal sample.
  std::optional<Decisions> legal;
  double least = 0;
  llvm::StringMap<int64_t> ignored;
  for (unsigned i = 0; i < kRefitSamples / 4; ++i) {
    std::optional<Decisions> other = to.sampleLegal(rng, 4, ignored);
    if (!other)
      continue;
    double sum = 0;
    for (size_t g = 0; g < groups.size(); ++g)
      sum += distance(groups[g], decisions[g], (*other)[g]);
    if (!legal || sum < least) {
      least = sum;
      legal = std::move(other);
    }
  }
  return legal;
}

std::vector<Candidate> Evolution::sample(unsigned count) {
  std::vector<Candidate> samples;
  SmallVector<unsigned> sketches =
      llvm::to_vector(llvm::seq<unsigned>(0, spaces.size()));
  SmallVector<unsigned> barren(spaces.size(), 0);
  while (samples.size() < count && !sketches.empty()) {
    size_t position = uniformIndex(rng, sketches.size());
    unsigned sketch = sketches[position];
    Candidate candidate{sketch, {}};
    std::optional<Decisions> decisions =
        spaces[sketch].sampleLegal(rng, kSampleAttempts, rejections);
    bool isNew = false;
    if (decisions) {
      candidate.decisions = std::move(*decisions);
      std::string key = candidate.key();
      isNew = !excluded.contains(key) && sampled.insert(key).second;
    }
    if (isNew) {
      barren[sketch] = 0;
      samples.push_back(std::move(candidate));
    } else if (++barren[sketch] == kBarrenLimit) {
      sketches.erase(sketches.begin() + position);
    }
  }
  return samples;
}

size_t Evolution::select(ArrayRef<double> cumulative) {
  double total = cumulative.back();
  if (!(total > 0))
    return uniformIndex(rng, cumulative.size());
  double point = uniformReal(rng) * total;
  size_t index =
      std::upper_bound(cumulative.begin(), cumulative.end(), point) -
      cumulative.begin();
  return std::min(index, cumulative.size() - 1);
}

std::optional<Candidate> Evolution::breed(ArrayRef<Candidate> parents,
                                          ArrayRef<double> cumulative) {
  const Candidate &parent = parents[select(cumulative)];
  const DesignSpace &space = spaces[parent.sketch];
  Candidate child = parent;
  double action = uniformReal(rng);
  if (action < options.mutationProbability) {
    std::optional<Decisions> decisions = space.mutate(parent.decisions, rng);
    if (!decisions)
      return std::nullopt;
    child.decisions = std::move(*decisions);
  } else if (action <
             options.mutationProbability + options.crossoverProbability) {
    const Candidate *mate = nullptr;
    for (unsigned i = 0; i < kMateAttempts && !mate; ++i) {
      const Candidate &other = parents[select(cumulative)];
      if (other.sketch == parent.sketch && &other != &parent)
        mate = &other;
    }
    if (!mate)
      return std::nullopt;
    child.decisions = space.crossover(parent.decisions, mate->decisions, rng);
  } else {
    return std::nullopt;
  }
  if (std::optional<Violation> violation = space.check(child.decisions)) {
    ++rejections[violation->constraint];
    return std::nullopt;
  }
  return child;
}

namespace {
struct Scored {
  double score;
  size_t age;
  Candidate candidate;
  bool operator<(const Scored &other) const {
    return score != other.score ? score > other.score : age < other.age;
  }
};
} // namespace

std::vector<Candidate> Evolution::neighbours(ArrayRef<Candidate> parents,
                                             unsigned count) {
  std::vector<Candidate> found;
  if (parents.empty())
    return found;
  llvm::StringSet<> keys;
  for (size_t attempt = 0; found.size() < count && attempt < 4 * size_t(count);
       ++attempt) {
    const Candidate &parent = parents[attempt % parents.size()];
    const DesignSpace &space = spaces[parent.sketch];
    std::optional<Decisions> decisions = space.mutate(parent.decisions, rng);
    if (!decisions || space.check(*decisions))
      continue;
    Candidate child{parent.sketch, std::move(*decisions)};
    std::string key = child.key();
    if (!excluded.contains(key) && keys.insert(key).second)
      found.push_back(std::move(child));
  }
  return found;
}

std::vector<Candidate> Evolution::run(std::vector<Candidate> initial,
                                      unsigned count, ScoreFn score) {
  std::vector<Scored> pool;    // every distinct candidate seen, parents too
  llvm::StringSet<> seen;
  std::vector<Candidate> population = std::move(initial);
  const size_t size = population.size();
  const size_t parentCount =
      std::max<size_t>(1, size_t(options.parentShare * size));

  for (unsigned generation = 0; !population.empty(); ++generation) {
    std::vector<double> scores = score(population);
    for (auto [candidate, value] : llvm::zip_equal(population, scores))
      if (value > -std::numeric_limits<double>::infinity() &&
          seen.insert(candidate.key()).second)
        pool.push_back({value, pool.size(), std::move(candidate)});
    llvm::sort(pool);
    if (generation == options.generations || pool.empty())
      break;

    // The best so far are the parents, by roulette on their scores.
    std::vector<Candidate> parents;
    std::vector<double> cumulative;
    double total = 0;
    for (const Scored &scored : ArrayRef(pool).take_front(parentCount)) {
      total += std::max(scored.score, 0.0);
      cumulative.push_back(total);
      parents.push_back(scored.candidate);
    }
    population.clear();
    llvm::StringSet<> keys;
    for (size_t attempts = 0;
         population.size() < size && attempts < 8 * size; ++attempts) {
      std::optional<Candidate> child = breed(parents, cumulative);
      if (!child)
        continue;
      std::string key = child->key();
      if (!seen.contains(key) && keys.insert(key).second)
        population.push_back(std::move(*child));
    }
  }

  std::vector<Candidate> best;
  for (Scored &scored : pool) {
    if (best.size() == count)
      break;
    if (!excluded.contains(scored.candidate.key()))
      best.push_back(std::move(scored.candidate));
  }
  return best;
}

std::optional<Candidate> Evolution::complete(const Candidate &prefix,
                                             size_t decided) {
  const DesignSpace &space = spaces[prefix.sketch];
  for (unsigned attempt = 0; attempt < kCompletions; ++attempt) {
    std::optional<Decisions> drawn =
        space.sampleLegal(rng, kSampleAttempts, rejections);
    if (!drawn)
      return std::nullopt;
    llvm::copy(ArrayRef(prefix.decisions).take_front(decided), drawn->begin());
    if (!space.check(*drawn))
      return Candidate{prefix.sketch, std::move(*drawn)};
  }
  return std::nullopt;
}

std::vector<Candidate> Evolution::beam(unsigned width, unsigned scored,
                                       ScoreFn score) {
  size_t steps = 0;
  for (const DesignSpace &space : spaces)
    steps = std::max(steps, space.getGroups().size());
  if (steps == 0 || width == 0)
    return {};
  const size_t perStep = std::max<size_t>(1, scored / steps);

  std::vector<Candidate> states; // the first `step` groups count
  for (unsigned sketch = 0; sketch < spaces.size(); ++sketch)
    states.push_back({sketch, Decisions(spaces[sketch].getGroups().size())});
  for (size_t step = 0; step < steps; ++step) {
    std::vector<Candidate> children;
    llvm::StringSet<> keys;
    auto add = [&](Candidate child) {
      if (keys.insert(child.key()).second)
        children.push_back(std::move(child));
    };
    const size_t branches =
        std::max<size_t>(1, perStep / std::max<size_t>(1, states.size()));
    for (const Candidate &state : states) {
      if (step >= state.decisions.size()) {
        add(state); // it has been complete for a while
        continue;
      }
      for (size_t branch = 0; branch < branches; ++branch)
        if (std::optional<Candidate> child = complete(state, step))
          add(std::move(*child));
    }
    std::vector<Scored> ranked;
    std::vector<double> scores = score(children);
    for (auto [child, value] : llvm::zip_equal(children, scores)) {
      const bool isLast = step + 1 >= child.decisions.size();
      if (value > -std::numeric_limits<double>::infinity() &&
          !(isLast && excluded.contains(child.key())))
        ranked.push_back({value, ranked.size(), std::move(child)});
    }
    llvm::sort(ranked);
    // A partial program counts as its best completion, once.
    states.clear();
    llvm::StringSet<> prefixes;
    for (Scored &entry : ranked) {
      Candidate prefix = entry.candidate;
      prefix.decisions.resize(std::min(prefix.decisions.size(), step + 1));
      if (states.size() < width && prefixes.insert(prefix.key()).second)
        states.push_back(std::move(entry.candidate));
    }
  }
  return states;
}
