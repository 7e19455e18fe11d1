//===- DotInstructions.cpp - Products of narrow numbers ---------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/Target/DotInstructions.h"

using namespace mlir;
using namespace mlir::ansor;

/// In order of preference.
static const DotInstruction kInstructions[] = {
    {"avx512vnni", "x86", 512, "llvm.x86.avx512.vpdpbusd.512", 4, 'u', 's'},
    {"avxvnni", "x86", 256, "llvm.x86.avx512.vpdpbusd.256", 4, 'u', 's'},
    {"avx512bf16", "x86", 512, "llvm.x86.avx512bf16.dpbf16ps.512", 2, 'f', 'f'},
    {"dotprod", "aarch64", 128, "llvm.aarch64.neon.sdot.v4i32.v16i8", 4, 's',
     's'},
    {"dotprod", "aarch64", 128, "llvm.aarch64.neon.udot.v4i32.v16i8", 4, 'u',
     'u'},
    {"i8mm", "aarch64", 128, "llvm.aarch64.neon.usdot.v4i32.v16i8", 4, 'u',
     's'},
};

std::optional<DotMatch> ansor::findDotInstruction(const TargetInfo &target,
                                                  int64_t bits, char first,
                                                  char second) {
  StringRef triple = target.triple;
  bool isX86 = triple.starts_with("x86_64"),
       isArm = triple.starts_with("aarch64");
  for (const DotInstruction &candidate : kInstructions) {
    if (!(candidate.arch == "x86" ? isX86 : isArm) || bits != candidate.bits)
      continue;
    bool plain = first == candidate.first && second == candidate.second;
    bool swapped = first == candidate.second && second == candidate.first;
    bool offset = candidate.first == 'u' && candidate.second == 's' &&
                  first == 's' && second == 's';
    if ((!plain && !swapped && !offset) ||
        !hasFeature(target, candidate.feature))
      continue;
    DotMatch match;
    match.instruction = &candidate;
    match.swapped = swapped && !plain;
    match.offset = offset && !plain && !swapped;
    return match;
  }
  return std::nullopt;
}
