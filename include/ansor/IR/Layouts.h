//===- Layouts.h - Attributes of changed layouts ----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ANSOR_IR_LAYOUTS_H
#define ANSOR_IR_LAYOUTS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::ansor {

/// An op that permutes dimensions, which its users do instead: unit.
inline constexpr llvm::StringLiteral kReadThroughAttr = "ansor.read_through";

} // namespace mlir::ansor

#endif // ANSOR_IR_LAYOUTS_H
