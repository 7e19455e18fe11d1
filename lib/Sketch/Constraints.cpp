//===- Constraints.cpp - Bounds on tile sizes -------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds that reject a decision before any IR is made. They are loose: what is
// merely slow is left to the cost model.
//
//===----------------------------------------------------------------------===//

#include "ansor/Sketch/SketchRule.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace mlir;
using namespace mlir::ansor;

/// Registers that hold operands rather than accumulators.
static int64_t operandRegisters(const TargetInfo &target) {
  return std::max<int64_t>(2, target.vectorRegisters / 8);
}
/// Accumulators that hide the latency of a multiply-add: about four cycles on
/// two units.
static constexpr int64_t kLatencyVectors = 8;
/// Bound of a tile's footprint, in sizes of the second-level cache.
static constexpr int64_t kFootprintCaches = 2;
/// Vector operations in one unrolled body.
static constexpr int64_t kBodyVectors = 1024;
/// Executions of one body.
static constexpr int64_t kIterations = int64_t(1) << 26;
/// Sums are clamped to it: a footprint that large is rejected anyway.
static constexpr int64_t kHuge = int64_t(1) << 50;

namespace {
/// A polynomial in tile sizes: sorted knob names -> coefficient.
struct Polynomial {
  std::map<std::vector<std::string>, int64_t> terms;
};
} // namespace

static Polynomial constant(int64_t value) {
  Polynomial result;
  result.terms[{}] = value;
  return result;
}

static int64_t mul(int64_t a, int64_t b) {
  if (a != 0 && b != 0 && std::abs(a) > kHuge / std::abs(b))
    return kHuge;
  return a * b;
}

namespace {
Polynomial operator*(const Polynomial &a, const Polynomial &b) {
  Polynomial result;
  for (auto &[knobsA, coefficientA] : a.terms)
    for (auto &[knobsB, coefficientB] : b.terms) {
      std::vector<std::string> knobs = knobsA;
      knobs.insert(knobs.end(), knobsB.begin(), knobsB.end());
      llvm::sort(knobs);
      int64_t &coefficient = result.terms[knobs];
      coefficient = std::min(kHuge, coefficient + mul(coefficientA, coefficientB));
    }
  return result;
}

Polynomial operator+(Polynomial a, const Polynomial &b) {
  for (auto &[knobs, coefficient] : b.terms)
    a.terms[knobs] = std::min(kHuge, a.terms[knobs] + coefficient);
  return a;
}
} // namespace

/// The tile of loop `index`; a loop without tile runs over its whole extent.
static Polynomial tileOf(const Stage &stage, unsigned index,
                         ArrayRef<TileSize> tiles) {
  const TileSize &tile = tiles[index];
  if (!tile.knob.empty()) {
    Polynomial result;
    result.terms[{tile.knob}] = 1;
    return result;
  }
  return constant(tile.value ? tile.value : stage.loops[index].extent);
}

/// Upper bound of the number of values of subscript `expr` in a tile.
static Polynomial extentOf(const Stage &stage, AffineExpr expr,
                           ArrayRef<TileSize> tiles) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return tileOf(stage, dim.getPosition(), tiles);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return constant(1);
  if (binary.getKind() == AffineExprKind::Add)
    return extentOf(stage, binary.getLHS(), tiles) +
           extentOf(stage, binary.getRHS(), tiles);
  Polynomial lhs = extentOf(stage, binary.getLHS(), tiles);
  if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
    if (binary.getKind() == AffineExprKind::Mul && factor.getValue() > 0)
      return lhs * constant(factor.getValue());
  return lhs;
}

static Polynomial footprint(const Stage &stage, ArrayRef<TileSize> tiles) {
  Polynomial sum;
  auto add = [&](AffineMap map, int64_t bits) {
    Polynomial product = constant(std::max<int64_t>(1, bits / 8));
    for (AffineExpr expr : map.getResults())
      product = product * extentOf(stage, expr, tiles);
    sum = sum + product;
  };
  for (const StageRead &read : stage.reads)
    add(read.map, read.elementBits);
  add(stage.write, stage.elementBits);
  return sum;
}

/// The value of `sum` when each knob has its least (or largest) value.
static int64_t evaluate(const SketchState &state, const Polynomial &sum,
                        bool largest) {
  int64_t value = 0;
  for (auto &[knobs, coefficient] : sum.terms) {
    int64_t product = coefficient;
    for (const std::string &name : knobs) {
      auto it = llvm::find_if(
          state.knobs, [&](const SketchKnob &knob) { return knob.name == name; });
      const KnobDomain &domain = it->domain;
      int64_t most = domain.max ? std::min(domain.max, domain.extent)
                                : domain.extent;
      product = mul(product, largest ? most
                                     : std::min(domain.multipleOf, most));
    }
    value = std::min(kHuge, value + product);
  }
  return value;
}

