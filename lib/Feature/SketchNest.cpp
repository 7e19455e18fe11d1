//===- SketchNest.cpp - Nests as functions of decisions ---------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SketchNest.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mlir;
using namespace mlir::ansor;

using Term = SketchNest::Term;
using Formula = SketchNest::Formula;

int64_t Term::evaluate(ArrayRef<int64_t> values) const {
  switch (kind) {
  case Value:
    return values[i];
  case Ratio:
    return llvm::divideCeil(values[i], std::max<int64_t>(values[j], 1));
  case Trips:
    return llvm::divideCeil(extent, std::max<int64_t>(values[i], 1));
  case Product:
    return multiplySaturating(std::max<int64_t>(values[i], 1),
                              std::max<int64_t>(values[j], 1));
  }
  llvm_unreachable("unknown kind of term");
}

/// In 128 bits, so that a formula that makes no sense can't overflow.
static int64_t evaluate(const Formula &formula, int64_t first, int64_t second) {
  __int128 value = static_cast<__int128>(formula.a) * first +
                   static_cast<__int128>(formula.b) * second + formula.c;
  if (value < formula.min)
    return formula.min;
  return value > formula.max ? formula.max : static_cast<int64_t>(value);
}

namespace {
/// Searches formulas for one set of probes.
class Fitter {
public:
  Fitter(ArrayRef<NestVariable> variables, ArrayRef<const NestProbe *> probes);

  /// A formula over `terms` for the numbers `y`, one a probe, as far as they
  /// matter (empty: all do).
  std::optional<Formula> fit(ArrayRef<int64_t> y, ArrayRef<bool> matters) const;

  std::vector<Term> terms; ///< simple ones first
  size_t numValues = 0;    ///< of these, plain values
  size_t numSummable = 0;  ///< of these, that take part in sums

private:
  bool holds(const Formula &formula, ArrayRef<int64_t> y,
             ArrayRef<bool> matters) const;
  /// The line through the first two of `points` that differ in term `t`.
  std::optional<Formula> fitLine(unsigned t, ArrayRef<int64_t> y,
                                 ArrayRef<unsigned> points) const;
  /// The plane through three of `points`.
  std::optional<Formula> fitPlane(unsigned t, unsigned u, ArrayRef<int64_t> y,
                                  ArrayRef<unsigned> points) const;

  size_t numProbes;
  std::vector<SmallVector<int64_t, 64>> table; ///< [term][probe]
};
} // namespace

Fitter::Fitter(ArrayRef<NestVariable> variables,
               ArrayRef<const NestProbe *> probes)
    : numProbes(probes.size()) {
  unsigned n = variables.size();
  for (unsigned i = 0; i < n; ++i)
    terms.push_back({Term::Value, i, 0, 0});
  numValues = n;
  for (unsigned i = 0; i < n; ++i) {
    if (variables[i].extent > 0)
      terms.push_back({Term::Trips, i, 0, variables[i].extent});
    for (unsigned j = 0; j < n; ++j)
      if (i != j && variables[i].group == variables[j].group)
        terms.push_back({Term::Ratio, i, j, 0});
  }
  numSummable = terms.size();
  // Extents of other loops: fused dimensions, and stages that share knobs.
  SmallVector<int64_t> extents;
  for (const NestVariable &variable : variables)
    if (variable.extent > 0 && !llvm::is_contained(extents, variable.extent))
      extents.push_back(variable.extent);
  for (unsigned i = 0; i < n; ++i)
    for (int64_t extent : extents)
      if (extent != variables[i].extent)
        terms.push_back({Term::Trips, i, 0, extent});
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = i; j < n; ++j)
      terms.push_back({Term::Product, i, j, 0});
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < n; ++j)
      if (i != j && variables[i].group != variables[j].group)
        terms.push_back({Term::Ratio, i, j, 0});
  for (const Term &term : terms) {
    auto &row = table.emplace_back();
    for (const NestProbe *probe : probes)
      row.push_back(term.evaluate(probe->values));
  }
}

