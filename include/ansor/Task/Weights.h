//===- Weights.h - Weights, and packing them once ---------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights are the same in every call of a network: constants, arguments that
// are marked `ansor.weight`, and what is computed from these alone. What only
// reorders a weight is done once, outside of the network:
//
//  - Extraction leaves to the caller what a task would do with weights alone
//    (ExtractOptions::prepack): the transposition of an operand, or small
//    elementwise stages. What makes them larger stays (a table of narrow
//    numbers is not widened in memory).
//  - A schedule may pack a marked argument of its task into tiles
//    (linalg.pack). movePackingOut leaves that to the caller, too.
//  - prepackWeights takes this, and all else that depends on
//    weights alone, out of a public function @f:
//
//      @f_prepack(weights…) -> (packed…)       once, and when weights change
//      @f_prepacked(others…, packed…) -> (…)   each call
//      @f(all…)                                both, as before
//
//    All three keep no state: packed weights belong to the caller.
//  - foldConstantLayouts reorders constants at compile time.
//

#ifndef ANSOR_TASK_WEIGHTS_H
#define ANSOR_TASK_WEIGHTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::ansor {

/// How a value depends on the arguments of a call.
enum class ValueKind {
  Data,    ///< on others than weights
  Neutral, ///< on nothing, and holds no weight: scalars, splats, empty tensors
  Weight   ///< on weights alone
};

/// Classifies a value of a function. Arguments of private functions are data,
/// marked or not. `known` keeps what was found, as long as the function stays
/// as it is: without it, each call looks at all that the value depends on.
ValueKind classifyValue(Value value);
ValueKind classifyValue(Value value, DenseMap<Value, ValueKind> &known);

/// Marks arguments of `func` as weights. `list` has numbers and ranges: "1,3-5"
/// or "2-" (to the last). Emits and fails if it isn't such a list.
LogicalResult markWeights(func::FuncOp func, StringRef list);
/// The same for the only public function of `module`; emits if there are
/// several.
LogicalResult markWeights(ModuleOp module, StringRef list);

/// Whether some argument of `func` is marked.
bool hasWeights(func::FuncOp func);

/// Task functions of `module` that run on weights alone, wherever they are
/// called: prepackWeights takes them out of the network.
DenseSet<Operation *> findTasksOfWeights(ModuleOp module);

/// Bytes of the weights that the tasks of `module`, which are extracted, read
/// in one call of the network: a weight that several read counts once.
int64_t countWeightBytes(ModuleOp module);

/// Replaces permutations and packings of constants by constants.
void foldConstantLayouts(ModuleOp module);

/// Leaves to the callers of private task functions what these pack
/// (`linalg.pack` of static sizes) of arguments that are marked: the functions
/// then take it packed. Returns the number of such arguments. A task that is
/// called with other values than weights stays right: its callers pack each
/// time.
unsigned movePackingOut(ModuleOp module);

/// The same for a task that is run alone, of name @f: it becomes @f_prepacked,
/// beside @f_prepack, and the new function @f calls both (see getPrepacked).
/// Returns that; null if the task packs nothing; fails if a name is taken.
FailureOr<func::FuncOp> splitTask(func::FuncOp task);

/// Splits the public functions of `module` that have work on weights alone (see
/// above), constants having been folded. Returns their number; fails if a name
/// is taken.
FailureOr<unsigned> prepackWeights(ModuleOp module);

/// The functions that `func` was split into; null if it wasn't.
struct PrepackedFunction {
  func::FuncOp pack, run;
};
PrepackedFunction getPrepacked(func::FuncOp func);

} // namespace mlir::ansor

#endif // ANSOR_TASK_WEIGHTS_H
