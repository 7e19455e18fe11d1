//===- SketchFeatures.cpp - Features of a sketch's candidates ---*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Feature/SketchFeatures.h"
#include "SketchNest.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace mlir;
using namespace mlir::ansor;

/// Draws to choose probes from, and the attempts each of them has.
static constexpr unsigned kDraws = 1024, kAttempts = 8;
/// Probes to fit formulas to: with many distinct tile sizes; so many of those
/// in which any two loops that can have one trip have it, as tiling may take
/// another path there; and with each value of each knob.
static constexpr unsigned kDistinctProbes = 24, kPairProbes = 24,
                          kValueProbes = 40;
/// Candidates that confirm a fit, and how often a failure is learned from.
static constexpr unsigned kConfirming = 16, kRounds = 4;
static constexpr unsigned kMaxCombinations = 16;

struct SketchFeatures::Learner {
  Learner(ModuleOp task, ModuleOp script, const DesignSpace &space)
      : task(task), script(script), space(space) {}

  ModuleOp task, script;
  const DesignSpace &space;
  SmallVector<NestVariable> variables;
  unsigned numProbes = 0;

  /// Interprets a candidate.
  FailureOr<NestProbe> probe(const Decisions &decisions, std::string &error);
  /// Learns the candidates `draws`, which are alike in their choices.
  std::shared_ptr<const SketchNest> learn(ArrayRef<Decisions> draws,
                                          std::string &error);
  bool isRight(const SketchNest &nest, const NestProbe &probe) const;
  std::shared_ptr<const SketchNest>
  fitAndCheck(ArrayRef<NestProbe> probes, std::string &error) const;
};

static SmallVector<int64_t, 16> flatten(const Decisions &decisions) {
  SmallVector<int64_t, 16> values;
  for (ArrayRef<int64_t> group : decisions)
    values.append(group.begin(), group.end());
  return values;
}

FailureOr<NestProbe>
SketchFeatures::Learner::probe(const Decisions &decisions, std::string &error) {
  ++numProbes;
  ScopedDiagnosticHandler handler(task.getContext(),
                                  [](Diagnostic &) { return success(); });
  if (failed(applyDecisions(script, space, decisions))) {
    error = "decisions don't apply to the script";
    return failure();
  }
  OwningOpRef<ModuleOp> payload(task.clone());
  std::string message;
  if (failed(interpretScript(*payload, script, message))) {
    error = "the script fails on some decisions: " + message;
    return failure();
  }
  func::FuncOp func = findTaskFunction(*payload);
  FailureOr<RawNest> nest = failure();
  if (func)
    nest = extractRawNest(func);
  if (failed(nest)) {
    error = "the program can't be described";
    return failure();
  }
  return NestProbe{flatten(decisions), std::move(*nest)};
}

bool SketchFeatures::Learner::isRight(const SketchNest &nest,
                                      const NestProbe &probe) const {
  return computeFeatures(nest.instantiate(probe.values)).data ==
         computeFeatures(simplify(probe.nest)).data;
}

/// Fits the probes of one structure such that all others are right, too: where
/// clean-up drops loops of one trip, the structure with the most loops explains
/// the others.
std::shared_ptr<const SketchNest>
SketchFeatures::Learner::fitAndCheck(ArrayRef<NestProbe> probes,
                                     std::string &error) const {
  std::map<std::string, SmallVector<const NestProbe *>> byStructure;
  for (const NestProbe &probe : probes)
    byStructure[probe.nest.structure()].push_back(&probe);
  std::multimap<size_t, ArrayRef<const NestProbe *>, std::greater<>> classes;
  for (auto &[structure, members] : byStructure)
    classes.insert({members.front()->nest.countLoops(), members});
  error.clear();
  for (auto &[numLoops, members] : classes) {
    std::string why;
    FailureOr<SketchNest> nest = SketchNest::fit(variables, members, why);
    if (succeeded(nest)) {
      if (llvm::all_of(probes, [&](auto &p) { return isRight(*nest, p); }))
        return std::make_shared<const SketchNest>(std::move(*nest));
      why = "the structure of the program depends on the decisions";
    }
    if (error.empty())
      error = why;
  }
  return nullptr;
}

/// Which loops in the nest of these tile sizes have one trip.
static SmallVector<bool, 16> findUnitLoops(const DesignSpace &space,
                                           const Decisions &decisions) {
  SmallVector<bool, 16> isUnit;
  for (auto [group, chain] : llvm::zip_equal(space.getGroups(), decisions)) {
    if (group.domains.front().kind != KnobKind::Tile)
      continue;
    int64_t outer = group.domains.front().extent;
    for (int64_t size : chain) {
      isUnit.push_back(size >= outer);
      outer = size;
    }
    isUnit.push_back(outer <= 1);
  }
  return isUnit;
}

