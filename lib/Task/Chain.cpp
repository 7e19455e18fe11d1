//===- Chain.cpp - Chains of reductions over the same rows ------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chain is a group of reductions over the rows of the same loops, with the
// elementwise ops between them: a normalisation, whose sums are read back along
// the loops that they reduce, or contractions around one. Member by member, the
// loops are traced to those of the last op, the root. The rows are the root's
// loops that all members follow, so that a schedule that goes row by row
// computes nothing twice and keeps what is between the members near.
//
//===----------------------------------------------------------------------===//

#include "TaskInternal.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::ansor;
using namespace mlir::ansor::detail;

/// A chain has at least so many rows: they are what runs in parallel.
static constexpr int64_t kMinRows = 8;

/// Bytes that a contraction may read for one row. All rows read them again, and
/// in a chain they don't get what large ones need: blocks of the reduction, and
/// operands that are packed.
static constexpr int64_t kMaxContractionBytes = 256 * 1024;

namespace {
/// For each loop of an op, the root's loop that it follows, or -1.
using Follows = SmallVector<int>;

class Chain {
public:
  Chain(linalg::GenericOp root, function_ref<bool(Operation *)> isFree)
      : root(root), isFree(isFree) {}

  bool grow(TaskGroup &group);

private:
  struct Candidate {
    linalg::GenericOp op;
    Follows follows;
    llvm::SmallBitVector rows; ///< that are left
  };
  /// What `op` would be as a member, if all that reads it is.
  std::optional<Candidate> examine(Operation *op);
  bool joinFollowers(bool &reduced);
  bool joinShrinking(bool &reduced);
  bool mayJoin(linalg::GenericOp op) const;
  Follows trace(linalg::GenericOp op) const;
  bool fits(linalg::GenericOp op, const Follows &loops) const;
  bool isReadBack() const;
  void transposeOperands(TaskGroup &group);
  void dropEpilogues();
  int64_t countRows(const llvm::SmallBitVector &loops);

  linalg::GenericOp root;
  function_ref<bool(Operation *)> isFree;
  llvm::MapVector<Operation *, Follows> members;
  llvm::SmallBitVector rows; ///< loops of the root
};
} // namespace

/// Reduces, and reads some input again along a parallel loop.
static bool isContraction(linalg::GenericOp op) {
  if (!op.getNumReductionLoops())
    return false;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (OpOperand *input : op.getDpsInputOperands())
    for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
      if (iterator == utils::IteratorType::parallel && extents[loop] != 1 &&
          !op.getMatchingIndexingMap(input).isFunctionOfDim(loop))
        return true;
  return false;
}

/// Whether a chain can hold `op` at all.
bool Chain::mayJoin(linalg::GenericOp op) const {
  if (!isFree(op) || !(isAnchor(op) || isPointwise(op)) ||
      op->getNumResults() != 1 || op.hasDynamicShape() ||
      !countIterations(op) || (op != root && readsInit(op, 0)) ||
      !op.getIndexingMapsArray().back().isProjectedPermutation())
    return false;
  if (!isContraction(op))
    return true;
  return llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return map.isProjectedPermutation();
  });
}

/// The root's loops that the loops of `op`, a producer of members, follow in
/// all of its readers alike.
Follows Chain::trace(linalg::GenericOp op) const {
  Follows result(op.getNumLoops(), -1);
  AffineMap write = op.getIndexingMapsArray().back();
  bool first = true;
  for (OpOperand &use : op->getUses()) {
    auto reader = cast<linalg::GenericOp>(use.getOwner());
    const Follows &theirs = members.find(reader)->second;
    AffineMap read = reader.getMatchingIndexingMap(&use);
    Follows here(op.getNumLoops(), -1);
    for (auto [written, asked] :
         llvm::zip_equal(write.getResults(), read.getResults()))
      if (auto from = dyn_cast<AffineDimExpr>(asked))
        here[cast<AffineDimExpr>(written).getPosition()] =
            theirs[from.getPosition()];
    if (first)
      result = here;
    else
      for (auto [loop, other] : llvm::zip_equal(result, here))
        loop = loop == other ? loop : -1;
    first = false;
  }
  return result;
}

