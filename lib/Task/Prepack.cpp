//===- Prepack.cpp - Functions of packed weights ----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits a function into the work on its weights and the rest; see Weights.h.
// Every op of the function is on one side or on both:
//
//   data ops    depend on other arguments: stay
//   weight ops  depend on weights alone: move, if a data op needs the result
//   free ops    constants, empty tensors, views: on each side that needs them
//

#include "ansor/IR/AnsorDialect.h"
#include "ansor/Task/Weights.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ansor;

/// Ops that cost nothing where they are.
static bool isFree(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() ||
         isa<tensor::EmptyOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp, tensor::CastOp>(op);
}

static llvm::SetVector<Value> usedBy(Operation *op) {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  return used;
}

namespace {
class Splitter {
public:
  explicit Splitter(func::FuncOp func) : func(func) {}

  /// False if there is nothing to pack.
  bool analyze();
  LogicalResult split();

private:
  func::FuncOp buildPack(StringRef name);
  func::FuncOp buildRun(StringRef name);
  void buildWrapper(func::FuncOp pack, func::FuncOp run);
  bool isWork(Value value);
  void setReadOnly(func::FuncOp owner, unsigned arg);

  func::FuncOp func;
  DenseMap<Value, ValueKind> kinds;
  /// What weight ops make and others need.
  llvm::SetVector<Value> packed;
  /// Ops of the packing function, and the arguments they need.
  llvm::SetVector<Operation *> slice;
  llvm::BitVector packArgs, runArgs;
};
} // namespace

bool Splitter::isWork(Value value) {
  Operation *op = value.getDefiningOp();
  return op && !isFree(op) &&
         classifyValue(value, kinds) == ValueKind::Weight;
}

bool Splitter::analyze() {
  packArgs.resize(func.getNumArguments());
  runArgs.resize(func.getNumArguments());
  // All ops that stay: those that no weight op is, and the free ones that they
  // need.
  llvm::SetVector<Operation *> stays;
  func.walk([&](Operation *op) {
    if (op == func || op->getParentOfType<linalg::LinalgOp>())
      return;
    bool weight = op->getNumResults() > 0 &&
                  llvm::all_of(op->getResults(), [&](Value result) {
                    return classifyValue(result, kinds) != ValueKind::Data;
                  });
    if (!weight)
      stays.insert(op);
  });
  for (unsigned i = 0; i < stays.size(); ++i)
    for (Value value : usedBy(stays[i])) {
      if (isWork(value))
        packed.insert(value);
      else if (Operation *op = value.getDefiningOp())
        stays.insert(op);
      else if (auto arg = dyn_cast<BlockArgument>(value);
               arg && arg.getOwner() == &func.getBody().front())
        runArgs.set(arg.getArgNumber());
    }
  if (packed.empty())
    return false;
  // The order of the function.
  SmallVector<Value> ordered = packed.takeVector();
  llvm::DenseMap<Operation *, unsigned> position;
  func.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { position.try_emplace(op, position.size()); });
  auto place = [&](Value value) {
    return std::make_pair(position[value.getDefiningOp()],
                          cast<OpResult>(value).getResultNumber());
  };
  llvm::sort(ordered,
             [&](Value a, Value b) { return place(a) < place(b); });
  packed.insert(ordered.begin(), ordered.end());
  auto visit = [&](auto &self, Value value) -> void {
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      if (arg.getOwner() == &func.getBody().front())
        packArgs.set(arg.getArgNumber());
      return;
    }
    Operation *op = value.getDefiningOp();
    if (slice.contains(op))
      return;
    for (Value used : usedBy(op))
      self(self, used);
    slice.insert(op);
  };
  for (Value value : packed)
    visit(visit, value);
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    if (!func.getArgAttr(i, kWeightAttr))
      runArgs.set(i);
  return true;
}

/// Bufferization must not take the buffer of a weight for a result.
void Splitter::setReadOnly(func::FuncOp owner, unsigned arg) {
  owner.setArgAttr(arg, bufferization::BufferizationDialect::kWritableAttrName,
                   BoolAttr::get(func.getContext(), false));
}

