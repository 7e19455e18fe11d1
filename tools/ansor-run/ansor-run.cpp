//===- ansor-run.cpp - Compiles, checks and times a module ------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/InitAll.h"
#include "ansor/Measure/Builder.h"
#include "ansor/Measure/WorkerPool.h"
#include "ansor/Record/Record.h"
#include "ansor/Support/LoadModule.h"
#include "ansor/Task/Task.h"
#include "ansor/Task/Weights.h"
#include "ansor/Transforms/Explain.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"
#include <cmath>

using namespace mlir;
using namespace mlir::ansor;
namespace cl = llvm::cl;

namespace {
/// Made in main(): libraries register options of the same names.
struct Options {
  cl::OptionCategory category{"ansor-run options"};
  cl::opt<std::string> inputPath{cl::Positional, cl::Required,
                                 cl::desc("MODEL.mlir, or - for standard "
                                          "input"),
                                 cl::cat(category)};
  cl::opt<std::string> libraryPath{
      "library", cl::value_desc("BEST.mlir"),
      cl::desc("apply this library of best schedules to the tasks"),
      cl::cat(category)};
  cl::opt<std::string> referencePath{
      "reference", cl::value_desc("MODEL.mlir"),
      cl::desc("the unscheduled program, if MODEL.mlir is a "
               "scheduled one"),
      cl::cat(category)};
  cl::opt<std::string> entryName{
      "entry", cl::value_desc("function"),
      cl::desc("function to run (default: the only public one)"),
      cl::cat(category)};
  cl::opt<bool> doCheck{"check",
                        cl::desc("compare with the unscheduled program, "
                                 "and time that too"),
                        cl::cat(category)};
  cl::opt<bool> printJson{"json", cl::desc("print one JSON object"),
                          cl::cat(category)};
  cl::opt<int> threads{"threads", cl::init(1),
                       cl::desc("threads to use (default 1)"),
                       cl::cat(category)};
  cl::opt<uint64_t> seed{"seed", cl::init(0), cl::desc("of the inputs"),
                         cl::cat(category)};
  cl::opt<int> repeats{"repeats", cl::init(5),
                       cl::desc("the median is taken over so many "
                                "(default 5)"),
                       cl::cat(category)};
  cl::list<std::string> shapes{
      "shape", cl::value_desc("I:AxBxC"),
      cl::desc("sizes of argument I, where they are dynamic (others are "
               "3)"),
      cl::cat(category)};
  cl::opt<std::string> weights{
      "weights", cl::value_desc("1,3-5,7-"),
      cl::desc("arguments that are weights: what depends on them alone is done "
               "once, before the time is taken"),
      cl::cat(category)};
  cl::opt<std::string> layout{
      "layout",
      cl::desc("keep, or channels-last: convolutions and what is between them "
               "have the channels last; with a library it is the library's "
               "(default keep)"),
      cl::cat(category)};
  cl::opt<std::string> targetName{
      "target",
      cl::desc("target (default: the module's, or the "
               "host)"),
      cl::cat(category)};
  cl::opt<bool> strictFP{"strict-fp",
                         cl::desc("forbid reassociation of reductions "
                                  "and contraction to FMA"),
                         cl::cat(category)};
  cl::opt<bool> flushCache{"flush-cache",
                           cl::desc("empty the caches before each call"),
                           cl::cat(category)};
  cl::opt<bool> profile{"profile",
                        cl::desc("print where the time goes: each task, and "
                                 "what lies between them"),
                        cl::cat(category)};
  cl::opt<bool> explain{"explain",
                        cl::desc("profile, and print for each task its bound "
                                 "on this machine and what its code looks "
                                 "like"),
                        cl::cat(category)};
  cl::opt<double> timeout{"timeout", cl::init(900.),
                          cl::desc("seconds a run may take (default "
                                   "900)"),
                          cl::cat(category)};
  cl::opt<int64_t> memoryLimit{"memory", cl::init(int64_t(12) << 30),
                               cl::desc("bytes a run may use (default "
                                        "12 GiB)"),
                               cl::cat(category)};
  cl::opt<std::string> runner{
      "runner", cl::value_desc("COMMAND"),
      cl::desc("start runners by this command, for another machine or an "
               "emulator"),
      cl::cat(category)};
  cl::opt<std::string> toolDir{
      "tool-dir", cl::desc("where ansor-runner is (default: here)"),
      cl::cat(category)};
};
} // namespace

