//===- CollapseLoops.cpp - Loops that are one -------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two dimensions that all ops of a task run through together are one: a 1x1
// convolution whose images come channel by channel is then a matrix product
// with rows of height times width elements, whose vectors and tiles no longer
// end at each row of pixels, and an elementwise task of any rank is a loop.
//
//===----------------------------------------------------------------------===//

#include "TaskInternal.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::ansor;
using namespace mlir::ansor::detail;

namespace {

/// Which neighbouring dimensions of each tensor of a task become one.
class Collapser {
public:
  explicit Collapser(func::FuncOp task) : task(task) {}

  /// False if there is nothing to do.
  bool analyze();
  void rewrite();
  /// The dimensions of argument `i` that each new one stands for; empty if it
  /// stays as it is.
  SmallVector<ReassociationIndices> getGroups(Value value) const;

private:
  /// Whether loop `b` always follows loop `a`, in `op`.
  bool canJoin(linalg::GenericOp op, unsigned a, unsigned b) const;
  /// Whether dimensions `i` and `i` + 1 of operand `map` may be one.
  bool canJoinDims(linalg::GenericOp op, AffineMap map, unsigned i) const;
  bool restrict(linalg::GenericOp op);
  bool restrict(tensor::PadOp op);
  bool tie(Value a, Value b);
  void rewrite(linalg::GenericOp op);
  void rewrite(tensor::PadOp op);

  func::FuncOp task;
  /// Bit i: dimensions i and i + 1 are one. Values without a rank of two at
  /// least have no entry.
  llvm::MapVector<Value, llvm::SmallBitVector> joint;
};

} // namespace

bool Collapser::canJoin(linalg::GenericOp op, unsigned a, unsigned b) const {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  if (a == b || kinds[a] != kinds[b])
    return false;
  WalkResult found = op.getBody()->walk([&](linalg::IndexOp index) {
    return index.getDim() == a || index.getDim() == b ? WalkResult::interrupt()
                                                      : WalkResult::advance();
  });
  if (found.wasInterrupted())
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isFunctionOfDim(a) && !map.isFunctionOfDim(b))
      continue;
    auto bits = joint.find(operand.get());
    std::optional<unsigned> at = map.getResultPosition(
        getAffineDimExpr(a, op.getContext()));
    if (!at || bits == joint.end() || *at + 1 >= map.getNumResults() ||
        !bits->second.test(*at) ||
        map.getResult(*at + 1) != getAffineDimExpr(b, op.getContext()))
      return false;
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (i != *at && i != *at + 1 &&
          (expr.isFunctionOfDim(a) || expr.isFunctionOfDim(b)))
        return false;
  }
  return true;
}

bool Collapser::canJoinDims(linalg::GenericOp op, AffineMap map,
                            unsigned i) const {
  auto first = dyn_cast<AffineDimExpr>(map.getResult(i));
  auto second = dyn_cast<AffineDimExpr>(map.getResult(i + 1));
  return first && second &&
         canJoin(op, first.getPosition(), second.getPosition());
}

/// Both have the same dimensions. True if one of them changed.
bool Collapser::tie(Value a, Value b) {
  auto first = joint.find(a), second = joint.find(b);
  if (first == joint.end() || second == joint.end() ||
      first->second == second->second)
    return false;
  first->second &= second->second;
  second->second = first->second;
  return true;
}

bool Collapser::restrict(linalg::GenericOp op) {
  bool changed = false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto bits = joint.find(operand.get());
    if (bits == joint.end())
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned i : llvm::to_vector(bits->second.set_bits()))
      if (!canJoinDims(op, map, i)) {
        bits->second.reset(i);
        changed = true;
      }
  }
  for (auto [init, result] : llvm::zip(op.getOutputs(), op->getResults()))
    changed |= tie(init, result);
  return changed;
}

bool Collapser::restrict(tensor::PadOp op) {
  bool changed = tie(op.getSource(), op.getResult());
  auto bits = joint.find(op.getResult());
  if (bits == joint.end())
    return changed;
  ArrayRef<int64_t> low = op.getStaticLow(), high = op.getStaticHigh();
  for (unsigned i : llvm::to_vector(bits->second.set_bits()))
    if (low[i] || high[i] || low[i + 1] || high[i + 1]) {
      bits->second.reset(i);
      changed = true;
    }
  return tie(op.getSource(), op.getResult()) || changed;
}

