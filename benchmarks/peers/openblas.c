//===- openblas.c - Rows by OpenBLAS ---------------------------------------===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product, and a convolution NHWC x HWCF as im2col and a product, with an
// epilogue in C: 0 none, 1 bias and relu, 2 bias and gelu. Each runs `count`
// times and returns seconds of one call: processor time if `cpu` is set, else
// by the clock on the wall.
//
//===----------------------------------------------------------------------===//

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern void cblas_sgemm(int, int, int, int, int, int, float, const float *, int,
                        const float *, int, float, float *, int);
extern char *openblas_get_config(void);

const char *bench_config(void) { return openblas_get_config(); }

static double now(int cpu) {
  struct timespec t;
  clock_gettime(cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void epilogue(float *restrict c, const float *restrict bias, int64_t m,
                     int64_t n, int64_t kind) {
  if (kind == 0)
    return;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float v = c[i * n + j] + bias[j];
      c[i * n + j] = kind == 1 ? (v > 0 ? v : 0)
                               : 0.5f * v * (1 + erff(v * 0.707106769f));
    }
}

static void product(const float *a, const float *b, float *c, int64_t m,
                    int64_t n, int64_t k, int64_t transposed) {
  cblas_sgemm(101, 111, transposed ? 112 : 111, m, n, k, 1.0f, a, k, b,
              transposed ? k : n, 0.0f, c, n);
}

double bench_gemm(const float *a, const float *b, const float *bias, float *c,
                  int64_t m, int64_t n, int64_t k, int64_t transposed,
                  int64_t ep, long count, int cpu) {
  double start = now(cpu);
  for (long i = 0; i < count; ++i) {
    product(a, b, c, m, n, k, transposed);
    epilogue(c, bias, m, n, ep);
  }
  return (now(cpu) - start) / count;
}

static void im2col(float *restrict col, const float *restrict image, int64_t h,
                   int64_t w, int64_t oh, int64_t ow, int64_t ci, int64_t k,
                   int64_t s, int64_t p, int64_t d) {
  for (int64_t y = 0; y < oh; ++y)
    for (int64_t x = 0; x < ow; ++x)
      for (int64_t dy = 0; dy < k; ++dy)
        for (int64_t dx = 0; dx < k; ++dx) {
          int64_t sy = y * s + dy * d - p, sx = x * s + dx * d - p;
          float *to = col + (((y * ow + x) * k + dy) * k + dx) * ci;
          if (sy < 0 || sy >= h || sx < 0 || sx >= w)
            memset(to, 0, ci * 4);
          else
            memcpy(to, image + (sy * w + sx) * ci, ci * 4);
        }
}

double bench_conv(const float *x, const float *w, const float *bias, float *out,
                  int64_t h, int64_t width, int64_t ci, int64_t co, int64_t k,
                  int64_t s, int64_t p, int64_t d, int64_t ep, long count,
                  int cpu) {
  int64_t oh = (h + 2 * p - d * (k - 1) - 1) / s + 1;
  int64_t ow = (width + 2 * p - d * (k - 1) - 1) / s + 1;
  int64_t m = oh * ow, depth = k * k * ci;
  int copies = k > 1 || s > 1 || p > 0;
  float *col = NULL;
  if (copies) {
    col = aligned_alloc(64, (m * depth * 4 + 63) / 64 * 64);
    memset(col, 0, m * depth * 4);
  }
  double start = now(cpu);
  for (long i = 0; i < count; ++i) {
    if (copies)
      im2col(col, x, h, width, oh, ow, ci, k, s, p, d);
    product(copies ? col : x, w, out, m, co, depth, 0);
    epilogue(out, bias, m, co, ep);
  }
  double seconds = (now(cpu) - start) / count;
  free(col);
  return seconds;
}

/// Seconds of a product of this size.
double bench_probe(int size) {
  float *a = calloc((size_t)size * size, 4), *c = calloc((size_t)size * size, 4);
  product(a, a, c, size, size, size, 0);
  double start = now(1);
  product(a, a, c, size, size, size, 0);
  double seconds = now(1) - start;
  free(a);
  free(c);
  return seconds;
}
