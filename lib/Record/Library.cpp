//===- Library.cpp - Libraries of best schedules ----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The best schedules of a tuning run as one transform library: a module with
// a named sequence a task, which stock mlir-opt replays on the extracted
// module by `-transform-preload-library` or by putting both into one file.
//
//===----------------------------------------------------------------------===//

#include "VerifySchedule.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Record/Record.h"
#include "ansor/Space/DesignSpace.h"
#include "ansor/Support/Files.h"
#include "ansor/Task/Sizes.h"
#include "ansor/Task/Task.h"
#include "ansor/Task/Weights.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::ansor;
using transform::NamedSequenceOp;

static constexpr StringRef kLibraryAttr = "ansor.library";
static constexpr StringRef kNoteAttr = "ansor.note";
static constexpr StringRef kMedianAttr = "ansor.median_ms";
static constexpr StringRef kMain = "__transform_main";

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// The sequence that a sketch's entry point runs: the one that it includes, or
/// the only other one.
static NamedSequenceOp findSchedule(ModuleOp script) {
  auto main = script.lookupSymbol<NamedSequenceOp>(kMain);
  NamedSequenceOp found;
  if (main)
    main.walk([&](transform::IncludeOp include) {
      if (!found)
        found = script.lookupSymbol<NamedSequenceOp>(
            include.getTarget().getLeafReference());
    });
  if (found)
    return found;
  for (auto sequence : script.getOps<NamedSequenceOp>())
    if (sequence != main)
      return sequence;
  return nullptr;
}

static LogicalResult addEntry(const BestEntry &entry, const TargetInfo &target,
                              ModuleOp library, std::string &error) {
  MLIRContext *context = library.getContext();
  OpBuilder builder(context);
  std::string text = entry.script;
  if (text.empty()) {
    // The task stays as it is, and says so.
    llvm::raw_string_ostream os(text);
    os << "module attributes {transform.with_named_sequence} {\n"
          "transform.named_sequence "
       << FlatSymbolRefAttr::get(context, entry.taskKey)
       << "(%func: !transform.any_op {transform.readonly}) {\n"
          "  transform.yield\n}\n}";
  }
  std::string message;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (message.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      message = diagnostic.str();
    return success();
  });
  auto script = parseSourceString<ModuleOp>(text, ParserConfig(context));
  if (!script || (!entry.script.empty() && failed(foldDecisions(*script)))) {
    error = "the schedule of task '" + entry.taskKey +
            "' can't be written: " + message;
    return failure();
  }
  NamedSequenceOp schedule = findSchedule(*script);
  if (!schedule) {
    error = "the schedule of task '" + entry.taskKey +
            "' has no named sequence";
    return failure();
  }

  schedule->setAttr(kTaskAttr, builder.getStringAttr(entry.taskKey));
  schedule->setAttr("ansor.trials", builder.getI64IntegerAttr(entry.trials));
  schedule->setAttr("ansor.target", builder.getStringAttr(target.name));
  if (entry.script.empty()) {
    schedule->setAttr(kNoteAttr,
                      builder.getStringAttr(
                          "no schedule was faster than the unscheduled program"));
  } else {
    schedule->setAttr("ansor.sketch", builder.getStringAttr(entry.sketch));
    if (entry.median > 0)
      schedule->setAttr(kMedianAttr,
                        builder.getF64FloatAttr(entry.median * 1e3));
    else
      schedule->setAttr(kNoteAttr,
                        builder.getStringAttr(
                            "predicted by the cost model, not measured"));
    if (entry.reference > 0 && entry.median > 0)
      schedule->setAttr("ansor.speedup", builder.getF64FloatAttr(
                                             entry.reference / entry.median));
  }

  // Sequences that the schedule includes come along; names are made unique
  // within the library, which renames the uses in the script too.
  SymbolTable ours(*script), theirs(library);
  SmallVector<NamedSequenceOp> sequences(script->getOps<NamedSequenceOp>());
  for (NamedSequenceOp sequence : sequences) {
    if (sequence.getSymName() == kMain)
      continue;
    StringAttr name = sequence.getSymNameAttr();
    for (unsigned i = 0; theirs.lookup(name) || (i && ours.lookup(name)); ++i)
      name = builder.getStringAttr(sequence.getSymName() + "_" + Twine(i));
    if (name != sequence.getSymNameAttr() &&
        failed(ours.rename(sequence, name))) {
      error = "can't rename @" + sequence.getSymName().str();
      return failure();
    }
  }
  for (NamedSequenceOp sequence : sequences) {
    if (sequence.getSymName() == kMain)
      continue;
    sequence->remove();
    library.getBody()->push_back(sequence);
  }
  return success();
}