static Options *options;

namespace {
/// A temporary directory that goes with the scope.
struct WorkDir {
  SmallString<128> path;
  ~WorkDir() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
};
} // namespace

/// [[2, 3], null, …] from the --shape options.
static FailureOr<llvm::json::Value> parseShapes(func::FuncOp entry) {
  std::vector<llvm::json::Value> perArgument(entry.getNumArguments(), nullptr);
  for (const std::string &text : options->shapes) {
    auto [number, sizes] = StringRef(text).split(':');
    unsigned index;
    if (number.getAsInteger(10, index) || index >= perArgument.size()) {
      entry.emitError("--shape=")
          << text << ": expected the number of one of the "
          << perArgument.size()
          << " arguments, a colon and sizes, as in 0:8x128";
      return failure();
    }
    llvm::json::Array parsed;
    SmallVector<StringRef> parts;
    if (!sizes.empty())
      sizes.split(parts, 'x');
    for (StringRef part : parts) {
      int64_t size;
      if (part.getAsInteger(10, size) || size < 0) {
        entry.emitError("--shape=") << text << ": '" << part << "' is no size";
        return failure();
      }
      parsed.push_back(size);
    }
    perArgument[index] = std::move(parsed);
  }
  return llvm::json::Value(std::move(perArgument));
}

/// The function to run. Emits and returns null if there is no such function.
static func::FuncOp chooseEntry(ModuleOp module) {
  if (!options->entryName.empty()) {
    auto func = module.lookupSymbol<func::FuncOp>(options->entryName);
    if (func && !func.isExternal())
      return func;
    InFlightDiagnostic diag = module.emitError("there is no function '@")
                              << options->entryName
                              << "' with a body; there are";
    for (auto other : module.getOps<func::FuncOp>())
      diag << " @" << other.getName();
    return nullptr;
  }
  std::string error;
  func::FuncOp func = findEntry(module, "", error);
  if (!func) {
    bool several = StringRef(error).ends_with("name one");
    InFlightDiagnostic diag =
        module.emitError(several ? error + " by --entry" : error);
    for (auto other : module.getOps<func::FuncOp>())
      if (!other.isPrivate())
        diag.attachNote(other.getLoc()) << "@" << other.getName();
  }
  return func;
}

/// Lowers `module` to `output`. Emits and fails with the first diagnostic.
static LogicalResult compile(ModuleOp module, llvm::json::Value manifest,
                             const TargetInfo &target,
                             const CPULoweringOptions &options,
                             StringRef output) {
  Location loc = module.getLoc();
  BuildResult built = buildArtifact(module, std::move(manifest), target,
                                    options, int64_t(1) << 30, output);
  if (built.error == ErrorKind::None)
    return success();
  if (built.location)
    loc = built.location;
  return emitError(loc) << built.message;
}

/// Runs one request in the runner. Emits and fails if it isn't answered, or
/// answered by an error other than a wrong result.
static FailureOr<llvm::json::Object> runRequest(WorkerPool &runner,
                                                llvm::json::Object request,
                                                StringRef what, Location loc) {
  std::string line;
  llvm::raw_string_ostream(line) << llvm::json::Value(std::move(request));
  WorkerReply reply =
      runner
          .run(1, options->timeout,
               [&](size_t, WorkerPool::Session &) { return line; })
          .front();
  StringRef log = StringRef(reply.stderrText).trim();
  switch (reply.status) {
  case WorkerReply::Status::Line:
    break;
  case WorkerReply::Status::Timeout:
    return emitError(loc) << what << " did not end in " << options->timeout
                          << " s (see --timeout)";
  case WorkerReply::Status::Died:
    return emitError(loc) << what << " was " << reply.describeEnd()
                          << (log.empty() ? "" : ": ") << log;
  default:
    return emitError(loc) << "the runner could not be started";
  }
  auto parsed = llvm::json::parse(reply.line);
  if (!parsed || !parsed->getAsObject()) {
    if (!parsed)
      llvm::consumeError(parsed.takeError());
    return emitError(loc) << what << ": the runner answered no JSON";
  }
  llvm::json::Object answer = std::move(*parsed->getAsObject());
  if (!answer.getBoolean("ok").value_or(false) &&
      answer.getString("error") != StringRef("wrong-result"))
    return emitError(loc) << what << " failed: "
                          << answer.getString("message").value_or("")
                          << (log.empty() ? "" : ": ") << log;
  return answer;
}

