//===- PrintFeatures.cpp - See Passes.td ------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Feature/SketchFeatures.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Sketch/Sketch.h"
#include "ansor/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_PRINTFEATURESPASS
#include "ansor/Transforms/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

static StringRef stringify(LoopDesc::Kind kind) {
  switch (kind) {
  case LoopDesc::Spatial:
    return "spatial";
  case LoopDesc::Reduction:
    return "reduction";
  case LoopDesc::Mixed:
    return "mixed";
  }
  llvm_unreachable("unknown kind");
}

static StringRef stringify(LoopDesc::Annotation annotation) {
  static const char *const names[] = {
      "none",    "vectorized", "unrolled", "parallel", "block_x", "block_y",
      "block_z", "thread_x",   "thread_y", "thread_z", "vthread"};
  return names[annotation];
}

/// The counts of the classes that occur.
static void printOps(llvm::json::OStream &json, const OpCounts &ops) {
  static const char *const names[] = {"mad", "addsub",   "mul",      "divmod",
                                      "cmp", "mathfunc", "otherfunc"};
  json.attributeObject("ops", [&] {
    for (unsigned i = 0; i < OpCounts::NumClasses; ++i)
      if (ops.floats[i] != 0)
        json.attribute(("float_" + Twine(names[i])).str(), ops.floats[i]);
    for (unsigned i = 0; i < OpCounts::NumClasses; ++i)
      if (ops.ints[i] != 0)
        json.attribute(("int_" + Twine(names[i])).str(), ops.ints[i]);
    if (ops.boolOps != 0)
      json.attribute("bool_op", ops.boolOps);
    if (ops.selectOps != 0)
      json.attribute("select_op", ops.selectOps);
  });
}

static void printAccess(llvm::json::OStream &json, const AccessDesc &access,
                        size_t numLoops) {
  json.object([&] {
    json.attribute("buffer", access.buffer);
    json.attribute("access", access.reads && access.writes ? "read_write"
                             : access.writes               ? "write"
                                                           : "read");
    if (access.indirect)
      json.attribute("indirect", true);
    json.attribute("element_bytes", access.elementBytes);
    json.attributeArray("shape", [&] {
      for (int64_t extent : access.shape)
        json.value(extent);
    });
    json.attributeArray("coefficients", [&] {
      for (size_t d = 0; d < access.shape.size(); ++d)
        json.array([&] {
          for (size_t l = 0; l < numLoops; ++l)
            json.value(access.coefficients[d * numLoops + l]);
        });
    });
  });
}

static void printNest(llvm::json::OStream &json,
                      const StatementDesc &statement) {
  json.attributeArray("loops", [&] {
    for (const LoopDesc &loop : statement.loops)
      json.object([&] {
        json.attribute("id", loop.id);
        json.attribute("extent", loop.extent);
        json.attribute("kind", stringify(loop.kind));
        if (loop.annotation != LoopDesc::None)
          json.attribute("annotation", stringify(loop.annotation));
        if (loop.annotation == LoopDesc::Unrolled)
          json.attribute("copies", loop.copies);
        if (loop.partial)
          json.attribute("partial", true);
      });
  });
  json.attributeArray("accesses", [&] {
    for (const AccessDesc &access : statement.accesses)
      printAccess(json, access, statement.loops.size());
  });
  printOps(json, statement.ops);
  if (statement.unrollLimit != 0)
    json.attribute("unroll_limit", statement.unrollLimit);
  if (statement.allocationBytes != 0) {
    json.attribute("allocation_bytes", statement.allocationBytes);
    json.attribute("allocation_depth", statement.allocationDepth);
  }
}

static void printRow(llvm::json::OStream &json, ArrayRef<float> row) {
  for (auto [name, value] : llvm::zip_equal(getFeatureNames(), row))
    if (value != 0)
      json.attribute(name, value);
}

/// Samples that are drawn to find a legal one.
static constexpr unsigned kAttempts = 100;

/// The features of a candidate by interpretation, or failure.
static FailureOr<FeatureMatrix> interpret(ModuleOp task, ModuleOp script,
                                          const DesignSpace &space,
                                          const Decisions &decisions) {
  if (failed(applyDecisions(script, space, decisions)))
    return failure();
  OwningOpRef<ModuleOp> payload(task.clone());
  std::string error;
  if (failed(interpretScript(*payload, script, error)))
    return failure();
  FailureOr<NestDesc> nests = extractNests(*payload);
  if (failed(nests))
    return failure();
  return computeFeatures(*nests);
}

