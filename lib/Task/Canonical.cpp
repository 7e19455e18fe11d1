//===- Canonical.cpp - Canonical form of a task function --------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Equal computations get equal bodies, whatever their source looked like:
//
//   loops      parallel ones in the order of the first output's map, then
//              reductions in the order of their first use by the inputs
//   operands   of commutative ops: by what they compute; inputs of a
//              linalg.generic: in the order of their first use by the body
//   ops        of a body, of a function: producers first, as a depth-first walk
//              from the results finds them
//   arguments  in the order of their first use by the stages, then the inits
//
// Reductions are put in order after the inputs, which therefore are compared
// by maps in which reductions are known by their extent only.
//
//===----------------------------------------------------------------------===//

#include "TaskInternal.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Support/Hash.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ansor;
using namespace mlir::ansor::detail;

template <typename T> static std::string print(const T &thing) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << thing;
  return text;
}

static bool isCommutative(Operation *op) {
  return op->hasTrait<OpTrait::IsCommutative>() && op->getNumOperands() > 1;
}

namespace {

/// Signatures of what a task computes: equal for equal computations, whatever
/// the order of their operands. They serve to sort, so that two different
/// computations with one signature do no harm.
class Signatures {
public:
  Signatures(func::FuncOp task, unsigned numInits)
      : firstInit(task.getNumArguments() - numInits) {}

  /// Of a value of the function.
  std::string ofValue(Value value);
  /// Of input `i` of `op`: how and what it reads.
  std::string ofInput(linalg::GenericOp op, unsigned i);
  /// Of a value in the body of `op`.
  std::string ofBody(linalg::GenericOp op, Value value);
  /// Forgets the values in the bodies, after an op was changed.
  void reset() { body.clear(); }

private:
  std::string loopName(linalg::GenericOp op, unsigned dim);
  std::string ofExpr(linalg::GenericOp op, AffineExpr expr);
  std::string ofMap(linalg::GenericOp op, AffineMap map);

  unsigned firstInit;
  DenseMap<Value, std::string> body;
  DenseMap<Operation *, std::string> stages;
};

} // namespace

std::string Signatures::loopName(linalg::GenericOp op, unsigned dim) {
  if (op.getIteratorTypesArray()[dim] == utils::IteratorType::parallel)
    return "p" + std::to_string(dim);
  return "r" + std::to_string(op.getStaticLoopRanges()[dim]);
}

std::string Signatures::ofExpr(linalg::GenericOp op, AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return loopName(op, dim.getPosition());
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr))
    return "(" + ofExpr(op, binary.getLHS()) + " " +
           std::to_string(static_cast<int>(binary.getKind())) + " " +
           ofExpr(op, binary.getRHS()) + ")";
  return print(expr);
}

std::string Signatures::ofMap(linalg::GenericOp op, AffineMap map) {
  std::string text;
  for (AffineExpr expr : map.getResults())
    text += ofExpr(op, expr) + ",";
  return text;
}

std::string Signatures::ofValue(Value value) {
  std::string type = print(value.getType());
  if (auto arg = dyn_cast<BlockArgument>(value))
    return (arg.getArgNumber() < firstInit ? "in " : "init ") + type;
  Operation *op = value.getDefiningOp();
  std::string &stage = stages[op];
  if (stage.empty()) {
    std::string text =
        print(op->getName()) + print(op->getDiscardableAttrDictionary());
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      for (unsigned i = 0; i < generic.getNumDpsInputs(); ++i)
        text += ofInput(generic, i) + ";";
      for (unsigned i = 0; i < generic.getNumDpsInits(); ++i)
        text +=
            ofMap(
                generic,
                generic.getIndexingMapsArray()[generic.getNumDpsInputs() + i]) +
            ofValue(generic.getOutputs()[i]) + ";";
      for (Value yielded : generic.getBody()->getTerminator()->getOperands())
        text += ofBody(generic, yielded) + ";";
    } else {
      text += print(op->getAttrDictionary());
      for (Value operand : op->getOperands())
        text += ofValue(operand) + ";";
      if (auto pad = dyn_cast<tensor::PadOp>(op))
        text += ofValue(pad.getConstantPaddingValue());
    }
    stages[op] = hashText(text);
  }
  return stages[op] + "#" +
         std::to_string(cast<OpResult>(value).getResultNumber()) + " " + type;
}

std::string Signatures::ofInput(linalg::GenericOp op, unsigned i) {
  return ofMap(op, op.getIndexingMapsArray()[i]) + "|" +
         ofValue(op.getInputs()[i]);
}

