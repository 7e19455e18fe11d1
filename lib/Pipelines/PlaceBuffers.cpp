//===- PlaceBuffers.cpp - See Passes.td -------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Entry.h"
#include "ansor/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_PLACEBUFFERSPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

int64_t ansor::bytesOf(MemRefType type) {
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() ||
      type.getMemorySpace())
    return -1;
  Type element = type.getElementType();
  auto bitsOf = [](Type type) -> int64_t {
    // An element is stored in a power of two of bytes.
    return type.isIntOrFloat() ? llvm::PowerOf2Ceil(llvm::alignTo(
                                     type.getIntOrFloatBitWidth(), 8))
                               : 0;
  };
  int64_t bits = element.isIndex() ? 64 : bitsOf(element);
  if (auto complex = dyn_cast<ComplexType>(element))
    bits = 2 * bitsOf(complex.getElementType());
  if (bits == 0)
    return -1;
  int64_t bytes = bits / 8;
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes))
      return -1;
  return bytes;
}

namespace {
struct PlaceBuffersPass
    : public ansor::impl::PlaceBuffersPassBase<PlaceBuffersPass> {
  using PlaceBuffersPassBase::PlaceBuffersPassBase;

  /// Moves the buffers of `block` that are no larger than `largest`.
  void place(Block &block, int64_t largest) {
    SmallVector<memref::AllocOp> allocs(block.getOps<memref::AllocOp>());
    if (allocs.empty())
      return;
    BufferViewFlowAnalysis views(block.getParentOp());
    int64_t total = 0;
    for (memref::AllocOp alloc : allocs) {
      int64_t bytes = bytesOf(alloc.getType());
      if (bytes < 0 || bytes > largest || total + bytes > maxStack)
        continue;
      // Escapes by a return, or into a region that outlives nothing: keep it.
      bool escapes = llvm::any_of(views.resolve(alloc), [&](Value alias) {
        return llvm::any_of(alias.getUsers(), [&](Operation *user) {
          return user->hasTrait<OpTrait::ReturnLike>() &&
                 user->getParentOp() == block.getParentOp();
        });
      });
      if (escapes)
        continue;
      OpBuilder builder(alloc);
      auto alloca = memref::AllocaOp::create(builder, alloc.getLoc(),
                                             alloc.getType(),
                                             alloc.getAlignmentAttr());
      alloc.replaceAllUsesWith(alloca.getResult());
      alloc.erase();
      total += bytes;
    }
  }

  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal())
        place(func.getBody().front(), maxBytes);
    // Threads that allocate in each iteration wait for each other. The stack is
    // reset at the end of an iteration.
    getOperation()->walk([&](scf::ParallelOp loop) {
      if (!loop->getParentOfType<scf::ParallelOp>())
        place(*loop.getBody(), maxStack);
    });
  }
};
} // namespace
