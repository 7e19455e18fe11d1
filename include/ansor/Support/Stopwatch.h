//===- Stopwatch.h - Wall time -----------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_SUPPORT_STOPWATCH_H
#define ANSOR_SUPPORT_STOPWATCH_H

#include <chrono>

namespace mlir::ansor {

/// Wall time since its construction; added to a total at its end, if given.
class Stopwatch {
public:
  using Clock = std::chrono::steady_clock;
  Stopwatch() : total(nullptr), start(Clock::now()) {}
  explicit Stopwatch(double &total) : total(&total), start(Clock::now()) {}
  ~Stopwatch() {
    if (total)
      *total += seconds();
  }
  Stopwatch(const Stopwatch &) = delete;
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

private:
  double *total;
  Clock::time_point start;
};

} // namespace mlir::ansor

#endif // ANSOR_SUPPORT_STOPWATCH_H