/// Extracts the tasks of `module`, unless it has some.
static LogicalResult extract(ModuleOp module) {
  if (hasTasks(module))
    return success();
  ExtractOptions extraction;
  extraction.strictFP = options->strictFP;
  if (options->libraryPath.empty())
    return extractTasks(module, extraction);
  return extractForLibrary(module, options->libraryPath, extraction);
}

/// Converts `module` to the layout that is asked for.
static LogicalResult convertLayout(ModuleOp module) {
  if (options->layout.empty())
    return success();
  if (!options->libraryPath.empty())
    return module.emitError("--layout is given with a library, which knows its "
                            "own: leave it out");
  std::optional<NetworkLayout> layout = parseNetworkLayout(options->layout);
  if (!layout)
    return module.emitError("--layout must be keep or channels-last, not '")
           << options->layout << "'";
  if (*layout != NetworkLayout::Keep && hasTasks(module))
    return module.emitError("--layout is given, but the tasks are extracted "
                            "already: run --ansor-convert-layouts before");
  convertLayouts(module, *layout);
  return success();
}

/// Applies the library.
static LogicalResult schedule(ModuleOp module,
                              std::vector<AppliedSchedule> &schedules) {
  ApplyCounts counts;
  if (failed(applyLibrary(module, options->libraryPath, nullptr, &counts)))
    return failure();
  if (counts.applied + counts.kept == 0 && counts.missing > 0)
    module.emitWarning("the library '")
        << options->libraryPath
        << "' has no schedule for any task of this module";
  schedules = std::move(counts.functions);
  return success();
}

namespace {
/// A line of the profile, of one call of the program.
struct ProfileRow {
  std::string name, key; ///< of a task; or what lies between, with no key
  double calls = 0, seconds = 0, flops = 0;
  bool scheduled = false;
  std::string note; ///< why not
};

struct Report {
  std::optional<double> median, least, gflops; ///< of a right program
  std::optional<double> reference, maxError, tolerance, prepack;
  bool ok = true;
  std::string note;
  std::vector<ProfileRow> profile;
  std::vector<TaskExplanation> tasks; ///< with --explain
  MachineRates rates;
  TargetInfo target;
};
} // namespace

/// The rows of the tasks of `module`, by name.
static llvm::StringMap<ProfileRow> describeTasks(ModuleOp module) {
  llvm::StringMap<ProfileRow> rows;
  for (auto func : module.getOps<func::FuncOp>()) {
    auto key = func->getAttrOfType<StringAttr>(kTaskAttr);
    if (!key || func.isExternal())
      continue;
    ProfileRow &row = rows[func.getName()];
    row.key = key.getValue().str();
    row.flops = countFlops(func);
  }
  return rows;
}

/// The profile that the runner measured, the longest first.
static std::vector<ProfileRow>
readProfile(const llvm::json::Object &answer, ArrayRef<std::string> slots,
            const llvm::StringMap<ProfileRow> &tasks) {
  std::vector<ProfileRow> rows;
  const llvm::json::Array *values = answer.getArray("profile");
  for (size_t i = 0; values && i < std::min(values->size(), slots.size());
       ++i) {
    const llvm::json::Object *value = (*values)[i].getAsObject();
    if (!value)
      continue;
    ProfileRow row;
    if (auto task = tasks.find(slots[i]); task != tasks.end())
      row = task->second;
    row.name = slots[i];
    row.calls = value->getNumber("calls").value_or(0);
    row.seconds = value->getNumber("seconds").value_or(0);
    if (row.calls == 0)
      continue; // of a function that packs
    rows.push_back(std::move(row));
  }
  llvm::sort(rows, [](const ProfileRow &a, const ProfileRow &b) {
    return std::tie(b.seconds, a.name) < std::tie(a.seconds, b.name);
  });
  return rows;
}

