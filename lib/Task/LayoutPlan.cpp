//===- LayoutPlan.cpp - See LayoutPlan.h ------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the convolutions the layout spreads to all that can follow. Then ops
// whose following only adds transpositions leave the plan again, and so do
// connected parts whose convolutions don't pay for the transpositions that are
// left. Both costs are in elements that are transposed in a call.
//
//===----------------------------------------------------------------------===//

#include "LayoutPlan.h"
#include "ansor/Support/Structured.h"
#include "ansor/Task/Weights.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SetVector.h"
#include <deque>

using namespace mlir;
using namespace mlir::ansor;
using namespace mlir::ansor::detail;

/// Multiply-adds of a convolution that gain as much by channels last as the
/// transposition of one element costs. At some 60 multiply-adds a nanosecond,
/// of which a quarter is gained, and about 4 ns an element (read, written and
/// read again).
static constexpr double kMacsPerElement = 256;

bool ansor::detail::isUniform(Value value) {
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.isSplat();
  Operation *def = value.getDefiningOp();
  auto fill = dyn_cast_or_null<linalg::FillOp>(def);
  return isa_and_nonnull<tensor::EmptyOp>(def) ||
         (fill && fill.hasPureTensorSemantics());
}

namespace {
class Planner {
public:
  explicit Planner(func::FuncOp func) : func(func) {}
  LayoutPlan run(bool always);

private:
  void add(Operation *op, OpLayout layout);
  void spread();
  void prune();
  void dropWhatDoesNotPay();

  ArrayRef<int64_t> made(Value value) const;
  ArrayRef<int64_t> wanted(OpOperand &use) const;
  double costOf(Value value);
  double costOf(Operation *op);
  double costAround(ArrayRef<Operation *> ops);
  double gainOf(Operation *op) const;
  SmallVector<Operation *> getOps();
  llvm::IntEqClasses connect(ArrayRef<Operation *> ops) const;

  func::FuncOp func;
  LayoutPlan plan;
  /// Values with channels last whose neighbours have not been asked yet.
  std::deque<std::pair<Value, llvm::SmallBitVector>> open;
  DenseMap<Value, ValueKind> kinds;
};
} // namespace

//===----------------------------------------------------------------------===//
// Spreading
//===----------------------------------------------------------------------===//

void Planner::add(Operation *op, OpLayout layout) {
  if (!layout.changes() || plan.contains(op))
    return;
  auto note = [&](Value value, const ValueLayout &known) {
    if (known.channels.any())
      open.emplace_back(value, known.channels);
  };
  for (auto [value, known] : llvm::zip_equal(op->getOperands(), layout.operands))
    note(value, known);
  for (auto [value, known] : llvm::zip_equal(op->getResults(), layout.results))
    note(value, known);
  plan.try_emplace(op, std::move(layout));
}

void Planner::spread() {
  while (!open.empty()) {
    auto [value, channels] = open.front();
    open.pop_front();
    auto ask = [&, value = value, &channels = channels](Operation *op) {
      if (plan.contains(op))
        return;
      if (std::optional<OpLayout> layout = followLayout(op, value, channels))
        add(op, std::move(*layout));
    };
    if (isUniform(value))
      continue; // what else reads it has nothing to do with this
    if (Operation *def = value.getDefiningOp())
      ask(def);
    // In the order of the text: uses are listed last first.
    SmallVector<Operation *> users(value.getUsers());
    for (Operation *user : llvm::reverse(users))
      ask(user);
  }
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static double countElements(Value value) {
  double count = 1;
  for (int64_t extent : cast<RankedTensorType>(value.getType()).getShape())
    count *= ShapedType::isDynamic(extent) ? 1 : extent;
  return count;
}

/// The layout in which `value` is made.
ArrayRef<int64_t> Planner::made(Value value) const {
  auto result = dyn_cast<OpResult>(value);
  auto it = result ? plan.find(result.getOwner()) : plan.end();
  if (it == plan.end())
    return {};
  return it->second.results[result.getResultNumber()].permutation;
}

/// The layout in which `use` reads its value.
ArrayRef<int64_t> Planner::wanted(OpOperand &use) const {
  auto it = plan.find(use.getOwner());
  if (it == plan.end())
    return {};
  return it->second.operands[use.getOperandNumber()].permutation;
}

/// What is transposed in a call because users of `value` want it in other
/// layouts than it is made in.
double Planner::costOf(Value value) {
  if (!isa<RankedTensorType>(value.getType()) || isUniform(value))
    return 0;
  SmallVector<ArrayRef<int64_t>> others;
  for (OpOperand &use : value.getUses())
    if (wanted(use) != made(value) &&
        !llvm::is_contained(others, wanted(use)))
      others.push_back(wanted(use));
  if (others.empty() || classifyValue(value, kinds) != ValueKind::Data)
    return 0;
  return others.size() * countElements(value);
}

/// What `op` transposes itself.
double Planner::costOf(Operation *op) {
  SmallVector<int64_t> order;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    llvm::append_range(order, transpose.getPermutation());
  } else if (std::optional<AffineMap> map =
                 generic ? getPermutation(generic) : std::nullopt) {
    for (AffineExpr expr : inversePermutation(*map).getResults())
      order.push_back(cast<AffineDimExpr>(expr).getPosition());
  } else {
    return 0;
  }
  if (auto it = plan.find(op); it != plan.end()) {
    // Where the old dimensions of the input are now, and those of the result.
    ArrayRef<int64_t> from = it->second.operands[0].permutation;
    ArrayRef<int64_t> to = it->second.results[0].permutation;
    SmallVector<int64_t> composed;
    for (unsigned i = 0; i < order.size(); ++i) {
      int64_t dim = order[to.empty() ? i : to[i]];
      composed.push_back(from.empty() ? dim
                                      : llvm::find(from, dim) - from.begin());
    }
    order = composed;
  }
  if (llvm::is_sorted(order) ||
      classifyValue(op->getOperand(0), kinds) != ValueKind::Data)
    return 0;
  return countElements(op->getResult(0));
}