func::FuncOp Splitter::buildPack(StringRef name) {
  OpBuilder b(func.getContext());
  b.setInsertionPointAfter(func);
  SmallVector<Type> args, results;
  for (unsigned i : packArgs.set_bits())
    args.push_back(func.getArgument(i).getType());
  for (Value value : packed)
    results.push_back(value.getType());
  auto pack = func::FuncOp::create(b, func.getLoc(), name,
                                   b.getFunctionType(args, results));
  Block *block = pack.addEntryBlock();
  IRMapping mapping;
  for (auto [to, from] : llvm::enumerate(packArgs.set_bits())) {
    mapping.map(func.getArgument(from), block->getArgument(to));
    pack.setArgAttr(to, kWeightAttr, b.getUnitAttr());
    setReadOnly(pack, to);
  }
  b.setInsertionPointToStart(block);
  for (Operation *op : slice)
    b.clone(*op, mapping);
  func::ReturnOp::create(b, func.getLoc(),
                         llvm::map_to_vector(packed, [&](Value value) {
                           return mapping.lookup(value);
                         }));
  return pack;
}

func::FuncOp Splitter::buildRun(StringRef name) {
  IRMapping mapping;
  func::FuncOp run = cast<func::FuncOp>(func->clone(mapping));
  run.setSymName(name);
  for (Value value : packed) {
    unsigned position = run.getNumArguments();
    (void)run.insertArgument(position, value.getType(), DictionaryAttr(),
                             value.getLoc());
    run.setArgAttr(position, kWeightAttr, UnitAttr::get(func.getContext()));
    mapping.lookup(value).replaceAllUsesWith(run.getArgument(position));
  }
  // What only the packing used; consumers come later in the slice.
  for (Operation *op : llvm::reverse(slice))
    if (Operation *copy = mapping.lookup(op); copy->use_empty())
      copy->erase();
  llvm::BitVector dropped = runArgs;
  dropped.flip();
  dropped.resize(run.getNumArguments());
  (void)run.eraseArguments(dropped);
  for (unsigned i = 0; i < run.getNumArguments(); ++i)
    if (run.getArgAttr(i, kWeightAttr))
      setReadOnly(run, i);
  return run;
}

void Splitter::buildWrapper(func::FuncOp pack, func::FuncOp run) {
  while (!func.getBody().empty()) {
    func.getBody().front().dropAllDefinedValueUses();
    func.getBody().front().erase();
  }
  Block *block = func.addEntryBlock();
  OpBuilder b = OpBuilder::atBlockBegin(block);
  SmallVector<Value> weights, args;
  for (unsigned i : packArgs.set_bits())
    weights.push_back(block->getArgument(i));
  for (unsigned i : runArgs.set_bits())
    args.push_back(block->getArgument(i));
  auto packing = func::CallOp::create(b, func.getLoc(), pack, weights);
  llvm::append_range(args, packing.getResults());
  auto call = func::CallOp::create(b, func.getLoc(), run, args);
  func::ReturnOp::create(b, func.getLoc(), call.getResults());
  func->setAttr(kPrepackAttr,
                b.getArrayAttr({FlatSymbolRefAttr::get(pack),
                                FlatSymbolRefAttr::get(run)}));
}

LogicalResult Splitter::split() {
  auto module = func->getParentOfType<ModuleOp>();
  std::string pack = (func.getSymName() + "_prepack").str();
  std::string run = (func.getSymName() + "_prepacked").str();
  for (StringRef name : {pack, run})
    if (module.lookupSymbol(name))
      return func.emitError()
             << "the weights of @" << func.getSymName()
             << " can't be packed by a function of its own: the name @" << name
             << " is taken";
  func::FuncOp runFunc = buildRun(run);
  func::FuncOp packFunc = buildPack(pack);
  module.insert(std::next(packFunc->getIterator()), runFunc);
  buildWrapper(packFunc, runFunc);
  return success();
}

FailureOr<unsigned> ansor::prepackWeights(ModuleOp module) {
  movePackingOut(module);
  foldConstantLayouts(module);
  unsigned count = 0;
  for (auto func : llvm::to_vector(module.getOps<func::FuncOp>())) {
    if (func.isPrivate() || func.isExternal() || func->hasAttr(kTaskAttr) ||
        func->hasAttr(kPrepackAttr) || !func.getBody().hasOneBlock())
      continue;
    Splitter splitter(func);
    if (!splitter.analyze())
      continue;
    if (failed(splitter.split()))
      return failure();
    ++count;
  }
  return count;
}

PrepackedFunction ansor::getPrepacked(func::FuncOp func) {
  auto names = func->getAttrOfType<ArrayAttr>(kPrepackAttr);
  if (!names || names.size() != 2)
    return {};
  auto find = [&](Attribute name) {
    return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        func, cast<FlatSymbolRefAttr>(name));
  };
  return {find(names[0]), find(names[1])};
}
