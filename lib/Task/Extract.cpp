//===- Extract.cpp - Outlining of tasks -------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaskInternal.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Task/Weights.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::ansor;
using namespace mlir::ansor::detail;

namespace {

/// Outlines the tasks of one module.
class Extractor {
public:
  Extractor(ModuleOp module, const ExtractOptions &options)
      : module(module), options(options), symbols(module),
        rewriter(module.getContext()) {}
  void run();

private:
  void runOnFunction(func::FuncOp func);
  void outline(TaskGroup &group);
  void moveWeightsOut(func::FuncOp task, linalg::GenericOp root,
                      SmallVectorImpl<Value> &operands);
  void markTaskWeights(func::FuncOp task, ArrayRef<Value> operands,
                       ArrayRef<unsigned> order);
  func::FuncOp buildTask(TaskGroup &group, SmallVectorImpl<Value> &inputs,
                         SmallVectorImpl<bool> &readsOld);

  ModuleOp module;
  const ExtractOptions &options;
  SymbolTable symbols;
  IRRewriter rewriter;
  /// Task functions by key.
  llvm::StringMap<func::FuncOp> tasks;
  unsigned nextNumber = 0;
};

} // namespace

/// The largest weight, where a sum or product of weights doesn't fit.
static constexpr uint64_t kMaxWeight = std::numeric_limits<int64_t>::max();

/// How often `op` runs in one call of its function, as far as is known.
static int64_t countRuns(Operation *op) {
  uint64_t runs = 1;
  for (Operation *parent = op->getParentOp(); !isa<func::FuncOp>(parent);
       parent = parent->getParentOp())
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      if (std::optional<APInt> trips = loop.getStaticTripCount())
        if (trips->isStrictlyPositive())
          runs = std::min(llvm::SaturatingMultiply(
                              runs, trips->getLimitedValue(kMaxWeight)),
                          kMaxWeight);
  return runs;
}

/// Stands in a task for a value that needs no argument: a scalar constant, or
/// an uninitialised tensor.
static Value rematerialize(RewriterBase &rewriter, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  bool constant = op->hasTrait<OpTrait::ConstantLike>() &&
                  !isa<ShapedType>(value.getType());
  bool empty = isa<tensor::EmptyOp>(op) &&
               cast<RankedTensorType>(value.getType()).hasStaticShape();
  if (!constant && !empty)
    return {};
  return rewriter.clone(*op)->getResult(0);
}

/// Whether a result that overwrites `init` goes there: an argument that serves
/// for nothing else. Those that a caller outside gives are never written, and
/// would be copied.
static bool mayWriteInto(Value init) {
  auto arg = dyn_cast<BlockArgument>(init);
  if (!arg || !arg.hasOneUse())
    return false;
  auto func = dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp());
  if (!func || func.isPrivate() || !arg.getOwner()->isEntryBlock())
    return true;
  auto writable = func.getArgAttrOfType<BoolAttr>(arg.getArgNumber(),
                                                  "bufferization.writable");
  return writable && writable.getValue();
}