/// What `ops` and the values they touch cost.
double Planner::costAround(ArrayRef<Operation *> ops) {
  llvm::SetVector<Value> values;
  double cost = 0;
  for (Operation *op : ops) {
    values.insert_range(op->getOperands());
    values.insert_range(op->getResults());
    cost += costOf(op);
  }
  for (Value value : values)
    cost += costOf(value);
  return cost;
}

/// What a convolution of the plan gains, in elements.
double Planner::gainOf(Operation *op) const {
  if (!layOutConvolution(op))
    return 0;
  double macs = 1;
  for (int64_t extent : cast<linalg::LinalgOp>(op).getStaticLoopRanges())
    macs *= ShapedType::isDynamic(extent) ? 1 : extent;
  return macs / kMacsPerElement;
}

//===----------------------------------------------------------------------===//
// Pruning
//===----------------------------------------------------------------------===//

/// The ops of the plan, in the order of the text.
SmallVector<Operation *> Planner::getOps() {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (plan.contains(op))
      ops.push_back(op);
  });
  return ops;
}

/// Takes ops out of the plan one by one, as long as that saves something.
void Planner::prune() {
  SmallVector<Operation *> ops = getOps();
  bool changed = true;
  // From the ends of the flow: each pass shortens it from one side.
  while (changed) {
    changed = false;
    std::reverse(ops.begin(), ops.end());
    for (Operation *&op : ops) {
      double with = costAround(op);
      auto it = plan.find(op);
      OpLayout layout = std::move(it->second);
      plan.erase(it);
      if (costAround(op) + gainOf(op) < with) {
        op = nullptr;
        changed = true;
      } else {
        plan.try_emplace(op, std::move(layout));
      }
    }
    llvm::erase(ops, nullptr);
  }
}

/// Numbers the parts of `ops` that pass tensors of new layouts to each other.
llvm::IntEqClasses Planner::connect(ArrayRef<Operation *> ops) const {
  llvm::DenseMap<Operation *, unsigned> number;
  for (auto [i, op] : llvm::enumerate(ops))
    number[op] = i;
  llvm::IntEqClasses parts(ops.size());
  for (auto [i, op] : llvm::enumerate(ops))
    for (OpOperand &operand : op->getOpOperands()) {
      if (wanted(operand).empty() || isUniform(operand.get()))
        continue;
      for (OpOperand &other : operand.get().getUses())
        if (wanted(other) == wanted(operand))
          parts.join(i, number.lookup(other.getOwner()));
      if (made(operand.get()) == wanted(operand))
        parts.join(i, number.lookup(operand.get().getDefiningOp()));
    }
  parts.compress();
  return parts;
}

void Planner::dropWhatDoesNotPay() {
  SmallVector<Operation *> ops = getOps();
  llvm::IntEqClasses parts = connect(ops);
  std::vector<SmallVector<Operation *>> members(parts.getNumClasses());
  for (auto [i, op] : llvm::enumerate(ops))
    members[parts[i]].push_back(op);
  for (ArrayRef<Operation *> part : members) {
    double with = costAround(part), gain = 0;
    SmallVector<std::pair<Operation *, OpLayout>> saved;
    for (Operation *op : part) {
      gain += gainOf(op);
      saved.emplace_back(op, std::move(plan.find(op)->second));
      plan.erase(op);
    }
    if (with < costAround(part) + gain)
      for (auto &entry : saved)
        plan.try_emplace(entry.first, std::move(entry.second));
  }
}

LayoutPlan Planner::run(bool always) {
  func.walk([&](linalg::LinalgOp op) {
    if (std::optional<OpLayout> layout = layOutConvolution(op))
      add(op, std::move(*layout));
  });
  spread();
  if (!always) {
    prune();
    dropWhatDoesNotPay();
  }
  return std::move(plan);
}

LayoutPlan ansor::detail::planChannelsLast(func::FuncOp func, bool always) {
  return Planner(func).run(always);
}
