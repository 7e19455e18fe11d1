//===- LoadModule.h - Reading input modules ---------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a module for the command-line tools and says what to do about files
// that can't be used: text of front ends that is not linalg on tensors yet
// (StableHLO, TOSA, Torch, ONNX, …), bytecode of a newer MLIR, weights that
// were elided when the file was printed.
//
// In: a path, or "-" for standard input. Out: the verified module, or located
// diagnostics on standard error.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_SUPPORT_LOADMODULE_H
#define ANSOR_SUPPORT_LOADMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <string>

namespace mlir::ansor {

struct LoadOptions {
  /// The module will be run: elided resources are an error, not a warning.
  bool needsData = false;
};

/// Reads and verifies the module at `path`. On failure the reason is printed
/// to standard error, with its place in the file. Diagnostics of `context` don't
/// print their op from now on.
FailureOr<OwningOpRef<ModuleOp>> loadModule(StringRef path,
                                            MLIRContext &context,
                                            const LoadOptions &options = {});

/// What to do about a module that holds ops of `dialect`: the front end's
/// command that lowers them to linalg on tensors. `text` is the module's text
/// (it tells ONNX from Torch, say). Empty if the dialect is not a known one.
std::string adviseForDialect(StringRef dialect, StringRef text);

/// Advice about a file that failed to parse or to verify: looks for its first
/// unregistered dialect, or the version of its bytecode. Empty if there is
/// nothing to say beyond the parser's own message.
std::string adviseForInput(llvm::MemoryBufferRef buffer,
                           const DialectRegistry &registry);

} // namespace mlir::ansor

#endif // ANSOR_SUPPORT_LOADMODULE_H
