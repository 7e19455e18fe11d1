//===- LayoutRules.cpp - Ops with their channels last -----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an op looks like if one of its tensors has its channels last. Structured
// ops may have any layout: maps are composed with permutations. Which one
// follows from the loops that run over channels.
//
//===----------------------------------------------------------------------===//

#include "LayoutPlan.h"
#include "ansor/IR/AnsorDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ansor;
using namespace mlir::ansor::detail;
using llvm::SmallBitVector;

bool OpLayout::changes() const {
  auto moved = [](const ValueLayout &value) {
    return !value.permutation.empty();
  };
  return llvm::any_of(operands, moved) || llvm::any_of(results, moved);
}

/// The dimensions of `channels` behind the others, both in their old order.
static ValueLayout moveLast(const SmallBitVector &channels) {
  ValueLayout layout;
  layout.channels = channels;
  for (bool last : {false, true})
    for (unsigned dim = 0; dim < channels.size(); ++dim)
      if (channels.test(dim) == last)
        layout.permutation.push_back(dim);
  if (llvm::is_sorted(layout.permutation)) {
    layout.permutation.clear();
    layout.channels.reset();
  }
  return layout;
}

static bool isPlainTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding();
}

static OpLayout keepAll(Operation *op) {
  OpLayout layout;
  layout.operands.resize(op->getNumOperands());
  layout.results.resize(op->getNumResults());
  return layout;
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

static bool mayMoveLoops(linalg::LinalgOp op) {
  return op && op.hasPureTensorSemantics() && !isa<linalg::FillOp>(op) &&
         !op->hasAttr(kPrepackAttr) &&
         llvm::all_of(op->getResultTypes(), isPlainTensor) &&
         llvm::all_of(op->getOperandTypes(), [](Type type) {
           return !isa<ShapedType>(type) || isPlainTensor(type);
         });
}

/// The layout of `op` whose `channels` are the loops over channels: last among
/// the parallel ones, and among the reductions.
static OpLayout layOutLoops(linalg::LinalgOp op,
                            const SmallBitVector &channels) {
  OpLayout layout = keepAll(op);
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (bool reduction : {false, true})
    for (bool last : {false, true})
      for (unsigned loop = 0; loop < kinds.size(); ++loop)
        if ((kinds[loop] != utils::IteratorType::parallel) == reduction &&
            channels.test(loop) == last)
          layout.loopOrder.push_back(loop);
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallBitVector dims(map.getNumResults());
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      for (unsigned loop : channels.set_bits())
        if (expr.isFunctionOfDim(loop))
          dims.set(dim);
    layout.operands[operand.getOperandNumber()] = moveLast(dims);
  }
  for (OpResult result : op->getResults())
    layout.results[result.getResultNumber()] =
        layout.operands[op.getDpsInitOperand(result.getResultNumber())
                            ->getOperandNumber()];
  return layout;
}

/// Lets the dimensions of `filter` follow the loops in `order`.
static void orderFilter(linalg::LinalgOp op, OpOperand *filter,
                        ArrayRef<unsigned> order, OpLayout &layout) {
  AffineMap map = op.getMatchingIndexingMap(filter);
  ValueLayout &value = layout.operands[filter->getOperandNumber()];
  value = ValueLayout();
  for (unsigned loop : order)
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (expr.isFunctionOfDim(loop) &&
          !llvm::is_contained(value.permutation, dim))
        value.permutation.push_back(dim);
  // A filter's dimension that no loop runs over is not known to these.
  if (value.permutation.size() != map.getNumResults() ||
      llvm::is_sorted(value.permutation))
    value.permutation.clear();
}

/// The loops of a convolution; nothing if it has no channels (pooling).
static FailureOr<linalg::ConvolutionDimensions>
findConvolution(linalg::LinalgOp op) {
  FailureOr<linalg::ConvolutionDimensions> dims =
      linalg::inferConvolutionDims(op);
  if (succeeded(dims) && dims->depth.empty() && dims->outputChannel.empty() &&
      dims->inputChannel.empty())
    return failure();
  return dims;
}

static SmallBitVector toSet(unsigned size,
                            std::initializer_list<ArrayRef<unsigned>> lists) {
  SmallBitVector set(size);
  for (ArrayRef<unsigned> list : lists)
    for (unsigned i : list)
      set.set(i);
  return set;
}

