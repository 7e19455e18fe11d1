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
#include "ansor/Search/Simulation.h"
#include "ansor/Support/Files.h"
#include "ansor/Support/LoadModule.h"
#include "ansor/Task/Weights.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"
#include <cmath>
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

  cl::list<std::string> inputPaths{cl::Positional,
      cl::desc("MODEL.mlir [MODEL.mlir...]"), cl::cat(files)};
  cl::list<std::string> outputPaths{"o", cl::value_desc("TUNED.mlir"),
      cl::cat(files),
      cl::desc("write the module with its tasks extracted and the best "
               "schedules applied; - is standard output. For several models, "
               "give it once a model, in their order")};
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

  cl::opt<std::string> taskScheduler{"task-scheduler", cl::init("gradient"),
      cl::cat(searching),
      cl::desc("gradient: the task whose trials promise most; round-robin: "
               "all as many (gradient)")};
  cl::opt<std::string> objective{"objective", cl::init("sum"),
      cl::cat(searching),
      cl::desc("what the gradient lowers: sum: the time of all networks; "
               "latency:MS,...: a network's time down to a target; "
               "speedup[:MS,...]: the geometric mean of speed-ups over these "
               "times, or over the unscheduled networks; early-stop:TRIALS: "
               "the sum, but a task without gain for so many trials gets no "
               "more (sum)")};
  cl::list<double> networkWeights{"network-weights", cl::CommaSeparated,
      cl::value_desc("W,..."), cl::cat(searching),
      cl::desc("how much each model counts (1)")};
  cl::opt<std::string> simulate{"simulate-scheduler",
      cl::value_desc("LOG.jsonl"), cl::cat(searching),
      cl::desc("measure nothing and need no model: spend the trials on the "
               "tasks of this log as the scheduler would, take what the log "
               "has for them, and print a JSON line a round")};
  cl::opt<int64_t> trials{"trials", cl::Required, cl::cat(searching),
      cl::desc("trials in total, over all tasks; at least one a task, "
               "64 a task and more for good results; 0: measure nothing, and "
               "take what the cost model predicts to be the best")};
  cl::opt<uint64_t> seed{"seed", cl::init(0), cl::cat(searching),
      cl::desc("seed of the search (0)")};
  cl::opt<std::string> space{"space", cl::init("full"), cl::cat(searching),
      cl::desc("full: every sketch that is derived; ansor: the rules "
               "and constants of the paper (full)")};
  cl::opt<std::string> model{"model", cl::init("xgboost"), cl::cat(searching),
      cl::desc("xgboost: learned cost model and evolution; random: "
               "random candidates only (xgboost)")};
  cl::opt<std::string> dynamicSizes{"dynamic-sizes", cl::cat(searching),
      cl::value_desc("?=32,128"),
      cl::desc("sizes that functions with dynamic extents are tuned for: "
               "lists for all extents (?) or for one (d0, d1 in order of "
               "appearance), separated by ';'; other sizes run the general "
               "code")};
  cl::opt<std::string> layout{"layout", cl::init("channels-last"),
      cl::cat(searching),
      cl::desc("channels-last: tensors of convolutions and of what is between "
               "them have the channels last, where that pays; keep: they lie "
               "as in the model (channels-last, unless its tasks are extracted "
               "already)")};
  cl::list<std::string> weights{"weights", cl::cat(searching),
      cl::value_desc("1,3-5,7-"),
      cl::desc("arguments of the model that are weights, and are packed once "
               "before it runs, unless marked by {ansor.weight}; for several "
               "models, give it once a model, in their order")};
  cl::opt<std::string> costModel{"cost-model", cl::cat(searching),
      cl::value_desc("FILE"),
      cl::desc("model of other programs that the search starts from, or none; "
               "default: the installed one for the target's vectors")};
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
  cl::opt<std::string> strategy{"strategy", cl::init("evolution"),
      cl::cat(searching),
      cl::desc("evolution; or beam: partial programs, decided knob by knob, of "
               "which the best predicted go on: to compare with (evolution)")};
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
  cl::opt<std::string> runner{"runner", cl::value_desc("COMMAND"),
      cl::cat(measuring),
      cl::desc("start runners by this command, for another machine or an "
               "emulator: \"qemu-aarch64 -L /usr/aarch64-linux-gnu "
               "./ansor-runner\"")};
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
  cl::opt<bool> coldWeights{"cold-weights", cl::init(true), cl::cat(measuring),
      cl::desc("measure tasks with their weights as far from the processor as "
               "they are in the network, where others are used in between "
               "(true)")};
  cl::opt<unsigned> finalists{"finalists", cl::init(TuneOptions().finalists),
      cl::cat(measuring),
      cl::desc("at the end, compare at most so many of a task's best (within "
               "5%) with each other; below 2: don't (8)")};
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
  // A terminal that closes, unless nohup has it ignored.
  struct sigaction hangup = {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN)
    ::sigaction(SIGHUP, &action, nullptr);
}

