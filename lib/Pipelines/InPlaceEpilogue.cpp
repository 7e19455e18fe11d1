//===- InPlaceEpilogue.cpp - See Passes.td ----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/Pipelines/Passes.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_INPLACEEPILOGUEPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

/// Whether nothing else could want `init` written: it is an empty tensor.
static bool isFreeInit(Value init) {
  return init.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

/// The input of `op` that its result can be written over, or null.
static OpOperand *findReusableInput(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() ||
      op.getNumParallelLoops() != op.getNumLoops())
    return nullptr;
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap initMap = op.getMatchingIndexingMap(init);
  if (!initMap.isPermutation() || op.payloadUsesValueFromOperand(init) ||
      !isFreeInit(init->get()))
    return nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    // Only a value that was computed: arguments and constants stay.
    Operation *producer = input->get().getDefiningOp();
    if (!producer || !input->get().hasOneUse() ||
        !isa<linalg::LinalgOp, scf::ForOp, scf::ForallOp>(producer) ||
        producer->getBlock() != op->getBlock())
      continue;
    if (input->get().getType() == init->get().getType() &&
        op.getMatchingIndexingMap(input) == initMap)
      return input;
  }
  return nullptr;
}

/// Makes `input` the init of `op`.
static void reuseInput(linalg::GenericOp op, OpOperand *input) {
  unsigned position = input->getOperandNumber();
  Value value = input->get();
  Block *body = op.getBody();
  unsigned initPosition = op.getDpsInitOperand(0)->getOperandNumber();
  body->getArgument(position).replaceAllUsesWith(
      body->getArgument(initPosition));
  body->eraseArgument(position);
  op.getDpsInitOperand(0)->set(value);
  op.getInputsMutable().erase(position);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.erase(maps.begin() + position);
  op.setIndexingMapsAttr(
      Builder(op.getContext()).getAffineMapArrayAttr(maps));
}

namespace {
struct InPlaceEpiloguePass
    : public ansor::impl::InPlaceEpiloguePassBase<InPlaceEpiloguePass> {
  void runOnOperation() override {
    getOperation()->walk([](linalg::GenericOp op) {
      if (OpOperand *input = findReusableInput(op))
        reuseInput(op, input);
    });
  }
};
} // namespace