std::optional<OpLayout> ansor::detail::layOutConvolution(Operation *op) {
  auto conv = dyn_cast<linalg::LinalgOp>(op);
  if (!mayMoveLoops(conv))
    return std::nullopt;
  FailureOr<linalg::ConvolutionDimensions> dims = findConvolution(conv);
  if (failed(dims))
    return std::nullopt;
  OpLayout layout = layOutLoops(
      conv, toSet(conv.getNumLoops(),
                  {dims->depth, dims->outputChannel, dims->inputChannel}));
  if (layout.operands[0].permutation.empty() &&
      layout.results[0].permutation.empty())
    return std::nullopt;
  // Each group's filter is one block; one channel a group is no block.
  SmallVector<unsigned> order;
  if (!dims->inputChannel.empty())
    llvm::append_range(order, dims->depth);
  llvm::append_range(order, dims->filterLoop);
  if (dims->inputChannel.empty())
    llvm::append_range(order, dims->depth);
  llvm::append_range(order, dims->inputChannel);
  llvm::append_range(order, dims->outputChannel);
  orderFilter(conv, conv.getDpsInputOperand(1), order, layout);
  return layout;
}

/// True if `op` reduces along a loop that two of its inputs have.
static bool isContraction(linalg::LinalgOp op) {
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  return llvm::any_of(reductions, [&](unsigned loop) {
    return llvm::count_if(op.getDpsInputOperands(), [&](OpOperand *input) {
             return op.payloadUsesValueFromOperand(input) &&
                    op.getMatchingIndexingMap(input).isFunctionOfDim(loop);
           }) > 1;
  });
}

/// A contraction whose one factor has channels only, as 1x1 convolutions have.
static std::optional<OpLayout>
followContraction(linalg::LinalgOp op, OpOperand *known,
                  const SmallBitVector &channels) {
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims) || op.getNumDpsInputs() != 2 || !dims->batch.empty())
    return std::nullopt;
  for (unsigned filter : {1, 0}) {
    ArrayRef<unsigned> rows = filter == 1 ? dims->n : dims->m;
    OpLayout layout =
        layOutLoops(op, toSet(op.getNumLoops(), {rows, dims->k}));
    if (known->getOperandNumber() == filter ||
        layout.operands[known->getOperandNumber()].channels != channels)
      continue;
    SmallVector<unsigned> order(dims->k.begin(), dims->k.end());
    llvm::append_range(order, rows);
    orderFilter(op, op.getDpsInputOperand(filter), order, layout);
    return layout;
  }
  return std::nullopt;
}

static std::optional<OpLayout> followLoops(linalg::LinalgOp op, Value value,
                                           const SmallBitVector &channels) {
  if (!mayMoveLoops(op) || succeeded(findConvolution(op)))
    return std::nullopt;
  OpOperand *known = nullptr;
  if (auto result = dyn_cast<OpResult>(value); result.getOwner() == op)
    known = op.getDpsInitOperand(result.getResultNumber());
  for (OpOperand &operand : op->getOpOperands())
    if (!known && operand.get() == value)
      known = &operand;
  if (!known)
    return std::nullopt; // used in the body
  if (isContraction(op))
    return followContraction(op, known, channels);
  AffineMap map = op.getMatchingIndexingMap(known);
  SmallBitVector loops(op.getNumLoops());
  for (unsigned dim : channels.set_bits())
    for (unsigned loop = 0; loop < loops.size(); ++loop)
      if (map.getResult(dim).isFunctionOfDim(loop))
        loops.set(loop);
  OpLayout layout = layOutLoops(op, loops);
  if (layout.operands[known->getOperandNumber()].channels != channels)
    return std::nullopt;
  return layout;
}

//===----------------------------------------------------------------------===//
// Reshapes, slices, padding
//===----------------------------------------------------------------------===//

/// For a tensor `wide` whose dimensions in each of `groups` are one in another
/// form: the groups whose elements run along `channels` of `wide` alone.
/// Nothing if a group has both kinds.
static std::optional<SmallBitVector>
mergeChannels(ArrayRef<int64_t> wide, ArrayRef<ReassociationIndices> groups,
              const SmallBitVector &channels) {
  SmallBitVector merged(groups.size());
  for (auto [number, group] : llvm::enumerate(groups)) {
    unsigned in = 0, out = 0, units = 0;
    for (int64_t dim : group) {
      if (wide[dim] == 1)
        units += channels.test(dim);
      else
        ++(channels.test(dim) ? in : out);
    }
    if (in && out)
      return std::nullopt;
    if (in || (!out && units))
      merged.set(number);
  }
  return merged;
}

static SmallBitVector splitChannels(unsigned rank,
                                    ArrayRef<ReassociationIndices> groups,
                                    const SmallBitVector &channels) {
  SmallBitVector split(rank);
  for (unsigned number : channels.set_bits())
    for (int64_t dim : groups[number])
      split.set(dim);
  return split;
}

