//===- Builder.cpp - Candidates to artifacts --------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Measure/Builder.h"
#include "ansor/InitAll.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Space/DesignSpace.h"
#include "ansor/Support/Files.h"
#include "ansor/Support/Stopwatch.h"
#include "ansor/Task/Weights.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {
/// Keeps the first error of a scope, and prints nothing.
class FirstError {
public:
  explicit FirstError(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
              text.empty()) {
            text = diagnostic.str();
            location = diagnostic.getLocation();
          }
          return success();
        }) {}
  std::string take(StringRef orElse) {
    return text.empty() ? orElse.str() : std::move(text);
  }

  LocationAttr getLocation() const { return location; }

private:
  std::string text;
  LocationAttr location;
  ScopedDiagnosticHandler handler;
};
} // namespace

static BuildResult fail(ErrorKind kind, std::string message) {
  BuildResult result;
  result.error = kind;
  result.message = std::move(message);
  return result;
}

//===----------------------------------------------------------------------===//
// Entries and conflicts
//===----------------------------------------------------------------------===//

func::FuncOp ansor::findEntry(ModuleOp module, StringRef key,
                              std::string &error) {
  SmallVector<func::FuncOp> open;
  DenseSet<Attribute> parts; // of functions whose weights are packed
  for (auto func : module.getOps<func::FuncOp>())
    if (auto names = func->getAttrOfType<ArrayAttr>(kPrepackAttr))
      parts.insert(names.begin(), names.end());
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    auto task = func->getAttrOfType<StringAttr>(kTaskAttr);
    if (task && task.getValue() == key)
      return func;
    if (!func.isPrivate() && !parts.contains(FlatSymbolRefAttr::get(func)))
      open.push_back(func);
  }
  if (open.size() == 1)
    return open.front();
  error = open.empty() ? "the module has no public function with a body"
                       : "the module has several public functions: name one";
  return nullptr;
}

/// Whether `value` is computed from `iv`.
static bool dependsOn(Value value, Value iv) {
  if (value == iv)
    return true;
  SetVector<Operation *> slice;
  if (!value.getDefiningOp())
    return false;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  (void)getBackwardSlice(value, &slice, options);
  return llvm::any_of(slice, [&](Operation *op) {
    return llvm::is_contained(op->getOperands(), iv);
  });
}

