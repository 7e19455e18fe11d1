//===- Passes.td - The tuning pass -------------------------*- tablegen -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_SEARCH_PASSES_TD
#define ANSOR_SEARCH_PASSES_TD

include "mlir/Pass/PassBase.td"

def TunePass : Pass<"ansor-tune", "ModuleOp"> {
  let summary = "Tune the tasks of the module and apply the best schedules";
  let description = [{
    The search of the tool `ansor-tune` as a pass: extracts the tasks, measures
    `trials` candidates in all, appends them to `records`, writes the best
    schedules to `library`, and applies them.
  }];
  let options = [
    Option<"trials", "trials", "int64_t", "0", "trials in total, over all tasks">,
    Option<"records", "records", "std::string", "\"\"", "log to resume and append">,
    Option<"library", "library", "std::string", "\"\"", "file for the best schedules">,
    Option<"replay", "replay", "std::string", "\"\"", "measure from this log">,
    Option<"target", "target", "std::string", "\"\"", "target; default the module's, else the host">,
    Option<"space", "space", "std::string", "\"full\"", "\"full\" or \"ansor\"">,
    Option<"model", "model", "std::string", "\"xgboost\"", "\"xgboost\" or \"random\"">,
    Option<"costModel", "cost-model", "std::string", "\"\"",
           "model that the search starts from, or \"none\"; the installed one by default">,
    Option<"taskScheduler", "task-scheduler", "std::string", "\"gradient\"",
           "\"gradient\" or \"round-robin\"">,
    Option<"objective", "objective", "std::string", "\"sum\"",
           "of the gradient: \"sum\", \"latency:MS\", \"speedup\", \"speedup:MS\" "
           "or \"early-stop:TRIALS\"">,
    Option<"dynamicSizes", "dynamic-sizes", "std::string", "\"\"",
           "sizes that functions with dynamic extents are tuned for, as in "
           "\"?=32,128\"">,
    Option<"coldWeights", "cold-weights", "bool", "true",
           "measure tasks with their weights as cold as in the network">,
    Option<"layout", "layout", "std::string", "\"\"",
           "of the networks' images: \"keep\" or \"channels-last\"; the latter "
           "if it is not given and the tasks are not extracted yet">,
    Option<"threads", "threads", "int", "1", "threads of the measured code">,
    Option<"seed", "seed", "uint64_t", "0", "seed of the search">,
    Option<"earlyStop", "early-stop", "int64_t", "0",
           "trials without gain that end a task; 0: never">
  ];
  let dependentDialects = ["::mlir::transform::TransformDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::affine::AffineDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::vector::VectorDialect",
    "::mlir::memref::MemRefDialect"];
}

#endif // ANSOR_SEARCH_PASSES_TD
