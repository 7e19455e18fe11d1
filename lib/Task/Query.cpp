//===- Query.cpp - Questions about ops --------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaskInternal.h"
#include "ansor/IR/AnsorDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ansor;

static bool hasEncoding(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getEncoding();
}

StringRef ansor::detail::whyNoTask(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return "it works on memrefs; tasks are made of linalg ops on tensors";
  if (llvm::any_of(op->getOperandTypes(), hasEncoding) ||
      llvm::any_of(op->getResultTypes(), hasEncoding))
    return "a tensor has an encoding; lower sparse tensors first";
  if (op->getNumResults() == 0)
    return "it has no result";
  if (op->getNumRegions() == 1) {
    WalkResult impure = op->getRegion(0).walk([](Operation *inner) {
      return inner->hasTrait<OpTrait::IsTerminator>() ||
                     isMemoryEffectFree(inner)
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    });
    if (impure.wasInterrupted())
      return "its body has side effects";
  }
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i)
    if (!op.payloadUsesValueFromOperand(op.getDpsInitOperand(i)) &&
        !overwritesInit(op, i))
      return "it leaves elements of its init as they are";
  if (llvm::is_contained(op.getStaticLoopRanges(), 0))
    return "a loop has extent 0, there is nothing to compute";
  return {};
}

bool ansor::detail::isPacking(Operation *op) {
  return op->hasAttr(kPrepackAttr);
}

bool ansor::detail::isAnchor(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumReductionLoops() > 0 &&
         whyNoTask(generic).empty();
}

bool ansor::detail::isPointwise(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && !isPacking(op) && generic.getNumReductionLoops() == 0 &&
         whyNoTask(generic).empty();
}

bool ansor::detail::isMovement(Operation *op) {
  if (!isPointwise(op))
    return false;
  auto generic = cast<linalg::GenericOp>(op);
  Block *body = generic.getBody();
  if (generic->getNumResults() != 1 || !llvm::hasSingleElement(*body))
    return false;
  auto arg = dyn_cast<BlockArgument>(body->getTerminator()->getOperand(0));
  return arg && arg.getOwner() == body &&
         arg.getArgNumber() < generic.getNumDpsInputs();
}

std::optional<int64_t> ansor::detail::countIterations(linalg::LinalgOp op) {
  int64_t count = 1;
  for (int64_t extent : op.getStaticLoopRanges()) {
    int64_t product;
    if (ShapedType::isDynamic(extent) ||
        llvm::MulOverflow(count, extent, product))
      return std::nullopt;
    count = product;
  }
  return count;
}

bool ansor::detail::isReadOnce(OpOperand &use) {
  auto op = cast<linalg::LinalgOp>(use.getOwner());
  AffineMap map = op.getMatchingIndexingMap(&use);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  llvm::SmallBitVector seen(map.getNumDims());
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      if (seen.test(dim.getPosition()))
        return false;
      seen.set(dim.getPosition());
    } else if (!isa<AffineConstantExpr>(expr)) {
      return false;
    }
  }
  for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
    if (!seen.test(dim) && ranges[dim] != 1)
      return false;
  return true;
}

linalg::FillOp ansor::detail::getInitFill(linalg::LinalgOp op, unsigned i) {
  return op.getDpsInitOperand(i)->get().getDefiningOp<linalg::FillOp>();
}

bool ansor::detail::readsInit(linalg::LinalgOp op, unsigned i) {
  return !getInitFill(op, i) &&
         (op.payloadUsesValueFromOperand(op.getDpsInitOperand(i)) ||
          !overwritesInit(op, i));
}

SmallVector<Block *> ansor::detail::collectBlocks(func::FuncOp func) {
  SmallVector<Block *> blocks;
  SmallVector<Region *> worklist = {&func.getBody()};
  while (!worklist.empty())
    for (Block &block : *worklist.pop_back_val()) {
      blocks.push_back(&block);
      for (Operation &op : block)
        if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp,
                scf::ExecuteRegionOp>(op))
          for (Region &region : op.getRegions())
            worklist.push_back(&region);
    }
  return blocks;
}
