//===- Passes.td - Passes of the code generation -----------*- tablegen -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_PIPELINES_PASSES_TD
#define ANSOR_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def InPlaceEpiloguePass : Pass<"ansor-in-place-epilogue", "ModuleOp"> {
  let summary = "Let elementwise ops write over the value they consume";
  let description = [{
    An elementwise `linalg.generic` that reads a value of its result's type by
    the identity map, and is its only user, takes that value as its init, so
    that bufferization makes no temporary.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

#endif // ANSOR_PIPELINES_PASSES_TD