bool Fitter::holds(const Formula &formula, ArrayRef<int64_t> y,
                   ArrayRef<bool> matters) const {
  for (size_t p = 0; p < numProbes; ++p)
    if ((matters.empty() || matters[p]) &&
        evaluate(formula, table[formula.first][p], table[formula.second][p]) !=
        y[p])
      return false;
  return true;
}

std::optional<Formula> Fitter::fitLine(unsigned t, ArrayRef<int64_t> y,
                                       ArrayRef<unsigned> points) const {
  ArrayRef<int64_t> x = table[t];
  unsigned p = points.front();
  for (unsigned q : points.drop_front()) {
    if (x[p] == x[q]) {
      if (y[p] != y[q])
        return std::nullopt;
      continue;
    }
    int64_t dx = x[q] - x[p], dy = y[q] - y[p];
    if (dy % dx != 0)
      return std::nullopt;
    Formula formula;
    formula.a = dy / dx;
    formula.first = formula.second = t;
    __int128 c = y[p] - static_cast<__int128>(formula.a) * x[p];
    if (c > INT32_MAX || c < INT32_MIN)
      return std::nullopt;
    formula.c = c;
    return formula;
  }
  return std::nullopt;
}

std::optional<Formula> Fitter::fitPlane(unsigned t, unsigned u,
                                        ArrayRef<int64_t> y,
                                        ArrayRef<unsigned> points) const {
  ArrayRef<int64_t> x = table[t], z = table[u];
  unsigned p = points.front();
  for (size_t i = 1; i < points.size(); ++i)
    for (size_t j = i + 1; j < points.size(); ++j) {
      unsigned q = points[i], r = points[j];
      __int128 x1 = x[q] - x[p], z1 = z[q] - z[p], y1 = y[q] - y[p];
      __int128 x2 = x[r] - x[p], z2 = z[r] - z[p], y2 = y[r] - y[p];
      __int128 det = x1 * z2 - x2 * z1;
      if (det == 0)
        continue;
      __int128 a = y1 * z2 - y2 * z1, b = x1 * y2 - x2 * y1;
      if (a % det != 0 || b % det != 0)
        return std::nullopt;
      a /= det;
      b /= det;
      __int128 c = y[p] - a * x[p] - b * z[p];
      auto isLarge = [](__int128 v) { return v > INT32_MAX || v < INT32_MIN; };
      if (isLarge(a) || isLarge(b) || isLarge(c))
        return std::nullopt;
      Formula formula;
      formula.a = a;
      formula.b = b;
      formula.c = c;
      formula.first = t;
      formula.second = u;
      return formula;
    }
  return std::nullopt;
}

std::optional<Formula> Fitter::fit(ArrayRef<int64_t> y,
                                   ArrayRef<bool> matters) const {
  int64_t lowest = std::numeric_limits<int64_t>::max(),
          highest = std::numeric_limits<int64_t>::min();
  for (unsigned p = 0; p < numProbes; ++p)
    if (matters.empty() || matters[p]) {
      lowest = std::min(lowest, y[p]);
      highest = std::max(highest, y[p]);
    }
  // What is bounded fits the rest of the points only.
  SmallVector<unsigned, 64> all, belowMax, aboveMin;
  for (unsigned p = 0; p < numProbes; ++p) {
    if (!matters.empty() && !matters[p])
      continue;
    all.push_back(p);
    if (y[p] < highest)
      belowMax.push_back(p);
    if (y[p] > lowest)
      aboveMin.push_back(p);
  }
  auto accept = [&](std::optional<Formula> formula, int64_t min, int64_t max) {
    if (formula) {
      formula->min = min;
      formula->max = max;
      if (!holds(*formula, y, matters))
        formula.reset();
    }
    return formula;
  };
  if (lowest >= highest) {
    // What matters is one number.
    Formula constant;
    constant.min = constant.max = all.empty() ? 0 : lowest;
    return constant;
  }
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(),
                    kMax = std::numeric_limits<int64_t>::max();
  // Proportional to a term, a line, a bounded line, a plane, a bounded plane.
  for (bool proportional : {true, false})
    for (unsigned t = 0; t < terms.size(); ++t) {
      std::optional<Formula> line = fitLine(t, y, all);
      if (line && (line->c == 0) == proportional)
        if ((line = accept(line, kMin, kMax)))
          return line;
    }
  auto fitBounded = [&](auto tryFit) -> std::optional<Formula> {
    if (belowMax.size() >= 3)
      if (auto formula = accept(tryFit(belowMax), kMin, highest))
        return formula;
    if (aboveMin.size() >= 3)
      if (auto formula = accept(tryFit(aboveMin), lowest, kMax))
        return formula;
    return std::nullopt;
  };
  for (unsigned t = 0; t < terms.size(); ++t)
    if (auto formula = fitBounded(
            [&](ArrayRef<unsigned> points) { return fitLine(t, y, points); }))
      return formula;
  for (unsigned t = 0; t < numSummable; ++t)
    for (unsigned u = t + 1; u < numSummable; ++u)
      if (auto formula = accept(fitPlane(t, u, y, all), kMin, kMax))
        return formula;
  for (unsigned t = 0; t < numValues; ++t)
    for (unsigned u = t + 1; u < numValues; ++u)
      if (auto formula = fitBounded([&](ArrayRef<unsigned> points) {
            return fitPlane(t, u, y, points);
          }))
        return formula;
  return std::nullopt;
}