/// Entry point: for each schedule, match the task's functions, and include it.
static OwningOpRef<ModuleOp> makeMain(ModuleOp library) {
  std::string text = "module attributes {transform.with_named_sequence} {\n";
  llvm::raw_string_ostream os(text);
  SmallVector<NamedSequenceOp> schedules;
  for (auto sequence : library.getOps<NamedSequenceOp>())
    if (sequence->hasAttr(kTaskAttr))
      schedules.push_back(sequence);
  // Declarations, so that the text verifies by itself; the includes are bound
  // by name once the sequence is in the library.
  for (NamedSequenceOp sequence : schedules) {
    os << "transform.named_sequence private @";
    llvm::printEscapedString(sequence.getSymName(), os << '"');
    bool consumed =
        !sequence.getArgAttr(0, transform::TransformDialect::kArgReadOnlyAttrName);
    os << "\"(!transform.any_op {transform."
       << (consumed ? "consumed" : "readonly") << "})\n";
  }
  os << "transform.named_sequence @" << kMain
     << "(%module: !transform.any_op {transform.readonly}) {\n";
  for (auto [i, sequence] : llvm::enumerate(schedules)) {
    os << "  %f" << i
       << " = transform.structured.match ops{[\"func.func\"]} attributes {"
       << kTaskAttr << " = " << sequence->getAttr(kTaskAttr)
       << "} in %module : (!transform.any_op) -> !transform.any_op\n"
       << "  transform.foreach %f" << i << " : !transform.any_op {\n"
       << "  ^bb0(%func: !transform.any_op):\n"
       << "    transform.include @\"";
    llvm::printEscapedString(sequence.getSymName(), os);
    os << "\" failures(propagate) (%func) : (!transform.any_op) -> ()\n"
       << "  }\n";
  }
  os << "  transform.yield\n}\n}\n";
  return parseSourceString<ModuleOp>(text, ParserConfig(library.getContext()));
}

Preparation ansor::getPreparation(ModuleOp module) {
  Preparation prepared;
  prepared.dynamicSizes = getDynamicSizes(module).str();
  prepared.layout = getNetworkLayout(module);
  return prepared;
}