bool Collapser::analyze() {
  Block &block = task.getBody().front();
  auto add = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() < 2)
      return;
    llvm::SmallBitVector bits(type.getRank() - 1);
    for (unsigned i = 0; i < bits.size(); ++i)
      if (!type.isDynamicDim(i) && !type.isDynamicDim(i + 1) &&
          !type.getEncoding())
        bits.set(i);
    // Only these ops are understood, and not what reads whole tensors.
    for (Operation *user : value.getUsers())
      if (user->getBlock() != &block ||
          !isa<linalg::GenericOp, linalg::FillOp, tensor::PadOp,
               func::ReturnOp>(user))
        bits.reset();
    if (Operation *def = value.getDefiningOp()) {
      auto pad = dyn_cast<tensor::PadOp>(def);
      if (!isa<linalg::GenericOp, linalg::FillOp, tensor::EmptyOp>(def) &&
          !(pad && pad.getLow().empty() && pad.getHigh().empty() &&
            pad.getConstantPaddingValue()))
        bits.reset();
    }
    joint[value] = bits;
  };
  for (BlockArgument arg : block.getArguments())
    add(arg);
  for (Operation &op : block)
    for (OpResult result : op.getResults())
      add(result);

  for (bool changed = true; changed;) {
    changed = false;
    for (Operation &op : block) {
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        changed |= restrict(generic);
      else if (auto pad = dyn_cast<tensor::PadOp>(op))
        changed |= restrict(pad);
      else if (auto fill = dyn_cast<linalg::FillOp>(op))
        changed |= tie(fill.output(), fill.getResult(0));
    }
  }
  return llvm::any_of(joint, [](auto &entry) { return entry.second.any(); });
}

SmallVector<ReassociationIndices> Collapser::getGroups(Value value) const {
  auto bits = joint.find(value);
  SmallVector<ReassociationIndices> groups;
  if (bits == joint.end() || bits->second.none())
    return groups;
  groups.push_back({0});
  for (unsigned i = 0; i < bits->second.size(); ++i) {
    if (!bits->second.test(i))
      groups.emplace_back();
    groups.back().push_back(i + 1);
  }
  return groups;
}

void Collapser::rewrite(linalg::GenericOp op) {
  // Loops that follow another one become part of it.
  unsigned numLoops = op.getNumLoops();
  SmallVector<bool> follows(numLoops);
  for (OpOperand &operand : op->getOpOperands()) {
    auto bits = joint.find(operand.get());
    if (bits == joint.end())
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned i : bits->second.set_bits())
      follows[map.getDimPosition(i + 1)] = true;
  }
  MLIRContext *context = op.getContext();
  Builder builder(context);
  SmallVector<AffineExpr> dims;
  SmallVector<Attribute> kinds;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypes())) {
    // The followers' own expressions are dropped below.
    dims.push_back(getAffineDimExpr(follows[loop] ? 0 : kinds.size(), context));
    if (!follows[loop])
      kinds.push_back(kind);
  }
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto bits = joint.find(operand.get());
    SmallVector<AffineExpr> results;
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (i == 0 || bits == joint.end() || !bits->second.test(i - 1))
        results.push_back(expr.replaceDims(dims));
    maps.push_back(AffineMap::get(kinds.size(), 0, results, context));
  }
  op.getBody()->walk([&](linalg::IndexOp index) {
    index.setDim(cast<AffineDimExpr>(dims[index.getDim()]).getPosition());
  });
  op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  op.setIteratorTypesAttr(builder.getArrayAttr(kinds));
}

void Collapser::rewrite(tensor::PadOp op) {
  auto found = joint.find(op.getResult());
  if (found == joint.end() || found->second.none())
    return;
  const llvm::SmallBitVector &bits = found->second;
  SmallVector<int64_t> low, high;
  for (unsigned i = 0; i <= bits.size(); ++i)
    if (i == 0 || !bits.test(i - 1)) {
      low.push_back(op.getStaticLow()[i]);
      high.push_back(op.getStaticHigh()[i]);
    }
  op.setStaticLow(low);
  op.setStaticHigh(high);
  // The padding is constant, so that no index is read.
  op.getRegion().front().eraseArguments(low.size(),
                                        bits.size() + 1 - low.size());
}

void Collapser::rewrite() {
  Block &block = task.getBody().front();
  for (Operation &op : block) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      rewrite(generic);
    else if (auto pad = dyn_cast<tensor::PadOp>(op))
      rewrite(pad);
  }
  for (auto &[value, bits] : joint) {
    if (bits.none())
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape = {type.getDimSize(0)};
    for (unsigned i = 0; i < bits.size(); ++i) {
      if (bits.test(i))
        shape.back() *= type.getDimSize(i + 1);
      else
        shape.push_back(type.getDimSize(i + 1));
    }
    Value changed = value;
    changed.setType(RankedTensorType::get(shape, type.getElementType()));
  }
  task.setFunctionType(FunctionType::get(
      task.getContext(), block.getArgumentTypes(),
      block.getTerminator()->getOperandTypes()));
}

SmallVector<SmallVector<ReassociationIndices>>
ansor::detail::collapseLoops(func::FuncOp task) {
  Collapser collapser(task);
  if (!collapser.analyze())
    return {};
  SmallVector<SmallVector<ReassociationIndices>> groups;
  for (BlockArgument arg : task.getArguments())
    groups.push_back(collapser.getGroups(arg));
  collapser.rewrite();
  return groups;
}
