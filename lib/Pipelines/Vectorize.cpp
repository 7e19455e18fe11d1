//===- Vectorize.cpp - See Passes.td ----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Pipelines/Passes.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_VECTORIZEPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

/// Reduction steps of one iteration of a loop, if no schedule says how many.
static constexpr int64_t kSteps = 4;
/// Bodies of one iteration of an unrolled loop. More take LLVM seconds.
static constexpr int64_t kMaxBodies = 256;

/// The loops around `op` that do nothing but repeat it on the same result,
/// outermost first.
static SmallVector<scf::ForOp> findCarryingLoops(linalg::LinalgOp op) {
  SmallVector<scf::ForOp> loops;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!op.getNumReductionLoops() && !op.payloadUsesValueFromOperand(&init))
      return loops;
  Operation *current = op;
  while (auto loop = dyn_cast<scf::ForOp>(current->getParentOp())) {
    if (loop.getNumResults())
      break;
    bool alone = llvm::all_of(*loop.getBody(), [&](Operation &other) {
      return &other == current || isMemoryEffectFree(&other);
    });
    bool invariant = llvm::all_of(op.getDpsInits(), [&](Value init) {
      return loop.isDefinedOutsideOfLoop(init);
    });
    if (!alone || !invariant)
      break;
    loops.insert(loops.begin(), loop);
    current = loop;
  }
  return loops;
}

/// Bodies in one piece of straight code of `plan`.
static int64_t countBodies(const NestPlan &plan) {
  int64_t bodies = 1;
  for (auto [loop, size] : llvm::enumerate(plan.tile))
    bodies *= plan.lane && *plan.lane == loop
                  ? llvm::divideCeil(size, plan.lanes)
                  : size;
  return bodies;
}

/// Unrolls a loop around straight code of `bodies` bodies, `steps` reduction
/// steps.
static void unrollInnermost(scf::ForOp loop, int64_t bodies, int64_t steps) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  int64_t factor = std::max<int64_t>(kSteps / std::max<int64_t>(steps, 1), 1);
  if (auto wanted = loop->getAttrOfType<IntegerAttr>(kUnrollAttr))
    factor = std::max<int64_t>(wanted.getInt(), 1);
  factor = std::min(factor, std::max<int64_t>(kMaxBodies / bodies, 1));
  if (trips) {
    factor = std::min<int64_t>(factor, trips->getSExtValue());
    // A rest loop of its own is not worth its code.
    while (factor > 1 && trips->getSExtValue() % factor)
      --factor;
  }
  if (trips && factor > 1)
    (void)loopUnrollByFactor(loop, factor);
}

namespace {
struct VectorizePass : public ansor::impl::VectorizePassBase<VectorizePass> {
  using VectorizePassBase::VectorizePassBase;
  void runOnOperation() override {
    TargetInfo target = getTarget(getOperation());
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      op = collapseCopy(op);
      FailureOr<NestPlan> plan = planNest(op, target, strictFP);
      if (failed(plan)) // Lowered to plain loops later.
        continue;
      SmallVector<scf::ForOp> loops;
      if (op.hasPureBufferSemantics() && coversParallelLoops(op, *plan))
        loops = findCarryingLoops(op);
      if (loops.empty()) {
        emitNest(op, *plan);
        continue;
      }
      int64_t bodies = countBodies(*plan) * bodyWeight(op, *plan), steps = 1;
      for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
        if (iterator == utils::IteratorType::reduction)
          steps *= plan->tile[loop];
      unrollInnermost(emitCarriedNest(op, *plan, loops).back(), bodies, steps);
    }
  }
};
} // namespace