static double sumSeconds(ArrayRef<ProfileRow> rows) {
  double total = 0;
  for (const ProfileRow &row : rows)
    total += row.seconds;
  return total;
}

static double rateOf(const ProfileRow &row) {
  return row.seconds > 0 ? row.calls * row.flops / row.seconds * 1e-9 : 0;
}

static llvm::json::Value profileToJSON(ArrayRef<ProfileRow> rows) {
  double total = sumSeconds(rows);
  llvm::json::Array tasks, between;
  for (const ProfileRow &row : rows) {
    llvm::json::Object object{
        {row.key.empty() ? "op" : "task", row.name},
        {"calls", row.calls},
        {"ms", row.seconds * 1e3},
        {"share", total > 0 ? row.seconds / total : 0}};
    if (!row.key.empty()) {
      object["key"] = row.key;
      object["gflops"] = rateOf(row);
      object["scheduled"] = row.scheduled;
      if (!row.note.empty())
        object["note"] = row.note;
    }
    (row.key.empty() ? between : tasks).push_back(std::move(object));
  }
  return llvm::json::Object{{"ms", total * 1e3},
                            {"tasks", std::move(tasks)},
                            {"between", std::move(between)}};
}

static void printProfile(ArrayRef<ProfileRow> rows) {
  double total = sumSeconds(rows), between = 0;
  llvm::outs() << "      ms  share  calls  GFLOP/s\n";
  for (const ProfileRow &row : rows) {
    llvm::outs() << llvm::format("%8.3f %5.1f%% %6.4g ", row.seconds * 1e3,
                                 total > 0 ? 100 * row.seconds / total : 0.,
                                 row.calls);
    if (row.key.empty()) {
      between += row.seconds;
      llvm::outs() << "          " << row.name << "\n";
    } else {
      llvm::outs() << llvm::format("%8.4g  ", rateOf(row)) << row.name << " "
                   << row.key;
      if (!row.scheduled)
        llvm::outs() << ", unscheduled"
                     << (row.note.empty() ? "" : ": " + row.note);
      llvm::outs() << "\n";
    }
  }
  llvm::outs() << llvm::format("%8.3f ms in all, %.3f between tasks\n",
                               total * 1e3, between * 1e3);
}

static void print(const Report &report, StringRef entry) {
  auto orNull = [](std::optional<double> value, double scale = 1) {
    return value ? llvm::json::Value(*value * scale)
                 : llvm::json::Value(nullptr);
  };
  if (options->printJson) {
    llvm::json::Object object{{"entry", entry},
                              {"median_ms", orNull(report.median, 1e3)},
                              {"min_ms", orNull(report.least, 1e3)},
                              {"reference_ms", orNull(report.reference, 1e3)},
                              {"max_error", orNull(report.maxError)},
                              {"tolerance", orNull(report.tolerance)},
                              {"prepack_ms", orNull(report.prepack, 1e3)},
                              {"ok", report.ok},
                              {"threads", int(options->threads)},
                              {"gflops", orNull(report.gflops)}};
    if (!report.note.empty())
      object["note"] = report.note;
    if (options->profile)
      object["profile"] = profileToJSON(report.profile);
    if (options->explain)
      object["explain"] =
          explanationsToJSON(report.tasks, report.rates, report.target);
    llvm::outs() << llvm::json::Value(std::move(object)) << "\n";
    return;
  }
  llvm::outs() << "@" << entry << ", " << int(options->threads)
               << (options->threads == 1 ? " thread" : " threads");
  if (report.median)
    llvm::outs() << llvm::format(": median %.4g ms, min %.4g ms",
                                 *report.median * 1e3, *report.least * 1e3);
  if (report.gflops)
    llvm::outs() << llvm::format(", %.4g GFLOP/s", *report.gflops);
  llvm::outs() << "\n";
  if (report.prepack)
    llvm::outs() << llvm::format("weights are packed once, in %.4g ms\n",
                                 *report.prepack * 1e3);
  if (report.reference)
    llvm::outs() << llvm::format("unscheduled: %.4g ms",
                                 *report.reference * 1e3);
  if (report.reference && report.median)
    llvm::outs() << llvm::format(" (%.3g times as long)",
                                 *report.reference / *report.median);
  if (report.reference)
    llvm::outs() << "\n";
  if (report.maxError)
    llvm::outs() << llvm::format("check: %s, largest error %.3g, tolerance "
                                 "there %.3g\n",
                                 report.ok ? "ok" : "FAILED", *report.maxError,
                                 *report.tolerance);
  if (!report.note.empty())
    llvm::outs() << "note: " << report.note << "\n";
  if (options->profile)
    printProfile(report.profile);
  if (options->explain)
    printExplanations(report.tasks, report.rates, report.target, llvm::outs());
}

