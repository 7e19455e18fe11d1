//===- SketchFeatures.h - Features of a sketch's candidates -----*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Describes the candidates of a sketch by arithmetic on their decisions,
// without interpreting its script: a few dozen candidates are interpreted, the
// numbers of their nests expressed by the knobs, and the result confirmed on
// others. What doesn't fit is left to interpretation. In: a task, a script and
// the space of its decisions; out: the NestDesc that extraction from IR would
// give.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_FEATURE_SKETCHFEATURES_H
#define ANSOR_FEATURE_SKETCHFEATURES_H

#include "ansor/Feature/Feature.h"
#include "ansor/Space/DesignSpace.h"

namespace mlir::ansor {

class SketchNest;
struct NestProbe;

class SketchFeatures {
public:
  /// Learns the sketch `script` of `task`; the script's selections are changed,
  /// the task is only read. It depends on the arguments alone, and emits
  /// nothing. Costs some hundred interpretations for each combination of choices
  /// (alternatives, locations), of which the most frequent sixteen are learned.
  static SketchFeatures learn(ModuleOp task, ModuleOp script,
                              const DesignSpace &space);

  /// The nest of a candidate; nullopt if it must be interpreted: its choices
  /// don't qualify, or weren't learned. Threads may share this.
  std::optional<NestDesc> instantiate(const Decisions &decisions) const;

  /// True if every combination of choices that was met qualifies.
  bool qualifies() const { return reason.empty(); }
  /// Why it doesn't; empty if it does.
  StringRef getReason() const { return reason; }
  /// Candidates that were interpreted.
  unsigned getNumProbes() const { return numProbes; }

private:
  struct Learner;
  /// A combination of choices; null if it must be interpreted.
  struct Combination {
    SmallVector<int64_t> choices;
    std::shared_ptr<const SketchNest> nest;
  };

  SmallVector<bool> isChoice; ///< by group
  std::vector<Combination> combinations;
  std::string reason;
  unsigned numProbes = 0;
};

} // namespace mlir::ansor

#endif // ANSOR_FEATURE_SKETCHFEATURES_H
