//===- InlineAllocaScopes.cpp - See Passes.td -------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Pipelines/Passes.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_INLINEALLOCASCOPESPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;

/// True if `scope` frees stack memory: of an alloca in it that no scope further
/// in frees.
static bool freesStack(memref::AllocaScopeOp scope) {
  return scope
      .walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (op != scope && op->hasTrait<OpTrait::AutomaticAllocationScope>())
          return WalkResult::skip();
        return isa<memref::AllocaOp>(op) ? WalkResult::interrupt()
                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct InlineAllocaScopesPass
    : ansor::impl::InlineAllocaScopesPassBase<InlineAllocaScopesPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](memref::AllocaScopeOp scope) {
      Location loc = scope.getLoc();
      Block *body = &scope.getBodyRegion().front();
      Operation *end = body->getTerminator();
      if (freesStack(scope)) {
        rewriter.setInsertionPoint(scope);
        Value stack = LLVM::StackSaveOp::create(
            rewriter, loc, LLVM::LLVMPointerType::get(&getContext()));
        rewriter.setInsertionPoint(end);
        LLVM::StackRestoreOp::create(rewriter, loc, stack);
      }
      SmallVector<Value> results(end->getOperands());
      rewriter.eraseOp(end);
      rewriter.inlineBlockBefore(body, scope);
      rewriter.replaceOp(scope, results);
    });
  }
};
} // namespace
