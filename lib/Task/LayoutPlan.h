//===- LayoutPlan.h - Which ops get which layouts ---------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conversion of layouts (ansor/Task/NetworkLayout.h) in three steps, one
// file each:
//
//   LayoutRules.cpp     what one op may look like with its channels last
//   LayoutPlan.cpp      which ops are worth it
//   ConvertLayouts.cpp  the rewrite
//
// An op of the plan names the layout of each operand and result; all others
// take and give tensors as they are. Where a value's layout is not what a user
// wants, the rewrite transposes, so that any plan gives a right program.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_TASK_LAYOUTPLAN_H
#define ANSOR_LIB_TASK_LAYOUTPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "llvm/ADT/SmallBitVector.h"
#include <optional>

namespace mlir::ansor::detail {

/// New dimension i was dimension p[i]; empty if all stay.
using Permutation = SmallVector<int64_t>;

/// The layout of one operand or result.
struct ValueLayout {
  Permutation permutation;
  /// The dimensions (of the old form) that are the last ones of the new form,
  /// for other ops to follow; none if others shall not.
  llvm::SmallBitVector channels;
};

/// The layout of an op.
struct OpLayout {
  SmallVector<ValueLayout> operands, results;
  /// For structured ops, the old number of each loop.
  SmallVector<unsigned> loopOrder;

  /// True if it differs from the old one.
  bool changes() const;
};

/// The layout of `op` if it is a convolution whose channels aren't the last.
std::optional<OpLayout> layOutConvolution(Operation *op);

/// The layout of `op` if `value`, an operand or a result of it, has `channels`
/// last; nothing if it can't follow.
std::optional<OpLayout> followLayout(Operation *op, Value value,
                                     const llvm::SmallBitVector &channels);

/// A tensor of shape `wide` has each of `groups` as one dimension in its narrow
/// form. The groups when the dimensions of both forms are permuted; nothing if
/// it is no reshape then.
std::optional<SmallVector<ReassociationIndices>>
permuteGroups(ArrayRef<int64_t> wide, ArrayRef<ReassociationIndices> groups,
              ArrayRef<int64_t> wideOrder, ArrayRef<int64_t> narrowOrder);

/// The ops of `func` that get another layout; with `always` also those for
/// which that doesn't pay.
using LayoutPlan = DenseMap<Operation *, OpLayout>;
LayoutPlan planChannelsLast(func::FuncOp func, bool always);

/// True if `value` can be made in any layout at no cost: uninitialised, or the
/// same everywhere.
bool isUniform(Value value);

} // namespace mlir::ansor::detail

#endif // ANSOR_LIB_TASK_LAYOUTPLAN_H