/// The group's function, not yet canonical: first an argument for each of
/// `inputs`, which it fills, then one init a result. `readsOld` says which
/// inits hold values that the task reads.
func::FuncOp Extractor::buildTask(TaskGroup &group,
                                  SmallVectorImpl<Value> &inputs,
                                  SmallVectorImpl<bool> &readsOld) {
  linalg::GenericOp root = group.root;
  // Members in an order in which producers come first.
  llvm::SetVector<Operation *> order;
  auto visit = [&](auto &self, Operation *op) -> void {
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp())
        if (group.ops.contains(def))
          self(self, def);
    order.insert(op);
  };
  visit(visit, root);

  Location loc = root.getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(module.getBody());
  auto func = func::FuncOp::create(
      rewriter, loc, "task",
      rewriter.getFunctionType({}, root->getResultTypes()));
  func.setPrivate();
  Block *entry = func.addEntryBlock();
  SmallVector<BlockArgument> inits;
  for (Type type : root->getResultTypes())
    inits.push_back(entry->addArgument(type, loc));
  rewriter.setInsertionPointToStart(entry);

  IRMapping mapping;
  auto import = [&](Value value) {
    if (mapping.contains(value))
      return;
    if (Value copy = rematerialize(rewriter, value)) {
      mapping.map(value, copy);
      return;
    }
    mapping.map(value,
                entry->insertArgument(static_cast<unsigned>(inputs.size()),
                                      value.getType(), loc));
    inputs.push_back(value);
  };
  // What init `i` of `op` stands for inside the task.
  auto makeInit = [&](linalg::GenericOp op, unsigned i) -> Value {
    Value old = op.getDpsInitOperand(i)->get();
    auto type = cast<RankedTensorType>(old.getType());
    Value init;
    if (op == root) {
      init = inits[i];
      readsOld.push_back(readsInit(op, i));
    } else if (type.hasStaticShape()) {
      init = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                     type.getElementType());
    } else {
      // The root alone reads this op, through a permutation of its loops.
      OpOperand &use = *op->use_begin();
      AffineMap read = root.getMatchingIndexingMap(&use);
      AffineMap write = root.getIndexingMapsArray()[root.getNumDpsInputs()];
      SmallVector<OpFoldResult> sizes;
      for (auto [dim, expr] : llvm::enumerate(read.getResults())) {
        if (!type.isDynamicDim(dim)) {
          sizes.push_back(rewriter.getIndexAttr(type.getDimSize(dim)));
          continue;
        }
        unsigned position = *write.getResultPosition(expr);
        sizes.push_back(tensor::DimOp::create(rewriter, loc, inits[0], position)
                            .getResult());
      }
      init =
          tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
    }
    if (linalg::FillOp fill = getInitFill(op, i)) {
      import(fill.value());
      init = linalg::FillOp::create(rewriter, fill.getLoc(),
                                    mapping.lookup(fill.value()), init)
                 .getResult(0);
    }
    return init;
  };

  for (Operation *op : order) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : captured)
      import(value);
    for (Value operand :
         generic ? ValueRange(generic.getInputs()) : op->getOperands())
      import(operand);
    SmallVector<Value> fresh;
    if (generic)
      for (unsigned i = 0; i < generic.getNumDpsInits(); ++i)
        fresh.push_back(makeInit(generic, i));
    IRMapping local(mapping);
    if (generic)
      for (auto [old, init] : llvm::zip(generic.getOutputs(), fresh))
        if (!mapping.contains(old))
          local.map(old, init);
    Operation *copy = rewriter.clone(*op, local);
    if (generic)
      cast<linalg::GenericOp>(copy).getOutputsMutable().assign(fresh);
    mapping.map(op->getResults(), copy->getResults());
  }
  func::ReturnOp::create(rewriter, loc,
                         llvm::map_to_vector(root->getResults(), [&](Value v) {
                           return mapping.lookup(v);
                         }));
  func.setFunctionType(rewriter.getFunctionType(entry->getArgumentTypes(),
                                                root->getResultTypes()));
  return func;
}

/// `value` with the dimensions of each of `groups` as one.
static Value collapse(RewriterBase &rewriter, Value value,
                      ArrayRef<ReassociationIndices> groups) {
  Location loc = value.getLoc();
  Value narrow = tensor::CollapseShapeOp::create(rewriter, loc, value, groups);
  auto type = cast<RankedTensorType>(narrow.getType());
  if (!value.getDefiningOp<tensor::EmptyOp>())
    return narrow;
  return tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                 type.getElementType());
}

/// Whether `op`, a stage of `task`, may be left to its callers where all that it
/// reads are weights: elementwise, no larger than what it reads, and not a
/// result.
static bool mayMoveOut(linalg::GenericOp op, func::FuncOp task) {
  if (op.getNumDpsInputs() == 0 || op->getNumResults() != 1 ||
      op.getNumReductionLoops() || op.hasDynamicShape() ||
      !op.getOutputs()[0].getDefiningOp<tensor::EmptyOp>() ||
      llvm::any_of(op->getUsers(), llvm::IsaPred<func::ReturnOp>))
    return false;
  auto bits = [](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return type.getElementType().isIntOrFloat()
               ? type.getNumElements() * type.getElementTypeBitWidth()
               : 0;
  };
  int64_t read = 0;
  for (Value input : op.getInputs()) {
    auto arg = dyn_cast<BlockArgument>(input);
    if (!arg || arg.getOwner() != &task.getBody().front() ||
        !isa<RankedTensorType>(input.getType()))
      return false;
    read = std::max(read, bits(input));
  }
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  return bits(op->getResult(0)) <= read &&
         llvm::all_of(captured, [](Value value) {
           Operation *def = value.getDefiningOp();
           return def && def->hasTrait<OpTrait::ConstantLike>();
         });
}

