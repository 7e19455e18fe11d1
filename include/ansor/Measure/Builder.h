//===- Builder.h - Candidates to artifacts ----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds a candidate in this process: interprets its script on a clone of the
// task's module, lowers it, and writes a shared object with a manifest. The
// tool ansor-builder is this class behind a line protocol, so that a crash of
// the compiler harms nobody; ansor-run uses it directly.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_MEASURE_BUILDER_H
#define ANSOR_MEASURE_BUILDER_H

#include "ansor/Measure/Measure.h"
#include "ansor/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>

namespace mlir::ansor {

struct BuildResult {
  ErrorKind error = ErrorKind::None;
  std::string message;   ///< first diagnostic of the failure
  LocationAttr location; ///< of that diagnostic; null: none
  std::string artifact;  ///< path of the shared object
  std::string manifest;  ///< path of the manifest, JSON
  int64_t objectBytes = 0;
  double seconds = 0;
};

class CandidateBuilder {
public:
  CandidateBuilder();

  bool hasTask(StringRef key) const { return tasks.count(key.str()); }
  /// Parses the module of a task, once. Fails with `error`.
  LogicalResult addTask(StringRef key, StringRef module, std::string &error);

  /// countWork of a task that was added.
  double getWork(StringRef key);

  /// Builds `script` (empty: the unscheduled program) for a task that was
  /// added. Writes `output` + ".so" and ".json".
  BuildResult build(StringRef key, StringRef script, const TargetInfo &target,
                    const CPULoweringOptions &options, int64_t maxObjectBytes,
                    StringRef output);

private:
  DialectRegistry registry;
  MLIRContext context;
  std::map<std::string, OwningOpRef<ModuleOp>> tasks;
};

/// Lowers `module` (scheduled or not; it is consumed) and writes `output` +
/// ".so" and ".json", the manifest being `manifest`. Diagnostics are caught.
BuildResult buildArtifact(ModuleOp module, llvm::json::Value manifest,
                          const TargetInfo &target,
                          const CPULoweringOptions &options,
                          int64_t maxObjectBytes, StringRef output);

/// The function to measure: the task with this key, or the only one that is
/// not private. Null with `error` set if there is no such function.
func::FuncOp findEntry(ModuleOp module, StringRef key, std::string &error);

/// Scalar operations of one call of `func`, with what it calls, roughly;
/// dynamic sizes count as 3, unknown trip counts too. `isExact` says that there
/// was nothing of the kind.
double countWork(func::FuncOp func, bool *isExact = nullptr);

/// Above this much work plain loops, of about 1e9 operations a second, take too
/// long: the unscheduled program is vectorised then.
inline constexpr double kLargeWork = 5e9;

/// describeEntry with what the check must know of the arithmetic of the
/// unscheduled program, member "check" (see CheckSpec in the runtime).
llvm::json::Value describeForMeasuring(func::FuncOp func);

/// Makes `module` compute in double precision what it computes in narrower
/// floats; public functions keep their types, and cast at their borders. Fails,
/// silently and with the module spoilt, if it has what can't be widened: bit
/// casts, complex numbers, vectors, memrefs, constants held elsewhere.
LogicalResult widenFloats(ModuleOp module);

/// The first parallel loop whose iterations write the same place, as a
/// sentence; empty if there is none.
std::string findParallelConflict(ModuleOp module);

} // namespace mlir::ansor

#endif // ANSOR_MEASURE_BUILDER_H
