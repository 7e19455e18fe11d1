//===- Sample.cpp - See Passes.td -------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/IR/AnsorDialect.h"
#include "ansor/Sketch/Sketch.h"
#include "ansor/Space/DesignSpace.h"
#include "ansor/Transforms/Passes.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <map>

namespace mlir::ansor {
#define GEN_PASS_DEF_SAMPLEPASS
#include "ansor/Transforms/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

/// Samples that are drawn to find a legal one.
static constexpr unsigned kAttempts = 1000;

namespace {
/// A sketch that is ready to be decided.
struct OpenSketch {
  std::string name;
  OwningOpRef<ModuleOp> script;
  DesignSpace space;
};

struct SamplePass : public ansor::impl::SamplePassBase<SamplePass> {
  using SamplePassBase::SamplePassBase;

  void runOnOperation() override;

private:
  LogicalResult sampleTask(func::FuncOp task, const TargetInfo &target,
                           RandomGenerator &rng);
  LogicalResult openSketches(func::FuncOp task, const TargetInfo &target,
                             std::vector<OpenSketch> &sketches);
  /// Interprets one candidate on a copy of the task.
  LogicalResult tryCandidate(func::FuncOp task, OpenSketch &sketch,
                             const Decisions &decisions, std::string &error);
};
} // namespace

void SamplePass::runOnOperation() {
  ModuleOp module = getOperation();
  if (!parseSpaceKind(space)) {
    emitError(module.getLoc())
        << "unknown space '" << space << "': use \"full\" or \"ansor\"";
    return signalPassFailure();
  }
  if (count < 0) {
    emitError(module.getLoc()) << "option 'count' must not be negative, got "
                               << static_cast<int64_t>(count);
    return signalPassFailure();
  }
  FailureOr<TargetInfo> info = resolveTarget(module, target);
  if (failed(info))
    return signalPassFailure();
  SmallVector<func::FuncOp> tasks;
  for (auto func : module.getOps<func::FuncOp>())
    if (func->hasAttr(kTaskAttr))
      tasks.push_back(func);
  if (tasks.empty())
    emitRemark(module.getLoc())
        << "no function has " << kTaskAttr
        << ": extract tasks first (--ansor-extract-tasks)";
  RandomGenerator rng(seed);
  bool hasFailed = false;
  for (func::FuncOp task : tasks)
    hasFailed |= failed(sampleTask(task, *info, rng));
  if (hasFailed)
    signalPassFailure();
}

LogicalResult SamplePass::openSketches(func::FuncOp task,
                                       const TargetInfo &info,
                                       std::vector<OpenSketch> &sketches) {
  SketchOptions options;
  options.space = *parseSpaceKind(space);
  FailureOr<SmallVector<Sketch>> derived =
      generateSketches(task, info, options);
  if (failed(derived))
    return failure();
  for (const Sketch &sketch : *derived) {
    OwningOpRef<ModuleOp> script =
        parseSourceString<ModuleOp>(sketch.script, task.getContext());
    if (!script)
      return emitError(task.getLoc())
             << "sketch " << sketch.name << " does not parse";
    FailureOr<DesignSpace> designSpace = DesignSpace::fromScript(*script);
    if (failed(designSpace))
      return failure();
    sketches.push_back(
        {sketch.name, std::move(script), std::move(*designSpace)});
  }
  return success();
}

LogicalResult SamplePass::tryCandidate(func::FuncOp task, OpenSketch &sketch,
                                       const Decisions &decisions,
                                       std::string &error) {
  if (failed(applyDecisions(*sketch.script, sketch.space, decisions))) {
    error = "the decisions don't apply to the script";
    return failure();
  }
  OwningOpRef<ModuleOp> payload = ModuleOp::create(task.getLoc());
  for (NamedAttribute attr : getOperation()->getDiscardableAttrs())
    (*payload)->setDiscardableAttr(attr.getName(), attr.getValue());
  payload->push_back(task->clone());
  if (failed(interpretScript(*payload, *sketch.script, error)))
    return failure();
  ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diag) {
    if (error.empty())
      error = "the scheduled task does not verify: " + diag.str();
  });
  return verify(*payload);
}

LogicalResult SamplePass::sampleTask(func::FuncOp task, const TargetInfo &info,
                                     RandomGenerator &rng) {
  std::vector<OpenSketch> sketches;
  if (failed(openSketches(task, info, sketches)) || sketches.empty())
    return failure();
  StringRef key = task->getAttrOfType<StringAttr>(kTaskAttr).getValue();
  llvm::StringMap<int64_t> rejections;
  std::map<std::string, int64_t> failures;
  std::map<std::string, std::string> reasons; ///< of constraints
  for (const OpenSketch &sketch : sketches)
    for (const Constraint &constraint : sketch.space.getConstraints())
      if (!constraint.reason.empty())
        reasons[constraint.name] = constraint.reason;
  int64_t numFailed = 0, numPrinted = 0;
  raw_ostream &os = llvm::outs();
  // Sketches without a legal sample leave their turn to the others.
  for (int64_t turn = 0; numPrinted < count; ++turn) {
    size_t index = turn % sketches.size();
    OpenSketch &sketch = sketches[index];
    std::optional<Decisions> decisions =
        sketch.space.sampleLegal(rng, kAttempts, rejections);
    if (!decisions) {
      sketches.erase(sketches.begin() + index);
      if (sketches.empty())
        break;
      continue;
    }
    ++numPrinted;
    os << llvm::json::Object{{"task", key},
                             {"sketch", sketch.name},
                             {"decisions", sketch.space.toJSON(*decisions)}}
       << "\n";
    std::string error;
    if (check && failed(tryCandidate(task, sketch, *decisions, error))) {
      ++numFailed;
      ++failures[sketch.name + ": " + error];
    }
  }
  llvm::json::Object counts, why;
  for (const auto &entry : rejections) {
    counts[entry.getKey()] = entry.getValue();
    if (auto reason = reasons.find(entry.getKey().str());
        reason != reasons.end())
      why[entry.getKey()] = reason->second;
  }
  os << llvm::json::Object{{"task", key},
                           {"rejections", std::move(counts)},
                           {"reasons", std::move(why)}}
     << "\n";
  os.flush();
  if (numPrinted < count)
    emitWarning(task.getLoc())
        << "only " << numPrinted << " of " << static_cast<int64_t>(count)
        << " candidates were found: no sketch has a legal "
           "sample in "
        << kAttempts << " attempts any more";
  if (numFailed == 0)
    return success();
  InFlightDiagnostic diag = emitError(task.getLoc())
                            << numFailed << " of " << numPrinted
                            << " candidates can't be interpreted";
  for (const auto &[message, number] : failures)
    diag.attachNote() << number << " times: " << message;
  return diag;
}