/// Whether `module` computes with floats of 16 bits.
static bool hasNarrowFloats(ModuleOp module) {
  return module
      ->walk([](Operation *op) {
        for (Type type : op->getResultTypes())
          if (auto narrow = dyn_cast<FloatType>(getElementTypeOrSelf(type));
              narrow && narrow.getWidth() == 16)
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

static constexpr int kMaxThreads = 1024, kMaxRepeats = 1000000;
static constexpr double kMaxSeconds = 1e7;

/// Whether the numbers on the command line make sense.
static LogicalResult checkNumbers() {
  const char *problem = nullptr;
  if (options->threads < 1 || options->threads > kMaxThreads)
    problem = "--threads must be from 1 to 1024";
  else if (options->repeats < 1 || options->repeats > kMaxRepeats)
    problem = "--repeats must be from 1 to 1000000";
  else if (!(options->timeout > 0 && options->timeout <= kMaxSeconds))
    problem = "--timeout must be positive, and 1e7 seconds at most";
  else if (options->memoryLimit < 1)
    problem = "--memory must be positive";
  if (problem)
    llvm::WithColor::error(llvm::errs(), "ansor-run") << problem << "\n";
  return failure(problem != nullptr);
}

static LogicalResult run(MLIRContext &context) {
  if (failed(checkNumbers()))
    return failure();
  LoadOptions load;
  load.needsData = true;
  auto loaded = loadModule(options->inputPath, context, load);
  if (failed(loaded))
    return failure();
  OwningOpRef<ModuleOp> candidate = std::move(*loaded), reference;
  if (!options->referencePath.empty()) {
    auto other = loadModule(options->referencePath, context, load);
    if (failed(other))
      return failure();
    reference = std::move(*other);
  } else {
    reference = candidate->clone();
  }
  func::FuncOp entry = chooseEntry(*candidate);
  func::FuncOp referenceEntry = entry ? chooseEntry(*reference) : nullptr;
  if (!entry || !referenceEntry)
    return failure();
  if (entry.getFunctionType() != referenceEntry.getFunctionType())
    return referenceEntry.emitError("the reference has another type than @")
           << entry.getName() << " of " << options->inputPath;
  Location loc = entry.getLoc();
  std::string name = entry.getName().str();
  bool isNetwork = entry.getNumArguments() > 8;
  entry.setPublic();
  referenceEntry.setPublic();
  auto givenShapes = parseShapes(entry);
  if (failed(givenShapes))
    return failure();
  FailureOr<TargetInfo> found = resolveTarget(*candidate, options->targetName);
  if (failed(found))
    return failure();
  TargetInfo target = *found;
  bool isCounted = false;
  double work = countWork(referenceEntry, &isCounted);
  if (!options->weights.empty() &&
      (failed(markWeights(entry, options->weights)) ||
       failed(markWeights(referenceEntry, options->weights))))
    return failure();
  llvm::json::Value manifest = describeForMeasuring(referenceEntry);
  if (options->explain)
    options->profile = true;
  if (failed(convertLayout(*candidate)))
    return failure();
  bool needsTasks = options->profile || !options->libraryPath.empty() ||
                    hasWeights(entry);
  if (needsTasks && failed(extract(*candidate)))
    return failure();
  llvm::StringMap<ProfileRow> tasks = describeTasks(*candidate);
  Report report;
  report.target = target;
  llvm::MapVector<StringRef, TaskExplanation> explained;
  if (options->explain)
    explained = describeTaskWork(*candidate, target);
  std::vector<AppliedSchedule> schedules;
  if (!options->libraryPath.empty() &&
      failed(schedule(*candidate, schedules)))
    return failure();
  for (const AppliedSchedule &applied : schedules) {
    tasks[applied.task].scheduled = !applied.schedule.empty();
    tasks[applied.task].note = applied.note;
    if (auto it = explained.find(applied.task); it != explained.end())
      it->second.schedule = applied.schedule;
  }
  for (auto &[name, task] : explained)
    if (auto func = candidate->lookupSymbol<func::FuncOp>(name))
      explainCode(func, target, task);

  if (needsTasks && failed(prepackWeights(*candidate)))
    return failure();

  std::string error;
  auto runnerPath =
      findRunner(options->runner, options->toolDir, target, error);
  if (failed(runnerPath))
    return emitError(loc) << error;
  WorkDir dir;
  if (std::error_code code =
          llvm::sys::fs::createUniqueDirectory("ansor-run", dir.path))
    return emitError(loc) << "can't create a directory: " << code.message();
  std::string stem = (dir.path + "/").str();

  WorkerPoolOptions pool;
  pool.program = runnerPath->first;
  pool.prefix = runnerPath->second;
  pool.args = {"--memory=" + std::to_string(options->memoryLimit)};
  pool.fresh = true;
  pool.logPrefix = stem + "runner";
  WorkerPool runner(pool);
  if (options->explain) {
    auto rates = measureMachine(
        context, target, options->threads, stem,
        [&](llvm::json::Object request) {
          return runRequest(runner, std::move(request), "a measurement", loc);
        });
    if (failed(rates))
      return failure();
    report.rates = *rates;
  }
  llvm::json::Object common{
      {"id", 0},
      {"seed", int64_t(uint64_t(options->seed))},
      {"shapes", *givenShapes},
      {"max_argument_bytes", double(options->memoryLimit) / 3},
      {"thread_stack", int64_t(16) << 20}};
  CPULoweringOptions lowering;
  lowering.strictFP = options->strictFP;
  lowering.maxOperations = 10000000;

  int64_t cpu = -1; // both programs are timed on the same
  if (options->doCheck) {
    CPULoweringOptions plain = lowering;
    plain.parallel = false;
    plain.vectorize = work > kLargeWork;
    // Where rounding is coarse, the same in double precision tells the
    // program's own errors.
    OwningOpRef<ModuleOp> wide = reference->clone();
    bool hasWide = hasNarrowFloats(*wide) && succeeded(widenFloats(*wide)) &&
                   buildArtifact(*wide, llvm::json::Value(manifest), target,
                                 plain, int64_t(1) << 30, stem + "wide")
                           .error == ErrorKind::None;
    if (failed(compile(*reference, llvm::json::Value(manifest), target, plain,
                       stem + "reference")))
      return failure();
    llvm::json::Object request(common);
    request["artifact"] = stem + "reference.so";
    request["manifest"] = stem + "reference.json";
    request["write_reference"] = stem + "values";
    if (hasWide)
      request["wide_artifact"] = stem + "wide.so";
    // A network's weights would blow up its values: start from milder ones.
    request["attempt"] = isNetwork ? 1 : 0;
    // A slow one is timed by the runs that the check makes.
    request["repeats"] = int(options->repeats);
    request["budget"] = 5;
    request["time_below"] = 1.0;
    auto answer =
        runRequest(runner, std::move(request), "the unscheduled program", loc);
    if (failed(answer))
      return failure();
    report.reference = answer->getNumber("median").value_or(
        answer->getNumber("reference_seconds").value_or(0));
    cpu = answer->getInteger("cpu").value_or(-1);
  }

  lowering.parallel = options->threads > 1;
  lowering.profile = options->profile;
  if (llvm::json::Value prepack =
          describePrepack(candidate->lookupSymbol<func::FuncOp>(name));
      prepack.getAsObject())
    (*manifest.getAsObject())["prepack"] = std::move(prepack);
  if (failed(compile(*candidate, std::move(manifest), target, lowering,
                     stem + "candidate")))
    return failure();
  llvm::json::Object request(common);
  request["artifact"] = stem + "candidate.so";
  request["manifest"] = stem + "candidate.json";
  request["threads"] = int(options->threads);
  request["cpu"] = cpu;
  request["repeats"] = int(options->repeats);
  request["budget"] = 30;
  request["check_budget"] = 5;
  request["flush"] = bool(options->flushCache);
  request["flush_bytes"] = 2 * std::max(target.l3, target.l2);
  std::vector<std::string> slots;
  if (auto names = (*candidate)->getAttrOfType<ArrayAttr>("ansor.profile"))
    for (auto name : names.getAsRange<StringAttr>())
      slots.push_back(name.getValue().str());
  if (options->profile)
    request["profile"] = int64_t(slots.size());
  if (options->doCheck)
    request["reference"] = stem + "values";
  auto answer = runRequest(runner, std::move(request), "the program", loc);
  if (failed(answer))
    return failure();

  report.ok = answer->getBoolean("ok").value_or(false);
  if (options->doCheck) {
    report.maxError = answer->getNumber("abs_error").value_or(1e300);
    report.tolerance = answer->getNumber("tolerance").value_or(0);
  }
  if (auto seconds = answer->getNumber("prepack_seconds"))
    report.prepack = *seconds;
  report.note = answer->getString("note").value_or("").str();
  report.profile = readProfile(*answer, slots, tasks);
  for (auto &[name, task] : explained) {
    auto row = llvm::find_if(
        report.profile, [&n = name](auto &row) { return row.name == n; });
    if (row != report.profile.end() && row->calls > 0) {
      task.calls = std::llround(row->calls);
      task.seconds = row->seconds / row->calls;
    }
    report.tasks.push_back(std::move(task));
  }
  if (auto median = answer->getNumber("median")) {
    report.median = report.least = *median;
    if (isCounted)
      report.gflops = *median > 0 ? work / *median * 1e-9 : 0;
  }
  if (const llvm::json::Array *seconds = answer->getArray("seconds"))
    for (const llvm::json::Value &value : *seconds)
      report.least =
          std::min(*report.least, value.getAsNumber().value_or(*report.least));
  print(report, name);
  if (!report.ok)
    return emitError(loc) << "wrong result: "
                          << answer->getString("message").value_or("");
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // Options that the shared libraries registered would clash with ours.
  for (const char *name : {"threads", "target", "seed", "library", "shape"}) {
    auto &registered = cl::getRegisteredOptions();
    if (auto found = registered.find(name); found != registered.end())
      found->second->removeArgument();
  }
  Options storage;
  options = &storage;
  cl::HideUnrelatedOptions(options->category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles a module, runs one of its functions on random arguments, and\n"
      "prints its time. With --check its results are compared with those of "
      "the\n"
      "unscheduled program: the same module without a library, lowered to "
      "plain\n"
      "sequential loops at -O3 (vectorised above 5e9 operations). Its time is\n"
      "what is printed as reference_ms. The exit code is 0 only if the "
      "program\n"
      "ran and, with --check, its results are right.\n");
  DialectRegistry registry;
  registerUpstream(registry);
  ansor::registerAllDialects(registry);
  MLIRContext context(registry);
  llvm::SourceMgr sourceManager;
  SourceMgrDiagnosticHandler handler(sourceManager, &context);
  return failed(run(context));
}
