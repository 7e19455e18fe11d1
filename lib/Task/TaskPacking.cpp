//===- TaskPacking.cpp - Packed weights of tasks ----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule may pack a weight into tiles at the beginning of its task. What
// packs moves to where the weight comes from: to the callers, which
// prepackWeights relieves of it in turn, or, for a task that is measured alone,
// to a function of its own.
//
//===----------------------------------------------------------------------===//

#include "ansor/IR/AnsorDialect.h"
#include "ansor/Task/Weights.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {
/// A packed form of one argument of a task, however often the task makes it.
struct Packing {
  unsigned argument;
  SmallVector<linalg::PackOp> ops; ///< at least one; they do the same
};
} // namespace

/// The constant that `pack` pads with; null: it doesn't, or it isn't one.
static Attribute getPadding(linalg::PackOp pack) {
  Attribute value;
  if (Value padding = pack.getPaddingValue())
    matchPattern(padding, m_Constant(&value));
  return value;
}

/// Whether `pack`, in `task`, depends on a marked argument alone, and makes
/// something of known size.
static bool mayMove(linalg::PackOp pack, func::FuncOp task) {
  auto source = dyn_cast<BlockArgument>(pack.getSource());
  return source && source.getOwner() == &task.getBody().front() &&
         task.getArgAttr(source.getArgNumber(), kWeightAttr) &&
         pack.getInnerTiles().empty() &&
         pack.getSourceType().hasStaticShape() &&
         pack.getDestType().hasStaticShape() &&
         (!pack.getPaddingValue() || getPadding(pack));
}

static bool isSame(linalg::PackOp a, linalg::PackOp b) {
  return a.getSource() == b.getSource() && a.getDestType() == b.getDestType() &&
         a.getInnerDimsPos() == b.getInnerDimsPos() &&
         a.getOuterDimsPerm() == b.getOuterDimsPerm() &&
         a.getStaticInnerTiles() == b.getStaticInnerTiles() &&
         getPadding(a) == getPadding(b);
}

static std::vector<Packing> findPackings(func::FuncOp task) {
  std::vector<Packing> packings;
  if (task.isExternal() || !hasWeights(task))
    return packings;
  task.walk([&](linalg::PackOp pack) {
    if (!mayMove(pack, task))
      return;
    for (Packing &packing : packings)
      if (isSame(packing.ops.front(), pack)) {
        packing.ops.push_back(pack);
        return;
      }
    packings.push_back(
        {cast<BlockArgument>(pack.getSource()).getArgNumber(), {pack}});
  });
  return packings;
}

/// What `packing` makes of `weight`.
static Value makePacked(OpBuilder &b, const Packing &packing, Value weight) {
  linalg::PackOp like = packing.ops.front();
  Location loc = like.getLoc();
  IRMapping mapping;
  mapping.map(like.getSource(), weight);
  mapping.map(like.getDest(),
              tensor::EmptyOp::create(b, loc, like.getDestType().getShape(),
                                      like.getDestType().getElementType())
                  .getResult());
  if (Value padding = like.getPaddingValue())
    mapping.map(padding, b.clone(*padding.getDefiningOp())->getResult(0));
  Operation *pack = b.clone(*like, mapping);
  for (NamedAttribute attr : llvm::to_vector(pack->getDiscardableAttrs()))
    pack->removeDiscardableAttr(attr.getName());
  pack->setAttr(kPrepackAttr, b.getUnitAttr());
  return pack->getResult(0);
}

/// Lets `task` take what its packings make, as arguments in front of its inits.
/// Returns the arguments that it had and has no use for any more; they are
/// gone.
static llvm::BitVector takePacked(func::FuncOp task,
                                  ArrayRef<Packing> packings) {
  unsigned position = task.getNumArguments() - task.getNumResults();
  const unsigned numOld = position;
  NamedAttribute mark(StringAttr::get(task.getContext(), kWeightAttr),
                      UnitAttr::get(task.getContext()));
  llvm::BitVector dropped(task.getNumArguments());
  for (const Packing &packing : packings) {
    linalg::PackOp first = packing.ops.front();
    (void)task.insertArgument(position, first.getDestType(),
                              DictionaryAttr::get(task.getContext(), mark),
                              first.getLoc());
    for (linalg::PackOp pack : packing.ops) {
      Value dest = pack.getDest();
      pack.getResult().replaceAllUsesWith(task.getArgument(position));
      pack.erase();
      if (auto empty = dest.getDefiningOp<tensor::EmptyOp>();
          empty && empty->use_empty())
        empty.erase();
    }
    ++position;
    if (task.getArgument(packing.argument).use_empty())
      dropped.set(packing.argument);
  }
  llvm::BitVector erased = dropped;
  erased.resize(task.getNumArguments());
  (void)task.eraseArguments(erased);
  dropped.resize(numOld);
  return dropped;
}

