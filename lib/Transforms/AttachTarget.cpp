//===- AttachTarget.cpp - See Passes.td -------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Target/Target.h"
#include "ansor/Transforms/Passes.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_ATTACHTARGETPASS
#include "ansor/Transforms/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

namespace {
struct AttachTargetPass
    : public ansor::impl::AttachTargetPassBase<AttachTargetPass> {
  using AttachTargetPassBase::AttachTargetPassBase;
  void runOnOperation() override {
    FailureOr<TargetInfo> info = lookupTarget(target, getOperation().getLoc());
    if (failed(info))
      return signalPassFailure();
    attachTarget(getOperation(), *info);
  }
};
} // namespace
