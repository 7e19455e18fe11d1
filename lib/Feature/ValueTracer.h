//===- ValueTracer.h - Memory of tensor values ------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Traces tensors of scheduled IR to the memory that bufferization will give
// them, and indices to the loops that drive them. Nothing is created in the IR
// and no attribute is uniqued: this runs for each scored candidate.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_FEATURE_VALUETRACER_H
#define ANSOR_LIB_FEATURE_VALUETRACER_H

#include "RawNest.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <deque>
#include <optional>

namespace mlir::ansor {

/// A linear function of induction variables, counted in iterations: pairs of
/// a loop's position in the nest and a coefficient. The constant is dropped.
using Linear = SmallVector<std::pair<unsigned, int64_t>, 4>;

/// Adds `scale` times `term` to `sum`.
inline void addScaled(Linear &sum, const Linear &term, int64_t scale) {
  if (scale == 0)
    return;
  for (const auto &part : term) {
    auto *it =
        llvm::find_if(sum, [&](auto &t) { return t.first == part.first; });
    if (it == sum.end())
      sum.push_back({part.first, part.second * scale});
    else
      it->second += part.second * scale;
  }
}

/// Memory that a value lives in after bufferization.
struct Buffer {
  SmallVector<int64_t, 4> shape;
  int64_t elementBytes = 4;
  bool temporary = false; ///< allocated in the function
  unsigned depth = 0;     ///< loops outside the allocation
  int root = -1;          ///< index of the buffer that this one reshapes
  int id = -1;            ///< number in the NestDesc, in order of first access
};

/// The part of a buffer that a tensor value stands for.
struct View {
  int buffer = -1;
  /// Nothing was written yet: a slice of it is a smaller allocation of its
  /// own, and so is what an op writes "into" it.
  bool fresh = false;
  SmallVector<Linear, 4> offsets; ///< by dimension of the buffer
  /// Dimension of the buffer and step in it, by dimension of the value.
  SmallVector<std::pair<unsigned, int64_t>, 4> dims;
};

class ValueTracer {
public:
  /// Says how many loops are open around `block`. Call it on entering a block,
  /// before anything in it is traced.
  void enterBlock(Block &block, unsigned depth) {
    blockDepth[&block] = depth;
    openDepth = depth;
  }
  /// Binds an index to `step` times the iteration of the loop at `position`.
  void bind(Value index, unsigned position, int64_t step) {
    indices[index] = {position, step};
  }
  void unbind(Value index) { indices.erase(index); }

  /// The memory of a tensor value. References stay valid.
  const View &viewOf(Value value);
  /// Keeps a view of the caller's making.
  const View &keep(View view) { return storage.emplace_back(std::move(view)); }
  Buffer &getBuffer(const View &view) { return buffers[view.buffer]; }
  /// The buffer that `view`'s reshapes, or its own.
  Buffer &getRoot(const View &view) {
    Buffer &buffer = buffers[view.buffer];
    return buffer.root >= 0 ? buffers[buffer.root] : buffer;
  }

  /// An upper bound of an index: exact for constants; for the size of a tile
  /// at a boundary, `min(8, 500 - i)`, the full size, and `partial` is set.
  std::optional<int64_t> boundOf(OpFoldResult value, bool &partial);
  /// Extent of a dimension of a tensor; 1 if it is not known.
  int64_t sizeOf(Value value, unsigned dim, bool &partial);
  /// The function of the bound loops that an index is.
  Linear evalIndex(OpFoldResult index);
  /// The function of the loops that `expr` is, with `operand(i, isSymbol)`
  /// giving those of its dimensions and symbols. A quotient moves by at most
  /// one step an iteration where it doesn't divide; a remainder moves like its
  /// operand.
  static Linear evalExpr(AffineExpr expr,
                         function_ref<Linear(unsigned, bool)> operand);

private:
  std::optional<int64_t> boundOfExpr(AffineExpr expr, Operation *op,
                                     unsigned numDims, bool &partial);
  unsigned depthOf(Operation *op) const;
  View makeBuffer(Value value, bool temporary, unsigned depth);
  View written(Value init);
  View trace(Value value);
  View traceSlice(tensor::ExtractSliceOp slice);
  View traceReshape(Operation *op);

  llvm::DenseMap<Block *, unsigned> blockDepth;
  unsigned openDepth = 0;
  llvm::DenseMap<Value, std::pair<unsigned, int64_t>> indices;
  std::deque<Buffer> buffers;
  std::deque<View> storage;
  llvm::DenseMap<Value, const View *> views;
};

} // namespace mlir::ansor

#endif // ANSOR_LIB_FEATURE_VALUETRACER_H
