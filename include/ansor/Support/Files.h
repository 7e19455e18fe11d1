//===- Files.h - Reading and writing of files -------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files that are written whole or not at all, and JSON from files that anyone
// may have made.
//
//===----------------------------------------------------------------------===//
#ifndef ANSOR_SUPPORT_FILES_H
#define ANSOR_SUPPORT_FILES_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/JSON.h"

namespace mlir::ansor {

/// Writes what `print` prints to the file at `path`; "-" is standard output. A
/// regular file, or the one that a link leads to, is replaced at the end, so
/// that readers never see half of it; devices and pipes are written to.
LogicalResult writeFile(StringRef path,
                        llvm::function_ref<void(raw_ostream &)> print,
                        std::string &error);

/// Parses JSON, but no deeply nested one: the parser recurses.
llvm::Expected<llvm::json::Value> parseJson(StringRef text);

} // namespace mlir::ansor

#endif // ANSOR_SUPPORT_FILES_H
