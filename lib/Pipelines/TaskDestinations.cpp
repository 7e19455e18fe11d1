//===- TaskDestinations.cpp - See Passes.td ---------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Pipelines/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_TASKDESTINATIONSPASS
#define GEN_PASS_DEF_DROPTASKRESULTSPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

static constexpr StringLiteral kWritable = "bufferization.writable";

/// Makes the function return its results in its last arguments. Emits and
/// fails if they don't fit.
static LogicalResult materialize(func::FuncOp func) {
  unsigned numResults = func.getNumResults(), numArgs = func.getNumArguments();
  if (numResults > numArgs)
    return func.emitOpError("is a task with ")
           << numResults << " results but only " << numArgs
           << " arguments: it needs one init argument a result";
  for (auto [arg, result] :
       llvm::zip_equal(func.getArgumentTypes().take_back(numResults),
                       func.getResultTypes()))
    if (arg != result || !isa<RankedTensorType>(arg))
      return func.emitOpError("is a task whose result of type ")
             << result << " has an init argument of type " << arg
             << ": both have to be the same tensor type";
  func.walk([&](func::ReturnOp ret) {
    OpBuilder builder(ret);
    for (OpOperand &operand : ret->getOpOperands()) {
      BlockArgument init =
          func.getArgument(numArgs - numResults + operand.getOperandNumber());
      // An argument that is used is where the result is computed already, or
      // a copy at the end is due (see DropTaskResults); asking the analysis
      // for more than that can leave it with a conflict it can't solve.
      if (operand.get() != init && init.use_empty())
        operand.set(bufferization::MaterializeInDestinationOp::create(
                        builder, ret.getLoc(), init.getType(), operand.get(),
                        init)
                        ->getResult(0));
    }
  });
  return success();
}

/// The buffer that `value` is: through casts, and loops that pass it on.
static Value originOf(Value value) {
  while (true) {
    if (auto cast = value.getDefiningOp<memref::CastOp>()) {
      value = cast.getSource();
      continue;
    }
    auto loop = value.getDefiningOp<scf::ForOp>();
    if (!loop)
      return value;
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (originOf(loop.getYieldedValues()[number]) !=
        loop.getRegionIterArg(number))
      return value;
    value = loop.getInitArgs()[number];
  }
}

namespace {
struct TaskDestinationsPass
    : public ansor::impl::TaskDestinationsPassBase<TaskDestinationsPass> {
  void runOnOperation() override {
    Attribute no = BoolAttr::get(&getContext(), false);
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      bool task = func->hasAttr(kTaskAttr);
      if (task && failed(materialize(func)))
        return signalPassFailure();
      if (!task && func.isPrivate())
        continue;
      unsigned inits = task ? func.getNumResults() : 0;
      for (unsigned i = 0, e = func.getNumArguments() - inits; i < e; ++i)
        if (isa<TensorType>(func.getArgument(i).getType()) &&
            !func.getArgAttr(i, kWritable))
          func.setArgAttr(i, kWritable, no);
    }
  }
};

struct DropTaskResultsPass
    : public ansor::impl::DropTaskResultsPassBase<DropTaskResultsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringSet<> dropped;
    // By task: the results that aren't computed in their init argument, and
    // whether it is read otherwise.
    struct Copied {
      bool isCopied = false, isRead = false;
    };
    llvm::StringMap<SmallVector<Copied>> copied;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (!func->hasAttr(kTaskAttr) || func.isExternal() ||
          !func.getNumResults())
        continue;
      unsigned first = func.getNumArguments() - func.getNumResults();
      SmallVector<Copied> &results = copied[func.getName()];
      results.resize(func.getNumResults());
      func.walk([&](func::ReturnOp ret) {
        OpBuilder builder(ret);
        for (auto [i, value] : llvm::enumerate(ret.getOperands())) {
          Value source = originOf(value);
          if (source == func.getArgument(first + i))
            continue;
          results[i] = {true, !func.getArgument(first + i).use_empty()};
          memref::CopyOp::create(builder, ret.getLoc(), value,
                                 func.getArgument(first + i));
        }
        ret->setOperands({});
      });
      func.setAllResultAttrs(ArrayRef<DictionaryAttr>());
      func.setFunctionType(FunctionType::get(
          &getContext(), func.getFunctionType().getInputs(), {}));
      dropped.insert(func.getName());
    }
    module.walk([&](func::CallOp call) {
      if (!dropped.contains(call.getCallee()) || !call.getNumResults())
        return;
      OpBuilder builder(call);
      SmallVector<Value> operands(call.getOperands());
      unsigned first = operands.size() - call.getNumResults();
      for (auto [i, result] : llvm::enumerate(call.getResults())) {
        Value value = operands[first + i];
        // The analysis saw a call that only reads this init, which may be a
        // constant or have other readers: the copy needs a buffer of its own.
        if (copied[call.getCallee()][i].isCopied) {
          Location loc = call.getLoc();
          auto type = cast<MemRefType>(value.getType());
          SmallVector<Value> sizes;
          for (int64_t d = 0; d < type.getRank(); ++d)
            if (type.isDynamicDim(d))
              sizes.push_back(memref::DimOp::create(builder, loc, value, d));
          Value own = memref::AllocOp::create(
              builder, loc, type, sizes, builder.getI64IntegerAttr(64));
          if (copied[call.getCallee()][i].isRead)
            memref::CopyOp::create(builder, loc, value, own);
          operands[first + i] = value = own;
        }
        if (value.getType() != result.getType())
          value = memref::CastOp::create(builder, call.getLoc(),
                                         result.getType(), value);
        result.replaceAllUsesWith(value);
      }
      func::CallOp::create(builder, call.getLoc(), call.getCallee(),
                           TypeRange(), operands);
      call.erase();
    });
  }
};
} // namespace
