//===- MemoryPlan.h - Offsets of buffers in an arena ------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers that live at different times share memory. In: the size of each
// buffer and the steps of the program that it is live in. Out: an offset for
// each, such that buffers that are live in one step do not overlap, and the
// bytes that all need together. The method is greedy: large buffers first, each
// into the tightest gap that the ones placed before leave it.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_PIPELINES_MEMORYPLAN_H
#define ANSOR_PIPELINES_MEMORYPLAN_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace mlir::ansor {

struct LiveBuffer {
  int64_t bytes = 0;
  /// First and last step in which the buffer holds a value.
  int64_t first = 0, last = 0;
  /// Set by planMemory: a multiple of the alignment.
  int64_t offset = 0;
};

/// Sets the offsets of `buffers`; returns the bytes of the arena.
int64_t planMemory(llvm::MutableArrayRef<LiveBuffer> buffers,
                   int64_t alignment = 64);

} // namespace mlir::ansor

#endif // ANSOR_PIPELINES_MEMORYPLAN_H