int64_t Chain::countRows(const llvm::SmallBitVector &loops) {
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  int64_t count = 1;
  for (unsigned loop : loops.set_bits())
    count *= extents[loop];
  return count;
}

/// Whether what `op` reads for one row, if it is a contraction, is little.
bool Chain::fits(linalg::GenericOp op, const Follows &loops) const {
  if (!isContraction(op))
    return true;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t bytes = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Type element = getElementTypeOrSelf(input->get().getType());
    int64_t size = element.isIntOrFloat()
                       ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
                       : 8;
    for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults()) {
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      if (loops[loop] < 0 || !rows.test(loops[loop]))
        size *= extents[loop];
    }
    bytes += size;
  }
  return bytes <= kMaxContractionBytes;
}

/// Whether some plain reduction is read again along the loops of a reader.
bool Chain::isReadBack() const {
  for (auto &[op, follows] : members) {
    auto reader = cast<linalg::GenericOp>(op);
    SmallVector<int64_t> extents = reader.getStaticLoopRanges();
    for (OpOperand *input : reader.getDpsInputOperands()) {
      auto producer = input->get().getDefiningOp<linalg::GenericOp>();
      if (!producer || !members.contains(producer) || !isAnchor(producer) ||
          isContraction(producer))
        continue;
      AffineMap map = reader.getMatchingIndexingMap(input);
      for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
        if (extents[loop] != 1 && !map.isFunctionOfDim(loop))
          return true;
    }
  }
  return false;
}

/// Leaves to anchors outside the elementwise ops that end their tasks.
void Chain::dropEpilogues() {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[op, follows] : members) {
      if (op == root || !isPointwise(op))
        continue;
      auto pointwise = cast<linalg::GenericOp>(op);
      bool feeds = llvm::any_of(
          pointwise.getDpsInputOperands(), [&](OpOperand *input) {
            Operation *producer = input->get().getDefiningOp();
            return producer && !members.contains(producer) &&
                   isFree(producer) && isAnchor(producer) &&
                   producer->hasOneUse() && isReadOnce(*input) &&
                   !readsInit(cast<linalg::LinalgOp>(producer), 0);
          });
      bool reads = llvm::any_of(
          pointwise.getDpsInputOperands(), [&](OpOperand *input) {
            Operation *producer = input->get().getDefiningOp();
            return producer && members.contains(producer);
          });
      if (!feeds || reads)
        continue;
      members.erase(op);
      changed = true;
      break;
    }
  }
}

std::optional<Chain::Candidate> Chain::examine(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || op->use_empty() || members.contains(op) || !mayJoin(generic))
    return std::nullopt;
  if (!llvm::all_of(op->getUses(), [&](OpOperand &use) {
        auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
        return user && members.contains(user) && user.isDpsInput(&use);
      }))
    return std::nullopt;
  Candidate candidate{generic, trace(generic), {}};
  llvm::SmallBitVector twice(rows.size());
  candidate.rows.resize(rows.size());
  for (int loop : candidate.follows)
    if (loop >= 0) {
      if (candidate.rows.test(loop))
        twice.set(loop);
      candidate.rows.set(loop);
    }
  candidate.rows &= rows;
  candidate.rows.reset(twice);
  llvm::SmallBitVector before = rows;
  rows = candidate.rows;
  bool small = fits(generic, candidate.follows);
  rows = before;
  return small ? std::optional(candidate) : std::nullopt;
}

