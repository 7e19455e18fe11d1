//===- MultiLevelTiling.h - Multi-level tiling ------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_SKETCH_RULES_MULTILEVELTILING_H
#define ANSOR_LIB_SKETCH_RULES_MULTILEVELTILING_H

#include "Columns.h"

namespace mlir::ansor {

/// The iterations of a loop that read padding: the first `low` and the last
/// `high` ones.
struct Border {
  unsigned loop = 0;
  int64_t low = 0, high = 0;
};

/// How the levels of one anchor are built.
struct MultiLevelOptions {
  /// The consumer that follows the tiles, and the level (1 or 2) that it is
  /// computed at; level 0: no consumer.
  std::optional<MatchedConsumer> consumer;
  unsigned fuseLevel = 0;
  /// Loops of the anchor that are cut in two, and where: tiles need not divide
  /// the extent then.
  SmallVector<std::pair<unsigned, int64_t>> splits;
  /// Loops of the anchor whose first `low` and last `high` iterations read
  /// padding, and become parts of their own.
  SmallVector<Border> borders;
  /// The loop that vectors lie along, whose tiles are multiples of them; -1: the
  /// one that the result is contiguous along.
  int lane = -1;
  /// Operand of the anchor that each parallel tile copies, or -1.
  int cacheRead = -1;
  /// Operand of the anchor that is read from panels as wide as the register
  /// tile of the loop that vectors lie along, or -1.
  int pack = -1;
  /// The anchor accumulates into a buffer of its own.
  bool cacheWrite = false;
  /// Each parallel tile copies the windows of an operand, and what is tiled
  /// further is the product that is left.
  std::optional<Columns> columns;
};

/// Steps of reduction loop `loop` that fill one accumulator's bits, if both
/// factors are narrower than it and one of them lies along the loop: what dot
/// instructions take at once. Else, or if the extent is no multiple, 1.
int64_t productGroup(const Stage &stage, unsigned loop);

/// The borders of `anchor`'s loops, if it reads a padded tensor that nobody
/// else does, and what padding costs matters. Empty if borders are all there is.
SmallVector<Border> findBorders(const SketchContext &context, unsigned anchor,
                                const std::optional<MatchedConsumer> &consumer);

/// "border(s2.d0 1 1)" for a derivation.
std::string describe(const Border &border, const Stage &stage);

/// Adds the nest S0 S1 R0 S2 R1 S3 (OSDI 2020: "SSRSRS") of stage `anchor`.
void addMultiLevelNest(const SketchContext &context, SketchState &state,
                       unsigned anchor, const MultiLevelOptions &options);

} // namespace mlir::ansor

#endif // ANSOR_LIB_SKETCH_RULES_MULTILEVELTILING_H
