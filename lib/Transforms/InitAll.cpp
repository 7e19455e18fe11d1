//===- InitAll.cpp - Registration -------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/InitAll.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Pipelines/Pipelines.h"
#include "ansor/TransformOps/AnsorTransformOps.h"
#include "ansor/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

using namespace mlir;

void ansor::registerAllDialects(DialectRegistry &registry) {
  registry.insert<AnsorDialect>();
  registerTransformExtension(registry);
}

void ansor::registerUpstream(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
}

void ansor::registerAllPasses() {
  registerAnsorPasses();
  registerPipelines();
}