//===----------------------------------------------------------------------===//
// main
//===----------------------------------------------------------------------===//

static constexpr int kMaxThreads = 1024, kMaxRepeats = 1000000;
static constexpr unsigned kMaxPopulation = 1 << 20;
static constexpr double kMaxSeconds = 1e7;

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
  // Of a link to nowhere, that place is made: the link stays.
  if (!existed && !llvm::sys::fs::is_symlink_file(path))
    llvm::sys::fs::remove(path);
  return true;
}

/// The scheduler of a run over `networks` models, or an error that is shown.
static LogicalResult readScheduler(const Flags &flags, size_t networks,
                                   TuneOptions &options) {
  std::optional<SchedulerKind> kind = parseSchedulerKind(flags.taskScheduler);
  if (!kind)
    return failure(fail("--task-scheduler must be gradient or round-robin"));
  options.scheduler = *kind;
  std::string error;
  FailureOr<Objective> objective =
      Objective::parse(flags.objective, networks, error);
  if (failed(objective))
    return failure(fail(error));
  options.objective = *objective;
  if (flags.networkWeights.empty())
    return success();
  if (flags.networkWeights.size() != networks)
    return failure(fail("--network-weights has " +
                        Twine(flags.networkWeights.size()) + " weights for " +
                        Twine(networks) + " models"));
  for (double weight : flags.networkWeights) {
    if (!(weight > 0) || std::isinf(weight))
      return failure(fail("--network-weights must be positive and finite"));
    options.objective.weights.push_back(weight);
  }
  return success();
}