std::string Signatures::ofBody(linalg::GenericOp op, Value value) {
  // The first character sorts: the accumulator, what is computed, inputs,
  // indices, captured values, constants.
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    if (arg.getOwner() != op.getBody())
      return "4" + ofValue(value);
    unsigned i = arg.getArgNumber(), numInputs = op.getNumDpsInputs();
    return i < numInputs ? "2" + ofInput(op, i)
                         : "0" + std::to_string(i - numInputs);
  }
  Operation *def = value.getDefiningOp();
  if (def->hasTrait<OpTrait::ConstantLike>())
    return "5" + print(def->getAttrDictionary());
  if (def->getBlock() != op.getBody())
    return "4" + ofValue(value);
  if (auto index = dyn_cast<linalg::IndexOp>(def))
    return "3" + loopName(op, index.getDim());
  auto found = body.find(value);
  if (found != body.end())
    return found->second;
  SmallVector<std::string> operands;
  for (Value operand : def->getOperands())
    operands.push_back(ofBody(op, operand));
  if (isCommutative(def))
    llvm::sort(operands);
  std::string text = print(def->getName()) + print(def->getAttrDictionary()) +
                     print(value.getType()) + llvm::join(operands, ";");
  return body[value] = "1" + hashText(text) + "#" +
                       std::to_string(cast<OpResult>(value).getResultNumber());
}

//===----------------------------------------------------------------------===//
// One linalg.generic
//===----------------------------------------------------------------------===//

/// The dimensions of `exprs` in the order of their first use, appended to
/// `order` if `wanted` and not there yet.
static void appendDims(ArrayRef<AffineExpr> exprs,
                       function_ref<bool(unsigned)> wanted,
                       SmallVectorImpl<unsigned> &order) {
  for (AffineExpr expr : exprs)
    expr.walk([&](AffineExpr inner) {
      if (auto dim = dyn_cast<AffineDimExpr>(inner))
        if (wanted(dim.getPosition()) &&
            !llvm::is_contained(order, dim.getPosition()))
          order.push_back(dim.getPosition());
    });
}

/// Upstream writes indices of interchanged and fused loops as an affine.apply
/// of all of them. Where that selects one, the index itself is left, once.
static void simplifyIndices(RewriterBase &rewriter, linalg::GenericOp op) {
  llvm::SmallDenseMap<int64_t, linalg::IndexOp> first;
  for (Operation &inner : llvm::make_early_inc_range(*op.getBody())) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      auto [it, inserted] = first.try_emplace(index.getDim(), index);
      if (!inserted)
        rewriter.replaceOp(index, it->second.getResult());
    } else if (auto apply = dyn_cast<affine::AffineApplyOp>(inner)) {
      AffineMap map = apply.getAffineMap();
      if (auto dim = dyn_cast<AffineDimExpr>(map.getResult(0)))
        rewriter.replaceOp(apply, apply.getMapOperands()[dim.getPosition()]);
    }
  }
  for (auto &[dim, index] : first)
    if (index->use_empty())
      rewriter.eraseOp(index);
}

static linalg::GenericOp interchange(RewriterBase &rewriter,
                                     linalg::GenericOp op,
                                     ArrayRef<unsigned> order) {
  if (llvm::equal(order, llvm::seq<unsigned>(0, order.size())))
    return op;
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> result =
      linalg::interchangeGenericOp(rewriter, op, order);
  return succeeded(result) ? *result : op;
}

/// Orders the parallel loops, or with `reductions` the others.
static linalg::GenericOp orderLoops(RewriterBase &rewriter,
                                    linalg::GenericOp op, bool reductions) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned numInputs = op.getNumDpsInputs();
  auto isParallel = [&](unsigned dim) {
    return kinds[dim] == utils::IteratorType::parallel;
  };
  SmallVector<unsigned> order, rest;
  for (AffineMap map : ArrayRef(maps).drop_front(numInputs))
    appendDims(map.getResults(), isParallel, order);
  for (unsigned dim = 0; dim < kinds.size(); ++dim)
    if (isParallel(dim) && !llvm::is_contained(order, dim))
      order.push_back(dim);
  if (reductions)
    for (AffineMap map : maps)
      appendDims(
          map.getResults(), [&](unsigned d) { return !isParallel(d); }, order);
  for (unsigned dim = 0; dim < kinds.size(); ++dim)
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  return interchange(rewriter, op, order);
}

