//===- Task.h - Tasks of a module -------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Partition of a module into tasks (subgraphs that are scheduled as a whole),
// after section 3 of Zheng et al., OSDI 2020.
//
// In: functions with linalg on tensors. Out: the same module, with each task
// outlined as a private function
//
//   func.func private @task_0(%in…, %init…) -> (…)
//       attributes {ansor.task = "<key>", ansor.weight = 3 : i64}
//
// in destination-passing style, one init argument a result and in their order,
// behind the inputs. Inputs that are weights in the calls are marked
// `ansor.weight`; a computation that is called with weights and with other
// values is two tasks, as it runs at two speeds. Its body is canonical: linalg.generic (linalg.fill and
// tensor.pad excepted) with loops and operands in a canonical order, each op
// tagged with `ansor.stage`, producers first. Equal tasks are one function
// with the sum of their weights: one a call site, times the trip count of loops
// around it that is known.
//
// A task is an anchor (an op with a reduction, of whatever name) with its
// fills, its padding, and the elementwise ops behind it, fused into one; or
// elementwise ops alone. Reductions over the same rows, of which some are read
// back along the loops that they reduce (a normalisation), are one task with
// what is between them, and with the contractions around them if these read
// little for a row. Three choices make front ends' forms one:
//
//  - Broadcasts, transposes and copies are read through the maps of their
//    consumers, and widening casts are computed in them. Other producers fuse
//    where that repeats no work; a small one is a stage of its own.
//  - A sum that starts from a tensor, and either made that tensor on purpose
//    (a broadcast bias) or has elementwise ops behind it, starts from zero, and
//    the tensor is added behind it. That reorders a sum (see `strictFP`).
//    Without these, the accumulation stays: the init argument carries the old
//    value.
//  - Loops of extent 1 vanish, unless all are; what reshapes that leaves stays
//    between the calls, as all reshapes, slices and concatenations do.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_TASK_TASK_H
#define ANSOR_TASK_TASK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir::ansor {

/// Version of the canonical form; a part of every key.
inline constexpr int kTaskKeyVersion = 1;

struct ExtractOptions {
  /// Also outline groups of ops without an anchor (elementwise, data movement).
  bool outlineRest = true;
  /// Keep the order and the terms of floating-point sums: a bias that a sum
  /// starts from then stays where it is, and isn't added behind it; products
  /// with inserted zeros are kept.
  bool strictFP = false;
  /// Leave work on weights alone to callers (see Weights.h), and mark the
  /// inputs of tasks that are weights.
  bool prepack = true;
};

/// Outlines the tasks of every function of `module`. Ops that no task can hold
/// stay where they are, with a remark that says why. Fails, with the module
/// unchanged, only if the result would not verify.
LogicalResult extractTasks(ModuleOp module, const ExtractOptions &options = {});

/// Inlines every task function into its callers and erases it.
LogicalResult inlineTasks(ModuleOp module);

/// The key of a task function: "a<version>-" and 16 hexadecimal digits, a hash
/// of the canonical structure (maps, iterator kinds, shapes, element types,
/// bodies with their constants and fast-math flags), and of which arguments are
/// weights.
std::string computeTaskKey(func::FuncOp task);

/// The key that `task` has without the marks of its weights: it computes the
/// same, but its schedules were found with weights that are in the caches.
std::string computeUnmarkedKey(func::FuncOp task);

/// One task of a module, in the form that is passed between threads and
/// processes: text.
struct Task {
  std::string key;
  std::string name; ///< symbol of the function
  int64_t weight = 1;
  double flops = 0;   ///< arithmetic operations of one call
  std::string module; ///< text of a module with that function only
};

/// True if a function of `module` is a task: it was extracted.
bool hasTasks(ModuleOp module);

/// The tasks of an extracted module, in the order of their functions.
SmallVector<Task> collectTasks(ModuleOp module);

/// Scalar arithmetic operations of one call of `task` (a multiply-add is two);
/// integer operations count too. Dynamic extents count as 1.
double countFlops(func::FuncOp task);
/// Those of one run of `op`, a structured op; 0 for another one.
double countFlops(Operation *op, int64_t dynamicSize = 1);

} // namespace mlir::ansor

#endif // ANSOR_TASK_TASK_H
