//===- GroupTable.cpp - Values and chains of a group ------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::ansor;

/// Sizes up to this are all candidates of a "remainder" level.
static constexpr int64_t kSmallSizes = 256;

SmallVector<int64_t> mlir::ansor::getDivisors(int64_t value) {
  SmallVector<int64_t> result = {1};
  auto addPrime = [&](int64_t prime, unsigned power) {
    size_t size = result.size();
    int64_t factor = 1;
    for (unsigned p = 0; p < power; ++p) {
      factor *= prime;
      for (size_t i = 0; i < size; ++i)
        result.push_back(result[i] * factor);
    }
  };
  for (int64_t prime = 2; prime <= (1 << 20) && prime <= value / prime;
       prime += prime == 2 ? 1 : 2) {
    unsigned power = 0;
    for (; value % prime == 0; value /= prime)
      ++power;
    addPrime(prime, power);
  }
  if (value > 1)
    addPrime(value, 1);
  llvm::sort(result);
  return result;
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

/// Divisors of the extent and multiples of the level's step by a power of two
/// are favoured where any size is allowed.
static bool isFavoured(const KnobDomain &domain, int64_t value) {
  return domain.extent % value == 0 ||
         (value % domain.multipleOf == 0 &&
          llvm::isPowerOf2_64(value / domain.multipleOf));
}

GroupTable::GroupTable(const KnobGroup &group)
    : group(group), isTile(group.domains.front().kind == KnobKind::Tile),
      isExact(llvm::all_of(group.domains, [](const KnobDomain &domain) {
        return domain.policy == TilePolicy::Divisor;
      })) {
  if (!isTile) {
    values = group.domains.front().values;
    numChains = values.size();
    return;
  }
  int64_t extent = group.domains.front().extent;
  values = getDivisors(extent);
  if (!isExact) {
    for (int64_t size = 1; size <= std::min(extent, kSmallSizes); ++size)
      values.push_back(size);
    for (const KnobDomain &domain : group.domains)
      for (int64_t size = domain.multipleOf; size <= extent; size *= 2) {
        values.push_back(size);
        if (size > extent / 2)
          break;
      }
    llvm::sort(values);
    values.erase(llvm::unique(values), values.end());
  }
  divisors.resize(values.size());
  for (auto [i, value] : llvm::enumerate(values))
    for (unsigned j = 0; j <= i; ++j)
      if (value % values[j] == 0)
        divisors[i].push_back(j);
  countChains(/*weighted=*/false);
  for (double weight : weights.front())
    numChains += weight;
  if (!isExact)
    countChains(/*weighted=*/true);
}

void GroupTable::countChains(bool weighted) {
  size_t numLevels = domains().size(), numValues = values.size();
  weights.assign(numLevels, std::vector<double>(numValues, 0.0));
  sums.assign(numLevels, std::vector<double>(numValues, 0.0));
  for (size_t level = numLevels; level-- > 0;) {
    const KnobDomain &domain = domains()[level];
    // Other sizes together weigh a third of the favoured ones.
    double other = 1.0;
    if (weighted && domain.policy == TilePolicy::Remainder) {
      size_t numFavoured = llvm::count_if(values, [&](int64_t value) {
        return domain.contains(value) && isFavoured(domain, value);
      });
      size_t numOthers = llvm::count_if(values, [&](int64_t value) {
        return domain.contains(value) && !isFavoured(domain, value);
      });
      if (numFavoured != 0 && numOthers != 0)
        other = static_cast<double>(numFavoured) / (3.0 * numOthers);
    }
    for (size_t i = 0; i < numValues; ++i) {
      if (!domain.contains(values[i]))
        continue;
      double weight = 1.0;
      if (weighted && domain.policy == TilePolicy::Remainder &&
          !isFavoured(domain, values[i]))
        weight = other;
      if (level + 1 < numLevels) {
        double inner = 0.0;
        if (domains()[level + 1].policy == TilePolicy::Remainder)
          inner = sums[level + 1][i];
        else
          for (unsigned j : divisors[i])
            inner += weights[level + 1][j];
        weight *= inner;
      }
      weights[level][i] = weight;
    }
    double sum = 0.0;
    for (size_t i = 0; i < numValues; ++i)
      sums[level][i] = sum += weights[level][i];
  }
}

//===----------------------------------------------------------------------===//
// Sampling and checking
//===----------------------------------------------------------------------===//

void GroupTable::sample(RandomGenerator &rng,
                        SmallVectorImpl<int64_t> &result) const {
  result.clear();
  if (!isTile) {
    result.push_back(values[drawIndex(rng, values.size())]);
    return;
  }
  size_t last = values.size() - 1; // index of the size outside
  for (size_t level = 0, e = domains().size(); level != e; ++level) {
    size_t picked = last;
    if (level == 0 || domains()[level].policy == TilePolicy::Remainder) {
      const std::vector<double> &row = sums[level];
      double target = drawUnit(rng) * row[last];
      picked = std::upper_bound(row.begin(), row.begin() + last, target) -
               row.begin();
    } else {
      const std::vector<double> &row = weights[level];
      double sum = 0.0;
      for (unsigned i : divisors[last])
        sum += row[i];
      double target = drawUnit(rng) * sum;
      for (unsigned i : divisors[last]) {
        if (row[i] == 0.0)
          continue;
        picked = i;
        if ((target -= row[i]) < 0.0)
          break;
      }
    }
    result.push_back(values[picked]);
    last = picked;
  }
}

bool GroupTable::isLink(unsigned level, int64_t outer, int64_t inner) const {
  return domains()[level].policy == TilePolicy::Remainder ? inner <= outer
                                                          : outer % inner == 0;
}

std::optional<GroupTable::Fault>
GroupTable::findFault(ArrayRef<int64_t> chain) const {
  for (auto [level, value] : llvm::enumerate(chain)) {
    if (!domains()[level].contains(value))
      return Fault{static_cast<unsigned>(level), false};
    if (level != 0 && !isLink(level, chain[level - 1], value))
      return Fault{static_cast<unsigned>(level), true};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Mutation
//===----------------------------------------------------------------------===//

/// Moves a factor of one level to another: the trip counts of the levels, the
/// innermost tile included, are the factors of the extent.
bool GroupTable::mutateFactor(RandomGenerator &rng,
                              SmallVectorImpl<int64_t> &chain) const {
  size_t numFactors = chain.size() + 1;
  auto getFactor = [&](size_t i) {
    int64_t outer = i == 0 ? domains().front().extent : chain[i - 1];
    return i == chain.size() ? outer : outer / chain[i];
  };
  size_t from = drawIndex(rng, numFactors);
  size_t to = (from + 1 + drawIndex(rng, numFactors - 1)) % numFactors;
  int64_t factor = getFactor(from);
  if (factor == 1)
    return false;
  SmallVector<int64_t> moves;
  for (int64_t value : values) {
    if (value > factor)
      break;
    if (value != 1 && factor % value == 0)
      moves.push_back(value);
  }
  if (moves.empty())
    return false;
  int64_t moved = moves[drawIndex(rng, moves.size())];
  // The sizes between the two levels change by the factor.
  SmallVector<int64_t> result(chain.begin(), chain.end());
  for (size_t i = std::min(from, to); i < std::max(from, to); ++i)
    result[i] = from < to ? result[i] * moved : result[i] / moved;
  if (findFault(result))
    return false;
  chain = std::move(result);
  return true;
}

/// Draws one level anew among the sizes that its neighbours allow.
bool GroupTable::mutateLevel(RandomGenerator &rng,
                             SmallVectorImpl<int64_t> &chain) const {
  unsigned level = drawIndex(rng, chain.size());
  SmallVector<int64_t> others;
  for (int64_t value : values)
    if (value != chain[level] && domains()[level].contains(value) &&
        (level == 0 || isLink(level, chain[level - 1], value)) &&
        (level + 1 == chain.size() ||
         isLink(level + 1, value, chain[level + 1])))
      others.push_back(value);
  if (others.empty())
    return false;
  chain[level] = others[drawIndex(rng, others.size())];
  return true;
}

bool GroupTable::mutate(RandomGenerator &rng,
                        SmallVectorImpl<int64_t> &chain) const {
  if (numChains < 2.0)
    return false;
  if (!isTile) {
    size_t index = drawIndex(rng, values.size() - 1);
    // Skips the present value.
    if (index >=
        static_cast<size_t>(llvm::find(values, chain[0]) - values.begin()))
      ++index;
    if (index < values.size())
      chain[0] = values[index];
    return true;
  }
  for (unsigned attempt = 0; attempt < 16; ++attempt)
    if (isExact ? mutateFactor(rng, chain) : mutateLevel(rng, chain))
      return true;
  // Bounds leave no single move: draw the loop anew.
  SmallVector<int64_t> result;
  for (unsigned attempt = 0; attempt < 64; ++attempt) {
    sample(rng, result);
    if (ArrayRef<int64_t>(result) != ArrayRef<int64_t>(chain)) {
      chain.assign(result.begin(), result.end());
      return true;
    }
  }
  return false;
}
