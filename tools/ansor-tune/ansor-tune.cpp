//===- ansor-tune.cpp - Tunes a model ---------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The long run: reads a model, tunes its tasks, writes records, library and
// tuned module, and tells how it goes. Everything else is in lib/Search.
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "ansor/InitAll.h"
#include "ansor/Search/Search.h"
#include "ansor/Support/LoadModule.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"
#include <csignal>

using namespace mlir;
using namespace mlir::ansor;
namespace cl = llvm::cl;

namespace {
/// The tool's options. They are made in main(), behind a reset: LLVM's library
/// registers options of its own, some under the same names.
struct Flags {
  cl::OptionCategory files{"Files"}, searching{"Search"},
      measuring{"Measuring"};

  cl::opt<std::string> inputPath{cl::Positional, cl::Required,
      cl::desc("MODEL.mlir"),
      cl::cat(files)};
  cl::opt<std::string> outputPath{"o", cl::value_desc("TUNED.mlir"),
      cl::cat(files),
      cl::desc("write the module with its tasks extracted and the best "
               "schedules applied; - is standard output")};
  cl::opt<std::string> recordsPath{"records", cl::value_desc("LOG.jsonl"),
      cl::cat(files),
      cl::desc("log every trial there; if the file exists, resume from "
               "it: its trials count, and are not run again")};
  cl::opt<std::string> libraryPath{"library", cl::value_desc("BEST.mlir"),
      cl::cat(files),
      cl::desc("write the best schedules there, as a transform library "
               "for --ansor-apply-library or mlir-opt")};
  cl::opt<bool> keepSlower{"keep-slower", cl::cat(files),
      cl::desc("put the best schedule of each task into the library and the "
               "tuned module, even if it is slower than the unscheduled "
               "program: to test, or to look at it")};
  cl::opt<std::string> replayPath{"replay", cl::value_desc("LOG.jsonl"),
      cl::cat(files),
      cl::desc("take the times from this log instead of measuring")};

  cl::opt<int64_t> trials{"trials", cl::Required, cl::cat(searching),
      cl::desc("trials in total, over all tasks; at least one a task, "
               "64 a task and more for good results")};
  cl::opt<uint64_t> seed{"seed", cl::init(0), cl::cat(searching),
      cl::desc("seed of the search (0)")};
  cl::opt<std::string> space{"space", cl::init("full"), cl::cat(searching),
      cl::desc("full: every sketch that is derived; ansor: the rules "
               "and constants of the paper (full)")};
  cl::opt<std::string> model{"model", cl::init("xgboost"), cl::cat(searching),
      cl::desc("xgboost: learned cost model and evolution; random: "
               "random candidates only (xgboost)")};
  cl::opt<int64_t> earlyStop{"early-stop", cl::init(0), cl::cat(searching),
      cl::desc("end a task after so many trials without gain; 0: never "
               "(0)")};
  cl::opt<unsigned> population{"population",
      cl::init(EvolutionOptions().population), cl::cat(searching),
      cl::desc("candidates a generation, at most (2048); small batches "
               "get fewer")};
  cl::opt<unsigned> generations{"generations",
      cl::init(EvolutionOptions().generations), cl::cat(searching),
      cl::desc("generations a batch (4)")};
  cl::opt<int> scoreThreads{"score-threads", cl::init(0), cl::cat(searching),
      cl::desc("threads that score candidates; 0: one a core (0)")};

  cl::opt<std::string> target{"target", cl::cat(measuring),
      cl::desc("the machine: host, a named target, with overrides "
               "(x86-64-v4:cores=8); default: the replayed log's, the "
               "module's, else host")};
  cl::opt<int> threads{"threads", cl::init(1), cl::cat(measuring),
      cl::desc("threads of the measured code (1)")};
  cl::opt<int> builders{"builders", cl::init(0), cl::cat(measuring),
      cl::desc("builder processes; 0: one a core (0)")};
  cl::opt<double> buildTimeout{"build-timeout",
      cl::init(MeasureOptions().buildTimeout), cl::cat(measuring),
      cl::desc("seconds that building a candidate may take (15)")};
  cl::opt<double> runTimeout{"run-timeout",
      cl::init(MeasureOptions().runTimeout), cl::cat(measuring),
      cl::desc("seconds that running a candidate may take (10)")};
  cl::opt<int> repeats{"repeats", cl::init(MeasureOptions().repeats),
      cl::cat(measuring), cl::desc("repeats, of which the median counts (5)")};
  cl::opt<double> minRepeat{"min-repeat-ms",
      cl::init(MeasureOptions().minRepeatSeconds * 1e3), cl::cat(measuring),
      cl::desc("a repeat runs the kernel at least this long, "
               "milliseconds (10)")};
  cl::opt<bool> flushCache{"flush-cache", cl::cat(measuring),
      cl::desc("empty the caches before each call")};
  cl::opt<bool> check{"check", cl::init(true), cl::cat(measuring),
      cl::desc("compare each candidate's results with the unscheduled "
               "program's (true)")};
};
} // namespace

//===----------------------------------------------------------------------===//
// Interrupts
//===----------------------------------------------------------------------===//

static volatile std::sig_atomic_t interrupted = 0;

static void onSignal(int) { interrupted = 1; }

