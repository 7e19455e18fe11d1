//===- Ansor.cpp - C interface ----------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor-c/Ansor.h"
#include "ansor/InitAll.h"
#include "ansor/Pipelines/Pipelines.h"
#include "ansor/Record/Record.h"
#include "ansor/Task/Task.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

using namespace mlir;

static MlirStringRef wrapString(const std::string &text) {
  return mlirStringRefCreate(text.data(), text.size());
}

void ansorRegisterDialects(MlirDialectRegistry registry) {
  ansor::registerUpstream(*unwrap(registry));
  ansor::registerAllDialects(*unwrap(registry));
}

void ansorRegisterPasses() { ansor::registerAllPasses(); }

MlirLogicalResult ansorExtractTasks(MlirModule module) {
  return wrap(ansor::extractTasks(unwrap(module)));
}

MlirLogicalResult ansorInlineTasks(MlirModule module) {
  return wrap(ansor::inlineTasks(unwrap(module)));
}

void ansorForEachTask(MlirModule module, AnsorTaskCallback callback,
                      void *userData) {
  for (const ansor::Task &task : ansor::collectTasks(unwrap(module)))
    callback(wrapString(task.key), wrapString(task.name), task.weight,
             task.flops, userData);
}

MlirLogicalResult ansorApplyLibrary(MlirModule module, MlirStringRef path,
                                    unsigned *applied) {
  return wrap(ansor::applyLibrary(unwrap(module), unwrap(path), applied));
}

MlirLogicalResult ansorLowerToCPU(MlirModule module, bool parallel,
                                  bool strictFP) {
  ansor::CPULoweringOptions options;
  options.parallel = parallel;
  options.strictFP = strictFP;
  return wrap(ansor::lowerToCPU(unwrap(module), options));
}
