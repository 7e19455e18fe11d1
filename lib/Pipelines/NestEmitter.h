//===- NestEmitter.h - Emits the code of one nest --------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ANSOR_LIB_PIPELINES_NESTEMITTER_H
#define ANSOR_LIB_PIPELINES_NESTEMITTER_H

#include "Nest.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>

namespace mlir::ansor {

/// Where the current piece of straight code lies in one loop.
struct Position {
  Value base;         ///< induction variable, or null
  int64_t offset = 0; ///< added to it
  int64_t size = 1;   ///< iterations that the piece covers
};

/// Emits the code of one op. The state is that of a recursive descent: parallel
/// loops, then the accumulators, then reduction loops, then bodies.
class NestEmitter {
public:
  NestEmitter(linalg::LinalgOp op, const NestPlan &plan)
      : op(op), plan(plan), b(op), loc(op.getLoc()),
        positions(op.getNumLoops()), buffers(op.hasPureBufferSemantics()) {
    for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
      (iterator == utils::IteratorType::parallel ? parallelLoops
                                                 : reductionLoops)
          .push_back(loop);
    for (OpOperand &operand : op->getOpOperands())
      maps.push_back(op.getMatchingIndexingMap(&operand));
    for (OpOperand &init : op.getDpsInitsMutable()) {
      inits.push_back(init.get());
      needsInit.push_back(!reductionLoops.empty() ||
                          op.payloadUsesValueFromOperand(&init));
    }
  }

  void run() {
    emitParallel(0);
    if (!buffers)
      for (auto [result, value] : llvm::zip_equal(op->getResults(), inits))
        result.replaceAllUsesWith(value);
    op.erase();
  }

  SmallVector<scf::ForOp> runCarried(ArrayRef<scf::ForOp> loops);

private:
  /// One chunk of the lane loop, or one scalar iteration of it.
  struct Chunk {
    int64_t offset, width;
  };

  using Callback = llvm::function_ref<void()>;
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  /// A loop from `lower` to `upper` that carries `state`.
  void emitLoop(unsigned loop, Value lower, Value upper, int64_t step,
                SmallVectorImpl<Value> &state, Callback body);
  /// Splits `loop` into pieces of its tile size and a rest.
  void emitPieces(unsigned loop, SmallVectorImpl<Value> &state, Callback body);
  void emitParallel(unsigned depth);
  void emitLeaf();
  void loadAccumulators();
  void storeAccumulators();
  void forEachResult(llvm::function_ref<void(unsigned, ArrayRef<int64_t>, Chunk)> body);
  void clearCaches() {
    bases.clear();
    sums.clear();
    loads.clear();
    blocks.clear();
  }
  void emitReduction(unsigned depth);
  void emitBodies();
  void evaluate(ArrayRef<int64_t> point, int64_t width,
                ArrayRef<Value> accumulators, SmallVectorImpl<Value> &results);

  SmallVector<Chunk> chunks(int64_t size) const {
    return chunks(size, plan.lanes);
  }
  static SmallVector<Chunk> chunks(int64_t size, int64_t most);
  /// Of the lane loop, in a piece of `size`; the last one may be masked.
  SmallVector<Chunk> laneChunks(int64_t size) const;
  /// How many elements of a vector at `point` belong to the current piece.
  int64_t countActive(ArrayRef<int64_t> point, int64_t width) const;
  /// The mask of the first `active` elements; null for all of them.
  Value getMask(int64_t width, int64_t active);
  /// The loop along which the transposed result `init` is written, if it is.
  std::optional<unsigned> transposedLoop(unsigned init) const;
  void forEachPoint(ArrayRef<unsigned> loops, SmallVectorImpl<int64_t> &point,
                    unsigned depth, Callback body);

  Value loopSize(unsigned loop);
  Value indexOf(unsigned loop, int64_t point);
  SmallVector<Value> indicesOf(unsigned operand, ArrayRef<int64_t> point);
  Value loadScalar(Value source, ValueRange indices);
  Value loadVector(Value source, ValueRange indices, int64_t width) {
    return loadVector(source, indices, width, width);
  }
  Value loadVector(Value source, ValueRange indices, int64_t width,
                   int64_t active);
  Value load(unsigned operand, Value source, ArrayRef<int64_t> point,
             int64_t width);
  Value loadInterleaved(Value source, ValueRange indices, int64_t width,
                        int64_t step);
  Value loadFromBlock(unsigned operand, Value source, ArrayRef<int64_t> point,
                      int64_t width, unsigned loop);
  SmallVector<Value> zip(SmallVector<Value> vectors, unsigned rounds,
                         int64_t most);
  void storeTransposed(unsigned init, unsigned loop);
  void store(unsigned init, Value value, ArrayRef<int64_t> point,
             int64_t width);
  Value combine(unsigned init, Value lhs, Value rhs);
  /// The groups of a dot instruction's operands at `point`.
  Value dotScalars(ArrayRef<int64_t> point);
  Value dotVectors(ArrayRef<int64_t> point, int64_t width);
  /// Visits the sums of what the dot form's offset adds: one for each place of
  /// full vectors in the operand along the lanes.
  void forEachOffset(llvm::function_ref<void(ArrayRef<int64_t>)> body);
  std::vector<int64_t> dotKey(ArrayRef<int64_t> point) const;
  Value reduceLanes(unsigned init, Value vector);
  Value toVector(Value value, int64_t width);
  bool vectors() const { return plan.lane.has_value(); }

  linalg::LinalgOp op;
  const NestPlan &plan;
  OpBuilder b;
  Location loc;
  SmallVector<unsigned> parallelLoops, reductionLoops;
  SmallVector<AffineMap> maps;
  SmallVector<Position> positions;
  SmallVector<Value> inits;     ///< current tensor (or buffer) of each result
  SmallVector<bool> needsInit;  ///< whether old values are read
  SmallVector<Value> accs;      ///< accumulators of the current leaf
  unsigned numSums = 0;         ///< of these, those of results
  /// Accumulators of what a dot form's offset adds, by dotKey.
  std::map<std::vector<int64_t>, unsigned> offsets;
  /// Values computed once for the current block.
  std::map<std::pair<unsigned, unsigned>, Value> bases;
  DenseMap<std::pair<Value, int64_t>, Value> sums;
  std::map<std::pair<unsigned, std::vector<int64_t>>, Value> loads;
  std::map<std::pair<unsigned, std::vector<int64_t>>, SmallVector<Value>>
      blocks;
  bool buffers;
};

} // namespace mlir::ansor

#endif // ANSOR_LIB_PIPELINES_NESTEMITTER_H
