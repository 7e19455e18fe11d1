//===- DotInstructions.h - Products of narrow numbers -----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions that multiply narrow numbers and add up the products in groups,
// one group in each 32-bit lane.
//
//===----------------------------------------------------------------------===//
#ifndef ANSOR_TARGET_DOTINSTRUCTIONS_H
#define ANSOR_TARGET_DOTINSTRUCTIONS_H

#include "ansor/Target/Target.h"
#include <optional>

namespace mlir::ansor {

/// An instruction for `bits` wide registers.
struct DotInstruction {
  StringRef feature; ///< LLVM's name
  StringRef arch;    ///< "x86", "aarch64"
  int64_t bits;
  StringRef intrinsic;
  int64_t group;
  /// Of the first and the second factor: 'u', 's', or 'f' (bf16).
  char first, second;
};

/// How factors fit an instruction.
struct DotMatch {
  const DotInstruction *instruction = nullptr;
  bool swapped = false; ///< as its second and its first factor
  bool offset = false;  ///< 128 is added to the first one, which is signed
};

/// The best instruction of `target` for factors of these kinds in registers of
/// `bits`.
std::optional<DotMatch> findDotInstruction(const TargetInfo &target,
                                           int64_t bits, char first,
                                           char second);

} // namespace mlir::ansor

#endif // ANSOR_TARGET_DOTINSTRUCTIONS_H
