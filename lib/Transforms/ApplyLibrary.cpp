//===- ApplyLibrary.cpp - See Passes.td -------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Transforms/Passes.h"
#include "ansor/Record/Record.h"
#include "ansor/Task/Task.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_APPLYLIBRARYPASS
#include "ansor/Transforms/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

namespace {
struct ApplyLibraryPass : public ansor::impl::ApplyLibraryPassBase<ApplyLibraryPass> {
  using ApplyLibraryPassBase::ApplyLibraryPassBase;
  void runOnOperation() override {
    if (failed(apply()))
      signalPassFailure();
  }

  LogicalResult apply() {
    ModuleOp module = getOperation();
    if (hasTasks(module))
      return applyLibrary(module, StringRef(library));
    // Extract on a copy: the module stays as it was if the library is no good.
    OwningOpRef<ModuleOp> copy(module.clone());
    if (failed(extractForLibrary(*copy, library)) ||
        failed(applyLibrary(*copy, StringRef(library))))
      return failure();
    module.getBodyRegion().takeBody(copy->getBodyRegion());
    return success();
  }
};
} // namespace
