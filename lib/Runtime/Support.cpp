//===- Support.cpp - What artifacts may call --------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that generated code refers to and that no system library has. The
// runner exports them.
//
//===----------------------------------------------------------------------===//

#include "ansor/Runtime/Profile.h"
#include <cstdint>
#include <cstring>
#include <time.h>

namespace {
/// A memref of any rank, as code passes it: the descriptor lies elsewhere.
struct UnrankedMemref {
  int64_t rank;
  char **descriptor; ///< allocated, aligned, offset, sizes, strides
};

struct View {
  explicit View(const UnrankedMemref &memref) {
    auto *words = reinterpret_cast<int64_t *>(memref.descriptor);
    data = memref.descriptor[1];
    offset = words[2];
    sizes = words + 3;
    strides = sizes + memref.rank;
  }
  char *data;
  int64_t offset;
  const int64_t *sizes, *strides;
};
} // namespace

static void copyStrided(const View &from, const View &to, int64_t rank,
                        int64_t dim, int64_t bytes, const char *source,
                        char *target) {
  if (dim == rank) {
    std::memcpy(target, source, size_t(bytes));
    return;
  }
  int64_t size = from.sizes[dim];
  int64_t fromStride = from.strides[dim], toStride = to.strides[dim];
  if (dim + 1 == rank && fromStride == 1 && toStride == 1) {
    std::memcpy(target, source, size_t(bytes * size));
    return;
  }
  for (int64_t i = 0; i < size; ++i)
    copyStrided(from, to, rank, dim + 1, bytes, source + i * fromStride * bytes,
                target + i * toStride * bytes);
}

/// What memref.copy of strided arrays becomes.
extern "C" __attribute__((visibility("default"))) void
memrefCopy(int64_t bytes, UnrankedMemref *source, UnrankedMemref *target) {
  View from(*source), to(*target);
  copyStrided(from, to, source->rank, 0, bytes, from.data + from.offset * bytes,
              to.data + to.offset * bytes);
}

//===----------------------------------------------------------------------===//
// Profiles
//===----------------------------------------------------------------------===//

static std::vector<ansor::runtime::ProfileSlot> profileSlots;
static clockid_t profileClock = CLOCK_MONOTONIC;
static double lastLap = 0;

void ansor::runtime::startProfile(size_t slots, bool cpuTime) {
  profileSlots.assign(slots, ProfileSlot());
  profileClock = cpuTime ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
}

const std::vector<ansor::runtime::ProfileSlot> &ansor::runtime::getProfile() {
  return profileSlots;
}

/// Adds the time since the last lap to `slot`; -1 begins.
extern "C" __attribute__((visibility("default"))) void
ansor_profile_lap(int64_t slot) {
  timespec time;
  clock_gettime(profileClock, &time);
  double now = double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
  if (slot >= 0 && size_t(slot) < profileSlots.size()) {
    ++profileSlots[size_t(slot)].calls;
    profileSlots[size_t(slot)].seconds += now - lastLap;
  }
  lastLap = now;
}
