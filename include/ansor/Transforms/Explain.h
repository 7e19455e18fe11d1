//===- Explain.h - What schedules reach, and their code ---------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a task's schedule costs and what its code looks like: operations, bytes,
// the time that the machine needs at least (its roofline), and the innermost
// loops. In: task functions before and after scheduling; out: numbers, as text
// or JSON.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_TRANSFORMS_EXPLAIN_H
#define ANSOR_TRANSFORMS_EXPLAIN_H

#include "ansor/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::ansor {

/// What a machine can do, with the threads that are used; zeros: unknown.
struct MachineRates {
  double flops = 0; ///< multiply-adds of f32 a second, each counted as two
  double l2 = 0, l3 = 0, memory = 0; ///< bytes a second, read
};

/// A task and its schedule.
struct TaskExplanation {
  std::string name, key;
  std::string schedule; ///< name of what was applied; empty: nothing
  int64_t calls = 1;
  double flops = 0;     ///< of a call, before scheduling
  double bytes = 0;     ///< arguments and results, each once
  double peakScale = 1; ///< the type's peak, by that of f32
  double seconds = 0;   ///< of a call; 0: unknown
  CodeStats code;
  std::string error; ///< why there is no code; empty: there is

  /// Seconds that a call takes at least; 0: unknown. The larger of its
  /// operations at the peak, and its bytes from the level that holds them
  /// (not from the first, as they come from elsewhere).
  double getBound(const MachineRates &rates, const TargetInfo &target) const;
};

/// Describes the tasks of `module`, which isn't scheduled yet.
llvm::MapVector<StringRef, TaskExplanation>
describeTaskWork(ModuleOp module, const TargetInfo &target);

/// Adds what the code of `func`, scheduled or not, looks like: it is compiled
/// alone, for one thread.
void explainCode(func::FuncOp func, const TargetInfo &target,
                 TaskExplanation &task);

void printExplanations(ArrayRef<TaskExplanation> tasks,
                       const MachineRates &rates, const TargetInfo &target,
                       raw_ostream &os);
llvm::json::Value explanationsToJSON(ArrayRef<TaskExplanation> tasks,
                                     const MachineRates &rates,
                                     const TargetInfo &target);

} // namespace mlir::ansor

#endif // ANSOR_TRANSFORMS_EXPLAIN_H