/// The first signal ends the run cleanly, a second one at once.
static void handleSignals() {
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESETHAND;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

//===----------------------------------------------------------------------===//
// main
//===----------------------------------------------------------------------===//

static int fail(const Twine &message) {
  llvm::WithColor::error(llvm::errs(), "ansor-tune") << message << "\n";
  return 1;
}

/// Tells now, not after hours, that a result can't be written.
static bool checkWritable(StringRef path) {
  if (path.empty() || path == "-")
    return true;
  bool existed = llvm::sys::fs::exists(path);
  int fd;
  std::error_code code = llvm::sys::fs::openFileForWrite(
      path, fd, llvm::sys::fs::CD_OpenAlways, llvm::sys::fs::OF_Append);
  if (code) {
    fail("cannot write '" + path + "': " + code.message());
    return false;
  }
  llvm::sys::Process::SafelyCloseFileDescriptor(fd);
  if (!existed)
    llvm::sys::fs::remove(path);
  return true;
}

static FailureOr<TuneOptions> makeOptions(ModuleOp module,
                                          const Flags &flags) {
  TuneOptions options;
  FailureOr<TargetInfo> info =
      resolveTuneTarget(module, flags.target, flags.replayPath);
  if (failed(info))
    return failure();
  options.target = *info;
  std::optional<SpaceKind> spaceKind = parseSpaceKind(flags.space);
  std::optional<ModelKind> modelKind = parseModelKind(flags.model);
  StringRef problem;
  if (!spaceKind)
    problem = "--space must be full or ansor";
  else if (!modelKind)
    problem = "--model must be xgboost or random";
  else if (flags.threads < 1)
    problem = "--threads must be at least 1";
  else if (flags.repeats < 1)
    problem = "--repeats must be at least 1";
  else if (!(flags.buildTimeout > 0) || !(flags.runTimeout > 0))
    problem = "timeouts must be positive";
  else if (flags.population < 1)
    problem = "--population must be at least 1";
  else if (flags.earlyStop < 0 || flags.minRepeat < 0 ||
           flags.builders < 0 || flags.scoreThreads < 0)
    problem = "numbers must not be negative";
  if (!problem.empty()) {
    fail(problem);
    return failure();
  }
  options.trials = flags.trials;
  options.seed = flags.seed;
  options.space = *spaceKind;
  options.model = *modelKind;
  options.earlyStop = flags.earlyStop;
  options.scoreThreads = flags.scoreThreads;
  options.evolution.population = flags.population;
  options.evolution.generations = flags.generations;
  options.recordsPath = flags.recordsPath;
  options.libraryPath = flags.libraryPath;
  options.keepSlower = flags.keepSlower;
  options.replayPath = flags.replayPath;
  options.measure.threads = flags.threads;
  options.measure.builders = flags.builders;
  options.measure.buildTimeout = flags.buildTimeout;
  options.measure.runTimeout = flags.runTimeout;
  options.measure.repeats = flags.repeats;
  options.measure.minRepeatSeconds = flags.minRepeat / 1e3;
  options.measure.flushCache = flags.flushCache;
  options.measure.check = flags.check;
  return options;
}

/// Applies what was found, and writes the module.
static LogicalResult writeTuned(ModuleOp module, StringRef path,
                                const TuneResult &result,
                                const TargetInfo &info, bool keepSlower) {
  std::vector<BestEntry> entries = result.bestEntries(keepSlower);
  std::string error;
  if (!entries.empty()) {
    FailureOr<OwningOpRef<ModuleOp>> library =
        buildLibrary(entries, info, module.getContext(), error);
    if (failed(library))
      return failure(fail(error));
    if (failed(applyLibrary(module, **library)))
      return failure();
  }
  std::unique_ptr<llvm::ToolOutputFile> output =
      openOutputFile(path, &error);
  if (!output)
    return failure(fail(error));
  module.print(output->os());
  output->os() << "\n";
  output->keep();
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ResetCommandLineParser();
  Flags flags;
  cl::HideUnrelatedOptions({&flags.files, &flags.searching, &flags.measuring});
  cl::ParseCommandLineOptions(
      argc, argv,
      "Ansor auto-scheduler: tunes the tensor programs of a model\n\n"
      "  ansor-tune MODEL.mlir --trials=N --records=LOG.jsonl "
      "--library=BEST.mlir -o TUNED.mlir\n\n"
      "MODEL.mlir is linalg on tensors. Its tasks are measured round-robin on "
      "this machine, in child\nprocesses, and compared with the unscheduled "
      "program. SIGINT and SIGTERM end the run cleanly:\nwhat was measured is "
      "written, and the exit code is 130. Run the same command again to go "
      "on.\n");

  DialectRegistry registry;
  registerUpstream(registry);
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  FailureOr<OwningOpRef<ModuleOp>> module =
      loadModule(flags.inputPath, context);
  if (failed(module))
    return 1;
  llvm::SourceMgr sourceMgr;
  SourceMgrDiagnosticHandler printer(sourceMgr, &context);
  FailureOr<TuneOptions> options = makeOptions(**module, flags);
  if (failed(options) || !checkWritable(flags.libraryPath) ||
      !checkWritable(flags.outputPath))
    return 1;

  handleSignals();
  ProgressLine line(llvm::errs());
  FailureOr<TuneResult> result =
      tune(**module, *options, [&](const TuneProgress &now) { line.show(now); },
           [] { return interrupted != 0; });
  line.end();
  if (failed(result))
    return 1;
  raw_ostream &os = flags.outputPath == "-" ? llvm::errs() : llvm::outs();
  printReport(os, *result);
  os.flush();
  if (!flags.outputPath.empty() &&
      failed(writeTuned(**module, flags.outputPath, *result, options->target,
                          options->keepSlower)))
    return 1;
  return result->interrupted ? 130 : 0;
}