/// Leaves to the callers what `task` does with weights alone: it takes them as
/// its stages want them. `operands` are those of the call, in the place of
/// `root`.
void Extractor::moveWeightsOut(func::FuncOp task, linalg::GenericOp root,
                               SmallVectorImpl<Value> &operands) {
  for (auto op : llvm::make_early_inc_range(
           task.getBody().front().getOps<linalg::GenericOp>())) {
    if (!mayMoveOut(op, task) || !llvm::all_of(op.getInputs(), [&](Value v) {
          Value operand = operands[cast<BlockArgument>(v).getArgNumber()];
          return classifyValue(operand) == ValueKind::Weight;
        }))
      continue;
    rewriter.setInsertionPoint(root);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    IRMapping mapping;
    for (Value input : op.getInputs())
      mapping.map(input, operands[cast<BlockArgument>(input).getArgNumber()]);
    mapping.map(op.getOutputs()[0],
                tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(),
                                        type.getElementType())
                    .getResult());
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : captured)
      mapping.map(value,
                  rewriter.clone(*value.getDefiningOp())->getResult(0));
    Operation *moved = rewriter.clone(*op, mapping);
    moved->setAttr(kPrepackAttr, rewriter.getUnitAttr());
    unsigned position = operands.size() - root->getNumResults();
    operands.insert(operands.begin() + position, moved->getResult(0));
    (void)task.insertArgument(position, type, DictionaryAttr(), op.getLoc());
    rewriter.replaceOp(op, task.getArgument(position));
  }
}

/// Marks the inputs of `task` that are weights: argument i is operand order[i]
/// of the call.
void Extractor::markTaskWeights(func::FuncOp task, ArrayRef<Value> operands,
                                ArrayRef<unsigned> order) {
  DenseMap<Value, ValueKind> kinds;
  for (unsigned i = 0; i < order.size() - task.getNumResults(); ++i)
    if (isa<RankedTensorType>(task.getArgument(i).getType()) &&
        classifyValue(operands[order[i]], kinds) == ValueKind::Weight)
      task.setArgAttr(i, kWeightAttr, rewriter.getUnitAttr());
}