std::optional<SmallVector<ReassociationIndices>>
ansor::detail::permuteGroups(ArrayRef<int64_t> wide,
                             ArrayRef<ReassociationIndices> groups,
                             ArrayRef<int64_t> wideOrder,
                             ArrayRef<int64_t> narrowOrder) {
  SmallVector<unsigned> place(groups.size()), groupOf(wide.size());
  for (auto [number, group] : llvm::enumerate(groups)) {
    place[narrowOrder.empty() ? number : narrowOrder[number]] = number;
    for (int64_t dim : group)
      groupOf[dim] = number;
  }
  // Dimensions of extent 1 go with their neighbours, unless a group has no
  // others.
  auto isFree = [&](int64_t dim) {
    const ReassociationIndices &group = groups[groupOf[dim]];
    return wide[dim] == 1 &&
           (dim != group.front() ||
            llvm::any_of(group, [&](int64_t d) { return wide[d] != 1; }));
  };
  SmallVector<ReassociationIndices> moved(groups.size());
  unsigned current = 0;
  int64_t last = -1;
  for (unsigned i = 0; i < wide.size(); ++i) {
    int64_t dim = wideOrder.empty() ? i : wideOrder[i];
    if (!isFree(dim)) {
      unsigned wanted = place[groupOf[dim]];
      bool next = last >= 0 && wanted == current + 1;
      if (wanted != current && !next)
        return std::nullopt;
      if (!next && dim < last)
        return std::nullopt; // out of order inside a group
      current = wanted;
      last = dim;
    }
    moved[current].push_back(i);
  }
  if (current + 1 != groups.size())
    return std::nullopt;
  return moved;
}

/// `narrow` is `wide` with each of `groups` as one dimension.
static std::optional<std::pair<ValueLayout, ValueLayout>>
followReshape(RankedTensorType wide, ArrayRef<ReassociationIndices> groups,
              bool wideIsKnown, const SmallBitVector &channels) {
  if (groups.empty())
    return std::nullopt;
  std::optional<SmallBitVector> merged = channels;
  if (wideIsKnown)
    merged = mergeChannels(wide.getShape(), groups, channels);
  if (!merged)
    return std::nullopt;
  auto both = std::make_pair(
      moveLast(wideIsKnown ? channels
                           : splitChannels(wide.getRank(), groups, channels)),
      moveLast(*merged));
  if (!permuteGroups(wide.getShape(), groups, both.first.permutation,
                     both.second.permutation))
    return std::nullopt;
  return both;
}

/// All operands numbered `first` to `last` and the result have `channels` last.
static OpLayout followSameShape(Operation *op, unsigned first, unsigned last,
                                const SmallBitVector &channels) {
  OpLayout layout = keepAll(op);
  for (unsigned i = first; i <= last; ++i)
    layout.operands[i] = moveLast(channels);
  layout.results[0] = moveLast(channels);
  return layout;
}

std::optional<OpLayout>
ansor::detail::followLayout(Operation *op, Value value,
                            const SmallBitVector &channels) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return followLoops(linalgOp, value, channels);
  if (op->getNumResults() != 1 || !isPlainTensor(op->getResult(0).getType()) ||
      op->getNumOperands() == 0 || !isPlainTensor(op->getOperand(0).getType()))
    return std::nullopt;
  bool ofResult = value == op->getResult(0);
  auto rank = [](Value v) {
    return cast<RankedTensorType>(v.getType()).getRank();
  };
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    if (llvm::any_of(pad.getRegion().getArguments(),
                     [](BlockArgument arg) { return !arg.use_empty(); }))
      return std::nullopt; // what is filled in depends on the place
    if (!ofResult && value != pad.getSource())
      return std::nullopt;
    return followSameShape(op, 0, 0, channels);
  }
  if (isa<tensor::ConcatOp>(op))
    return followSameShape(op, 0, op->getNumOperands() - 1, channels);
  if (isa<tensor::CastOp>(op))
    return followSameShape(op, 0, 0, channels);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    if (rank(insert.getSource()) != rank(insert.getDest()))
      return std::nullopt;
    return followSameShape(op, 0, 1, channels);
  }
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (rank(extract.getSource()) != rank(extract.getResult()))
      return std::nullopt;
    return followSameShape(op, 0, 0, channels);
  }
  OpLayout layout = keepAll(op);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    auto both = followReshape(collapse.getSrcType(),
                              collapse.getReassociationIndices(), !ofResult,
                              channels);
    if (!both)
      return std::nullopt;
    std::tie(layout.operands[0], layout.results[0]) = *both;
    return layout;
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    if (!ofResult && value != expand.getSrc())
      return std::nullopt;
    auto both = followReshape(expand.getResultType(),
                              expand.getReassociationIndices(), ofResult,
                              channels);
    if (!both)
      return std::nullopt;
    std::tie(layout.results[0], layout.operands[0]) = *both;
    return layout;
  }
  return std::nullopt;
}
