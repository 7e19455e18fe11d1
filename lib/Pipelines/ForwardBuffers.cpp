//===- ForwardBuffers.cpp - See Passes.td -----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/Pipelines/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_FORWARDBUFFERSPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

namespace {
/// A place in memory that an op reads or writes whole.
struct Place {
  Value buffer;
  SmallVector<Value> indices;
  Type type; ///< of the value, which gives the extent
  int64_t active = 1; ///< so many of its elements, from the first on
};
} // namespace

/// The buffer that `view` is a view of.
static Value rootOf(Value view) {
  while (auto op = view.getDefiningOp<ViewLikeOpInterface>())
    view = op.getViewSource();
  return view;
}

/// Whether `root` shares memory with no other root.
static bool isDistinct(Value root) {
  if (Operation *op = root.getDefiningOp())
    return isa<memref::AllocOp, memref::AllocaOp>(op);
  return isa<func::FuncOp>(root.getParentBlock()->getParentOp());
}

/// Whether `a` and `b` may share memory. Bufferized code never passes one
/// buffer twice to a function that writes it.
static bool mayAlias(Value a, Value b) {
  return a == b || !isDistinct(a) || !isDistinct(b);
}

/// How many elements of a vector of `type` are accessed under `mask`, if these
/// are its first ones.
static std::optional<int64_t> countActive(VectorType type, Value mask) {
  if (!mask)
    return type.getNumElements();
  DenseElementsAttr bits;
  if (type.getRank() != 1 || !matchPattern(mask, m_Constant(&bits)))
    return std::nullopt;
  int64_t active = 0;
  bool ended = false;
  for (bool bit : bits.getValues<bool>()) {
    if (bit && ended)
      return std::nullopt;
    ended |= !bit;
    active += bit;
  }
  return active;
}

static std::optional<Place> writtenPlace(Operation *op) {
  if (auto write = dyn_cast<vector::TransferWriteOp>(op)) {
    std::optional<int64_t> active =
        countActive(write.getVectorType(), write.getMask());
    if (!active || !isa<MemRefType>(write.getShapedType()) ||
        !write.getPermutationMap().isMinorIdentity() || write.hasOutOfBoundsDim())
      return std::nullopt;
    return Place{write.getBase(), write.getIndices(),
                 write.getVector().getType(), *active};
  }
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return Place{store.getMemRef(), store.getIndices(),
                 store.getValueToStore().getType()};
  return std::nullopt;
}

static std::optional<Place> readPlace(Operation *op) {
  if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
    std::optional<int64_t> active =
        countActive(read.getVectorType(), read.getMask());
    if (!active || !isa<MemRefType>(read.getShapedType()) ||
        !read.getPermutationMap().isMinorIdentity() || read.hasOutOfBoundsDim())
      return std::nullopt;
    return Place{read.getBase(), read.getIndices(), read.getType(), *active};
  }
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return Place{load.getMemRef(), load.getIndices(), load.getType()};
  return std::nullopt;
}

static bool samePlace(const Place &a, const Place &b) {
  if (a.buffer != b.buffer || a.type != b.type || a.active != b.active)
    return false;
  return llvm::all_of(llvm::zip_equal(a.indices, b.indices), [](auto pair) {
    auto [x, y] = pair;
    if (x == y)
      return true;
    std::optional<int64_t> cx = getConstantIntValue(x),
                           cy = getConstantIntValue(y);
    return cx && cy && *cx == *cy;
  });
}

/// If scalar `element` lies in vector `whole`: where.
static std::optional<int64_t> positionIn(const Place &element,
                                         const Place &whole) {
  auto vector = dyn_cast<VectorType>(whole.type);
  if (!vector || vector.getRank() != 1 || element.buffer != whole.buffer ||
      vector.getElementType() != element.type)
    return std::nullopt;
  unsigned last = whole.indices.size() - 1;
  for (unsigned dim = 0; dim < last; ++dim)
    if (whole.indices[dim] != element.indices[dim] &&
        (!getConstantIntValue(whole.indices[dim]) ||
         getConstantIntValue(whole.indices[dim]) !=
             getConstantIntValue(element.indices[dim])))
      return std::nullopt;
  std::optional<int64_t> from = getConstantIntValue(whole.indices[last]),
                         at = getConstantIntValue(element.indices[last]);
  if (!from || !at || *at < *from || *at >= *from + whole.active)
    return std::nullopt;
  return *at - *from;
}

/// Whether `a` and `b`, in one buffer, have no element in common for certain.
static bool areDisjoint(const Place &a, const Place &b) {
  auto extent = [](const Place &place, unsigned dim) -> int64_t {
    auto vector = dyn_cast<VectorType>(place.type);
    int64_t lead = place.indices.size() - (vector ? vector.getRank() : 0);
    return vector && dim >= lead ? vector.getDimSize(dim - lead) : 1;
  };
  for (unsigned dim = 0, e = a.indices.size(); dim < e; ++dim) {
    std::optional<int64_t> x = getConstantIntValue(a.indices[dim]),
                           y = getConstantIntValue(b.indices[dim]);
    if (x && y && (*x + extent(a, dim) <= *y || *y + extent(b, dim) <= *x))
      return true;
  }
  return false;
}