/// The calls of `task`; nothing if it is used otherwise.
static std::optional<SmallVector<func::CallOp>> findCalls(func::FuncOp task,
                                                          ModuleOp module) {
  SmallVector<func::CallOp> calls;
  auto uses = SymbolTable::getSymbolUses(task, module);
  if (!uses)
    return std::nullopt;
  for (SymbolTable::SymbolUse use : *uses) {
    auto call = dyn_cast<func::CallOp>(use.getUser());
    if (!call)
      return std::nullopt;
    calls.push_back(call);
  }
  return calls;
}

unsigned ansor::movePackingOut(ModuleOp module) {
  unsigned moved = 0;
  for (auto task : module.getOps<func::FuncOp>()) {
    if (!task->hasAttr(kTaskAttr) || !task.isPrivate())
      continue;
    std::vector<Packing> packings = findPackings(task);
    if (packings.empty())
      continue;
    auto calls = findCalls(task, module);
    if (!calls || calls->empty())
      continue;
    // The calls first: packings name ops that are going to be erased.
    SmallVector<SmallVector<Value>> packed;
    // Calls of one block share what they pack of one value; they come in order.
    DenseMap<std::tuple<Block *, Value, unsigned>, Value> made;
    for (func::CallOp call : *calls) {
      OpBuilder b(call);
      SmallVector<Value> &values = packed.emplace_back();
      for (auto [i, packing] : llvm::enumerate(packings)) {
        Value weight = call.getOperand(packing.argument);
        Value &value = made[{call->getBlock(), weight, unsigned(i)}];
        if (!value)
          value = makePacked(b, packing, weight);
        values.push_back(value);
      }
    }
    llvm::BitVector dropped = takePacked(task, packings);
    for (auto [call, values] : llvm::zip_equal(*calls, packed)) {
      SmallVector<Value> operands;
      for (auto [i, value] : llvm::enumerate(call.getOperands())) {
        if (i == dropped.size())
          llvm::append_range(operands, values);
        if (i >= dropped.size() || !dropped.test(i))
          operands.push_back(value);
      }
      call->setOperands(operands);
    }
    moved += packings.size();
  }
  return moved;
}

FailureOr<func::FuncOp> ansor::splitTask(func::FuncOp task) {
  std::vector<Packing> packings = findPackings(task);
  if (packings.empty())
    return func::FuncOp();
  auto module = task->getParentOfType<ModuleOp>();
  std::string name = task.getSymName().str();
  std::string packName = name + "_prepack", runName = name + "_prepacked";
  for (StringRef taken : {packName, runName})
    if (module.lookupSymbol(taken))
      return task.emitError()
             << "the weights of task @" << name
             << " can't be packed by a function of its own: the name @" << taken
             << " is taken";

  OpBuilder b(task.getContext());
  b.setInsertionPoint(task);
  Location loc = task.getLoc();
  // The function as it was, of two calls.
  auto whole =
      func::FuncOp::create(b, loc, name, task.getFunctionType());
  whole.setPublic();
  Block *body = whole.addEntryBlock();
  llvm::SetVector<unsigned> sources;
  for (const Packing &packing : packings)
    sources.insert(packing.argument);

  SmallVector<Type> types, results;
  for (unsigned source : sources)
    types.push_back(task.getArgument(source).getType());
  for (Packing &packing : packings)
    results.push_back(packing.ops.front().getDestType());
  auto pack = func::FuncOp::create(b, loc, packName,
                                   b.getFunctionType(types, results));
  Block *packBody = pack.addEntryBlock();
  for (unsigned i = 0; i < types.size(); ++i)
    pack.setArgAttr(i, kWeightAttr, b.getUnitAttr());
  b.setInsertionPointToStart(packBody);
  SmallVector<Value> packed;
  for (const Packing &packing : packings) {
    unsigned number = llvm::find(sources, packing.argument) - sources.begin();
    packed.push_back(makePacked(b, packing, packBody->getArgument(number)));
  }
  func::ReturnOp::create(b, loc, packed);

  llvm::BitVector dropped = takePacked(task, packings);
  task.setSymName(runName);
  task.setPublic();

  b.setInsertionPointToStart(body);
  SmallVector<Value> weights, operands;
  for (unsigned source : sources)
    weights.push_back(body->getArgument(source));
  auto packing = func::CallOp::create(b, loc, pack, weights);
  for (auto [i, value] : llvm::enumerate(body->getArguments())) {
    if (i == dropped.size())
      llvm::append_range(operands, packing.getResults());
    if (i >= dropped.size() || !dropped.test(i))
      operands.push_back(value);
  }
  auto run = func::CallOp::create(b, loc, task, operands);
  func::ReturnOp::create(b, loc, run.getResults());
  whole->setAttr(kPrepackAttr, b.getArrayAttr({FlatSymbolRefAttr::get(pack),
                                               FlatSymbolRefAttr::get(task)}));
  return whole;
}
