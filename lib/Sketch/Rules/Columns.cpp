//===- Columns.cpp - Windows of an operand as rows of a matrix --*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "im2col": a parallel tile copies the windows that it reads into a buffer, and
// computes a plain product from that. Decides for which anchors, and what the
// product looks like.
//
//===----------------------------------------------------------------------===//

#include "Columns.h"
#include "MultiLevelTiling.h"
#include "ansor/Support/Structured.h"
#include "ansor/Target/DotInstructions.h"

using namespace mlir;
using namespace mlir::ansor;

/// Rows of the buffer that fit in half of the second-level cache: those of a
/// register tile, and as many that are copied for the next.
static constexpr int64_t kCachedRows = 16;

/// True if some subscript of `map` is of a parallel and a reduction loop.
static bool readsWindows(const Stage &stage, AffineMap map) {
  return llvm::any_of(map.getResults(), [&](AffineExpr expr) {
    bool parallel = false, window = false;
    for (auto [loop, info] : llvm::enumerate(stage.loops))
      if (info.extent > 1 && expr.isFunctionOfDim(loop))
        (info.reduction ? window : parallel) = true;
    return parallel && window;
  });
}

/// The one read of `stage` through windows; null if there is none or another.
static const StageRead *findWindows(const Stage &stage) {
  const StageRead *found = nullptr;
  for (const StageRead &read : stage.reads) {
    if (read.map.isProjectedPermutation())
      continue;
    if (found || !readsWindows(stage, read.map))
      return nullptr;
    found = &read;
  }
  return found;
}

/// Whether all loops may be cut anywhere, and the parallel ones come first.
static bool hasPlainLoops(const Stage &stage) {
  bool reduction = false;
  for (const StageLoop &loop : stage.loops) {
    if (!loop.tileable || loop.multipleOf != 1 ||
        (reduction && !loop.reduction))
      return false;
    reduction |= loop.reduction;
  }
  return reduction;
}

/// The reductions in the order in which the other reads hold them, cut where
/// they aren't side by side in one; empty if that isn't known.
static SmallVector<SmallVector<unsigned>> findRuns(const Stage &stage,
                                                   const StageRead &windows) {
  SmallVector<unsigned> reductions = stage.reductionLoops();
  SmallVector<bool> joined(reductions.size() - 1, true);
  bool isOrdered = false;
  for (const StageRead &read : stage.reads) {
    if (&read == &windows)
      continue;
    SmallVector<std::pair<unsigned, unsigned>> places; // dimension, loop
    for (auto [dim, expr] : llvm::enumerate(read.map.getResults()))
      if (unsigned loop = cast<AffineDimExpr>(expr).getPosition();
          stage.loops[loop].reduction)
        places.emplace_back(dim, loop);
    if (places.empty())
      continue;
    if (places.size() != reductions.size())
      return {};
    SmallVector<unsigned> order;
    for (auto [dim, loop] : places)
      order.push_back(loop);
    if (isOrdered && order != reductions)
      return {};
    reductions = order;
    isOrdered = true;
    for (unsigned i = 0; i + 1 < places.size(); ++i)
      joined[i] &= places[i].first + 1 == places[i + 1].first;
  }
  SmallVector<SmallVector<unsigned>> runs;
  for (auto [i, loop] : llvm::enumerate(reductions)) {
    if (i == 0 || !joined[i - 1])
      runs.emplace_back();
    runs.back().push_back(loop);
  }
  return runs;
}

/// The product that is left of `stage` when `windows` are rows of a buffer.
static Columns makeColumns(const Stage &stage, const StageRead &windows,
                           ArrayRef<SmallVector<unsigned>> runs,
                           int64_t group) {
  MLIRContext *mlirContext = windows.map.getContext();
  Columns columns;
  columns.operand = windows.operand;
  int contiguous = stage.contiguousLoop();
  if (contiguous >= 0 && windows.map.isFunctionOfDim(contiguous))
    columns.lane = contiguous;
  Stage &product = columns.product;
  product = stage;
  product.loops.clear();
  SmallVector<AffineExpr> dims(stage.loops.size(),
                               getAffineConstantExpr(0, mlirContext));
  for (unsigned loop : stage.spatialLoops()) {
    dims[loop] = getAffineDimExpr(loop, mlirContext);
    product.loops.push_back(stage.loops[loop]);
    if (windows.map.isFunctionOfDim(loop))
      columns.rowLoops.push_back(loop);
  }
  SmallVector<AffineExpr> rows;
  for (ArrayRef<unsigned> run : runs) {
    StageLoop info = stage.loops[run.front()];
    for (unsigned loop : run.drop_front())
      info.extent *= stage.loops[loop].extent;
    info.window = false;
    rows.push_back(getAffineDimExpr(product.loops.size(), mlirContext));
    dims[run.front()] = rows.back();
    product.loops.push_back(info);
  }
  columns.group = group;
  int64_t &last = product.loops.back().extent;
  last = llvm::alignTo(last, group);
  for (const StageLoop &loop : product.loops)
    if (loop.reduction)
      columns.rowElements *= loop.extent;

  unsigned numLoops = product.loops.size();
  for (StageRead &read : product.reads) {
    SmallVector<AffineExpr> results;
    if (read.operand == windows.operand) {
      for (unsigned loop : columns.rowLoops)
        if (static_cast<int>(loop) != columns.lane)
          results.push_back(dims[loop]);
      columns.copyTile.assign(results.size(), TileSize(1));
      llvm::append_range(results, rows);
      if (columns.lane >= 0)
        results.push_back(dims[columns.lane]);
      read.producer = -1;
    } else {
      for (AffineExpr expr : read.map.getResults()) {
        unsigned loop = cast<AffineDimExpr>(expr).getPosition();
        if (isa<AffineDimExpr>(dims[loop]))
          results.push_back(dims[loop]);
      }
    }
    read.map = AffineMap::get(numLoops, 0, results, mlirContext);
  }
  product.write =
      stage.write.replaceDimsAndSymbols(dims, {}, numLoops, 0);
  return columns;
}

