//===- DesignSpace.h - Decisions of a sketch --------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The open choices of one sketch as a space of decisions: sampling, mutation,
// node-wise crossover and constraints (OSDI 2020, sections 4.2 and 5.1), all
// by arithmetic: no IR is made here. A decision is one vector a group: all
// tile sizes of one loop, outermost first, or the one value of another knob.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_SPACE_DESIGNSPACE_H
#define ANSOR_SPACE_DESIGNSPACE_H

#include "ansor/IR/KnobDomain.h"
#include "ansor/Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <optional>
#include <random>
#include <string>

namespace mlir::ansor {

/// The one generator of a search; passed down, never made anew.
using RandomGenerator = std::mt19937_64;

/// One vector a group of the space, in the space's order.
using Decisions = SmallVector<SmallVector<int64_t>>;

/// Knobs that are decided together.
struct KnobGroup {
  std::string name; ///< "s2.d0" for the tiles of loop 0 of stage 2, else the
                    ///< knob's own name
  int64_t stage = 0;
  SmallVector<std::string> knobs;  ///< names of the knobs, outermost first
  SmallVector<KnobDomain> domains; ///< one a knob
};

/// sum over terms of coefficient * product of knob values <= max. Terms name
/// knobs. It is printed in `ansor.constraints`, so that it can be read. Sums
/// and products that leave the range of i64 don't wrap around.
struct Constraint {
  std::string name; ///< "vector-registers", "l1-footprint", …
  std::string reason; ///< what holds if it holds, for a person; may be empty
  struct Term {
    int64_t coefficient = 1;
    SmallVector<std::string> knobs;
  };
  SmallVector<Term> terms;
  int64_t max = 0;

  static FailureOr<Constraint>
  parse(DictionaryAttr dict, function_ref<InFlightDiagnostic()> emitError);
  DictionaryAttr toAttr(MLIRContext *context) const;
};

/// Why a decision was rejected.
struct Violation {
  std::string constraint; ///< name, counted per search; "arity", "domain" and
                          ///< "chain" for decisions outside the space
  std::string reason;     ///< a sentence with the numbers
};

class DesignSpace {
public:
  /// Reads the knobs (in order) and constraints of a sketch's script, which is
  /// a module or one named sequence. `transform.tune.alternatives` without a
  /// parameter is a choice like any other, of the stage in its `ansor.stage`,
  /// if it has one. Emits and fails if a domain doesn't parse, a name is used
  /// twice, the levels of a loop don't fit together or leave no choice, or a
  /// constraint names an unknown knob.
  static FailureOr<DesignSpace> fromScript(Operation *script);

  ArrayRef<KnobGroup> getGroups() const { return groups; }
  ArrayRef<Constraint> getConstraints() const { return constraints; }

  /// Uniform over the exact factorisations of each loop and the values of each
  /// other knob; constraints are not looked at. With the "remainder" policy,
  /// divisors of the extent and powers of two are drawn three times in four,
  /// else any size up to 256.
  Decisions sample(RandomGenerator &rng) const;

  /// Samples until the constraints hold, at most `attempts` times. Each
  /// rejection is counted under its name in `rejections`. A rejected sample is
  /// repaired, if that is quickly done: groups that the violated constraint
  /// names are drawn again, or changed a little, as long as that brings it
  /// closer.
  std::optional<Decisions>
  sampleLegal(RandomGenerator &rng, unsigned attempts,
              llvm::StringMap<int64_t> &rejections) const;

  /// Ansor's mutations: tile .90 (a factor moves between two levels of one
  /// loop), unroll .04, location .05, parallel .01; weights of kinds that the
  /// space lacks go to the others. A choice counts as a location. Returns
  /// nullopt if nothing can change. A few draws are made to satisfy the
  /// constraints; the last one is returned if none does.
  std::optional<Decisions> mutate(const Decisions &parent,
                                  RandomGenerator &rng) const;

  /// Node-wise crossover: all groups of one stage come from one parent. In a
  /// space with one stage only, that would copy a parent: there, all tiles of
  /// one loop, and each other choice, come from one.
  Decisions crossover(const Decisions &a, const Decisions &b,
                      RandomGenerator &rng) const;

  /// The first violated constraint, or nullopt if the decisions are legal:
  /// right arity, in the domains, chains divide, all constraints hold.
  std::optional<Violation> check(const Decisions &decisions) const;

  /// Number of decision vectors before constraints (may overflow: a double).
  double size() const;

  /// {"s2.d0": [128, 64, 8], …}
  llvm::json::Value toJSON(const Decisions &decisions) const;
  /// Fails with a message in `error` if a group is missing or unknown.
  FailureOr<Decisions> fromJSON(const llvm::json::Value &value,
                                std::string &error) const;

  /// The value of the knob (or alternatives) called `name`, or nullopt if the
  /// space has none. The decisions must have the right arity.
  std::optional<int64_t> getValue(const Decisions &decisions,
                                  StringRef name) const;

private:
  struct Tables;

  SmallVector<KnobGroup> groups;
  SmallVector<Constraint> constraints;
  /// What the methods look up; never changed, so that copies and threads share
  /// it.
  std::shared_ptr<const Tables> tables;
};

/// Sets the `selected` attribute of every knob of `script` (the selected region
/// of alternatives, the attribute operands bound by `ansor.bind`), in place.
/// Emits and fails if the decisions don't fit the space or the script has a
/// knob that the space lacks.
LogicalResult applyDecisions(Operation *script, const DesignSpace &space,
                             const Decisions &decisions);

/// Replaces decided knobs by `transform.param.constant` and decided
/// alternatives by the body of the selected region, and drops this project's
/// attributes from the script, so that a stock mlir-opt runs it. What matchers
/// look for stays. Emits and fails at an open choice.
LogicalResult foldDecisions(Operation *script);

/// Interprets `script` (decided) on `payload`, in place. On failure `error`
/// holds the first diagnostic, and nothing is printed. The script is only read,
/// and may be used again. Threads need a context each.
LogicalResult interpretScript(ModuleOp payload, ModuleOp script,
                              std::string &error);

} // namespace mlir::ansor

#endif // ANSOR_SPACE_DESIGNSPACE_H
