//===- AnsorPlugin.cpp - Plugin for a stock mlir-opt ------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   mlir-opt --load-dialect-plugin=AnsorPlugin.so \
//            --load-pass-plugin=AnsorPlugin.so \
//            --pass-pipeline='builtin.module(ansor-extract-tasks)' IN.mlir
//
// Everything but tuning: the plugin links no cost model, so it brings no
// OpenMP runtime into the process.
//
//===----------------------------------------------------------------------===//

#include "ansor/InitAll.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "AnsorPasses", ANSOR_VERSION,
          [] { ansor::registerAllPasses(); }};
}

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "AnsorDialect", ANSOR_VERSION,
          [](DialectRegistry *registry) {
            ansor::registerAllDialects(*registry);
          }};
}
