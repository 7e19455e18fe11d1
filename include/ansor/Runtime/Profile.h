//===- Profile.h - Where the time of a network goes -------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An artifact that was compiled for profiling calls ansor_profile_lap(slot)
// when a part of it ends, and with -1 when it begins. That function is the
// runner's.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_RUNTIME_PROFILE_H
#define ANSOR_RUNTIME_PROFILE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ansor::runtime {

struct ProfileSlot {
  int64_t calls = 0;
  double seconds = 0;
};

/// Empties `slots` slots. Laps are in processor time of the thread, or wall
/// time.
void startProfile(size_t slots, bool cpuTime);
/// What was gathered since.
const std::vector<ProfileSlot> &getProfile();

} // namespace ansor::runtime

#endif // ANSOR_RUNTIME_PROFILE_H
