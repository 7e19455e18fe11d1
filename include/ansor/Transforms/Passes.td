//===- Passes.td - Passes of the auto-scheduler ------------*- tablegen -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_TRANSFORMS_PASSES_TD
#define ANSOR_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachTargetPass : Pass<"ansor-attach-target", "ModuleOp"> {
  let summary = "Attach the target's description to the module";
  let description = [{
    Writes the cores, vector registers and caches of the target as DLTI
    attributes, and the LLVM triple and data layout, on the module. Later
    passes read them from there.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"host\"",
           "\"host\" or a named target, with overrides: \"znver4:cores=8\"">
  ];
  let dependentDialects = ["::mlir::DLTIDialect", "::mlir::LLVM::LLVMDialect"];
}

def ExtractTasksPass : Pass<"ansor-extract-tasks", "ModuleOp"> {
  let summary = "Partition functions into tasks and outline them";
  let description = [{
    Groups each anchor (contraction, convolution, reduction, pooling) with the
    elementwise, broadcast, pad, fill and transpose ops that fuse into it, and
    outlines each group as a private function in destination-passing style with
    `ansor.task` (its key) and `ansor.weight`. Equal tasks become one function.
    What no task can hold stays where it is.
  }];
  let options = [
    Option<"outlineRest", "outline-rest", "bool", "true",
           "also outline groups that have no anchor">,
    Option<"strictFP", "strict-fp", "bool", "false",
           "keep the order of floating-point sums">,
    Option<"prepack", "prepack", "bool", "true",
           "leave work on weights alone to the callers of tasks, and mark the "
           "inputs of tasks that are weights">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::func::FuncDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::affine::AffineDialect"];
}

def MarkWeightsPass : Pass<"ansor-mark-weights", "ModuleOp"> {
  let summary = "Mark arguments of a function as weights";
  let description = [{
    Sets `ansor.weight` on arguments of the only public function: those that
    hold the same values in every call. Run it before the tasks are extracted.
  }];
  let options = [
    Option<"arguments", "arguments", "std::string", "\"\"",
           "numbers and ranges: 1,3-5 or 2- (to the last)">
  ];
}

def PrepackPass : Pass<"ansor-prepack", "ModuleOp"> {
  let summary = "Pack weights in a function of their own";
  let description = [{
    Splits each public function `@f` that has work on its weights alone (after
    `--ansor-extract-tasks`, that is the transposition of filters and factors):

    - `@f_prepack` takes weights and returns them packed. Call it once, and
      again when weights have changed.
    - `@f_prepacked` takes the other arguments of `@f`, then what
      `@f_prepack` returned. Call it instead of `@f`.
    - `@f` calls both, and remains right for callers that know nothing of
      that.

    Weights are arguments marked `ansor.weight`, constants, and what is computed
    from these. Constants that are only reordered become other constants.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect"];
}

def ConvertLayoutsPass : Pass<"ansor-convert-layouts", "ModuleOp"> {
  let summary = "Let convolutions and their neighbours have channels last";
  let description = [{
    Convolutions, whatever their name and rank, read and write images whose last
    dimension is the channel, and what is between them follows: elementwise
    ops, pooling and reductions, contractions over channels, padding, reshapes,
    slices, concatenations. Where a tensor is needed in both forms, as
    arguments and results are, `linalg.transpose` is between. Parts whose
    convolutions are too little work for these stay as they are. Filters are
    transposed too; those of weights are marked `ansor.prepack`. Run it before
    the tasks are extracted.
  }];
  let options = [
    Option<"layout", "layout", "std::string", "\"channels-last\"",
           "\"channels-last\", or \"keep\" to do nothing">,
    Option<"always", "always", "bool", "false",
           "also where transpositions cost more than is gained">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
    "::mlir::affine::AffineDialect"];
}

def SpecializeSizesPass : Pass<"ansor-specialize-sizes", "ModuleOp"> {
  let summary = "Copy functions with dynamic extents for given sizes";
  let description = [{
    Copies each public function whose arguments have dynamic extents for the
    given sizes, and makes it a dispatcher: guards on the extents, then a call
    of the static copy, else of the general code. Run it before the tasks are
    extracted. `sizes` are lists: "?=32,128" for all extents alike, "d0=1,8"
    for the first extent, separated by semicolons; each combination is a copy.
  }];
  let options = [
    Option<"sizes", "sizes", "std::string", "\"\"",
           "lists of sizes; default: the module's `ansor.dynamic_sizes`">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::func::FuncDialect",
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect"];
}

def InlineTasksPass : Pass<"ansor-inline-tasks", "ModuleOp"> {
  let summary = "Inline task functions into their callers";
  let description = [{ The inverse of `--ansor-extract-tasks`. }];
}

def GenerateSketchesPass : Pass<"ansor-generate-sketches", "ModuleOp"> {
  let summary = "Add the sketches of each task to the module";
  let description = [{
    Derives the sketches of every function with `ansor.task` and adds each as a
    `transform.named_sequence` named `<key>_<sketch>`, with its open choices as
    `transform.tune.knob`, and a `@__transform_main` that applies sketch
    number `sketch` of each task. Choices are made by
    `--ansor-apply-decisions`; then `mlir-opt -transform-interpreter` runs it.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "target; by default the module's, else the host">,
    Option<"space", "space", "std::string", "\"full\"",
           "\"full\", or \"ansor\" for the paper's own space">,
    Option<"task", "task", "std::string", "\"\"",
           "only the task with this key or function name">,
    Option<"sketch", "sketch", "int", "0",
           "sketch that @__transform_main applies">
  ];
  let dependentDialects = ["::mlir::transform::TransformDialect"];
}

def ApplyDecisionsPass : Pass<"ansor-apply-decisions", "ModuleOp"> {
  let summary = "Decide the knobs of the sketches in a module";
  let description = [{
    Sets `selected` on the knobs of the named sequences in the module (and the
    attributes bound to them by `ansor.bind`), from JSON or from random
    sampling, checks them against the sketch's domains and constraints, and
    with `fold` replaces the knobs by constants.

    The decisions are those of the one sketch with open choices that
    `@__transform_main` includes, or an object of such objects by the names of
    sequences; other sequences stay open then. Sampling decides them all.
  }];
  let options = [
    Option<"decisions", "decisions", "std::string", "\"\"",
           "JSON object: {\"s2.d0\": [128, 64, 8], …}; empty: sample">,
    Option<"seed", "seed", "uint64_t", "0", "seed of the sample">,
    Option<"fold", "fold", "bool", "false", "fold decided knobs to constants">
  ];
  let dependentDialects = ["::mlir::transform::TransformDialect"];
}

def SamplePass : Pass<"ansor-sample", "ModuleOp"> {
  let summary = "Print random candidates of each task";
  let description = [{
    Samples `count` legal candidates a task (over its sketches in turn) and
    prints one JSON line each on standard output: task, sketch, decisions; then
    a line with the rejections by constraint. With `check`, each candidate is
    interpreted on a copy of the task, and must succeed.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "target; by default the module's, else the host">,
    Option<"space", "space", "std::string", "\"full\"", "\"full\" or \"ansor\"">,
    Option<"count", "count", "int", "1", "candidates a task">,
    Option<"seed", "seed", "uint64_t", "0", "seed">,
    Option<"check", "check", "bool", "false", "interpret each candidate">
  ];
  let dependentDialects = ["::mlir::transform::TransformDialect"];
}

def PrintFeaturesPass : Pass<"ansor-print-features", "ModuleOp"> {
  let summary = "Print the cost model's features of each task function";
  let description = [{
    Prints one JSON line a statement on standard output: task, statement,
    and the features by name (zero values left out), or the loop nests with
    `nests`.

    With `compare=N`, the module's tasks are not scheduled yet. For each of
    their sketches, features are computed by arithmetic on the decisions, as a
    search does, and compared with those of the interpreted script, for N
    random decisions. A line a sketch says whether it qualifies for that, and
    if not, why; the pass fails if a sketch qualifies and any of its features
    differ.
  }];
  let options = [
    Option<"nests", "nests", "bool", "false",
           "print the loop nest description instead of the features">,
    Option<"compare", "compare", "unsigned", "0",
           "compare this many decisions of each sketch">,
    Option<"seed", "seed", "uint64_t", "0", "seed of the decisions">,
    Option<"target", "target", "std::string", "\"\"",
           "the target of the sketches, like \"host\"; the module's by default">
  ];
  let dependentDialects = ["::mlir::transform::TransformDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::affine::AffineDialect",
    "::mlir::bufferization::BufferizationDialect"];
}

def ApplyLibraryPass : Pass<"ansor-apply-library", "ModuleOp"> {
  let summary = "Apply a library of best schedules";
  let description = [{
    Applies the transform library that tuning wrote to the task functions of
    the module (which are extracted first if there are none, functions with
    dynamic extents being copied for the sizes that were tuned). Tasks without
    an entry are left alone, with a remark.
  }];
  let options = [
    Option<"library", "library", "std::string", "\"\"", "path of the library">
  ];
  let dependentDialects = ["::mlir::transform::TransformDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::affine::AffineDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::vector::VectorDialect"];
}

def ExplainPass : Pass<"ansor-explain", "ModuleOp"> {
  let summary = "Print what schedules have to do, and what their code looks like";
  let description = [{
    Prints for each task, on standard output: its operations and bytes, the
    time that it takes at least, the share of it that is reached, and of its
    generated code the vector width, accumulators, spills and calls in the
    innermost loops. The schedule is the library's, or that of the script in
    the module (`--ansor-apply-decisions`), else there is none. The module
    stays as it is. Times are those that the library has; bounds need the
    machine's rates (`ansor-run --explain` measures both).
  }];
  let options = [
    Option<"library", "library", "std::string", "\"\"", "path of the library">,
    Option<"target", "target", "std::string", "\"\"",
           "target; by default the module's, else the host">,
    Option<"json", "json", "bool", "false", "print one JSON object">,
    Option<"peak", "peak", "double", "0", "the machine's GFLOP/s of f32">,
    Option<"l2", "l2", "double", "0", "GB/s from the second cache">,
    Option<"l3", "l3", "double", "0", "GB/s from the last cache">,
    Option<"memory", "memory", "double", "0", "GB/s from memory">
  ];
  let dependentDialects = ["::mlir::transform::TransformDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::affine::AffineDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::DLTIDialect"];
}

#endif // ANSOR_TRANSFORMS_PASSES_TD
