//===- TunePass.cpp - See Passes.td -----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Search/Passes.h"
#include "ansor/Record/Record.h"
#include "ansor/Search/Search.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_TUNEPASS
#include "ansor/Search/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

namespace {
struct TunePass : public ansor::impl::TunePassBase<TunePass> {
  using TunePassBase::TunePassBase;
  void runOnOperation() override {
    if (failed(runTuning()))
      signalPassFailure();
  }

  LogicalResult runTuning() {
    ModuleOp module = getOperation();
    TuneOptions options;
    FailureOr<TargetInfo> target = resolveTuneTarget(module, this->target, replay);
    if (failed(target))
      return failure();
    options.target = *target;
    std::optional<SpaceKind> spaceKind = parseSpaceKind(space);
    if (!spaceKind)
      return module.emitError() << "unknown space '" << space
                                << "': use \"full\" or \"ansor\"";
    std::optional<ModelKind> modelKind = parseModelKind(model);
    if (!modelKind)
      return module.emitError() << "unknown model '" << model
                                << "': use \"xgboost\" or \"random\"";
    if (threads < 1)
      return module.emitError() << "threads must be at least 1";
    std::optional<SchedulerKind> schedulerKind =
        parseSchedulerKind(taskScheduler);
    if (!schedulerKind)
      return module.emitError() << "unknown task scheduler '" << taskScheduler
                                << "': use \"gradient\" or \"round-robin\"";
    std::string problem;
    FailureOr<Objective> parsed = Objective::parse(objective, 1, problem);
    if (failed(parsed))
      return module.emitError() << problem;
    options.scheduler = *schedulerKind;
    options.objective = *parsed;
    options.space = *spaceKind;
    options.model = *modelKind;
    if (*modelKind == ModelKind::XGBoost && costModel != "none")
      options.costModelPath =
          costModel.empty() ? findInstalledModel(options.target.vectorBits)
                            : costModel.getValue();
    options.trials = trials;
    options.dynamicSizes = dynamicSizes;
    options.layout = parseNetworkLayout(layout);
    if (!options.layout && !layout.empty())
      return module.emitError() << "unknown layout '" << layout
                                << "': use \"keep\" or \"channels-last\"";
    options.seed = seed;
    options.measure.threads = threads;
    options.coldWeights = coldWeights;
    options.recordsPath = records;
    options.libraryPath = library;
    options.replayPath = replay;
    options.earlyStop = earlyStop;

    // The module stays as it was if tuning fails.
    OwningOpRef<ModuleOp> copy(module.clone());
    FailureOr<TuneResult> result = tune(*copy, options);
    if (failed(result))
      return failure();
    for (const std::string &note : result->notes)
      module.emitRemark() << note;
    std::string error;
    FailureOr<OwningOpRef<ModuleOp>> best =
        buildLibrary(result->bestEntries(), options.target, &getContext(), error,
                     getPreparation(*copy));
    if (failed(best))
      return module.emitError() << error;
    if (!result->bestEntries().empty() && failed(applyLibrary(*copy, **best)))
      return failure();
    module.getBodyRegion().takeBody(copy->getBodyRegion());
    return success();
  }
};
} // namespace