FailureOr<SketchNest> SketchNest::fit(ArrayRef<NestVariable> variables,
                                      ArrayRef<const NestProbe *> probes,
                                      std::string &error) {
  SketchNest result;
  result.prototype = probes.front()->nest;
  std::vector<SmallVector<int64_t, 64>> numbers;
  std::vector<SmallVector<bool, 64>> matters;
  for (const NestProbe *probe : probes) {
    size_t next = 0;
    const_cast<RawNest &>(probe->nest).forEachNumber([&](int64_t &number, bool counts) {
      if (next == numbers.size())
        numbers.emplace_back(), matters.emplace_back();
      matters[next].push_back(counts);
      numbers[next++].push_back(number);
    });
  }

  Fitter fitter(variables, probes);
  std::map<std::vector<int64_t>, int> known;
  std::vector<int> newTerm(fitter.terms.size(), -1);
  auto use = [&](unsigned &term) {
    if (newTerm[term] < 0) {
      newTerm[term] = result.terms.size();
      result.terms.push_back(fitter.terms[term]);
    }
    term = newTerm[term];
  };
  for (auto [index, values] : llvm::enumerate(numbers)) {
    ArrayRef<int64_t> y = values;
    if (llvm::all_equal(y)) {
      result.numbers.push_back(-1);
      continue;
    }
    std::vector<int64_t> key(y.begin(), y.end());
    key.insert(key.end(), matters[index].begin(), matters[index].end());
    auto [it, isNew] = known.try_emplace(std::move(key), -1);
    if (isNew) {
      std::optional<Formula> formula = fitter.fit(y, {});
      if (!formula && llvm::is_contained(matters[index], false))
        formula = fitter.fit(y, matters[index]);
      if (!formula) {
        error = "number " + std::to_string(result.numbers.size()) +
                " of the nest is no known function of the decisions";
        return failure();
      }
      use(formula->first);
      use(formula->second);
      it->second = result.formulas.size();
      result.formulas.push_back(*formula);
    }
    result.numbers.push_back(it->second);
  }
  return result;
}

NestDesc SketchNest::instantiate(ArrayRef<int64_t> values) const {
  SmallVector<int64_t, 64> termValues, formulaValues;
  for (const Term &term : terms)
    termValues.push_back(term.evaluate(values));
  for (const Formula &formula : formulas)
    formulaValues.push_back(::evaluate(formula, termValues[formula.first],
                                       termValues[formula.second]));
  RawNest nest = prototype;
  size_t next = 0;
  nest.forEachNumber([&](int64_t &number, bool) {
    if (int formula = numbers[next++]; formula >= 0)
      number = formulaValues[formula];
  });
  return simplify(nest);
}