/// Compares features by arithmetic with those by interpretation, for `count`
/// random decisions of one sketch; prints a line, and fails if any differ.
static LogicalResult compare(ModuleOp task, StringRef key, const Sketch &sketch,
                             unsigned count, uint64_t seed) {
  OwningOpRef<ModuleOp> script =
      parseSourceString<ModuleOp>(sketch.script, task.getContext());
  FailureOr<DesignSpace> space = failure();
  if (script)
    space = DesignSpace::fromScript(*script);
  if (failed(space))
    return task.emitError() << "sketch " << sketch.name << " does not parse";
  SketchFeatures features = SketchFeatures::learn(task, *script, *space);
  RandomGenerator rng(seed);
  llvm::StringMap<int64_t> rejections;
  unsigned numInterpreted = 0, numCompared = 0, numDifferent = 0;
  llvm::json::Value different = nullptr;
  std::string column = "number of rows";
  for (unsigned i = 0; i < count; ++i) {
    auto decisions = space->sampleLegal(rng, kAttempts, rejections);
    if (!decisions)
      continue;
    std::optional<NestDesc> nests = features.instantiate(*decisions);
    if (!nests) {
      ++numInterpreted;
      continue;
    }
    ++numCompared;
    FailureOr<FeatureMatrix> oracle =
        interpret(task, *script, *space, *decisions);
    FeatureMatrix ours = computeFeatures(*nests);
    if (succeeded(oracle) && oracle->data == ours.data)
      continue;
    if (numDifferent++ > 0)
      continue;
    different = space->toJSON(*decisions);
    if (failed(oracle) || oracle->rows() != ours.rows())
      continue;
    size_t first = 0;
    while (oracle->data[first] == ours.data[first])
      ++first;
    column = "row " + std::to_string(first / kNumFeatures) + ": " +
             getFeatureNames()[first % kNumFeatures].str();
  }
  llvm::json::OStream json(llvm::outs());
  json.object([&] {
    json.attribute("task", key);
    json.attribute("sketch", sketch.name);
    json.attribute("qualifies", features.qualifies());
    if (!features.qualifies())
      json.attribute("reason", features.getReason());
    json.attribute("probes", features.getNumProbes());
    json.attribute("interpreted", numInterpreted);
    json.attribute("compared", numCompared);
    json.attribute("different", numDifferent);
    if (numDifferent)
      json.attribute("decisions", different);
    if (numDifferent)
      json.attribute("first", column);
  });
  llvm::outs() << "\n";
  if (numDifferent == 0)
    return success();
  return task.emitError() << numDifferent << " of " << numCompared
                          << " candidates of sketch " << sketch.name
                          << " have other features when interpreted";
}

static LogicalResult compare(func::FuncOp function, const TargetInfo &target,
                             unsigned count, uint64_t seed) {
  FailureOr<SmallVector<Sketch>> sketches = generateSketches(function, target);
  if (failed(sketches))
    return failure();
  auto module = function->getParentOfType<ModuleOp>();
  OwningOpRef<ModuleOp> task = ModuleOp::create(function.getLoc());
  for (NamedAttribute attr : module->getDiscardableAttrs())
    (*task)->setDiscardableAttr(attr.getName(), attr.getValue());
  task->push_back(function->clone());
  StringRef key = function->getAttrOfType<StringAttr>(kTaskAttr).getValue();
  bool hasFailed = false;
  for (const Sketch &sketch : *sketches)
    hasFailed |= failed(compare(*task, key, sketch, count, seed));
  llvm::outs().flush();
  return failure(hasFailed);
}

namespace {
struct PrintFeaturesPass
    : public ansor::impl::PrintFeaturesPassBase<PrintFeaturesPass> {
  using PrintFeaturesPassBase::PrintFeaturesPassBase;

  void runOnOperation() override {
    // Tasks if there are any, else every function.
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    llvm::erase_if(functions, [](func::FuncOp f) { return f.isExternal(); });
    auto isTask = [](func::FuncOp f) { return f->hasAttr(kTaskAttr); };
    if (llvm::any_of(functions, isTask))
      llvm::erase_if(functions, [&](func::FuncOp f) { return !isTask(f); });
    if (this->compare > 0)
      return compareTasks(functions);
    for (func::FuncOp function : functions)
      if (failed(print(function)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }

  void compareTasks(ArrayRef<func::FuncOp> functions) {
    FailureOr<TargetInfo> info = resolveTarget(getOperation(), target);
    if (failed(info))
      return signalPassFailure();
    bool hasFailed = false, hasTasks = false;
    for (func::FuncOp function : functions) {
      if (!function->hasAttr(kTaskAttr))
        continue;
      hasTasks = true;
      hasFailed |= failed(::compare(function, *info, this->compare, seed));
    }
    if (!hasTasks)
      emitRemark(getOperation().getLoc())
          << "no function has " << kTaskAttr
          << ": extract tasks first (--ansor-extract-tasks)";
    if (hasFailed)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

  LogicalResult print(func::FuncOp function) {
    FailureOr<NestDesc> program = extractNests(function);
    if (failed(program))
      return function.emitError()
             << "features need a function of one block; run this on "
                "tensor-level IR, before loops are lowered to branches";
    FeatureMatrix features = computeFeatures(*program);
    auto key = function->getAttrOfType<StringAttr>(kTaskAttr);
    StringRef task = key ? key.getValue() : function.getName();
    for (size_t i = 0; i < program->statements.size(); ++i) {
      const StatementDesc &statement = program->statements[i];
      llvm::json::OStream json(llvm::outs());
      json.object([&] {
        json.attribute("task", task);
        json.attribute("statement", statement.name);
        if (nests)
          return printNest(json, statement);
        json.attribute("version", kFeatureVersion);
        printRow(json,
                 ArrayRef(features.data).slice(i * kNumFeatures, kNumFeatures));
      });
      llvm::outs() << "\n";
    }
    llvm::outs().flush();
    return success();
  }
};
} // namespace
