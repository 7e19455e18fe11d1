//===- TaskInternal.h - Parts of task extraction ----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Extraction runs in four steps, one file each, on every function:
//
//   Normalize.cpp   one form of each op: generic ops, inlined scalars, fused
//                   elementwise chains, anchors that start from a fill
//   ZeroInsertion.cpp  (of step 1) transposed convolutions by remainders
//   Partition.cpp   convex groups of ops with one root each
//   Chain.cpp       those that are reductions over the same rows
//   CollapseLoops.cpp  loops of a group's function that always follow each
//                   other are one
//   Canonical.cpp   a group's function: order of loops, operands, ops,
//                   arguments
//   Extract.cpp     outlining, and merging of equal tasks
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_TASK_TASKINTERNAL_H
#define ANSOR_LIB_TASK_TASKINTERNAL_H

#include "ansor/Support/Structured.h"
#include "ansor/Task/Task.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace mlir::ansor::detail {

//===----------------------------------------------------------------------===//
// Questions about ops
//===----------------------------------------------------------------------===//

/// Why no task can hold `op`; empty if one can.
StringRef whyNoTask(linalg::LinalgOp op);

/// Work on weights that is done once, outside of tasks.
bool isPacking(Operation *op);

/// A linalg op that tasks can hold, generic and with a reduction.
bool isAnchor(Operation *op);
/// A linalg op that tasks can hold, generic and without a reduction.
bool isPointwise(Operation *op);
/// An elementwise op that only moves data: broadcast, transpose, copy.
bool isMovement(Operation *op);

/// Points of the iteration domain; nothing if an extent is dynamic.
std::optional<int64_t> countIterations(linalg::LinalgOp op);

/// True if each element of input `use` is read in at most one point of its
/// owner's iteration domain, so that computing it there repeats no work.
bool isReadOnce(OpOperand &use);

/// The fill that init number `i` of `op` starts from, if any.
linalg::FillOp getInitFill(linalg::LinalgOp op, unsigned i);
/// True if results of `op` depend on what init number `i` holds, in places that
/// it writes or in others, and that isn't a fill.
bool readsInit(linalg::LinalgOp op, unsigned i);

/// The addition that combines the old value of the only init of `op` with a
/// new term, if that is all that happens to it.
Operation *getAddCombiner(linalg::GenericOp op);

//===----------------------------------------------------------------------===//
// Edits of linalg.generic in place
//===----------------------------------------------------------------------===//

/// A tensor.empty of the type and sizes of `like`.
Value createEmptyLike(RewriterBase &rewriter, Location loc, Value like);

/// Keeps the inputs numbered `order`, in that order. The block arguments of
/// the others must have no use.
void selectInputs(RewriterBase &rewriter, linalg::GenericOp op,
                  ArrayRef<unsigned> order);

/// Turns scalars, splats and fills among the inputs into values that the body
/// captures, merges equal inputs, and drops unused ones.
void cleanInputs(RewriterBase &rewriter, linalg::GenericOp op);

/// Lets `op` read `input` from a copy whose last dimension was number `dim`.
linalg::GenericOp transposeInput(RewriterBase &rewriter, linalg::GenericOp op,
                                 OpOperand *input, unsigned dim);

//===----------------------------------------------------------------------===//
// The steps
//===----------------------------------------------------------------------===//

/// The blocks of `func` whose ops may become tasks: its own, and those of
/// plain structured control flow.
SmallVector<Block *> collectBlocks(func::FuncOp func);

/// Convolutions of `block` over inputs with inserted zeros read the inputs
/// without these, an output's remainder by the stride being a loop.
void removeInsertedZeros(RewriterBase &rewriter, Block &block,
                         const ExtractOptions &options);

/// Reshapes of reshapes are one; reshapes and padding of fills are fills.
void foldReshapes(Block &block);

/// Step 1, on every block of `func`.
void normalize(RewriterBase &rewriter, func::FuncOp func,
               const ExtractOptions &options);

/// A group of ops that becomes one task.
struct TaskGroup {
  /// Members; those in `copied` are also used elsewhere, and are duplicated.
  llvm::SetVector<Operation *> ops;
  llvm::SmallDenseSet<Operation *> copied;
  /// The op whose results leave the group.
  linalg::GenericOp root;
};

/// Fills `group` with the chain of reductions that ends at `root`, if one does
/// and is worth a task of its own.
bool growChain(TaskGroup &group, linalg::GenericOp root,
               function_ref<bool(Operation *)> isFree);

/// Step 2: groups of `block`, in the order of their roots.
SmallVector<TaskGroup> partition(Block &block, const ExtractOptions &options);

/// Makes dimensions of `task` one that all its ops run through together. For
/// each argument the dimensions that its new ones stand for, empty if it stays
/// as it is; nothing if all do. Results have the dimensions of their inits.
SmallVector<SmallVector<ReassociationIndices>> collapseLoops(func::FuncOp task);

/// Makes the transposition of an operand that vectors do not lie along a stage
/// of `task`.
void exposeLayouts(RewriterBase &rewriter, func::FuncOp task);

/// Step 3: brings the body of `task`, whose last `numInits` arguments are its
/// inits, to the canonical form. Returns the canonical order of its arguments:
/// new argument i was argument order[i]; unused ones are dropped.
SmallVector<unsigned> canonicalize(RewriterBase &rewriter, func::FuncOp task,
                                   unsigned numInits);

} // namespace mlir::ansor::detail

#endif // ANSOR_LIB_TASK_TASKINTERNAL_H
