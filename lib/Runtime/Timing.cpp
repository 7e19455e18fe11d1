//===- Timing.cpp - Timing of a kernel --------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Runtime/Timing.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <sched.h>
#include <time.h>

using namespace ansor::runtime;

/// A repeat is disturbed if the fixed kernel took this much longer than it can:
/// frequency steps are a few percent, another process on the core halves.
static constexpr double kDisturbance = 1.2;
/// It is, too, if the kernel itself took this much longer than in the fastest
/// repeat: who shares the caches doesn't slow the fixed kernel, and comes and
/// goes within a second.
static constexpr double kSlowRepeat = 1.1;

/// Calls of a repeat at least, if each follows a flush.
static constexpr long kFlushedCalls = 4;

static double read(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

double ansor::runtime::now() { return read(CLOCK_MONOTONIC); }

/// About 0.1 ms of multiply-adds in eight independent chains.
static double timeFixedKernel() {
  float chains[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  double begin = now();
  for (int i = 0; i < 30000; ++i)
    for (float &x : chains)
      x = x * 0.999f + 0.001f;
  double seconds = now() - begin;
  static volatile float sink;
  for (float x : chains)
    sink = x;
  (void)sink;
  return seconds;
}

static void flushCaches(std::vector<char> &lines) {
  for (size_t i = 0; i < lines.size(); i += 64)
    ++lines[i];
}

/// Seconds of `iterations` calls. With a flush, only the calls are timed;
/// `whole`, if given, receives what calls and flushes took together.
static double timeCalls(const std::function<void()> &kernel, long iterations,
                        std::vector<char> &flushed, clockid_t clock,
                        double *whole = nullptr) {
  double total = 0, start = now();
  if (flushed.empty()) {
    double begin = read(clock);
    for (long i = 0; i < iterations; ++i)
      kernel();
    total = read(clock) - begin;
    if (whole)
      *whole = total;
    return total;
  }
  for (long i = 0; i < iterations; ++i) {
    flushCaches(flushed);
    double begin = read(clock);
    kernel();
    total += read(clock) - begin;
  }
  if (whole)
    *whole = now() - start;
  return total;
}

Timing ansor::runtime::timeKernel(const std::function<void()> &kernel,
                                  const std::function<void()> &refresh,
                                  const TimingOptions &options) {
  std::vector<char> flushed(options.flush ? options.flushBytes : 0);
  clockid_t clock = options.cpuTime ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  refresh();
  double once = std::numeric_limits<double>::infinity();
  for (int i = 0; i < std::max(1, options.warmup); ++i)
    once = std::min(once, timeCalls(kernel, 1, flushed, clock));

  // As many calls as fill the minimum time, found by doubling, as the first
  // calls say little about a short kernel. Flushes count: they take thousands
  // of times longer than a short kernel.
  Timing timing;
  double spent = once;
  if (!flushed.empty()) {
    timing.iterations = kFlushedCalls;
    timeCalls(kernel, timing.iterations, flushed, clock, &spent);
  }
  while (spent < options.minRepeat && timing.iterations < (1l << 30)) {
    double grow = spent > 0 ? options.minRepeat / spent * 1.1 : 8;
    timing.iterations = std::max(
        timing.iterations + 1,
        long(double(timing.iterations) * std::min(8.0, std::max(grow, 1.0))));
    timeCalls(kernel, timing.iterations, flushed, clock, &spent);
  }

  int repeats = std::max(1, options.repeats);
  if (spent * repeats > options.budget)
    repeats = std::max(1, int(options.budget / spent));
  double fastest = timeFixedKernel();
  for (int i = 0; i < 4; ++i)
    fastest = std::min(fastest, timeFixedKernel());
  struct Repeat {
    double seconds, fixed;
  };
  std::vector<Repeat> done;
  double least = std::numeric_limits<double>::infinity();
  auto isDisturbed = [&](const Repeat &repeat) {
    return repeat.fixed > kDisturbance * fastest ||
           repeat.seconds > kSlowRepeat * least;
  };
  int disturbed = 0;
  while (int(done.size()) < std::min(repeats + disturbed, 2 * repeats)) {
    refresh();
    double before = timeFixedKernel();
    double seconds = timeCalls(kernel, timing.iterations, flushed, clock) /
                     double(timing.iterations);
    double after = timeFixedKernel();
    fastest = std::min({fastest, before, after});
    least = std::min(least, seconds);
    done.push_back({seconds, std::max(before, after)});
    disturbed = int(std::count_if(done.begin(), done.end(), isDisturbed));
  }
  timing.disturbed = int(done.size()) - repeats;
  // What was disturbed counts only where there is too little else.
  std::sort(done.begin(), done.end(), [&](const Repeat &a, const Repeat &b) {
    bool ofA = isDisturbed(a), ofB = isDisturbed(b);
    return ofA != ofB ? ofB : a.seconds < b.seconds;
  });
  done.resize(repeats);
  for (const Repeat &repeat : done) {
    timing.seconds.push_back(repeat.seconds);
    timing.clock.push_back(repeat.fixed / fastest);
  }
  return timing;
}

double ansor::runtime::median(std::vector<double> values) {
  if (values.empty())
    return std::numeric_limits<double>::infinity();
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle]
                           : (values[middle - 1] + values[middle]) / 2;
}

int ansor::runtime::pinThread(int cpu) {
#ifdef __linux__
  for (int wanted : {cpu, sched_getcpu()}) {
    if (wanted < 0 || wanted >= CPU_SETSIZE)
      continue;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(wanted, &set);
    if (sched_setaffinity(0, sizeof(set), &set) == 0)
      return wanted;
  }
#endif
  return -1;
}
