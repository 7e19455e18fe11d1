//===- Pipelines.h - Code generation ----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fixed code generation for a CPU: a module, scheduled or not, to LLVM
// dialect, to an object, to a shared object. Structure is searched, code
// generation is not (design decision 2).
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_PIPELINES_PIPELINES_H
#define ANSOR_PIPELINES_PIPELINES_H

#include "ansor/Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::ansor {

struct CPULoweringOptions {
  /// Lower parallel loops to OpenMP; otherwise they run in one thread.
  bool parallel = true;
  /// Forbid reassociation of reductions and contraction to FMA.
  bool strictFP = false;
  /// Vectorise tiled ops; off for the reference of the check: plain loops.
  bool vectorize = true;
  /// Time the tasks of the entry one by one (see ansor-profile-entry); the
  /// object then needs what ansor-runner exports.
  bool profile = false;
  /// Bound on IR operations after unrolling; more is an error ("too large").
  int64_t maxOperations = 200000;
  /// LLVM optimisation level of emitObject.
  int optLevel = 3;
};

/// Adds the whole lowering, from linalg on tensors to LLVM dialect. Functions
/// that are not private get a C interface and a packed entry
/// `void <name>_packed(void **args)`: args[i] points to the i-th memref
/// descriptor (or scalar), result descriptors first, each as a pointer.
void buildCPULoweringPipeline(OpPassManager &pm,
                              const CPULoweringOptions &options = {});

/// Runs that pipeline on `module` (which carries its target, or gets the
/// host's). Emits and fails on what can't be lowered.
LogicalResult lowerToCPU(ModuleOp module, const CPULoweringOptions &options = {});

/// Translates an LLVM-dialect module and writes an object file, or assembly if
/// `path` ends in ".s", or LLVM IR if in ".ll".
LogicalResult emitObject(ModuleOp module, StringRef path,
                         const CPULoweringOptions &options = {});

/// What the innermost loops of generated code look like.
struct CodeStats {
  int64_t innerLoops = 0;
  /// In all innermost loops (if there are none, in all of the code): stores
  /// to and loads from the stack that the register allocator added, and calls.
  int64_t spills = 0, reloads = 0, calls = 0;
  /// Of the innermost loop with most arithmetic: the widest registers that its
  /// arithmetic uses (0: unknown), how many of its registers accumulate, its
  /// arithmetic instructions and all of them.
  int64_t vectorBits = 0, accumulators = 0, arithmetic = 0, instructions = 0;
};

/// Reads the assembly that emitObject writes for x86-64 or AArch64.
CodeStats inspectAssembly(StringRef assembly);

/// Links objects for `triple` (empty: this machine) into a shared object, by
/// the system's linker, a cross toolchain's, or LLVM's. `error` holds the
/// linker's message.
LogicalResult linkShared(ArrayRef<std::string> objects, StringRef path,
                         StringRef triple, std::string &error);

/// The signature of an entry, for the runner's manifest: JSON {"entry": name,
/// "args": [{"kind": "memref"|"scalar", "type": "f32", "shape": [..]}, …],
/// "results": [...], "inits": n} (-1 in a shape is dynamic; the last `inits`
/// arguments are destinations).
llvm::json::Value describeEntry(Operation *func);

/// How a function that prepackWeights split is called, for member "prepack" of
/// its manifest: {"entry": packing function, "args": numbers of arguments,
/// "results": [...], "run": the function to call then, "run_args": numbers of
/// arguments, or -1 - i for result i of the packing}. Null if it wasn't split.
llvm::json::Value describePrepack(Operation *func);

/// Registers the passes and pipelines ("ansor-lower-to-cpu").
void registerPipelines();

} // namespace mlir::ansor

#endif // ANSOR_PIPELINES_PIPELINES_H
