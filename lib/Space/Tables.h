//===- Tables.h - Lookup tables of a space ----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What DesignSpace computes once from a script. The chains of a loop's tile
// sizes are counted by dynamic programming from the innermost level outwards,
// so that a chain is drawn with one number a level, each equally likely.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_SPACE_TABLES_H
#define ANSOR_LIB_SPACE_TABLES_H

#include "ansor/Space/DesignSpace.h"
#include <vector>

namespace mlir::ansor {

/// An index in [0, size), equally likely; the same on every platform, which the
/// distributions of the standard library are not.
inline size_t drawIndex(RandomGenerator &rng, size_t size) {
  return static_cast<size_t>((static_cast<unsigned __int128>(rng()) * size) >>
                             64);
}

/// A number in [0, 1).
inline double drawUnit(RandomGenerator &rng) {
  return static_cast<double>(rng() >> 11) * 0x1.0p-53;
}

/// The divisors of `value` >= 1, ascending. Prime factors above 2^20 of values
/// beyond 2^40 are not told apart; then some divisors are missing.
SmallVector<int64_t> getDivisors(int64_t value);

/// Values and chains of one group.
class GroupTable {
public:
  explicit GroupTable(const KnobGroup &group);

  /// Chains of positive weight; 0 if the domains leave nothing.
  double getNumChains() const { return numChains; }

  /// Draws one chain into `result`.
  void sample(RandomGenerator &rng, SmallVectorImpl<int64_t> &result) const;

  /// Changes `chain` (legal) to another legal one, if there is another.
  bool mutate(RandomGenerator &rng, SmallVectorImpl<int64_t> &chain) const;

  /// The level of the first value that the level's domain or the size outside
  /// it forbids, and which of the two; nullopt if there is none.
  struct Fault {
    unsigned level;
    bool isChain;
  };
  std::optional<Fault> findFault(ArrayRef<int64_t> chain) const;

private:
  /// True if `inner` may follow `outer` at `level`.
  bool isLink(unsigned level, int64_t outer, int64_t inner) const;
  bool mutateFactor(RandomGenerator &rng,
                    SmallVectorImpl<int64_t> &chain) const;
  bool mutateLevel(RandomGenerator &rng, SmallVectorImpl<int64_t> &chain) const;
  void countChains(bool weighted);

  ArrayRef<KnobDomain> domains() const { return group.domains; }

  KnobGroup group;
  bool isTile;
  bool isExact;                ///< all levels have the divisor policy
  SmallVector<int64_t> values; ///< candidates of every level, ascending
  /// For each value, the indices of the values that divide it.
  std::vector<SmallVector<unsigned>> divisors;
  /// weights[level][i]: sum over the chains from values[i] at `level` inwards.
  std::vector<std::vector<double>> weights;
  /// Running sums of `weights` over i.
  std::vector<std::vector<double>> sums;
  double numChains = 0;
};

struct DesignSpace::Tables {
  /// Where a knob is: index of its group, and in it.
  struct Place {
    unsigned group, index;
  };
  struct Term {
    int64_t coefficient;
    SmallVector<Place, 4> places;
  };
  /// A constraint with its names resolved.
  struct Bound {
    SmallVector<Term, 2> terms;
    int64_t max;
    SmallVector<unsigned, 4> groups; ///< that it depends on, ascending

    /// Left side, saturated far outside of the range of i64.
    __int128 evaluate(const Decisions &decisions) const;
    /// By how much the bound is exceeded, as a share of it; 0 if it holds.
    double getExcess(const Decisions &decisions) const;
  };

  std::vector<GroupTable> groups;
  std::vector<Bound> bounds;
  llvm::StringMap<Place> places;

  /// Index of the first violated bound, or nullopt.
  std::optional<unsigned> findViolated(const Decisions &decisions) const;
  /// Draws groups of violated bounds again; true if all hold in the end.
  bool repair(Decisions &decisions, RandomGenerator &rng) const;
  double getExcess(const Decisions &decisions) const;
};

} // namespace mlir::ansor

#endif // ANSOR_LIB_SPACE_TABLES_H