void Extractor::outline(TaskGroup &group) {
  linalg::GenericOp root = group.root;
  SmallVector<Value> inputs;
  SmallVector<bool> readsOld;
  func::FuncOp task = buildTask(group, inputs, readsOld);

  // The inits of the call: what the op had, unless its content isn't read.
  rewriter.setInsertionPoint(root);
  SmallVector<Value> operands(inputs);
  for (unsigned i = 0; i < root->getNumResults(); ++i) {
    Value init = root.getDpsInitOperand(i)->get();
    while (linalg::FillOp fill = init.getDefiningOp<linalg::FillOp>())
      init = fill.output();
    if (!readsOld[i] && !mayWriteInto(init))
      init = createEmptyLike(rewriter, root.getLoc(), init);
    operands.push_back(init);
  }

  SmallVector<SmallVector<ReassociationIndices>> collapsed =
      collapseLoops(task);
  for (auto [operand, groups] : llvm::zip(operands, collapsed))
    if (!groups.empty())
      operand = collapse(rewriter, operand, groups);
  exposeLayouts(rewriter, task);
  if (options.prepack)
    moveWeightsOut(task, root, operands);
  SmallVector<unsigned> order =
      canonicalize(rewriter, task, root->getNumResults());
  if (options.prepack)
    markTaskWeights(task, operands, order);
  std::string key = computeTaskKey(task);
  func::FuncOp &known = tasks[key];
  int64_t runs = countRuns(root);
  if (known) {
    rewriter.eraseOp(task);
    auto weight = known->getAttrOfType<IntegerAttr>(kWeightAttr);
    runs = std::min(llvm::SaturatingAdd<uint64_t>(
                        runs, weight ? weight.getInt() : 1),
                    kMaxWeight);
  } else {
    std::string name;
    do
      name = "task_" + std::to_string(nextNumber++);
    while (symbols.lookup(name));
    task.setName(name);
    task->setAttr(kTaskAttr, rewriter.getStringAttr(key));
    symbols.insert(task);
    known = task;
  }
  known->setAttr(kWeightAttr, rewriter.getI64IntegerAttr(runs));

  rewriter.setInsertionPoint(root);
  auto call = func::CallOp::create(
      rewriter, root.getLoc(), known,
      llvm::map_to_vector(order, [&](unsigned i) { return operands[i]; }));
  for (auto [i, old, result] :
       llvm::enumerate(root->getResults(), call.getResults())) {
    Value value = result;
    if (!collapsed.empty())
      if (auto &groups = collapsed[inputs.size() + i]; !groups.empty())
        value = tensor::ExpandShapeOp::create(rewriter, root.getLoc(),
                                              old.getType(), result, groups);
    rewriter.replaceAllUsesWith(old, value);
  }
  // Members are erased consumers first; what others still read stays.
  SmallVector<Operation *> members(group.ops.begin(), group.ops.end());
  llvm::sort(members,
             [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  for (Operation *op : members)
    if (op->use_empty())
      rewriter.eraseOp(op);
}

/// Says once a function and kind of op what no task can hold, and why.
static void remarkOnRest(func::FuncOp func) {
  llvm::StringMap<unsigned> said;
  auto remark = [&](Operation *op, StringRef why) {
    std::string kind = (op->getName().getStringRef() + ": " + why).str();
    if (said[kind]++ == 0)
      op->emitRemark() << "not part of a task: " << why;
  };
  SmallVector<Block *> blocks = collectBlocks(func);
  func.walk([&](Operation *op) {
    if (op == func)
      return;
    Dialect *dialect = op->getDialect();
    StringRef name = op->getName().getDialectNamespace();
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      StringRef why = whyNoTask(linalgOp);
      if (!why.empty())
        return remark(op, why);
      if (!llvm::is_contained(blocks, op->getBlock()))
        return remark(op, "it is inside of an op that isn't searched: only "
                          "functions and scf.for, if, while, index_switch and "
                          "execute_region are");
      for (auto [i, init] : llvm::enumerate(linalgOp.getDpsInits()))
        if (linalgOp.getNumReductionLoops() > 0 && readsInit(linalgOp, i) &&
            init.getDefiningOp<tensor::EmptyOp>() && said["empty"]++ == 0)
          op->emitRemark("accumulates into an uninitialised tensor; its values "
                         "are undefined");
    } else if (isa<linalg::SoftmaxOp>(op)) {
      // Decomposed.
    } else if (isa_and_nonnull<linalg::LinalgDialect>(dialect) &&
               op->getParentOfType<linalg::LinalgOp>() == nullptr) {
      remark(op, "this linalg op has no loop nest form; lower it first");
    } else if (!dialect || name == "tosa" || name == "stablehlo" ||
               name == "torch") {
      remark(op, "the op is not linalg on tensors; lower it to linalg first");
    }
  });
}

void Extractor::runOnFunction(func::FuncOp func) {
  remarkOnRest(func);
  normalize(rewriter, func, options);
  for (Block *block : collectBlocks(func))
    for (TaskGroup &group : partition(*block, options))
      outline(group);
  // What only the tasks used; and reshapes between them that cancel.
  for (Block *block : collectBlocks(func))
    foldReshapes(*block);
  for (Block *block : collectBlocks(func))
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
      if ((isa<linalg::FillOp, linalg::GenericOp, arith::ConstantOp>(op) ||
           isa_and_nonnull<tensor::TensorDialect>(op.getDialect())) &&
          isOpTriviallyDead(&op))
        rewriter.eraseOp(&op);
}

void Extractor::run() {
  SmallVector<func::FuncOp> funcs;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (auto key = func->getAttrOfType<StringAttr>(kTaskAttr))
      tasks[key.getValue()] = func;
    else if (!func.isDeclaration())
      funcs.push_back(func);
  }
  for (func::FuncOp func : funcs)
    runOnFunction(func);
  for (auto nested : module.getOps<ModuleOp>())
    if (!nested.getOps<func::FuncOp>().empty())
      nested.emitRemark("a module in a module isn't searched for tasks; move "
                        "its functions to the outer one");
}

LogicalResult mlir::ansor::extractTasks(ModuleOp module,
                                        const ExtractOptions &options) {
  // All is done to a copy, which replaces the module if it verifies.
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  Extractor(*copy, options).run();
  if (failed(verify(*copy)))
    return module.emitError(
        "the module does not verify after its tasks were extracted");
  module.getBodyRegion().takeBody(copy->getBodyRegion());
  return success();
}