/// Orders the operands of commutative ops, the inputs, and the ops of the body.
static void orderBody(RewriterBase &rewriter, linalg::GenericOp op,
                      Signatures &signatures) {
  Block *body = op.getBody();
  bool nested = llvm::any_of(
      *body, [](Operation &inner) { return inner.getNumRegions() > 0; });
  if (nested)
    return;
  for (Operation &inner : *body) {
    if (!isCommutative(&inner))
      continue;
    // Among equals the order stays.
    SmallVector<std::pair<std::string, unsigned>> keys;
    SmallVector<Value> operands(inner.getOperands());
    for (auto [i, operand] : llvm::enumerate(operands))
      keys.push_back({signatures.ofBody(op, operand), i});
    llvm::sort(keys);
    for (auto [i, key] : llvm::enumerate(keys))
      inner.setOperand(i, operands[key.second]);
  }

  SmallVector<unsigned> inputs;
  llvm::SetVector<Operation *> ops;
  unsigned numInputs = op.getNumDpsInputs();
  auto visit = [&](auto &self, Value value) -> void {
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      if (arg.getOwner() == body && arg.getArgNumber() < numInputs &&
          !llvm::is_contained(inputs, arg.getArgNumber()))
        inputs.push_back(arg.getArgNumber());
      return;
    }
    Operation *def = value.getDefiningOp();
    if (def->getBlock() != body || ops.contains(def))
      return;
    for (Value operand : def->getOperands())
      self(self, operand);
    ops.insert(def);
  };
  Operation *terminator = body->getTerminator();
  for (Value yielded : terminator->getOperands())
    visit(visit, yielded);
  for (Operation &inner :
       llvm::make_early_inc_range(llvm::reverse(body->without_terminator())))
    if (!ops.contains(&inner))
      rewriter.eraseOp(&inner);
  for (Operation *inner : ops)
    rewriter.moveOpBefore(inner, terminator);

  // Inputs that only give a loop its extent come last.
  SmallVector<std::pair<std::string, unsigned>> shapes;
  for (unsigned i = 0; i < numInputs; ++i)
    if (!llvm::is_contained(inputs, i))
      shapes.push_back({signatures.ofInput(op, i), i});
  llvm::sort(shapes);
  for (auto &shape : shapes)
    inputs.push_back(shape.second);
  if (!llvm::equal(inputs, llvm::seq(0u, numInputs)))
    selectInputs(rewriter, op, inputs);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Removes attributes that front ends leave, which mean nothing here.
static void dropForeignAttrs(Operation *op) {
  for (NamedAttribute attr : llvm::to_vector(op->getDiscardableAttrs()))
    op->removeDiscardableAttr(attr.getName());
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    generic.removeDocAttr();
    generic.removeLibraryCallAttr();
  }
}

/// Values that `op` uses: operands, then what its regions capture.
static SmallVector<Value> usedValues(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  // The set is in the order of the walk, hence canonical if the body is.
  llvm::append_range(values, captured);
  return values;
}

SmallVector<unsigned> ansor::detail::canonicalize(RewriterBase &rewriter,
                                                  func::FuncOp task,
                                                  unsigned numInits) {
  Block &block = task.getBody().front();
  // Fold, make constants unique, and drop what is dead; then merge equal
  // expressions of each body.
  (void)applyPatternsGreedily(task, RewritePatternSet(task.getContext()));
  DominanceInfo dominance(task);
  Signatures signatures(task, numInits);
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic)
      continue;
    eliminateCommonSubExpressions(rewriter, dominance, generic);
    cleanInputs(rewriter, generic);
    for (bool reductions : {false, true}) {
      generic = orderLoops(rewriter, generic, reductions);
      simplifyIndices(rewriter, generic);
      signatures.reset();
      orderBody(rewriter, generic, signatures);
    }
    signatures.reset();
  }

  // Ops and arguments in the order of a walk from the results.
  llvm::SetVector<Operation *> constants, ops;
  SmallVector<unsigned> args;
  unsigned firstInit = task.getNumArguments() - numInits;
  auto visit = [&](auto &self, Value value) -> void {
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      if (arg.getOwner() == &block && arg.getArgNumber() < firstInit &&
          !llvm::is_contained(args, arg.getArgNumber()))
        args.push_back(arg.getArgNumber());
      return;
    }
    Operation *op = value.getDefiningOp();
    if (ops.contains(op) || constants.contains(op))
      return;
    for (Value used : usedValues(op))
      self(self, used);
    if (op->hasTrait<OpTrait::ConstantLike>())
      constants.insert(op);
    else
      ops.insert(op);
  };
  Operation *terminator = block.getTerminator();
  for (Value result : terminator->getOperands())
    visit(visit, result);
  for (Operation *op : constants)
    rewriter.moveOpBefore(op, terminator);
  int64_t stage = 0;
  for (Operation *op : ops) {
    rewriter.moveOpBefore(op, terminator);
    dropForeignAttrs(op);
    if (isa<linalg::LinalgOp, tensor::PadOp>(op))
      op->setAttr(kStageAttr, rewriter.getI64IntegerAttr(stage++));
  }
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(block.without_terminator())))
    if (!ops.contains(&op) && !constants.contains(&op))
      rewriter.eraseOp(&op);
  for (unsigned i = firstInit; i < task.getNumArguments(); ++i)
    args.push_back(i);

  // The arguments themselves.
  unsigned numOld = block.getNumArguments();
  SmallVector<Type> types;
  for (unsigned i : args) {
    BlockArgument old = block.getArgument(i);
    types.push_back(old.getType());
    old.replaceAllUsesWith(block.addArgument(old.getType(), old.getLoc()));
  }
  block.eraseArguments(0, numOld);
  task.setFunctionType(rewriter.getFunctionType(types, task.getResultTypes()));
  return args;
}
