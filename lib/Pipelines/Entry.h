//===- Entry.h - How entries and their memory fit together ------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_PIPELINES_ENTRY_H
#define ANSOR_LIB_PIPELINES_ENTRY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::ansor {

/// Of a function that only makes the buffers of its results: the symbol of the
/// function that writes into given ones. Its arguments are those of the entry,
/// then one for each result of a destination type; its results are the others.
inline constexpr llvm::StringLiteral kIntoAttr = "ansor.into";

/// Of ops that take or give back the arena of a call.
inline constexpr llvm::StringLiteral kArenaAttr = "ansor.arena";

/// Of a module: what the slots of its profile are.
inline constexpr llvm::StringLiteral kProfileAttr = "ansor.profile";

/// Whether a result of this type can be written into a buffer of the caller's:
/// a dense buffer of static size.
bool isDestinationType(Type type);

/// Bytes of a dense buffer of static size; -1 for another one, and for one
/// whose size doesn't fit in 64 bits.
int64_t bytesOf(MemRefType type);

} // namespace mlir::ansor

#endif // ANSOR_LIB_PIPELINES_ENTRY_H
