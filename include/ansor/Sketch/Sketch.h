//===- Sketch.h - Sketches of a task ----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generation of sketches by derivation rules (OSDI 2020, section 4.1). A
// sketch is a complete transform-dialect script with open choices; no rule
// knows an operator by name.
//
// In: a task function and a target. Out: sketches, each a module
//
//   module attributes {transform.with_named_sequence, ansor.sketch = "s0", …} {
//     transform.named_sequence @__transform_main(%module) { dispatch by key }
//     transform.named_sequence @<key>_s0(%func) { knobs, then the structure }
//   }
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_SKETCH_SKETCH_H
#define ANSOR_SKETCH_SKETCH_H

#include "ansor/Target/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <string>

namespace mlir::ansor {

/// Which search space the rules span.
enum class SpaceKind {
  Full, ///< everything this project derives
  Ansor ///< the paper's own rules and constants, as a baseline
};

/// "full", "ansor". Nullopt for another text.
std::optional<SpaceKind> parseSpaceKind(StringRef text);

struct SketchOptions {
  SpaceKind space = SpaceKind::Full;
  /// More sketches than this are cut, with a remark.
  unsigned maxSketches = 64;
};

struct Sketch {
  std::string name;                    ///< "s0", "s1", … in derivation order
  SmallVector<std::string> derivation; ///< rules applied, "tile(s2)" …
  std::string script;                  ///< text of the module above
  /// Of each constraint, by name: what has to hold.
  std::map<std::string, std::string> reasons;
};

/// Derives every sketch of `task`. A task that no rule can tile gets one
/// sketch that leaves it to the code generator, and a remark that says why.
FailureOr<SmallVector<Sketch>> generateSketches(func::FuncOp task,
                                                const TargetInfo &target,
                                                const SketchOptions &options = {});

} // namespace mlir::ansor

#endif // ANSOR_SKETCH_SKETCH_H
