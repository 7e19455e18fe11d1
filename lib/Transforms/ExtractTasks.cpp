//===- ExtractTasks.cpp - See Passes.td -------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Task/NetworkLayout.h"
#include "ansor/Task/Sizes.h"
#include "ansor/Task/Task.h"
#include "ansor/Task/Weights.h"
#include "ansor/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_CONVERTLAYOUTSPASS
#define GEN_PASS_DEF_EXTRACTTASKSPASS
#define GEN_PASS_DEF_MARKWEIGHTSPASS
#define GEN_PASS_DEF_PREPACKPASS
#define GEN_PASS_DEF_SPECIALIZESIZESPASS
#include "ansor/Transforms/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

namespace {
struct ExtractTasksPass : public ansor::impl::ExtractTasksPassBase<ExtractTasksPass> {
  using ExtractTasksPassBase::ExtractTasksPassBase;
  void runOnOperation() override {
    ExtractOptions options;
    options.outlineRest = outlineRest;
    options.strictFP = strictFP;
    options.prepack = prepack;
    if (failed(extractTasks(getOperation(), options)))
      signalPassFailure();
  }
};

struct MarkWeightsPass
    : public ansor::impl::MarkWeightsPassBase<MarkWeightsPass> {
  using MarkWeightsPassBase::MarkWeightsPassBase;
  void runOnOperation() override {
    if (failed(markWeights(getOperation(), arguments)))
      signalPassFailure();
  }
};

struct PrepackPass : public ansor::impl::PrepackPassBase<PrepackPass> {
  void runOnOperation() override {
    if (failed(prepackWeights(getOperation())))
      signalPassFailure();
  }
};

struct ConvertLayoutsPass
    : public ansor::impl::ConvertLayoutsPassBase<ConvertLayoutsPass> {
  using ConvertLayoutsPassBase::ConvertLayoutsPassBase;
  void runOnOperation() override {
    std::optional<NetworkLayout> wanted = parseNetworkLayout(layout);
    if (!wanted) {
      getOperation().emitError() << "unknown layout '" << layout
                                 << "': use \"keep\" or \"channels-last\"";
      return signalPassFailure();
    }
    convertLayouts(getOperation(), *wanted, always);
    noteNetworkLayout(getOperation(), *wanted);
  }
};

struct SpecializeSizesPass
    : public ansor::impl::SpecializeSizesPassBase<SpecializeSizesPass> {
  using SpecializeSizesPassBase::SpecializeSizesPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    StringRef wanted = sizes.empty() ? getDynamicSizes(module) : StringRef(sizes);
    if (wanted.empty()) {
      module.emitError() << "no sizes: give them by sizes=\"?=32,128\"";
      return signalPassFailure();
    }
    if (failed(specializeSizes(module, wanted)))
      signalPassFailure();
  }
};
} // namespace
