//===- peers.c - Tuned code beside OpenBLAS, interleaved -------------------===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Usage: peers gemm M N K LIB.so ENTRY [ROUNDS]
//        peers conv H W CI CO KH KW LIB.so ENTRY [ROUNDS]
//
// Times one call of the packed entry ENTRY of LIB.so against sgemm (or im2col
// and sgemm) of OpenBLAS with a bias and relu epilogue in C, in turn, and
// prints one JSON object with medians and the median of the rounds' ratios.
// Times are processor time of one thread. The entry is that of a task: its
// arguments are A, B, bias and destination (gemm), or image NHWC, filter HWCF,
// bias and destination (conv, stride 1, same padding).
//
//===----------------------------------------------------------------------===//

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern void cblas_sgemm(int, int, int, int, int, int, float, const float *, int,
                        const float *, int, float, float *, int);

typedef struct {
  float *base, *data;
  int64_t offset, dims[8]; // sizes, then strides
} Descriptor;

static Descriptor describe(float *data, int rank, const int64_t *shape) {
  Descriptor d = {data, data, 0, {0}};
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    d.dims[i] = shape[i];
    d.dims[rank + i] = stride;
    stride *= shape[i];
  }
  return d;
}

static float *allocate(int64_t count, int fill) {
  float *p = aligned_alloc(64, (count * 4 + 63) / 64 * 64);
  for (int64_t i = 0; i < count; ++i)
    p[i] = fill ? (float)((i * 7919 + 13) % 41 - 20) * 0.05f : 0.0f;
  return p;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double median(double *v, int n) {
  qsort(v, n, sizeof(double), compare);
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void epilogue(float *restrict c, const float *restrict bias, int64_t m,
                     int64_t n) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float v = c[i * n + j] + bias[j];
      c[i * n + j] = v > 0 ? v : 0;
    }
}

static void im2col(float *restrict col, const float *restrict image, int64_t h,
                   int64_t w, int64_t ci, int64_t kh, int64_t kw) {
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x)
      for (int64_t dy = 0; dy < kh; ++dy)
        for (int64_t dx = 0; dx < kw; ++dx) {
          int64_t sy = y + dy - kh / 2, sx = x + dx - kw / 2;
          float *to = col + (((y * w + x) * kh + dy) * kw + dx) * ci;
          if (sy < 0 || sy >= h || sx < 0 || sx >= w)
            memset(to, 0, ci * 4);
          else
            memcpy(to, image + (sy * w + sx) * ci, ci * 4);
        }
}

int main(int argc, char **argv) {
  int conv = argc > 1 && !strcmp(argv[1], "conv");
  int numbers = conv ? 6 : 3;
  if (argc < 4 + numbers) {
    fprintf(stderr, "usage: peers gemm M N K LIB ENTRY [ROUNDS]\n"
                    "       peers conv H W CI CO KH KW LIB ENTRY [ROUNDS]\n");
    return 2;
  }
  int64_t s[6];
  for (int i = 0; i < numbers; ++i)
    s[i] = atoll(argv[2 + i]);
  void *lib = dlopen(argv[2 + numbers], RTLD_NOW);
  void (*entry)(void **) =
      lib ? (void (*)(void **))dlsym(lib, argv[3 + numbers]) : NULL;
  if (!entry) {
    fprintf(stderr, "peers: %s\n", dlerror());
    return 1;
  }
  int rounds = argc > 4 + numbers ? atoi(argv[4 + numbers]) : 30;

  // As a matrix product: m x k by k x n.
  int64_t m = conv ? s[0] * s[1] : s[0], n = conv ? s[3] : s[1],
          k = conv ? s[4] * s[5] * s[2] : s[2];
  float *a = allocate(conv ? m * s[2] : m * k, 1), *b = allocate(k * n, 1),
        *bias = allocate(n, 1), *ours = allocate(m * n, 0),
        *peer = allocate(m * n, 0), *col = conv ? allocate(m * k, 0) : a;
  int64_t shapeA[4] = {m, k}, shapeB[4] = {k, n}, shapeC[4] = {m, n};
  if (conv) { // tasks have no loop over a batch of one
    int64_t image[3] = {s[0], s[1], s[2]}, filter[4] = {s[4], s[5], s[2], n},
            out[3] = {s[0], s[1], n};
    memcpy(shapeA, image, sizeof image);
    memcpy(shapeB, filter, sizeof filter);
    memcpy(shapeC, out, sizeof out);
  }
  Descriptor dA = describe(a, conv ? 3 : 2, shapeA),
             dB = describe(b, conv ? 4 : 2, shapeB),
             dBias = describe(bias, 1, &n),
             dC = describe(ours, conv ? 3 : 2, shapeC);
  void *args[4] = {&dA, &dB, &dBias, &dC};

  double *tOurs = malloc(rounds * sizeof(double)),
         *tPeer = malloc(rounds * sizeof(double)),
         *ratio = malloc(rounds * sizeof(double));
  for (int r = -3; r < rounds; ++r) {
    double t0 = now();
    entry(args);
    double t1 = now();
    if (conv)
      im2col(col, a, s[0], s[1], s[2], s[4], s[5]);
    cblas_sgemm(101, 111, 111, m, n, k, 1.0f, col, k, b, n, 0.0f, peer, n);
    epilogue(peer, bias, m, n);
    double t2 = now();
    if (r < 0)
      continue;
    tOurs[r] = t1 - t0;
    tPeer[r] = t2 - t1;
    ratio[r] = tPeer[r] / tOurs[r];
  }
  double worst = 0;
  for (int64_t i = 0; i < m * n; ++i)
    worst = fmax(worst, fabs(ours[i] - peer[i]) / (1 + fabs(peer[i])));
  double flops = 2.0 * m * n * k;
  double ourMedian = median(tOurs, rounds), peerMedian = median(tPeer, rounds);
  printf("{\"ours_ms\": %.4f, \"peer_ms\": %.4f, \"ours_gflops\": %.1f, "
         "\"peer_gflops\": %.1f, \"ratio\": %.3f, \"max_error\": %.2e}\n",
         ourMedian * 1e3, peerMedian * 1e3, flops / ourMedian * 1e-9,
         flops / peerMedian * 1e-9, median(ratio, rounds), worst);
  return worst < 1e-3 ? 0 : 1;
}
