//===- Columns.h - Windows of an operand as rows of a matrix ----*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_SKETCH_RULES_COLUMNS_H
#define ANSOR_LIB_SKETCH_RULES_COLUMNS_H

#include "../Rules.h"

namespace mlir::ansor {

/// An anchor whose operand is read through windows, when these are copied into
/// a column buffer first (`transform.ansor.im2col`).
struct Columns {
  unsigned operand = 0; ///< that is copied
  /// Steps of a dot instruction: a row of the buffer is a multiple of them.
  int64_t group = 1;
  /// The loop that lies innermost in the buffer, or -1.
  int lane = -1;
  /// The product that is left: the anchor's parallel loops, then its reductions
  /// that are one loop each.
  Stage product;
  /// Tiles of the copy, by dimension of the buffer before rows are one.
  SmallVector<TileSize> copyTile;
  /// Elements of the buffer for each iteration of the parallel loops that the
  /// operand depends on.
  int64_t rowElements = 1;
  SmallVector<unsigned> rowLoops;
};

/// How the windows of `anchor` are copied; nullopt if that isn't known to be
/// right, or can't pay (see docs/Sketches.md).
std::optional<Columns> findColumns(const SketchContext &context,
                                   unsigned anchor);

} // namespace mlir::ansor

#endif // ANSOR_LIB_SKETCH_RULES_COLUMNS_H
