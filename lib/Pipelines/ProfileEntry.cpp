//===- ProfileEntry.cpp - See Passes.td -------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Entry.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Pipelines/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_PROFILEENTRYPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

static constexpr StringLiteral kLap = "ansor_profile_lap";

namespace {
struct ProfileEntryPass
    : public ansor::impl::ProfileEntryPassBase<ProfileEntryPass> {
  void runOnOperation() override;

private:
  bool isTask(func::CallOp call);
  bool hasTask(Operation *op);
  void runOnBlock(Block &block);
  void addLap(OpBuilder &b, Location loc, int64_t slot);
  int64_t getSlot(StringRef name);

  llvm::MapVector<StringAttr, int64_t> slots;
};
} // namespace

bool ProfileEntryPass::isTask(func::CallOp call) {
  auto callee = getOperation().lookupSymbol<func::FuncOp>(call.getCallee());
  return callee && callee->hasAttr(kTaskAttr);
}

bool ProfileEntryPass::hasTask(Operation *op) {
  return op->walk([&](func::CallOp call) {
             return isTask(call) ? WalkResult::interrupt()
                                 : WalkResult::advance();
           })
      .wasInterrupted();
}

int64_t ProfileEntryPass::getSlot(StringRef name) {
  return slots
      .insert({StringAttr::get(&getContext(), name), int64_t(slots.size())})
      .first->second;
}

void ProfileEntryPass::addLap(OpBuilder &b, Location loc, int64_t slot) {
  Value number = arith::ConstantIntOp::create(b, loc, slot, 64);
  func::CallOp::create(b, loc, kLap, TypeRange(), number);
}

/// "scf.for at model.mlir:12".
static std::string describeWork(Operation *op) {
  std::string text = op->getName().getStringRef().str();
  if (auto file = op->getLoc()->findInstanceOf<FileLineColLoc>())
    text += (" at " + file.getFilename().getValue().rsplit('/').second + ":" +
             Twine(file.getLine()))
                .str();
  return text;
}

void ProfileEntryPass::runOnBlock(Block &block) {
  std::string work; // since the last lap; empty: none worth a slot
  OpBuilder b(&getContext());
  auto flush = [&](Operation *next) {
    if (work.empty())
      return;
    b.setInsertionPoint(next);
    addLap(b, next->getLoc(), getSlot(work));
    work.clear();
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      flush(&op);
      continue;
    }
    if (auto call = dyn_cast<func::CallOp>(op); call && isTask(call)) {
      flush(&op);
      b.setInsertionPointAfter(&op);
      addLap(b, op.getLoc(), getSlot(call.getCallee()));
      continue;
    }
    if (hasTask(&op) && !isa<scf::ParallelOp>(op)) {
      flush(&op);
      for (Region &region : op.getRegions())
        for (Block &nested : region)
          runOnBlock(nested);
      continue;
    }
    if (work.empty() && !isMemoryEffectFree(&op) &&
        !op.hasAttr(kArenaAttr) &&
        !isa<memref::AllocOp, memref::DeallocOp, memref::AllocaOp,
             memref::AtomicRMWOp>(op))
      work = describeWork(&op);
  }
}

void ProfileEntryPass::runOnOperation() {
  ModuleOp module = getOperation();
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<func::FuncOp> entries;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || func.isPrivate() || func->hasAttr(kTaskAttr))
      continue;
    if (auto into = func->getAttrOfType<FlatSymbolRefAttr>(kIntoAttr))
      func = module.lookupSymbol<func::FuncOp>(into.getValue());
    if (func)
      entries.push_back(func);
  }
  auto lap = func::FuncOp::create(
      b, module.getLoc(), kLap,
      b.getFunctionType({b.getI64Type()}, {}));
  lap.setPrivate();
  for (func::FuncOp func : entries) {
    for (Block &block : func.getBody())
      runOnBlock(block);
    b.setInsertionPointToStart(&func.getBody().front());
    addLap(b, func.getLoc(), -1);
  }
  SmallVector<Attribute> names;
  for (auto &[name, slot] : slots)
    names.push_back(name);
  module->setAttr(kProfileAttr, b.getArrayAttr(names));
}