std::string ansor::findParallelConflict(ModuleOp module) {
  std::string conflict;
  module.walk([&](scf::ForallOp loop) {
    auto lower = loop.getMixedLowerBound(), upper = loop.getMixedUpperBound();
    auto step = loop.getMixedStep();
    SmallVector<Value> ivs = loop.getInductionVars();
    for (unsigned i = 0; i < ivs.size(); ++i) {
      auto trips = constantTripCount(lower[i], upper[i], step[i],
                                     /*isSigned=*/true, scf::computeUbMinusLb);
      if (trips && trips->ule(1))
        continue;
      for (Operation &op : loop.getTerminator().getYieldingOps()) {
        auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(&op);
        if (!insert)
          continue;
        if (llvm::any_of(insert.getOffsets(), [&](Value offset) {
              return dependsOn(offset, ivs[i]);
            }))
          continue;
        conflict = "iterations of loop " + std::to_string(i) +
                   " of an scf.forall write the same slice: a reduction must "
                   "not run in parallel";
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return conflict;
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// A failure of the lowering. Its size check is the one that says "too large".
static BuildResult failLowering(FirstError &error, StringRef orElse) {
  std::string message = error.take(orElse);
  bool isSize = StringRef(message).contains("too large");
  BuildResult result = fail(
      isSize ? ErrorKind::TooLarge : ErrorKind::BuildCrash, std::move(message));
  result.location = error.getLocation();
  return result;
}

BuildResult ansor::buildArtifact(ModuleOp module, llvm::json::Value manifest,
                                 const TargetInfo &target,
                                 const CPULoweringOptions &options,
                                 int64_t maxObjectBytes, StringRef output) {
  FirstError error(module.getContext());
  module.getContext()->loadDialect<DLTIDialect, LLVM::LLVMDialect>();
  attachTarget(module, target);
  if (failed(lowerToCPU(module, options)))
    return failLowering(error, "the lowering failed");

  BuildResult result;
  std::string object = (output + ".o").str();
  llvm::FileRemover remover(object);
  if (failed(emitObject(module, object, options)))
    return failLowering(error, "no object could be written");
  uint64_t bytes = 0;
  if (llvm::sys::fs::file_size(object, bytes))
    return fail(ErrorKind::BuildCrash, "no object was written to " + object);
  result.objectBytes = int64_t(bytes);
  if (result.objectBytes > maxObjectBytes)
    return fail(ErrorKind::TooLarge, "the object has " + std::to_string(bytes) +
                                         " bytes: too large (limit " +
                                         std::to_string(maxObjectBytes) + ")");

  result.artifact = (output + ".so").str();
  std::string linkError;
  if (failed(linkShared({object}, result.artifact, getTarget(module).triple,
                        linkError)))
    // Never the candidate's fault.
    return fail(ErrorKind::Device, "linking failed: " + linkError);
  result.manifest = (output + ".json").str();
  std::string writeError;
  if (failed(writeFile(
          result.manifest, [&](raw_ostream &os) { os << manifest << "\n"; },
          writeError)))
    return fail(ErrorKind::Device, writeError);
  return result;
}

//===----------------------------------------------------------------------===//
// CandidateBuilder
//===----------------------------------------------------------------------===//

CandidateBuilder::CandidateBuilder()
    : registry([] {
        DialectRegistry registry;
        registerUpstream(registry);
        ansor::registerAllDialects(registry);
        return registry;
      }()),
      context(registry, MLIRContext::Threading::DISABLED) {}

LogicalResult CandidateBuilder::addTask(StringRef key, StringRef text,
                                        std::string &error) {
  if (hasTask(key))
    return success();
  FirstError first(&context);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module) {
    error = first.take("the task's module does not parse");
    return failure();
  }
  if (!findEntry(*module, key, error))
    return failure();
  tasks[key.str()] = std::move(module);
  return success();
}

/// Dynamic sizes are made up for measuring, one for all; a window (an index
/// that is no plain loop) would read behind a tensor of such a size. Describes
/// the first one, or gives an empty string.
static std::string findDynamicWindow(ModuleOp module) {
  std::string text;
  module.walk([&](linalg::LinalgOp op) {
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type)
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [size, index] :
           llvm::zip_equal(type.getShape(), map.getResults())) {
        if (!ShapedType::isDynamic(size) ||
            isa<AffineDimExpr, AffineConstantExpr>(index))
          continue;
        llvm::raw_string_ostream(text)
            << "a dynamic size is indexed by '" << index
            << "', and measuring can't know which sizes fit: make the shapes "
               "static to tune this";
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return text;
}

double CandidateBuilder::getWork(StringRef key) {
  auto found = tasks.find(key.str());
  if (found == tasks.end())
    return 0;
  std::string error;
  func::FuncOp entry = findEntry(*found->second, key, error);
  return entry ? countWork(entry) : 0;
}

BuildResult CandidateBuilder::build(StringRef key, StringRef script,
                                    const TargetInfo &target,
                                    const CPULoweringOptions &options,
                                    int64_t maxObjectBytes, StringRef output) {
  Stopwatch watch;
  auto timed = [&](BuildResult result) {
    result.seconds = watch.seconds();
    return result;
  };
  auto found = tasks.find(key.str());
  if (found == tasks.end())
    return fail(ErrorKind::Device, "unknown task");
  OwningOpRef<ModuleOp> module(found->second->clone());
  std::string message = findDynamicWindow(*module);
  if (!message.empty())
    return timed(fail(ErrorKind::Illegal, message));
  func::FuncOp entry = findEntry(*module, key, message);
  llvm::json::Value manifest = describeForMeasuring(entry);

  if (!script.empty()) {
    OwningOpRef<ModuleOp> parsed;
    {
      FirstError error(&context);
      parsed = parseSourceString<ModuleOp>(script, ParserConfig(&context));
      if (!parsed)
        return timed(fail(ErrorKind::Transform,
                          error.take("the script does not parse")));
    }
    if (failed(interpretScript(*module, *parsed, message)))
      return timed(fail(ErrorKind::Transform, message));
    {
      FirstError error(&context);
      if (failed(verify(*module)))
        return timed(fail(ErrorKind::Illegal,
                          error.take("the scheduled module does not verify")));
    }
    message = findParallelConflict(*module);
    if (!message.empty())
      return timed(fail(ErrorKind::Illegal, message));
  }
  // A script may have put another function in the place of the task's.
  entry = findEntry(*module, key, message);
  if (!entry)
    return timed(fail(ErrorKind::Illegal, "after the script, " + message));
  entry.setPublic();
  (*manifest.getAsObject())["entry"] = entry.getName();
  if (llvm::json::Value prepack = describePrepack(entry);
      prepack.getAsObject()) { // Split by who asks.
    (*manifest.getAsObject())["prepack"] = std::move(prepack);
  } else {
    FirstError error(&context);
    FailureOr<func::FuncOp> split = splitTask(entry);
    if (failed(split))
      return timed(fail(ErrorKind::Illegal, error.take("")));
    // Its parts are called, not the whole.
    if (*split) {
      (*manifest.getAsObject())["prepack"] = describePrepack(*split);
      split->erase();
    }
  }
  return timed(buildArtifact(*module, std::move(manifest), target, options,
                             maxObjectBytes, output));
}
