//===- HoistAccumulators.cpp - See Passes.td --------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/Pipelines/Passes.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_HOISTACCUMULATORSPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

/// Largest body of a loop that is unrolled without being asked for.
static constexpr int64_t kMaxUnrolledOps = 512;

/// Whether the loop's carried tensors are written by vector transfers, so that
/// hoisting can gain something.
static bool carriesTensors(scf::ForOp loop) {
  return llvm::any_of(loop.getResultTypes(),
                      [](Type type) { return isa<TensorType>(type); });
}

/// The factor to unroll `loop` by; 1 for none.
static int64_t unrollFactor(scf::ForOp loop, int64_t maxTrips) {
  int64_t bodyOps = 0;
  bool straight = true;
  for (Operation &op : *loop.getBody()) {
    ++bodyOps;
    straight &= op.getNumRegions() == 0;
  }
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (auto wanted = loop->getAttrOfType<IntegerAttr>("ansor.unroll")) {
    int64_t factor = wanted.getInt();
    if (trips)
      factor = std::min<int64_t>(factor, trips->getSExtValue());
    return std::max<int64_t>(factor, 1);
  }
  if (!straight || !trips || trips->getSExtValue() > maxTrips ||
      bodyOps * trips->getSExtValue() > kMaxUnrolledOps)
    return 1;
  return std::max<int64_t>(trips->getSExtValue(), 1);
}

namespace {
struct HoistAccumulatorsPass
    : public ansor::impl::HoistAccumulatorsPassBase<HoistAccumulatorsPass> {
  using HoistAccumulatorsPassBase::HoistAccumulatorsPassBase;
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // Inner loops first: what they give up becomes part of the outer body.
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (carriesTensors(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      Attribute unrollAttr = loop->getAttr("ansor.unroll");
      LoopLikeOpInterface hoisted = hoistLoopInvariantSubsets(
          rewriter, cast<LoopLikeOpInterface>(loop.getOperation()));
      if (unrollAttr)
        hoisted->setAttr("ansor.unroll", unrollAttr);
    }
    SmallVector<std::pair<scf::ForOp, int64_t>> unrolled;
    getOperation()->walk([&](scf::ForOp loop) {
      int64_t factor = unrollFactor(loop, unroll);
      loop->removeAttr("ansor.unroll");
      if (factor > 1)
        unrolled.emplace_back(loop, factor);
    });
    for (auto [loop, factor] : unrolled)
      (void)loopUnrollByFactor(loop, factor);
  }
};
} // namespace
