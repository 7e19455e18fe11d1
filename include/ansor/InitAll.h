//===- InitAll.h - Registration ---------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers what this project adds to a context or tool. Nothing here depends
// on the search or the cost model; the pass `ansor-tune` is registered by
// ansor/Search/Passes.h.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_INITALL_H
#define ANSOR_INITALL_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::ansor {

/// The ansor dialect, and its extension of the transform dialect.
void registerAllDialects(DialectRegistry &registry);

/// Every upstream dialect, interface and translation that the passes need.
void registerUpstream(DialectRegistry &registry);

/// All passes and pipelines except `ansor-tune`.
void registerAllPasses();

} // namespace mlir::ansor

#endif // ANSOR_INITALL_H