/// Calls `visit` for the root of each buffer that `op` and what is in it reads
/// (or writes); with a null value if that is unknown.
static void forEachRoot(Operation *op, bool writes,
                        llvm::function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) {
    // Structured ops have both: effects of their own and those of the body.
    auto effects = dyn_cast<MemoryEffectOpInterface>(inner);
    if (!effects && inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return;
    if (!effects)
      return visit(Value());
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects(instances);
    for (const MemoryEffects::EffectInstance &effect : instances) {
      bool relevant = writes ? isa<MemoryEffects::Write, MemoryEffects::Free>(
                                   effect.getEffect())
                             : isa<MemoryEffects::Read>(effect.getEffect());
      if (relevant)
        visit(effect.getValue() ? rootOf(effect.getValue()) : Value());
    }
  });
}

/// What `op` reads where `value` was written: under a mask, padding in the
/// lanes that neither touches.
static Value asRead(Operation &op, Value value) {
  auto read = dyn_cast<vector::TransferReadOp>(op);
  if (!read || !read.getMask() ||
      read.getPadding().getDefiningOp<ub::PoisonOp>())
    return value;
  OpBuilder b(&op);
  Value padding = vector::BroadcastOp::create(
      b, op.getLoc(), read.getVectorType(), read.getPadding());
  return arith::SelectOp::create(b, op.getLoc(), read.getMask(), value,
                                 padding);
}

/// Replaces reads in `block` of what was just written there.
static void forwardStores(Block &block) {
  SmallVector<std::pair<Place, Value>> known;
  auto forget = [&](Value root) {
    llvm::erase_if(known, [&](auto &entry) {
      return !root || mayAlias(root, rootOf(entry.first.buffer));
    });
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (std::optional<Place> place = writtenPlace(&op)) {
      Value root = rootOf(place->buffer);
      llvm::erase_if(known, [&](auto &entry) {
        if (entry.first.buffer == place->buffer)
          return !areDisjoint(entry.first, *place);
        return mayAlias(root, rootOf(entry.first.buffer));
      });
      known.emplace_back(*place, op.getOperand(0));
      continue;
    }
    if (std::optional<Place> place = readPlace(&op)) {
      for (auto &[written, value] : known)
        if (samePlace(written, *place)) {
          op.getResult(0).replaceAllUsesWith(asRead(op, value));
          op.erase();
          break;
        } else if (std::optional<int64_t> at = positionIn(*place, written)) {
          OpBuilder b(&op);
          op.getResult(0).replaceAllUsesWith(
              vector::ExtractOp::create(b, op.getLoc(), value, *at));
          op.erase();
          break;
        }
      continue;
    }
    auto copy = dyn_cast<memref::CopyOp>(op);
    if (!copy || copy.getSource().getType() != copy.getTarget().getType()) {
      forEachRoot(&op, /*writes=*/true, forget);
      continue;
    }
    forget(rootOf(copy.getTarget()));
    for (unsigned i = 0, e = known.size(); i < e; ++i)
      if (known[i].first.buffer == copy.getSource()) {
        auto entry = known[i];
        entry.first.buffer = copy.getTarget();
        known.push_back(entry);
      }
  }
}

/// Erases writes in `block` that are written over before anything reads them.
static void eraseDeadStores(Block &block) {
  SmallVector<Place> overwritten;
  auto forget = [&](Value root) {
    llvm::erase_if(overwritten, [&](Place &place) {
      return !root || mayAlias(root, rootOf(place.buffer));
    });
  };
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (std::optional<Place> place = writtenPlace(&op)) {
      if (llvm::any_of(overwritten,
                       [&](Place &later) { return samePlace(later, *place); }))
        op.erase();
      else
        overwritten.push_back(*place);
      continue;
    }
    forEachRoot(&op, /*writes=*/false, forget);
  }
}

/// Erases a buffer that is only written.
static bool eraseDeadBuffer(Operation *alloc) {
  Value buffer = alloc->getResult(0);
  for (Operation *user : alloc->getUsers()) {
    auto copy = dyn_cast<memref::CopyOp>(user);
    if (!isa<memref::DeallocOp>(user) &&
        !(copy && copy.getTarget() == buffer && copy.getSource() != buffer) &&
        !(writtenPlace(user) && writtenPlace(user)->buffer == buffer))
      return false;
  }
  for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
    user->erase();
  alloc->erase();
  return true;
}

namespace {
struct ForwardBuffersPass
    : public ansor::impl::ForwardBuffersPassBase<ForwardBuffersPass> {
  void runOnOperation() override {
    SmallVector<Operation *> allocs;
    getOperation()->walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region) {
          forwardStores(block);
          eraseDeadStores(block);
        }
    });
    getOperation()->walk([&](Operation *op) {
      if (isa<memref::AllocOp, memref::AllocaOp>(op))
        allocs.push_back(op);
    });
    // A buffer that is copied to a dead one is dead after it.
    for (bool changed = true; changed;) {
      changed = false;
      llvm::erase_if(allocs, [&](Operation *alloc) {
        bool erased = eraseDeadBuffer(alloc);
        changed |= erased;
        return erased;
      });
    }
  }
};
} // namespace