FailureOr<OwningOpRef<ModuleOp>>
ansor::buildLibrary(ArrayRef<BestEntry> entries, const TargetInfo &target,
                    MLIRContext *context, std::string &error,
                    const Preparation &prepared) {
  context->loadDialect<transform::TransformDialect>();
  OpBuilder builder(context);
  OwningOpRef<ModuleOp> library(ModuleOp::create(builder.getUnknownLoc()));
  (*library)->setAttr("transform.with_named_sequence", builder.getUnitAttr());
  (*library)->setAttr(kLibraryAttr, builder.getI64IntegerAttr(kTaskKeyVersion));
  (*library)->setAttr(kPrepackAttr, builder.getUnitAttr());
  if (!prepared.dynamicSizes.empty())
    (*library)->setAttr(kDynamicSizesAttr,
                        builder.getStringAttr(prepared.dynamicSizes));
  noteNetworkLayout(*library, prepared.layout);
  for (const BestEntry &entry : entries)
    if (failed(addEntry(entry, target, *library, error)))
      return failure();

  std::string message;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (message.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      message = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> main = makeMain(*library);
  if (main) {
    auto sequence = main->lookupSymbol<NamedSequenceOp>(kMain);
    sequence->remove();
    library->getBody()->push_back(sequence);
  }
  if (!main || failed(verify(*library))) {
    error = "the library does not verify: " + message;
    return failure();
  }
  return library;
}

LogicalResult ansor::writeLibrary(StringRef path, ArrayRef<BestEntry> entries,
                                  const TargetInfo &target,
                                  MLIRContext *context, std::string &error,
                                  const Preparation &prepared) {
  FailureOr<OwningOpRef<ModuleOp>> library =
      buildLibrary(entries, target, context, error, prepared);
  if (failed(library))
    return failure();
  return writeFile(
      path,
      [&](raw_ostream &os) {
        os << "// Best schedules, by task key. Replay on the extracted "
              "module.\n";
        (*library)->print(os);
        os << "\n";
      },
      error);
}

//===----------------------------------------------------------------------===//
// Applying
//===----------------------------------------------------------------------===//

using Schedules = llvm::MapVector<StringRef, NamedSequenceOp>;

/// The schedules of `library` by key. Emits if it isn't a library of ours.
static FailureOr<Schedules> collectSchedules(ModuleOp library) {
  Schedules schedules;
  if (auto version = library->getAttrOfType<IntegerAttr>(kLibraryAttr);
      version && version.getInt() != kTaskKeyVersion)
    return library.emitError()
           << "this library is of task key version " << version.getInt()
           << ", but this build makes keys of version " << kTaskKeyVersion
           << ": tune again to make a new library";
  std::string prefix = ("a" + Twine(kTaskKeyVersion) + "-").str();
  for (auto sequence : library.getOps<NamedSequenceOp>()) {
    auto key = sequence->getAttrOfType<StringAttr>(kTaskAttr);
    if (!key)
      continue;
    if (!key.getValue().starts_with(prefix))
      return sequence.emitError()
             << "the task key '" << key.getValue()
             << "' does not begin with '" << prefix
             << "': it was made by another version; tune again to make a new "
                "library";
    if (sequence.isExternal() || sequence.getNumArguments() != 1)
      return sequence.emitError()
             << "the schedule of task '" << key.getValue()
             << "' must have a body and take one handle, the function";
    if (!schedules.insert({key.getValue(), sequence}).second)
      return sequence.emitError()
             << "a second schedule of task '" << key.getValue() << "'";
  }
  if (schedules.empty())
    return library.emitError()
           << "not a library of schedules: no transform.named_sequence has the "
              "attribute '" << kTaskAttr << "'; give the file that tuning "
              "wrote with --library";
  return schedules;
}

/// The schedule of task function `func`. A task with weights may have one that
/// was found for the same computation with any operands: from before weights
/// were marked, or from a module that marks none.
static NamedSequenceOp findSchedule(const Schedules &schedules,
                                    func::FuncOp func, StringRef key) {
  auto found = schedules.find(key);
  if (found == schedules.end() && hasWeights(func))
    found = schedules.find(computeUnmarkedKey(func));
  return found == schedules.end() ? NamedSequenceOp() : found->second;
}

LogicalResult ansor::applyLibrary(ModuleOp module, ModuleOp library,
                                  unsigned *applied, ApplyCounts *counts) {
  FailureOr<Schedules> schedules = collectSchedules(library);
  if (failed(schedules))
    return failure();

  // Work on a copy: a schedule that fails half-way must not leave its mark.
  OwningOpRef<ModuleOp> copy(module.clone());
  ApplyCounts found;
  SmallVector<func::FuncOp> missing;
  SmallVector<func::FuncOp> originals(module.getOps<func::FuncOp>());
  SmallVector<func::FuncOp> copies(copy->getOps<func::FuncOp>());
  for (auto [original, func] : llvm::zip_equal(originals, copies)) {
    auto key = func->getAttrOfType<StringAttr>(kTaskAttr);
    if (!key)
      continue;
    AppliedSchedule &row = found.functions.emplace_back();
    row.task = func.getName().str();
    NamedSequenceOp schedule = findSchedule(*schedules, func, key.getValue());
    if (!schedule) {
      missing.push_back(original);
      row.note = "the library has no schedule for it";
      continue;
    }
    if (schedule.getBody().front().without_terminator().empty()) {
      ++found.kept; // the unscheduled program was the best
      if (auto note = schedule->getAttrOfType<StringAttr>(kNoteAttr))
        row.note = note.getValue().str();
      continue;
    }
    row.schedule = schedule.getSymName().str();
    if (auto time = schedule->getAttrOfType<FloatAttr>(kMedianAttr))
      row.medianMs = time.getValueAsDouble();
    if (failed(verifySchedule(schedule, func)) ||
        failed(transform::applyTransformNamedSequence(
            func, schedule, library, transform::TransformOptions())) ||
        failed(verifyLoopSteps(func))) {
      InFlightDiagnostic diagnostic =
          original.emitError()
          << "the library's schedule of task '" << key.getValue()
          << "' does not apply to @" << original.getSymName()
          << "; tune again to make a new library";
      diagnostic.attachNote(schedule.getLoc()) << "the schedule is here";
      return diagnostic;
    }
    ++found.applied;
  }
  movePackingOut(*copy);
  if (failed(verify(*copy)))
    return module.emitError()
           << "the library's schedules make a module that does not verify";

  bool specialized = !getDynamicSizes(module).empty();
  DenseSet<Operation *> once = findTasksOfWeights(module);
  for (func::FuncOp func : missing) {
    if (once.contains(func)) {
      ++found.once;
      continue;
    }
    if (hasDynamicArguments(func)) {
      ++found.dynamic;
      if (!specialized)
        func.emitRemark() << "@" << func.getSymName()
                          << " has dynamic extents and stays unscheduled: tune "
                             "with --dynamic-sizes to add schedules for given "
                             "sizes";
      continue;
    }
    ++found.missing;
    func.emitRemark() << "the library has no schedule of task '"
                      << func->getAttrOfType<StringAttr>(kTaskAttr).getValue()
                      << "' (@" << func.getSymName()
                      << "); it stays unscheduled: tune it to add one";
  }
  module.getBodyRegion().takeBody(copy->getBodyRegion());
  if (applied)
    *applied = found.applied;
  if (counts)
    *counts = found;
  return success();
}

/// Reads the library at `path`. Emits at `module` and returns null on failure.
static OwningOpRef<ModuleOp> readLibrary(ModuleOp module, StringRef path) {
  MLIRContext *context = module.getContext();
  context->loadDialect<transform::TransformDialect>();
  if (path.empty()) {
    module.emitError() << "no library: name the file that tuning wrote";
    return nullptr;
  }
  auto library = parseSourceFile<ModuleOp>(path, ParserConfig(context));
  if (!library)
    module.emitError() << "cannot use '" << path
                       << "' as a library of schedules: it can't be read or "
                          "parsed";
  return library;
}

LogicalResult ansor::applyLibrary(ModuleOp module, StringRef path,
                                  unsigned *applied, ApplyCounts *counts) {
  OwningOpRef<ModuleOp> library = readLibrary(module, path);
  return library ? applyLibrary(module, *library, applied, counts)
                 : failure();
}

LogicalResult ansor::extractForLibrary(ModuleOp module, StringRef path,
                                       const ExtractOptions &options) {
  OwningOpRef<ModuleOp> library = readLibrary(module, path);
  if (!library)
    return failure();
  Preparation prepared = getPreparation(*library);
  // A network of static shapes may share schedules with a dynamic one.
  if (!prepared.dynamicSizes.empty() && hasDynamicFunctions(module) &&
      failed(specializeSizes(module, prepared.dynamicSizes)))
    return failure();
  convertLayouts(module, prepared.layout);
  // Libraries from before weights were packed know other tasks.
  ExtractOptions known = options;
  known.prepack &= (*library)->hasAttr(kPrepackAttr);
  return extractTasks(module, known);
}