/// Adds `sum <= max` (negated: `sum >= max`) unless no knob takes part, or no
/// decision can keep it.
static void addBound(SketchState &state, StringRef name, StringRef reason,
                     const Polynomial &sum, int64_t max, bool negate = false) {
  int64_t best = evaluate(state, sum, /*largest=*/negate);
  if (negate ? best < max : best > max)
    return;
  SketchConstraint constraint;
  constraint.name = name.str();
  constraint.reason = reason.str();
  for (auto &[knobs, coefficient] : sum.terms) {
    if (knobs.empty()) {
      max -= coefficient;
      continue;
    }
    SketchConstraint::Term term;
    term.coefficient = negate ? -coefficient : coefficient;
    term.knobs.assign(knobs.begin(), knobs.end());
    constraint.terms.push_back(std::move(term));
  }
  constraint.max = negate ? -max : max;
  if (!constraint.terms.empty())
    state.addConstraint(std::move(constraint));
}

/// The largest product, up to `most`, of tiles of the parallel loops.
static int64_t largestTile(const SketchState &state, const Stage &stage,
                           ArrayRef<TileSize> body, int64_t most) {
  std::set<int64_t> products = {1};
  for (unsigned loop = 0; loop < stage.loops.size(); ++loop) {
    if (stage.loops[loop].reduction)
      continue;
    SmallVector<int64_t> sizes;
    auto knob = llvm::find_if(state.knobs, [&](const SketchKnob &knob) {
      return knob.name == body[loop].knob;
    });
    if (knob == state.knobs.end())
      sizes.push_back(body[loop].value ? body[loop].value
                                       : stage.loops[loop].extent);
    else
      for (int64_t size = 1; size <= std::min(knob->domain.extent, most); ++size)
        if (knob->domain.contains(size) &&
            (knob->domain.policy == TilePolicy::Remainder ||
             knob->domain.extent % size == 0))
          sizes.push_back(size);
    std::set<int64_t> next;
    for (int64_t product : products)
      for (int64_t size : sizes)
        if (mul(product, size) <= most)
          next.insert(product * size);
    products = std::move(next);
  }
  return products.empty() ? 0 : *products.rbegin();
}

void mlir::ansor::addTileConstraints(const SketchContext &context,
                                     SketchState &state, unsigned index,
                                     ArrayRef<TileSize> body,
                                     ArrayRef<TileSize> cache) {
  addTileConstraints(context, state, context.graph.getStage(index), body,
                     cache);
}

void mlir::ansor::addTileConstraints(const SketchContext &context,
                                     SketchState &state, const Stage &stage,
                                     ArrayRef<TileSize> body,
                                     ArrayRef<TileSize> cache) {
  const TargetInfo &target = context.target;
  int64_t lanes = target.lanes(stage.elementBits);

  Polynomial accumulators = constant(1), all = constant(1);
  int64_t total = 1;
  for (unsigned loop = 0; loop < stage.loops.size(); ++loop) {
    Polynomial tile = tileOf(stage, loop, body);
    if (!stage.loops[loop].reduction)
      accumulators = accumulators * tile;
    all = all * tile;
    total = mul(total, stage.loops[loop].extent);
  }
  if (context.space == SpaceKind::Ansor)
    return;
  if (stage.needsTiling && stage.reduces) {
    int64_t most = (target.vectorRegisters - operandRegisters(target)) * lanes;
    addBound(state, "vector-registers",
             "the accumulators of the innermost tile fit in the registers",
             accumulators, most);
    int64_t least = std::min(kLatencyVectors * lanes,
                             largestTile(state, stage, body, most));
    if (least > 1)
      addBound(state, "accumulators",
               "the innermost tile has chains enough to hide the latency of "
               "multiply-adds",
               accumulators, least, /*negate=*/true);
  } else
    addBound(state, "body-size",
             "the innermost tile becomes straight-line code", accumulators,
             kBodyVectors * lanes);
  addBound(state, "cache-footprint",
           "the data that a tile reuses fits in the second-level cache",
           footprint(stage, cache), kFootprintCaches * target.l2);
  if (total / kIterations > 1)
    addBound(state, "iterations", "the innermost tile runs not too often", all,
             total / kIterations, /*negate=*/true);
}