/// Steps of the dot instruction that multiplies what `stage` multiplies and
/// takes four or more at once; 1 if there is none. With groups of two (bf16),
/// it wasn't faster than widening where that was measured.
static int64_t findDotGroup(const SketchContext &context, const Stage &stage) {
  auto op = dyn_cast<linalg::LinalgOp>(stage.op);
  auto product = op ? matchWidenedProduct(op) : std::nullopt;
  if (!product)
    return 1;
  const TargetInfo &target = context.target;
  auto match =
      findDotInstruction(target, target.lanes(stage.elementBits) * 32,
                         product->kindX, product->kindY);
  return match && match->instruction->group >= 4 ? match->instruction->group
                                                 : 1;
}

/// Whether what `read` reads in turn lies side by side when `loop` runs.
static bool liesAlong(const StageRead &read, unsigned loop) {
  if (read.map.getNumResults() == 0)
    return false;
  AffineExpr step = getAffineDimExpr(loop, read.map.getContext());
  AffineExpr rest = simplifyAffineExpr(read.map.getResults().back() - step,
                                       read.map.getNumDims(), 0);
  return !rest.isFunctionOfDim(loop) &&
         llvm::none_of(read.map.getResults().drop_back(),
                       [&](AffineExpr e) { return e.isFunctionOfDim(loop); });
}

/// Whether dot instructions of `group` steps serve `stage` as it is: one factor
/// lies along vectors and the other, the same for all of a vector, along whole
/// groups of a reduction.
static bool fitsDot(const Stage &stage, int64_t group) {
  int lane = stage.contiguousLoop();
  if (lane < 0 || stage.reads.size() != 2)
    return false;
  for (auto [scalar, vector] : {std::make_pair(0, 1), std::make_pair(1, 0)}) {
    if (!liesAlong(stage.reads[vector], lane) ||
        stage.reads[scalar].map.isFunctionOfDim(lane))
      continue;
    for (unsigned loop : stage.reductionLoops())
      if (liesAlong(stage.reads[scalar], loop) &&
          stage.loops[loop].extent % group == 0)
        return true;
  }
  return false;
}

std::optional<Columns> mlir::ansor::findColumns(const SketchContext &context,
                                                unsigned anchor) {
  const Stage &stage = context.graph.getStage(anchor);
  if (!stage.structured || !stage.needsTiling || !stage.reorderable ||
      stage.barrier || !stage.write.isProjectedPermutation() ||
      !hasPlainLoops(stage))
    return std::nullopt;
  const StageRead *windows = findWindows(stage);
  if (!windows ||
      llvm::any_of(stage.reductionLoops(), [&](unsigned loop) {
        return !windows->map.isFunctionOfDim(loop);
      }))
    return std::nullopt;
  // Only padding is fused with the parallel tile, in front of the copy.
  for (const StageRead &read : stage.reads)
    if (read.producer >= 0 &&
        (&read != windows || !context.graph.getStage(read.producer).pad))
      return std::nullopt;
  auto runs = findRuns(stage, *windows);
  if (runs.empty())
    return std::nullopt;
  // See docs/Sketches.md: the copy costs more than plain rows gain, unless it
  // lets dot instructions do what would be done one step at a time.
  int64_t group = findDotGroup(context, stage);
  if (group == 1 || fitsDot(stage, group))
    return std::nullopt;
  Columns columns = makeColumns(stage, *windows, runs, group);
  if (!fitsDot(columns.product, group) ||
      columns.rowElements * windows->elementBits / 8 * kCachedRows >
          context.target.l2 / 2)
    return std::nullopt;
  return columns;
}
