//===- TaskGraph.h - Analysis of a task -------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the derivation rules may know of a task: its stages (the ops tagged
// with `ansor.stage`) with their loops, the tensors they read and write, and
// which transformations are legal for them. Everything is derived from indexing
// maps, iterator types and bodies, never from the name of an op.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_SKETCH_TASKGRAPH_H
#define ANSOR_SKETCH_TASKGRAPH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::ansor {

/// One loop of a stage's iteration domain.
struct StageLoop {
  int64_t extent = 1;
  bool reduction = false;
  /// Tiles of this loop must be multiples of it (floordiv and mod maps).
  int64_t multipleOf = 1;
  /// False if no tile but the whole extent is known to be right.
  bool tileable = true;
  /// A reduction loop that slides over an input together with another loop.
  bool window = false;
};

/// A tensor that the body of a stage reads.
struct StageRead {
  unsigned operand = 0;  ///< operand number
  int producer = -1;     ///< index of the stage that makes it, or -1
  AffineMap map;         ///< loops -> tensor dimensions
  int64_t elementBits = 32;
};

/// One op of a task.
struct Stage {
  int64_t tag = 0; ///< value of `ansor.stage`
  Operation *op = nullptr;
  /// A linalg op with static extents, none of them zero. Else the stage is
  /// opaque: it has no loops and is left as it is.
  bool structured = false;
  /// A `tensor.pad` with a constant value.
  bool pad = false;
  SmallVector<StageLoop> loops;
  SmallVector<StageRead> reads;
  AffineMap write;       ///< loops -> dimensions of the first result
  int64_t elementBits = 32;
  SmallVector<unsigned> producers, consumers;
  bool output = false;   ///< a result of the task
  bool reduces = false;
  /// Reads no tensor and reduces nothing: the initial value of another stage.
  bool initializer = false;
  /// No reduction, and each tensor is read at a projection of the loops.
  bool elementwise = false;
  /// Elementwise with a body that is cheap enough to be computed again.
  bool inlinable = false;
  /// Data is reused along some loop (OSDI 2020, "multi-level tiling").
  bool needsTiling = false;
  /// Its reduction may run in any order: one result, a combiner that is
  /// associative, commutative and has a neutral element, no `linalg.index`.
  bool reorderable = false;
  /// Its reduction may be cut in tiles: in any order, or there is one loop only,
  /// whose iterations keep their order.
  bool cuttable = false;
  /// Must not be computed inside the tiles of a consumer: tiles that follow the
  /// consumer's are not known to be right.
  bool barrier = false;

  /// Indices of the loops that are (not) reductions, all extents.
  SmallVector<unsigned> spatialLoops() const;
  SmallVector<unsigned> reductionLoops() const;
  /// The loop along the fastest dimension of the result, or -1.
  int contiguousLoop() const;
  /// True if a loop that may be cut runs more than once.
  bool hasTileableLoop(bool reduction) const;
};

/// The consumer that an anchor's tiles can be followed by.
struct MatchedConsumer {
  unsigned stage = 0;
  /// For each loop of the consumer, the loop of the anchor that it follows.
  SmallVector<unsigned> anchorLoop;
  /// Stages between the two, computed with the consumer.
  SmallVector<unsigned> between;
};

class TaskGraph {
public:
  /// Analyses `task`. Never fails: what can't be scheduled is opaque.
  explicit TaskGraph(func::FuncOp task);

  func::FuncOp getTask() const { return task; }
  StringRef getKey() const;
  ArrayRef<Stage> getStages() const { return stages; }
  const Stage &getStage(unsigned index) const { return stages[index]; }
  unsigned size() const { return stages.size(); }

  /// The elementwise stage at the end of the chain that alone uses `anchor`
  /// and reads it element by element, if there is one.
  std::optional<MatchedConsumer> matchedConsumer(unsigned anchor) const;

  /// Why some stage is opaque, for a remark; empty if none is.
  StringRef getOpaqueReason() const { return opaqueReason; }

private:
  func::FuncOp task;
  std::vector<Stage> stages;
  std::string opaqueReason;
};

} // namespace mlir::ansor

#endif // ANSOR_SKETCH_TASKGRAPH_H
