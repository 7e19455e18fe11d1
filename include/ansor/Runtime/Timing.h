//===- Timing.h - Timing of a kernel ----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Seconds of one call: warm-up, then repeats that each run the kernel for a
// minimum time. A small kernel of fixed work is timed around each repeat; a
// repeat during which the machine was slower than it can be, or which took
// longer than the fastest one, is done again, so that a machine whose speed
// changes does not decide.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_RUNTIME_TIMING_H
#define ANSOR_RUNTIME_TIMING_H

#include <cstddef>
#include <functional>
#include <vector>

namespace ansor::runtime {

/// Seconds of a monotonic clock.
double now();

struct TimingOptions {
  int warmup = 1;
  int repeats = 5;
  double minRepeat = 0.005; ///< seconds that a repeat lasts at least
  double budget = 5;       ///< seconds; slow kernels are repeated less often
  bool cpuTime = false;    ///< processor time of this thread, not wall time:
                           ///< for kernels without threads of their own, as
                           ///< it leaves out what other processes take
  bool flush = false;      ///< empty the caches before each call
  size_t flushBytes = 64 << 20;
};

struct Timing {
  std::vector<double> seconds; ///< of one call, one a repeat
  std::vector<double> clock;   ///< of the fixed kernel around that repeat,
                               ///< relative to the fastest seen (>= 1)
  long iterations = 1;         ///< calls in one repeat
  int disturbed = 0;           ///< repeats that were done again
};

/// `refresh` is called before each repeat, untimed.
Timing timeKernel(const std::function<void()> &kernel,
                  const std::function<void()> &refresh,
                  const TimingOptions &options);

/// The middle of `values`, or the mean of the middle two; infinity if empty.
double median(std::vector<double> values);

/// Keeps the calling thread on processor `cpu`, or if that is negative or can't
/// be had, on the one that it runs on now. Returns the processor, or -1 if the
/// thread could not be kept anywhere.
int pinThread(int cpu = -1);

} // namespace ansor::runtime

#endif // ANSOR_RUNTIME_TIMING_H
