//===- timing.c - Calling artifacts, and what the machine can do -----------===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared library for the benchmark's processes:
//   bench_call  calls a packed entry many times and returns seconds a call;
//   bench_fma   multiply-adds in registers: FLOP/s of one thread;
//   bench_read  reads an array again and again: bytes/s of one thread.
// `clock` is what they measure: 0 time on the wall, 1 processor time of the
// process, 2 processor time of the calling thread.
//
//===----------------------------------------------------------------------===//

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(int clock) {
  static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID,
                                     CLOCK_THREAD_CPUTIME_ID};
  struct timespec t;
  clock_gettime(clocks[clock], &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/// Calls `entry(args)`; of the first `results` descriptors, those that are
/// `fresh` own memory of their own, which is freed after the call.
double bench_call(void (*entry)(void **), void **args, int results,
                  const char *fresh, long count, int clock) {
  double start = now(clock);
  for (long i = 0; i < count; ++i) {
    entry(args);
    for (int r = 0; r < results; ++r)
      if (fresh[r])
        free(*(void **)args[r]);
  }
  return (now(clock) - start) / count;
}

#define LANES 16
/// Results go here, so that nothing is left out.
static volatile float sink;

typedef float floats __attribute__((vector_size(LANES * 4)));

/// FLOP/s of `seconds` of independent multiply-adds.
double bench_fma(double seconds, int clock) {
  enum { CHAINS = 24 };
  floats acc[CHAINS];
  floats a, b;
  for (int l = 0; l < LANES; ++l)
    a[l] = 0.999f, b[l] = 0.001f;
  for (int c = 0; c < CHAINS; ++c)
    acc[c] = a;
  const long inner = 20000;
  double start = now(clock), end = start, count = 0;
  while (end - start < seconds) {
    for (long i = 0; i < inner; ++i) {
#pragma GCC unroll 24
      for (int c = 0; c < CHAINS; ++c)
        acc[c] = acc[c] * a + b;
      __asm__ volatile("" : : : "cc"); // iterations stay as they are
    }
    for (int c = 0; c < CHAINS; ++c)
      sink = acc[c][0];
    count += (double)inner * CHAINS * LANES * 2;
    end = now(clock);
  }
  return count / (end - start);
}

/// Bytes/s of reading `bytes` (a multiple of 1024) again and again.
double bench_read(double seconds, int64_t bytes, int clock) {
  char *data = aligned_alloc(4096, bytes);
  if (!data)
    return 0;
  memset(data, 0, bytes);
  floats acc[8];
  memset(acc, 0, sizeof acc);
  double start = now(clock), end = start, count = 0;
  while (end - start < seconds) {
    long rounds = bytes < (1 << 22) ? (1 << 22) / bytes : 1;
    for (long round = 0; round < rounds; ++round) {
      for (int64_t at = 0; at + 512 <= bytes; at += 512)
#pragma GCC unroll 8
        for (int c = 0; c < 8; ++c)
          acc[c] += *(floats *)(data + at + c * sizeof(floats));
      __asm__ volatile("" : : : "memory");
    }
    for (int c = 0; c < 8; ++c)
      sink = acc[c][0];
    count += (double)rounds * bytes;
    end = now(clock);
  }
  free(data);
  return count / (end - start);
}
