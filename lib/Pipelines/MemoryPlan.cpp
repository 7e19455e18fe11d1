//===- MemoryPlan.cpp - Offsets of buffers in an arena ----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Pipelines/MemoryPlan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::ansor;

int64_t
mlir::ansor::planMemory(llvm::MutableArrayRef<LiveBuffer> buffers,
                        int64_t alignment) {
  llvm::SmallVector<LiveBuffer *> order;
  for (LiveBuffer &buffer : buffers)
    order.push_back(&buffer);
  llvm::sort(order, [](const LiveBuffer *a, const LiveBuffer *b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
  });
  auto sizeOf = [&](const LiveBuffer &buffer) {
    return int64_t(llvm::alignTo(uint64_t(buffer.bytes), uint64_t(alignment)));
  };
  llvm::SmallVector<LiveBuffer *> placed; // by offset
  int64_t total = 0;
  for (LiveBuffer *buffer : order) {
    int64_t size = sizeOf(*buffer), end = 0, best = -1, bestGap = INT64_MAX;
    for (LiveBuffer *other : placed) {
      if (other->last < buffer->first || buffer->last < other->first)
        continue;
      int64_t gap = other->offset - end;
      if (gap >= size && gap < bestGap) {
        best = end;
        bestGap = gap;
      }
      end = std::max(end, other->offset + sizeOf(*other));
    }
    buffer->offset = best < 0 ? end : best;
    total = std::max(total, buffer->offset + size);
    auto position = llvm::upper_bound(
        placed, buffer, [](const LiveBuffer *a, const LiveBuffer *b) {
          return a->offset < b->offset;
        });
    placed.insert(position, buffer);
  }
  return total;
}