static FailureOr<TuneOptions> makeOptions(ModuleOp module,
                                          const Flags &flags) {
  TuneOptions options;
  if (failed(readScheduler(flags, flags.inputPaths.size(), options)))
    return failure();
  FailureOr<TargetInfo> info =
      resolveTuneTarget(module, flags.target, flags.replayPath);
  if (failed(info))
    return failure();
  options.target = *info;
  std::optional<SpaceKind> spaceKind = parseSpaceKind(flags.space);
  std::optional<ModelKind> modelKind = parseModelKind(flags.model);
  std::optional<NetworkLayout> layout = parseNetworkLayout(flags.layout);
  std::optional<StrategyKind> strategy = parseStrategyKind(flags.strategy);
  StringRef problem;
  if (!layout)
    problem = "--layout must be keep or channels-last";
  else if (!spaceKind)
    problem = "--space must be full or ansor";
  else if (!modelKind)
    problem = "--model must be xgboost or random";
  else if (!strategy)
    problem = "--strategy must be evolution or beam";
  else if (flags.threads < 1)
    problem = "--threads must be at least 1";
  else if (flags.repeats < 1)
    problem = "--repeats must be at least 1";
  else if (!(flags.buildTimeout > 0) || !(flags.runTimeout > 0))
    problem = "timeouts must be positive";
  else if (flags.population < 1)
    problem = "--population must be at least 1";
  else if (flags.earlyStop < 0 || !(flags.minRepeat >= 0) ||
           flags.builders < 0 || flags.scoreThreads < 0)
    problem = "numbers must not be negative";
  else if (flags.threads > kMaxThreads || flags.builders > kMaxThreads ||
           flags.scoreThreads > kMaxThreads)
    problem = "threads and builders must be 1024 at most";
  else if (flags.minRepeat > 1e3 * kMaxSeconds ||
           flags.buildTimeout > kMaxSeconds || flags.runTimeout > kMaxSeconds)
    problem = "times must be finite, and 1e7 seconds at most";
  else if (flags.repeats > kMaxRepeats)
    problem = "--repeats must be 1000000 at most";
  else if (flags.population > kMaxPopulation)
    problem = "--population must be 1048576 at most";
  else if (flags.generations > kMaxPopulation)
    problem = "--generations must be 1048576 at most";
  else if (flags.trials < 0)
    problem = "--trials must not be negative";
  if (!problem.empty()) {
    fail(problem);
    return failure();
  }
  options.trials = flags.trials;
  options.seed = flags.seed;
  options.space = *spaceKind;
  options.model = *modelKind;
  if (options.model == ModelKind::XGBoost && flags.costModel != "none")
    options.costModelPath = flags.costModel.empty()
                                ? findInstalledModel(options.target.vectorBits)
                                : flags.costModel.getValue();
  options.dynamicSizes = flags.dynamicSizes;
  // Without a word, tasks that are extracted already stay as they are.
  if (flags.layout.getNumOccurrences() > 0)
    options.layout = *layout;
  options.earlyStop = flags.earlyStop;
  options.finalists = flags.finalists;
  options.scoreThreads = flags.scoreThreads;
  options.evolution.population = flags.population;
  options.evolution.generations = flags.generations;
  options.evolution.strategy = *strategy;
  options.recordsPath = flags.recordsPath;
  options.libraryPath = flags.libraryPath;
  options.keepSlower = flags.keepSlower;
  options.replayPath = flags.replayPath;
  options.measure.threads = flags.threads;
  options.measure.runner = flags.runner;
  options.measure.builders = flags.builders;
  options.measure.buildTimeout = flags.buildTimeout;
  options.measure.runTimeout = flags.runTimeout;
  options.measure.repeats = flags.repeats;
  options.measure.minRepeatSeconds = flags.minRepeat / 1e3;
  options.measure.flushCache = flags.flushCache;
  options.measure.check = flags.check;
  options.coldWeights = flags.coldWeights;
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
        buildLibrary(entries, info, module.getContext(), error,
                     getPreparation(module));
    if (failed(library))
      return failure(fail(error));
    if (failed(applyLibrary(module, **library)))
      return failure();
  }
  auto print = [&](raw_ostream &os) {
    module.print(os);
    os << "\n";
  };
  if (failed(writeFile(path, print, error)))
    return failure(fail(error));
  return success();
}

