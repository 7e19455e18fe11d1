//===- Sampling.cpp - Sampling, mutation, crossover -------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::ansor;

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// Magnitude at which products stop growing: far beyond any bound, and so that
/// a sum of a few million of them, times a coefficient, fits 128 bits.
static constexpr __int128 kSaturated = static_cast<__int128>(1) << 100;

__int128
DesignSpace::Tables::Bound::evaluate(const Decisions &decisions) const {
  __int128 sum = 0;
  for (const Term &term : terms) {
    __int128 product = term.coefficient;
    for (Place place : term.places) {
      __int128 value = decisions[place.group][place.index];
      // |product| < 2^63 before, and |value| < 2^63: no overflow here.
      product *= value;
      if (product > INT64_MAX || product < INT64_MIN)
        product = product > 0 ? INT64_MAX : INT64_MIN;
    }
    sum += product;
  }
  return std::min(std::max(sum, -kSaturated), kSaturated);
}

double DesignSpace::Tables::Bound::getExcess(const Decisions &decisions) const {
  __int128 excess = evaluate(decisions) - max;
  if (excess <= 0)
    return 0.0;
  return static_cast<double>(excess) /
         (std::abs(static_cast<double>(max)) + 1.0);
}

std::optional<unsigned>
DesignSpace::Tables::findViolated(const Decisions &decisions) const {
  for (auto [index, bound] : llvm::enumerate(bounds))
    if (bound.evaluate(decisions) > bound.max)
      return index;
  return std::nullopt;
}

double DesignSpace::Tables::getExcess(const Decisions &decisions) const {
  double sum = 0.0;
  for (const Bound &bound : bounds)
    sum += bound.getExcess(decisions);
  return sum;
}

//===----------------------------------------------------------------------===//
// Sampling
//===----------------------------------------------------------------------===//

Decisions DesignSpace::sample(RandomGenerator &rng) const {
  Decisions result(groups.size());
  for (auto [table, values] : llvm::zip_equal(tables->groups, result))
    table.sample(rng, values);
  return result;
}

/// A step costs about 0.1 us. Most samples need one or two; where hardly any
/// decision is legal, a few dozen small steps find one.
static constexpr unsigned kRepairSteps = 64;

bool DesignSpace::Tables::repair(Decisions &decisions,
                                 RandomGenerator &rng) const {
  double excess = getExcess(decisions);
  SmallVector<int64_t> saved;
  for (unsigned step = 0; step < kRepairSteps; ++step) {
    std::optional<unsigned> violated = findViolated(decisions);
    if (!violated)
      return true;
    ArrayRef<unsigned> candidates = bounds[*violated].groups;
    if (candidates.empty())
      return false;
    unsigned index = candidates[drawIndex(rng, candidates.size())];
    saved = decisions[index];
    // Draws anew reach far, moves of a factor home in on tight bounds.
    if (step % 2 == 0)
      groups[index].sample(rng, decisions[index]);
    else
      groups[index].mutate(rng, decisions[index]);
    double now = getExcess(decisions);
    if (now > excess)
      decisions[index] = saved;
    else
      excess = now;
  }
  return !findViolated(decisions);
}

std::optional<Decisions>
DesignSpace::sampleLegal(RandomGenerator &rng, unsigned attempts,
                         llvm::StringMap<int64_t> &rejections) const {
  for (unsigned attempt = 0; attempt < attempts; ++attempt) {
    Decisions result = sample(rng);
    std::optional<unsigned> violated = tables->findViolated(result);
    if (!violated)
      return result;
    ++rejections[constraints[*violated].name];
    if (tables->repair(result, rng))
      return result;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Evolution
//===----------------------------------------------------------------------===//

/// Ansor's weights of the kinds; a choice shares the location's.
static double getMutationWeight(KnobKind kind) {
  switch (kind) {
  case KnobKind::Tile:
    return 0.90;
  case KnobKind::Unroll:
    return 0.04;
  case KnobKind::Location:
  case KnobKind::Choice:
    return 0.05;
  case KnobKind::Parallel:
    return 0.01;
  }
  llvm_unreachable("unknown kind of knob");
}

std::optional<Decisions> DesignSpace::mutate(const Decisions &parent,
                                             RandomGenerator &rng) const {
  // Groups that can change, by kind.
  constexpr unsigned kNumKinds = 4;
  std::array<SmallVector<unsigned>, kNumKinds> byKind;
  std::array<double, kNumKinds> weights = {};
  double total = 0.0;
  for (auto [index, group] : llvm::enumerate(groups)) {
    if (tables->groups[index].getNumChains() < 2.0)
      continue;
    KnobKind kind = group.domains.front().kind;
    if (kind == KnobKind::Choice)
      kind = KnobKind::Location;
    unsigned slot = static_cast<unsigned>(kind);
    if (byKind[slot].empty())
      total += weights[slot] = getMutationWeight(kind);
    byKind[slot].push_back(index);
  }
  if (total == 0.0)
    return std::nullopt;

  std::optional<Decisions> result;
  for (unsigned attempt = 0; attempt < 8; ++attempt) {
    double target = drawUnit(rng) * total;
    unsigned slot = 0, last = 0;
    for (; slot < kNumKinds; ++slot) {
      if (byKind[slot].empty())
        continue;
      last = slot;
      if ((target -= weights[slot]) < 0.0)
        break;
    }
    ArrayRef<unsigned> candidates = byKind[last];
    unsigned index = candidates[drawIndex(rng, candidates.size())];
    Decisions child = parent;
    if (!tables->groups[index].mutate(rng, child[index]))
      continue;
    result = std::move(child);
    if (!tables->findViolated(*result))
      break;
  }
  return result;
}

Decisions DesignSpace::crossover(const Decisions &a, const Decisions &b,
                                 RandomGenerator &rng) const {
  bool hasOneStage = llvm::all_of(groups, [&](const KnobGroup &group) {
    return group.stage == groups.front().stage;
  });
  llvm::SmallDenseMap<int64_t, bool, 8> fromA;
  Decisions result;
  for (auto [index, group] : llvm::enumerate(groups)) {
    int64_t node = hasOneStage ? static_cast<int64_t>(index) : group.stage;
    auto [it, isNew] = fromA.try_emplace(node, false);
    if (isNew)
      it->second = (rng() >> 63) != 0;
    result.push_back(it->second ? a[index] : b[index]);
  }
  return result;
}
