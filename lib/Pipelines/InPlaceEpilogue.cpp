//===- InPlaceEpilogue.cpp - See Passes.td ----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Pipelines/Passes.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_INPLACEEPILOGUEPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

namespace {
struct InPlaceEpiloguePass
    : public ansor::impl::InPlaceEpiloguePassBase<InPlaceEpiloguePass> {
  void runOnOperation() override {}
};
} // namespace
