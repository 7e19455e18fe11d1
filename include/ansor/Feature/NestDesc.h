//===- NestDesc.h - Plain loop nests ----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plain description of scheduled loop nests: what features are computed
// from. It is filled by extraction from IR (extractNests), or by arithmetic
// from a sketch and its decisions (SketchFeatures.h); the first is the oracle
// of the second. No MLIR type appears in it.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_FEATURE_NESTDESC_H
#define ANSOR_FEATURE_NESTDESC_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::ansor {

/// One loop around a statement, outermost first. The loops of the innermost
/// tile (inside a linalg op) are listed too; loops of one trip are not.
struct LoopDesc {
  /// What the induction variable drives: a dimension of the written buffer,
  /// none of it (a reduction, or a repetition), or a dimension of it and a
  /// reduced dimension of an input at once.
  enum Kind : uint8_t { Spatial, Reduction, Mixed };
  enum Annotation : uint8_t {
    None,
    Vectorized,
    Unrolled,
    Parallel, ///< CPU
    BlockX,
    BlockY,
    BlockZ,
    ThreadX,
    ThreadY,
    ThreadZ,
    VThread ///< GPU
  };
  int64_t extent = 1; ///< trip count, > 1
  int id = -1;        ///< the same for statements inside the same loop
  Kind kind = Spatial;
  Annotation annotation = None;
  int64_t copies = 1; ///< of the body, if it is unrolled: at most the extent
  /// The last iteration is (or may be) smaller than the others; it counts as a
  /// full one.
  bool partial = false;
};

/// One access of a statement to a buffer.
struct AccessDesc {
  int buffer = -1;          ///< identifies the buffer in its program
  int64_t elementBytes = 4; ///< 1 for types below a byte
  bool reads = false, writes = false;
  /// The element depends on data (a gather); `coefficients` are zero.
  bool indirect = false;
  std::vector<int64_t> shape; ///< extents of the buffer, row-major
  /// [dim * loops + loop]: how many elements one iteration of the loop moves
  /// along the dimension. Loops outside the buffer's allocation have 0: they
  /// reuse its memory.
  std::vector<int64_t> coefficients;
};

/// Scalar operations of one iteration, by class. The arrays are indexed by
/// `Class`. A multiply whose only use is an add counts as one Mad, not as two.
struct OpCounts {
  enum Class { Mad, AddSub, Mul, DivMod, Compare, Math, Other, NumClasses };
  double floats[NumClasses] = {0}, ints[NumClasses] = {0};
  double boolOps = 0, selectOps = 0;
};

/// One written buffer's statement: a row of features.
struct StatementDesc {
  std::string name; ///< "s<stage>", or the op's name
  std::vector<LoopDesc> loops;
  std::vector<AccessDesc> accesses; ///< the written one first
  OpCounts ops;
  int64_t unrollLimit = 0;      ///< innermost `ansor.unroll` at or around it
  int64_t allocationBytes = 0;  ///< size of the temporary it writes, else 0
  unsigned allocationDepth = 0; ///< how many loops are outside the allocation
};

/// A scheduled program: its statements in program order.
struct NestDesc {
  std::vector<StatementDesc> statements;
};

} // namespace mlir::ansor

#endif // ANSOR_FEATURE_NESTDESC_H