std::shared_ptr<const SketchNest>
SketchFeatures::Learner::learn(ArrayRef<Decisions> draws, std::string &error) {
  std::multimap<unsigned, const Decisions *, std::greater<>> byDistinct;
  for (const Decisions &draw : draws)
    byDistinct.insert(
        {llvm::count(findUnitLoops(space, draw), false), &draw});
  std::vector<NestProbe> probes;
  std::set<const Decisions *> used;
  auto add = [&](const Decisions *draw) -> LogicalResult {
    if (!used.insert(draw).second)
      return success();
    FailureOr<NestProbe> made = probe(*draw, error);
    if (failed(made))
      return failure();
    probes.push_back(std::move(*made));
    return success();
  };
  for (auto [count, draw] : byDistinct)
    if (used.size() < kDistinctProbes && failed(add(draw)))
      return nullptr;
  // The ones with the most loops of one trip first: they cover many pairs.
  std::set<std::pair<unsigned, unsigned>> covered;
  unsigned numPairProbes = 0;
  for (auto [count, draw] : llvm::reverse(byDistinct)) {
    bool isNew = false;
    SmallVector<bool, 16> isUnit = findUnitLoops(space, *draw);
    for (unsigned i = 0; i < isUnit.size(); ++i)
      for (unsigned j = 0; j <= i; ++j)
        if (isUnit[i] && isUnit[j])
          isNew |= covered.insert({i, j}).second;
    if (isNew && numPairProbes++ < kPairProbes && failed(add(draw)))
      return nullptr;
  }
  // A rare value, or rare difference of two tile sizes of a loop, that no probe
  // has would count as impossible. The first key tells values from patterns.
  using Key = std::tuple<int, unsigned, int64_t>;
  std::set<Key> seen;
  auto addPatterns = [&](const Decisions &draw) {
    bool isNew = false;
    for (auto [g, chain] : llvm::enumerate(draw)) {
      int64_t pattern = 0;
      for (size_t i = 1; i < std::min<size_t>(chain.size(), 8); ++i)
        pattern = pattern * 2 + (chain[i] < chain[i - 1]);
      isNew |= seen.insert(Key(0, g, pattern)).second;
    }
    return isNew;
  };
  auto addValues = [&](const Decisions &draw) {
    bool isNew = false;
    for (auto [i, value] : llvm::enumerate(flatten(draw)))
      isNew |= seen.insert(Key(1, i, value)).second;
    return isNew;
  };
  for (const Decisions *draw : used) {
    addPatterns(*draw);
    addValues(*draw);
  }
  for (function_ref<bool(const Decisions &)> isNew :
       {function_ref<bool(const Decisions &)>(addPatterns),
        function_ref<bool(const Decisions &)>(addValues)}) {
    unsigned count = 0;
    for (const Decisions &draw : draws)
      if (count < kValueProbes && isNew(draw)) {
        ++count;
        if (failed(add(&draw)))
          return nullptr;
      }
  }

  size_t next = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    auto nest = fitAndCheck(probes, error);
    if (!nest)
      return nullptr;
    size_t numFitted = probes.size();
    for (; next < draws.size() && probes.size() < numFitted + kConfirming;
         ++next)
      if (failed(add(&draws[next])))
        return nullptr;
    if (llvm::all_of(ArrayRef(probes).drop_front(numFitted),
                     [&](auto &p) { return isRight(*nest, p); }))
      return nest;
  }
  error = "formulas that fit some decisions don't fit others";
  return nullptr;
}

SketchFeatures SketchFeatures::learn(ModuleOp task, ModuleOp script,
                                     const DesignSpace &space) {
  SketchFeatures result;
  Learner learner(task, script, space);
  for (auto [g, group] : llvm::enumerate(space.getGroups())) {
    KnobKind kind = group.domains.front().kind;
    result.isChoice.push_back(kind == KnobKind::Choice ||
                              kind == KnobKind::Location);
    for (const KnobDomain &domain : group.domains)
      learner.variables.push_back(
          {unsigned(g), kind == KnobKind::Tile ? domain.extent : 0});
  }

  // Distinct decisions by their choices.
  RandomGenerator rng(0);
  llvm::StringMap<int64_t> rejections;
  std::map<SmallVector<int64_t>, std::vector<Decisions>> draws;
  std::set<SmallVector<int64_t, 16>> seen;
  for (unsigned i = 0; i < kDraws; ++i) {
    std::optional<Decisions> draw =
        space.sampleLegal(rng, kAttempts, rejections);
    if (!draw || !seen.insert(flatten(*draw)).second)
      continue;
    SmallVector<int64_t> choices;
    for (auto [choice, group] : llvm::zip_equal(result.isChoice, *draw))
      if (choice)
        choices.append(group.begin(), group.end());
    draws[choices].push_back(std::move(*draw));
  }
  if (draws.empty())
    result.reason = "no legal decisions were found";
  using Entry = std::pair<const SmallVector<int64_t>, std::vector<Decisions>>;
  std::multimap<size_t, const Entry *, std::greater<>> bySize;
  for (const Entry &entry : draws)
    bySize.insert({entry.second.size(), &entry});
  for (auto [size, entry] : bySize) {
    Combination combination;
    combination.choices = entry->first;
    std::string error = "there are too many combinations of choices";
    if (result.combinations.size() < kMaxCombinations)
      combination.nest = learner.learn(entry->second, error);
    if (!combination.nest && result.reason.empty())
      result.reason = error;
    result.combinations.push_back(std::move(combination));
  }
  result.numProbes = learner.numProbes;
  return result;
}

std::optional<NestDesc>
SketchFeatures::instantiate(const Decisions &decisions) const {
  SmallVector<int64_t, 4> choices;
  for (auto [choice, group] : llvm::zip_equal(isChoice, decisions))
    if (choice)
      choices.append(group.begin(), group.end());
  for (const Combination &combination : combinations)
    if (ArrayRef(combination.choices) == ArrayRef(choices))
      return combination.nest ? std::optional(combination.nest->instantiate(
                                    flatten(decisions)))
                              : std::nullopt;
  return std::nullopt;
}
