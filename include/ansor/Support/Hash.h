//===- Hash.h - Names made of contents ---------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One hash for all that is named by its contents: tasks, sketches, programs,
// saved models. It is stable across processes and platforms.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_SUPPORT_HASH_H
#define ANSOR_SUPPORT_HASH_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

namespace mlir::ansor {

/// xxh3 of `bytes`: 16 hexadecimal digits, lower case.
inline std::string hashText(llvm::StringRef bytes) {
  return llvm::utohexstr(llvm::xxh3_64bits(bytes), /*LowerCase=*/true,
                         /*Width=*/16);
}

} // namespace mlir::ansor

#endif // ANSOR_SUPPORT_HASH_H
