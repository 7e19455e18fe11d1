//===- ansor-opt.cpp - mlir-opt with this project's passes ------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/InitAll.h"
#include "ansor/Search/Passes.h"
#include "ansor/Support/LoadModule.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  ansor::registerUpstream(registry);
  ansor::registerAllDialects(registry);
  registerAllPasses();
  ansor::registerAllPasses();
  ansor::registerAnsorSearchPasses();

  auto [inputName, outputName] = registerAndParseCLIOptions(
      argc, argv, "Ansor auto-scheduler driver\n", registry);
  if (succeeded(MlirOptMain(argc, argv, inputName, outputName, registry)))
    return 0;
  if (inputName == "-")
    return 1;
  if (std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputName)) {
    std::string advice =
        ansor::adviseForInput(input->getMemBufferRef(), registry);
    if (!advice.empty())
      llvm::errs() << inputName << ": note: " << advice << "\n";
  }
  return 1;
}
