//===- Pipelines.cpp - Code generation --------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Pipelines/Pipelines.h"
#include "ansor/Pipelines/Passes.h"

using namespace mlir;
using namespace mlir::ansor;

void ansor::registerPipelines() { registerAnsorPipelinesPasses(); }
