//===- Machine.h - What the machine can do ----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures the peak of multiply-adds and the bandwidth of the caches and of
// memory, by small programs that the runner runs like any other.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_TOOLS_ANSORRUN_MACHINE_H
#define ANSOR_TOOLS_ANSORRUN_MACHINE_H

#include "ansor/Transforms/Explain.h"
#include "llvm/Support/JSON.h"
#include <functional>

namespace mlir::ansor {

using RunRequest =
    std::function<FailureOr<llvm::json::Object>(llvm::json::Object)>;

/// The rates of `threads` threads: those of one, times their number where each
/// core has its own. Writes files whose names begin with `stem`. Emits and
/// fails if a program can't be built or run.
FailureOr<MachineRates> measureMachine(MLIRContext &context,
                                       const TargetInfo &target, int threads,
                                       StringRef stem, const RunRequest &run);

} // namespace mlir::ansor

#endif // ANSOR_TOOLS_ANSORRUN_MACHINE_H