/// Whether `op` is a plain reduction, or reads one through elementwise ops.
static bool leadsToReduction(Operation *op) {
  llvm::SetVector<Operation *> ops;
  ops.insert(op);
  for (unsigned i = 0; i < ops.size(); ++i) {
    auto generic = cast<linalg::GenericOp>(ops[i]);
    if (isAnchor(generic) && !isContraction(generic))
      return true;
    if (!isPointwise(generic))
      continue;
    for (Value input : generic.getInputs())
      if (auto producer = input.getDefiningOp<linalg::GenericOp>())
        ops.insert(producer);
  }
  return false;
}

/// Backwards, so that the readers of an op come before it.
bool Chain::joinFollowers(bool &reduced) {
  bool joined = false;
  for (Operation *op = root->getPrevNode(); op; op = op->getPrevNode()) {
    std::optional<Candidate> candidate = examine(op);
    if (!candidate || candidate->rows != rows)
      continue;
    members[op] = candidate->follows;
    reduced |= isAnchor(op) && !isContraction(candidate->op);
    joined = true;
  }
  return joined;
}

/// Of the ops that leave fewer rows, the one that leaves the most.
bool Chain::joinShrinking(bool &reduced) {
  std::optional<Candidate> best;
  for (Operation *op = root->getPrevNode(); op; op = op->getPrevNode()) {
    std::optional<Candidate> candidate = examine(op);
    if (candidate && leadsToReduction(op) &&
        countRows(candidate->rows) >= kMinRows &&
        (!best || countRows(candidate->rows) > countRows(best->rows)))
      best = candidate;
  }
  if (!best)
    return false;
  rows = best->rows;
  members[best->op] = best->follows;
  reduced = isAnchor(best->op) && !isContraction(best->op);
  return true;
}

/// Transposes what contractions read across the vectors of their results, if
/// many rows read it again: as a stage of the chain that serves all of them.
void Chain::transposeOperands(TaskGroup &group) {
  IRRewriter rewriter(root.getContext());
  SmallVector<int64_t> rootExtents = root.getStaticLoopRanges();
  for (auto &[member, follows] : members) {
    auto op = cast<linalg::GenericOp>(member);
    if (!isContraction(op))
      continue;
    AffineMap write = op.getIndexingMapsArray().back();
    if (write.getNumResults() == 0)
      continue;
    unsigned lane = write.getDimPosition(write.getNumResults() - 1);
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap read = op.getMatchingIndexingMap(input);
      std::optional<unsigned> position =
          read.getResultPosition(getAffineDimExpr(lane, op.getContext()));
      int64_t again = 1;
      for (auto [loop, row] : llvm::enumerate(follows))
        if (row >= 0 && rows.test(row) && !read.isFunctionOfDim(loop))
          again *= rootExtents[row];
      if (!position || *position + 1 == read.getNumResults() ||
          again < kMinRows || members.contains(input->get().getDefiningOp()))
        continue;
      group.ops.insert(transposeInput(rewriter, op, input, *position));
    }
  }
}

bool Chain::grow(TaskGroup &group) {
  if (!mayJoin(root))
    return false;
  Follows own(root.getNumLoops(), -1);
  rows.resize(root.getNumLoops());
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  AffineMap write = root.getIndexingMapsArray().back();
  for (auto [loop, iterator] : llvm::enumerate(root.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::parallel && extents[loop] > 1 &&
        write.isFunctionOfDim(loop)) {
      own[loop] = loop;
      rows.set(loop);
    }
  members[root] = own;

  // What follows all rows joins. Then one op may leave fewer rows, on the way to
  // the first plain reduction; whatever else does is computed before.
  bool reduced = false;
  while (joinFollowers(reduced) || (!reduced && joinShrinking(reduced)))
    ;
  dropEpilogues();
  if (!fits(root, own) || countRows(rows) < kMinRows || !isReadBack())
    return false;
  group.root = root;
  for (auto &[op, follows] : members)
    group.ops.insert(op);
  transposeOperands(group);
  return true;
}

bool ansor::detail::growChain(TaskGroup &group, linalg::GenericOp root,
                              function_ref<bool(Operation *)> isFree) {
  return Chain(root, isFree).grow(group);
}
