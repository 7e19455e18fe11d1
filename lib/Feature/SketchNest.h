//===- SketchNest.h - Nests as functions of decisions -----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The nest of all candidates of a sketch: one structure, and each of its
// numbers a formula over the knobs' values. The formulas are found by trying:
// sums of two terms with integer coefficients, and bounds, where a term is a
// knob, a ratio of two knobs or of a loop's extent to a knob (rounded up), or
// a product of two knobs. What fits all probes is taken; the caller confirms
// it on others.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_FEATURE_SKETCHNEST_H
#define ANSOR_LIB_FEATURE_SKETCHNEST_H

#include "RawNest.h"
#include "mlir/Support/LLVM.h"
#include <limits>

namespace mlir::ansor {

/// A knob, as far as formulas care.
struct NestVariable {
  unsigned group = 0; ///< ratios are tried within a group (the tiles of a loop)
  int64_t extent = 0; ///< of the loop that it cuts; 0 if it cuts none
};

/// An interpreted candidate.
struct NestProbe {
  SmallVector<int64_t, 16> values; ///< one a variable
  RawNest nest;
};

class SketchNest {
public:
  /// Finds formulas for the numbers of `probes`, which have one structure. On
  /// failure `error` names the number that has none.
  static FailureOr<SketchNest> fit(ArrayRef<NestVariable> variables,
                                   ArrayRef<const NestProbe *> probes,
                                   std::string &error);

  /// The nest of the candidate with these values. Threads may share this.
  NestDesc instantiate(ArrayRef<int64_t> values) const;

  struct Term {
    enum Kind : uint8_t {
      Value,   ///< values[i]
      Ratio,   ///< values[i] / values[j], rounded up
      Trips,   ///< extent / values[i], rounded up
      Product, ///< values[i] * values[j]
    };
    Kind kind = Value;
    unsigned i = 0, j = 0;
    int64_t extent = 0;

    int64_t evaluate(ArrayRef<int64_t> values) const;
  };
  /// a * first + b * second + c, between two bounds.
  struct Formula {
    int64_t a = 0, b = 0, c = 0;
    unsigned first = 0, second = 0; ///< terms
    int64_t min = std::numeric_limits<int64_t>::min();
    int64_t max = std::numeric_limits<int64_t>::max();
  };

private:
  RawNest prototype;
  std::vector<Term> terms; ///< that formulas use
  std::vector<Formula> formulas;
  std::vector<int> numbers; ///< formula of each number, -1: the prototype's
};

} // namespace mlir::ansor

#endif // ANSOR_LIB_FEATURE_SKETCHNEST_H
