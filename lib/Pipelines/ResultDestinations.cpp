//===- ResultDestinations.cpp - See Passes.td -------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Entry.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Pipelines/Passes.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_RESULTDESTINATIONSPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

bool ansor::isDestinationType(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.hasStaticShape() && memref.getLayout().isIdentity() &&
         !memref.getMemorySpace() && memref.getNumElements() > 0;
}

/// The buffer that `value` is all of, in another shape at most, if `func` made
/// it at its top.
static memref::AllocOp findWholeBuffer(Value value, func::FuncOp func) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      bool good = alloc->getBlock() == &func.getBody().front() &&
                  isDestinationType(alloc.getType());
      return good ? alloc : memref::AllocOp();
    }
    if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(
            op) ||
        !isDestinationType(op->getOperand(0).getType()))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

/// Makes the results of `func` that are static buffers arguments.
static LogicalResult writeInto(func::FuncOp func) {
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  SmallVector<Value> left;
  SmallVector<Type> leftTypes;
  SmallVector<DictionaryAttr> leftAttrs;
  IRRewriter rewriter(func.getContext());
  for (auto [i, value] : llvm::enumerate(ret.getOperands())) {
    if (!isDestinationType(value.getType())) {
      left.push_back(value);
      leftTypes.push_back(value.getType());
      leftAttrs.push_back(DictionaryAttr::get(func.getContext(), {}));
      continue;
    }
    Location loc = value.getLoc();
    unsigned position = func.getNumArguments();
    if (failed(func.insertArgument(position, value.getType(),
                                   DictionaryAttr(), loc)))
      return failure();
    BlockArgument target = func.getArgument(position);
    // Taken by an earlier result, it is no buffer of this function any more.
    memref::AllocOp alloc = findWholeBuffer(value, func);
    if (!alloc) {
      rewriter.setInsertionPoint(ret);
      memref::CopyOp::create(rewriter, loc, value, target);
      continue;
    }
    rewriter.setInsertionPoint(alloc);
    Value view = target;
    MemRefType type = alloc.getType();
    if (type != target.getType()) {
      SmallVector<int64_t> strides;
      int64_t offset;
      (void)type.getStridesAndOffset(strides, offset);
      view = memref::ReinterpretCastOp::create(rewriter, loc, type, target,
                                               offset, type.getShape(), strides);
    }
    rewriter.replaceOp(alloc, view);
  }
  ret->setOperands(left);
  func.setAllResultAttrs(leftAttrs);
  func.setFunctionType(
      FunctionType::get(func.getContext(), func.getArgumentTypes(), leftTypes));
  return success();
}

/// A function that makes the buffers of the results and calls `into`.
static void buildBody(func::FuncOp func, func::FuncOp into) {
  OpBuilder b = OpBuilder::atBlockBegin(func.addEntryBlock());
  Location loc = func.getLoc();
  SmallVector<Value> operands(func.getArguments());
  for (Type type : func.getResultTypes())
    if (isDestinationType(type))
      operands.push_back(memref::AllocOp::create(b, loc, cast<MemRefType>(type),
                                                 b.getI64IntegerAttr(64)));
  auto call = func::CallOp::create(b, loc, into, operands);
  unsigned made = func.getNumArguments(), kept = 0;
  SmallVector<Value> results;
  for (Type type : func.getResultTypes())
    results.push_back(isDestinationType(type) ? operands[made++]
                                              : call.getResult(kept++));
  func::ReturnOp::create(b, loc, results);
}

namespace {
struct ResultDestinationsPass
    : public ansor::impl::ResultDestinationsPassBase<ResultDestinationsPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> funcs(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp func : funcs) {
      if (func.isExternal() || func.isPrivate() || func->hasAttr(kTaskAttr) ||
          !func.getBody().hasOneBlock() ||
          llvm::none_of(func.getResultTypes(), isDestinationType))
        continue;
      func::FuncOp entry = func.cloneWithoutRegions();
      std::string name = (func.getName() + "_into").str();
      for (unsigned i = 0; symbols.lookup(name); ++i)
        name = (func.getName() + "_into_" + Twine(i)).str();
      // The entry keeps the name; nothing is renamed where that is called.
      SymbolTable::setSymbolName(func, name);
      func.setPrivate();
      func->removeAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName());
      if (failed(writeInto(func)))
        return signalPassFailure();
      getOperation().insert(func, entry);
      buildBody(entry, func);
      entry->setAttr(kIntoAttr, FlatSymbolRefAttr::get(&getContext(), name));
      symbols = SymbolTable(getOperation());
    }
  }
};
} // namespace
