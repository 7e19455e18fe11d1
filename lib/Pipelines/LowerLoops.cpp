//===- LowerLoops.cpp - See Passes.td ---------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/Pipelines/Passes.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_LOWERFORALLPASS
#define GEN_PASS_DEF_LOWERCOPIESPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

/// Nested sequential loops for a parallel loop without results; those with
/// results are left to convert-scf-to-cf.
static void sequentialize(RewriterBase &rewriter, scf::ParallelOp loop) {
  if (loop.getNumResults())
    return;
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> ivs;
  for (auto [lower, upper, step] : llvm::zip_equal(
           loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
    auto inner =
        scf::ForOp::create(rewriter, loop.getLoc(), lower, upper, step);
    ivs.push_back(inner.getInductionVar());
    rewriter.setInsertionPointToStart(inner.getBody());
  }
  Operation *end = rewriter.getInsertionBlock()->getTerminator();
  rewriter.eraseOp(loop.getBody()->getTerminator());
  rewriter.inlineBlockBefore(loop.getBody(), end, ivs);
  rewriter.eraseOp(loop);
}

/// Whether a copy of `type` is one run of bytes.
static bool isContiguous(MemRefType type) {
  return type.getLayout().isIdentity() ||
         (type.hasStaticShape() && memref::isStaticShapeAndContiguousRowMajor(type));
}

namespace {
struct LowerForallPass
    : public ansor::impl::LowerForallPassBase<LowerForallPass> {
  using LowerForallPassBase::LowerForallPassBase;
  void runOnOperation() override {
    // Inner ones first. Only the outermost may stay parallel.
    SmallVector<std::pair<scf::ForallOp, bool>> loops;
    SmallVector<scf::ParallelOp> others;
    getOperation()->walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ParallelOp>(op))
        others.push_back(loop);
      else if (auto loop = dyn_cast<scf::ForallOp>(op))
        loops.emplace_back(loop,
                           parallel && !op->getParentOfType<scf::ForallOp>());
    });
    IRRewriter rewriter(&getContext());
    for (scf::ParallelOp loop : others)
      sequentialize(rewriter, loop);
    for (auto [loop, staysParallel] : loops) {
      rewriter.setInsertionPoint(loop);
      // Upstream's sequential form would drop results.
      if (loop.getNumResults() ||
          (staysParallel ? failed(scf::forallToParallelLoop(rewriter, loop))
                         : failed(scf::forallToForLoop(rewriter, loop)))) {
        loop.emitOpError("can't be lowered: it still yields tensors");
        return signalPassFailure();
      }
    }
  }
};

struct LowerCopiesPass
    : public ansor::impl::LowerCopiesPassBase<LowerCopiesPass> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp copy) {
      auto source = dyn_cast<MemRefType>(copy.getSource().getType());
      auto target = dyn_cast<MemRefType>(copy.getTarget().getType());
      if (source && target && (!isContiguous(source) || !isContiguous(target)))
        copies.push_back(copy);
    });
    for (memref::CopyOp copy : copies) {
      OpBuilder b(copy);
      int64_t rank = cast<MemRefType>(copy.getSource().getType()).getRank();
      AffineMap map = b.getMultiDimIdentityMap(rank);
      SmallVector<utils::IteratorType> iterators(rank,
                                                 utils::IteratorType::parallel);
      linalg::GenericOp::create(
          b, copy.getLoc(), copy.getSource(), copy.getTarget(),
          ArrayRef<AffineMap>{map, map}, iterators,
          [](OpBuilder &nested, Location loc, ValueRange args) {
            linalg::YieldOp::create(nested, loc, args.front());
          });
      copy.erase();
    }
  }
};
} // namespace