/// Spends trials on the curves of a log, and prints how that goes.
static int simulateScheduler(const Flags &flags, MLIRContext &context) {
  if (!flags.inputPaths.empty())
    return fail("--simulate-scheduler takes its tasks from the log: give no "
                "model");
  TuneOptions options;
  if (failed(readScheduler(flags, /*networks=*/1, options)))
    return 1;
  std::string error;
  FailureOr<RecordLog> log = loadRecords(flags.simulate, error);
  if (failed(log))
    return fail(error);
  std::vector<TaskCurve> curves = readCurves(*log, &context);
  if (curves.empty())
    return fail("'" + flags.simulate + "' has no trials; does the file exist?");
  if (flags.trials < int64_t(curves.size()))
    return fail("too few trials: " + Twine(flags.trials) + " for " +
                Twine(curves.size()) + " tasks");
  std::unique_ptr<TaskScheduler> scheduler =
      options.scheduler == SchedulerKind::RoundRobin
          ? createRoundRobinScheduler()
          : createGradientScheduler(options.objective);
  SimulationOptions simulation;
  simulation.trials = flags.trials;
  simulation.seed = flags.seed;
  std::vector<int64_t> trials(curves.size(), 0);
  int64_t before = 0;
  std::vector<SimulatedRound> rounds =
      simulate(curves, *scheduler, options.objective, simulation);
  for (const SimulatedRound &round : rounds) {
    trials[round.task] += round.trials - before;
    before = round.trials;
    llvm::outs() << llvm::json::Value(llvm::json::Object{
                        {"task", curves[round.task].task.key},
                        {"trials", round.trials},
                        {"latency_ms", round.latency * 1e3},
                        {"objective", round.objective}})
                 << "\n";
  }
  llvm::json::Object perTask;
  for (auto [curve, count] : llvm::zip_equal(curves, trials))
    perTask[curve.task.key] = count;
  llvm::outs() << llvm::json::Value(llvm::json::Object{
                      {"scheduler", flags.taskScheduler},
                      {"trials", before},
                      {"latency_ms", rounds.back().latency * 1e3},
                      {"trials_by_task", std::move(perTask)}})
               << "\n";
  return 0;
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
      "MODEL.mlir is linalg on tensors. Its tasks are measured on this machine, "
      "in child processes,\nand compared with the unscheduled "
      "program. SIGINT and SIGTERM end the run cleanly:\nwhat was measured is "
      "written, and the exit code is 130. Run the same command again to go "
      "on.\n");

  DialectRegistry registry;
  registerUpstream(registry);
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  if (!flags.simulate.empty())
    return simulateScheduler(flags, context);
  if (flags.inputPaths.empty())
    return fail("no model is given: ansor-tune MODEL.mlir --trials=N");
  if (!flags.outputPaths.empty() &&
      flags.outputPaths.size() != flags.inputPaths.size())
    return fail("give -o once a model: there are " +
                Twine(flags.outputPaths.size()) + " for " +
                Twine(flags.inputPaths.size()) + " models");
  std::vector<OwningOpRef<ModuleOp>> modules;
  SmallVector<ModuleOp> networks;
  for (const std::string &path : flags.inputPaths) {
    FailureOr<OwningOpRef<ModuleOp>> module = loadModule(path, context);
    if (failed(module))
      return 1;
    networks.push_back(**module);
    modules.push_back(std::move(*module));
  }
  if (!flags.weights.empty() &&
      flags.weights.size() != flags.inputPaths.size())
    return fail("give --weights once a model: there are " +
                Twine(flags.weights.size()) + " for " +
                Twine(flags.inputPaths.size()) + " models");
  llvm::SourceMgr sourceMgr;
  SourceMgrDiagnosticHandler printer(sourceMgr, &context);
  for (auto [module, list] : llvm::zip(networks, flags.weights))
    if (failed(markWeights(module, list)))
      return 1;
  FailureOr<TuneOptions> options = makeOptions(networks.front(), flags);
  if (failed(options) || !checkWritable(flags.libraryPath) ||
      !llvm::all_of(flags.outputPaths, checkWritable))
    return 1;

  handleSignals();
  ProgressLine line(llvm::errs());
  FailureOr<TuneResult> result =
      tune(networks, *options, [&](const TuneProgress &now) { line.show(now); },
           [] { return interrupted != 0; });
  line.end();
  if (failed(result))
    return 1;
  raw_ostream &os = llvm::is_contained(flags.outputPaths, "-") ? llvm::errs()
                                                               : llvm::outs();
  printReport(os, *result, flags.inputPaths);
  os.flush();
  for (auto [module, path] : llvm::zip(networks, flags.outputPaths))
    if (failed(writeTuned(module, path, *result, options->target,
                          options->keepSlower)))
      return 1;
  return result->interrupted ? 130 : 0;
}
