//===- Partition.cpp - Groups of ops that become tasks ----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every group is convex by construction: values leave it only at its root, the
// last of its ops, and every other member is read by members alone (or is
// cheap, and duplicated).
//
//===----------------------------------------------------------------------===//

#include "TaskInternal.h"

using namespace mlir;
using namespace mlir::ansor;
using namespace mlir::ansor::detail;

/// A producer that would be computed again if it were fused is a stage of its
/// own in the group if it is this much smaller than its consumer: then even a
/// schedule that computes it once a tile repeats little.
static constexpr int64_t kSmallProducerFactor = 8;

namespace {
class Partitioner {
public:
  explicit Partitioner(Block &block) : block(block) {}
  SmallVector<TaskGroup> run(const ExtractOptions &options);

private:
  bool isFree(Operation *op) const {
    return op->getBlock() == &block && !claimed.contains(op);
  }
  void addEpilogue(TaskGroup &group);
  void addPrologue(TaskGroup &group);
  bool takesPad(TaskGroup &group, tensor::PadOp pad,
                linalg::GenericOp consumer) const;
  bool takesProducer(const TaskGroup &group, linalg::GenericOp producer,
                     linalg::GenericOp consumer) const;
  void close(TaskGroup &&group);

  Block &block;
  llvm::SmallDenseSet<Operation *> claimed;
  SmallVector<TaskGroup> groups;
};
} // namespace

static bool allUsersIn(Operation *op, const TaskGroup &group) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return group.ops.contains(user);
  });
}

/// Follows the anchor's result through elementwise ops, as far as each is the
/// only reader of the one before and reads each element once.
void Partitioner::addEpilogue(TaskGroup &group) {
  linalg::GenericOp anchor = group.root;
  for (unsigned i = 0; i < anchor.getNumDpsInits(); ++i)
    if (readsInit(anchor, i))
      return;
  while (true) {
    linalg::GenericOp root = group.root;
    OpOperand *use = nullptr;
    for (OpResult result : root->getResults()) {
      if (result.use_empty())
        continue;
      if (use || !result.hasOneUse())
        return;
      use = &*result.use_begin();
    }
    if (!use || !isa<linalg::GenericOp>(use->getOwner()))
      return;
    auto user = cast<linalg::GenericOp>(use->getOwner());
    if (!isFree(user) || !isPointwise(user) || !user.isDpsInput(use) ||
        !isReadOnce(*use))
      return;
    // The sizes of a dynamic intermediate are read off the root's init, so
    // only one may be there, and it must have the root's sizes.
    bool dynamic = !cast<ShapedType>(use->get().getType()).hasStaticShape();
    if (dynamic &&
        (root != anchor || !user.getMatchingIndexingMap(use).isPermutation()))
      return;
    group.ops.insert(user);
    group.root = user;
    if (dynamic)
      return;
  }
}

/// True if `pad` is a member of `group`: padding that others read too is done
/// again if that is little beside the consumer's work.
bool Partitioner::takesPad(TaskGroup &group, tensor::PadOp pad,
                           linalg::GenericOp consumer) const {
  if (!isFree(pad) || !pad.getSourceType().hasStaticShape() ||
      !pad.getResultType().hasStaticShape() || !pad.getLow().empty() ||
      !pad.getHigh().empty() || pad.getResultType().getEncoding() ||
      pad.getSourceType().getEncoding() || !pad.getConstantPaddingValue() ||
      pad.getResultType().getNumElements() == 0)
    return false;
  if (allUsersIn(pad, group))
    return true;
  std::optional<int64_t> reads = countIterations(consumer);
  if (!reads ||
      pad.getResultType().getNumElements() > *reads / kSmallProducerFactor)
    return false;
  group.copied.insert(pad);
  return true;
}

/// True if elementwise `producer` is a member of `group` as a stage of its own.
bool Partitioner::takesProducer(const TaskGroup &group,
                                linalg::GenericOp producer,
                                linalg::GenericOp consumer) const {
  if (!isFree(producer) || !isPointwise(producer) || !isPointwise(consumer) ||
      !allUsersIn(producer, group) || producer.hasDynamicShape() ||
      llvm::any_of(llvm::seq(producer.getNumDpsInits()),
                   [&](int64_t i) { return readsInit(producer, i); }))
    return false;
  std::optional<int64_t> work = countIterations(producer);
  std::optional<int64_t> reads = countIterations(consumer);
  return work && reads && *work <= *reads / kSmallProducerFactor;
}

/// Takes in what alone serves the group: padding, and small producers.
void Partitioner::addPrologue(TaskGroup &group) {
  for (unsigned i = 0; i < group.ops.size(); ++i) {
    auto consumer = dyn_cast<linalg::GenericOp>(group.ops[i]);
    if (!consumer)
      continue;
    for (OpOperand *operand : consumer.getDpsInputOperands()) {
      Operation *producer = operand->get().getDefiningOp();
      if (!producer || group.ops.contains(producer))
        continue;
      if (auto pad = dyn_cast<tensor::PadOp>(producer)) {
        if (takesPad(group, pad, consumer))
          group.ops.insert(pad);
      } else if (auto generic = dyn_cast<linalg::GenericOp>(producer)) {
        if (takesProducer(group, generic, consumer))
          group.ops.insert(generic);
      }
    }
  }
}

void Partitioner::close(TaskGroup &&group) {
  addPrologue(group);
  for (Operation *op : group.ops)
    if (!group.copied.contains(op))
      claimed.insert(op);
  groups.push_back(std::move(group));
}

SmallVector<TaskGroup> Partitioner::run(const ExtractOptions &options) {
  // Chains are the largest groups; from the last op, since an end of one may be
  // its middle as well.
  for (Operation &op : llvm::reverse(block)) {
    auto root = dyn_cast<linalg::GenericOp>(op);
    TaskGroup group;
    if (!root || !isFree(root) ||
        !growChain(group, root, [&](Operation *op) { return isFree(op); }))
      continue;
    if (isAnchor(root))
      addEpilogue(group);
    close(std::move(group));
  }
  // The anchor with the most work chooses first: its result is the one that is
  // worth not writing and reading again. Among equals, the last.
  SmallVector<std::pair<int64_t, linalg::GenericOp>> anchors;
  for (auto op : block.getOps<linalg::GenericOp>())
    if (isAnchor(op))
      anchors.push_back({countIterations(op).value_or(INT64_MAX), op});
  llvm::sort(anchors, [](const auto &a, const auto &b) {
    return a.first != b.first ? a.first > b.first
                              : b.second->isBeforeInBlock(a.second);
  });
  for (auto [work, anchor] : anchors) {
    if (!isFree(anchor))
      continue;
    TaskGroup group;
    group.ops.insert(anchor);
    group.root = anchor;
    addEpilogue(group);
    close(std::move(group));
  }
  // Consumers before producers, so that small producers find their group. One
  // point of work is not worth a call.
  if (options.outlineRest)
    for (Operation &op : llvm::reverse(block)) {
      if (!isFree(&op) || !isPointwise(&op) || op.use_empty() ||
          countIterations(cast<linalg::GenericOp>(op)) == 1)
        continue;
      TaskGroup group;
      group.ops.insert(&op);
      group.root = cast<linalg::GenericOp>(op);
      close(std::move(group));
    }
  llvm::sort(groups, [](const TaskGroup &a, const TaskGroup &b) {
    return a.root->isBeforeInBlock(b.root);
  });
  return std::move(groups);
}

SmallVector<TaskGroup> ansor::detail::partition(Block &block,
                                                const ExtractOptions &options) {
  return Partitioner(block).run(options);
}
