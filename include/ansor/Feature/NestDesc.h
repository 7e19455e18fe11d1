//===- NestDesc.h - Plain loop nests ----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plain description of scheduled loop nests: what features are computed
// from. Two fillers exist: extraction from IR, and (later) instantiation by
// arithmetic from a sketch and its decisions; the first is the oracle of the
// second. No MLIR type appears in it.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_FEATURE_NESTDESC_H
#define ANSOR_FEATURE_NESTDESC_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::ansor {

/// One loop around a statement, outermost first. The loops of the innermost
/// tile (inside a linalg op) are listed too.
struct LoopDesc {
  int64_t extent = 1; ///< trip count, >= 1
  enum Kind : uint8_t { Spatial, Reduction, Mixed } kind = Spatial;
  enum Annotation : uint8_t { None, Vectorized, Unrolled, Parallel } annotation = None;
};

/// One access of a statement to a buffer.
struct AccessDesc {
  int buffer = -1;        ///< identifies the buffer in its program
  int64_t elementBytes = 4;
  int64_t bufferBytes = 0; ///< size of the whole buffer
  bool reads = false, writes = false;
  /// strides[l] is the distance, in elements, that one iteration of loop l
  /// moves the address (0 if it doesn't), and span[l] how many distinct
  /// elements along its dimension one whole run of loop l touches.
  std::vector<int64_t> strides;
  std::vector<std::vector<int64_t>> coefficients; ///< [dim][loop], in elements
  std::vector<int64_t> shape;                     ///< extents of the buffer
};

/// Scalar operations of one iteration, by class.
struct OpCounts {
  // float then integer: mad, addsub, mul, divmod, cmp, mathfunc, otherfunc
  double f[7] = {0}, i[7] = {0};
  double boolOps = 0, selectOps = 0;
};

/// One written buffer's statement: a row of features.
struct StatementDesc {
  std::string name;
  std::vector<LoopDesc> loops;
  std::vector<AccessDesc> accesses; ///< the written one first
  OpCounts ops;
  int64_t unrollLimit = 0;    ///< `ansor.unroll` around it
  int64_t allocationBytes = 0;///< size of the temporary it writes, 0 if none
  unsigned allocationDepth = 0; ///< how many loops are outside the allocation
};

/// A scheduled program: its statements in program order.
struct NestDesc {
  std::vector<StatementDesc> statements;
};

} // namespace mlir::ansor

#endif // ANSOR_FEATURE_NESTDESC_H
