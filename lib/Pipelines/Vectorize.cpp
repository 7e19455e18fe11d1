//===- Vectorize.cpp - See Passes.td ----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "ansor/Pipelines/Passes.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_VECTORIZEPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

namespace {
struct VectorizePass : public ansor::impl::VectorizePassBase<VectorizePass> {
  using VectorizePassBase::VectorizePassBase;
  void runOnOperation() override {
    TargetInfo target = getTarget(getOperation());
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      FailureOr<NestPlan> plan = planNest(op, target, strictFP);
      if (succeeded(plan)) // What has no plan is lowered to plain loops later.
        emitNest(op, *plan);
    }
  }
};
} // namespace
