//===- Search.cpp - The search ----------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading guide. tune() is the whole run: it extracts tasks, derives their
// sketches (Session::addTask), takes over what the log has (Resume.cpp), and
// then gives rounds to the tasks that the scheduler chooses (Session::run;
// TaskScheduler.cpp, Objective.cpp). A round (Round.cpp) is proposed by the
// task's policy (TaskSearch.cpp, which evolves candidates by Evolution.cpp and
// scores them on the workers of EvaluationPool.cpp), measured, logged, and
// learned from.
//
// A run is a function of seed, options and the measured times alone: the
// generator of each batch is seeded by the seed, the task and the number of
// trials it has behind it, so that a resumed run goes the way it would have
// gone, and a replayed one the way it went.
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "ansor/InitAll.h"
#include "ansor/Search/Simulation.h"
#include "ansor/Support/Hash.h"
#include "ansor/Task/Sizes.h"
#include "ansor/Task/Weights.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace mlir;
using namespace mlir::ansor;

RandomGenerator ansor::makeGenerator(uint64_t seed, StringRef key,
                                     int64_t trials) {
  uint64_t task = llvm::xxh3_64bits(key);
  std::seed_seq sequence{uint32_t(seed),   uint32_t(seed >> 32),
                         uint32_t(task),   uint32_t(task >> 32),
                         uint32_t(trials), uint32_t(uint64_t(trials) >> 32)};
  return RandomGenerator(sequence);
}

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

LogicalResult Session::prepare() {
  if (options.trials < 0)
    return emitError() << "the number of trials must not be negative";
  // Workers get all that this project knows, and what the embedder added.
  DialectRegistry registry;
  registerUpstream(registry);
  registerAllDialects(registry);
  networks.front()->getContext()->getDialectRegistry().appendTo(registry);
  pool = std::make_unique<EvaluationPool>(registry, options.scoreThreads);
  if (failed(addTasks()))
    return failure();

  if (options.chooseTask)
    scheduler = createUserScheduler(options.chooseTask);
  else if (options.scheduler == SchedulerKind::RoundRobin)
    scheduler = createRoundRobinScheduler();
  else
    scheduler = createGradientScheduler(options.objective, options.gradient);
  if (options.model == ModelKind::XGBoost)
    model = createXGBoostModel();
  std::string error;
  if (model && !options.costModelPath.empty() &&
      failed(model->loadBase(options.costModelPath, error)))
    return emitError() << error;
  if (options.trials == 0 && !(model && model->isTrained()))
    return emitError() << "no trials are given, and no cost model that predicts "
                          "schedules without them";
  if (failed(openFiles()))
    return failure();
  return options.trials == 0 ? success() : openMeasurer();
}

static LogicalResult
convertAndExtract(ModuleOp module, std::optional<NetworkLayout> asked) {
  convertLayouts(module, asked.value_or(NetworkLayout::ChannelsLast));
  // What was asked for is noted even where there is nothing to convert.
  if (asked)
    noteNetworkLayout(module, *asked);
  return extractTasks(module);
}

/// The tasks of all networks, equal ones merged.
LogicalResult Session::addTasks() {
  SmallVector<std::pair<func::FuncOp, Task>> found;
  std::vector<SmallVector<int64_t>> weights; // by task and network
  llvm::StringMap<unsigned> numbers;
  {
    Stopwatch watch(result.cost.extract);
    for (size_t network = 0; network < networks.size(); ++network) {
      ModuleOp module = networks[network];
      SmallVector<Task> ofNetwork = collectTasks(module);
      if (ofNetwork.empty()) {
        StringRef sizes = options.dynamicSizes.empty()
                              ? getDynamicSizes(module)
                              : StringRef(options.dynamicSizes);
        if ((!sizes.empty() && hasDynamicFunctions(module) &&
             failed(specializeSizes(module, sizes))) ||
            failed(convertAndExtract(module, options.layout)))
          return failure();
        ofNetwork = collectTasks(module);
      } else if (!options.dynamicSizes.empty() &&
                 getDynamicSizes(module) != options.dynamicSizes) {
        return module.emitError()
               << "sizes for dynamic extents are given, but the tasks are "
                  "extracted already: run --ansor-specialize-sizes before";
      } else if (options.layout == NetworkLayout::ChannelsLast &&
                 getNetworkLayout(module) != options.layout) {
        return module.emitError()
               << "a layout is asked for, but the tasks are extracted already: "
                  "run --ansor-convert-layouts before";
      }
      if (ofNetwork.empty())
        return module.emitError()
               << "nothing to schedule: no function has linalg operations on "
                  "tensors; convert the model to linalg on tensors first (for "
                  "TOSA by --tosa-to-linalg-named and --tosa-to-linalg, for "
                  "StableHLO by --stablehlo-legalize-to-linalg)";
      SymbolTable symbols(module);
      bool specialized = !getDynamicSizes(module).empty();
      // What is done once costs the network nothing.
      DenseSet<Operation *> once = findTasksOfWeights(module);
      if (once.size() == ofNetwork.size())
        once.clear();
      std::string prefix = ("a" + Twine(kTaskKeyVersion) + "-").str();
      for (Task &task : ofNetwork) {
        if (!StringRef(task.key).starts_with(prefix))
          return symbols.lookup(task.name)->emitError()
                 << "the task key '" << task.key << "' does not begin with '"
                 << prefix
                 << "': it was made by another version, or by hand; extract "
                    "the tasks of the model again";
        // The general code beside the copies for given sizes stays as it is.
        if (specialized &&
            hasDynamicArguments(symbols.lookup<func::FuncOp>(task.name)))
          continue;
        if (once.contains(symbols.lookup<func::FuncOp>(task.name)))
          continue;
        auto [number, isNew] = numbers.try_emplace(task.key, found.size());
        if (isNew) {
          weights.emplace_back(networks.size(), 0);
          found.push_back({symbols.lookup<func::FuncOp>(task.name), task});
        } else {
          found[number->second].second.weight += task.weight;
        }
        weights[number->second][network] += task.weight;
      }
    }
  }
  if (options.trials != 0 && options.trials < int64_t(found.size()))
    return emitError() << "too few trials: " << options.trials << " for "
                       << found.size()
                       << (found.size() == 1 ? " task" : " tasks")
                       << "; trials are the total over all tasks: give at "
                          "least "
                       << found.size() << ", better " << 64 * found.size();
  for (auto [entry, ofTask] : llvm::zip_equal(found, weights)) {
    if (failed(addTask(entry.first, std::move(entry.second))))
      return failure();
    result.tasks.back().weights = ofTask;
    schedule.back().weights.assign(ofTask.begin(), ofTask.end());
  }
  coldBytes = options.coldWeights ? findColdBytes() : 0;
  return success();
}

/// Between two runs of a task, a network reads all its weights: those of the
/// task are then no nearer than what holds them all. Copies of more than
/// kMaxColdBytes cost time and change nothing: a task that streams its weights
/// ran at 140 GB/s with copies in a 2 MB cache, 28 in the next one (8 to 32
/// MB), and 12 with 128, 256 or 512 MB of them.
int64_t Session::findColdBytes() const {
  constexpr int64_t kMaxColdBytes = int64_t(128) << 20;
  int64_t bytes = 0, limit = kMaxColdBytes;
  for (ModuleOp network : networks)
    bytes = std::max(bytes, countWeightBytes(network));
  if (int64_t cache = std::max(options.target.l2, options.target.l3))
    limit = std::min(limit, 2 * cache);
  return std::min(bytes, limit);
}

LogicalResult Session::addTask(func::FuncOp func, Task task) {
  TunedTask tuned;
  SketchOptions sketchOptions;
  sketchOptions.space = options.space;
  std::vector<std::string> scripts;
  std::vector<DesignSpace> spaces;
  std::map<std::string, std::string> reasons;
  {
    Stopwatch watch(result.cost.sketch);
    FailureOr<SmallVector<Sketch>> sketches =
        generateSketches(func, options.target, sketchOptions);
    if (failed(sketches))
      return failure();
    for (Sketch &sketch : *sketches) {
      auto script =
          parseSourceString<ModuleOp>(sketch.script, func.getContext());
      if (!script)
        return func.emitError() << "sketch " << sketch.name << " of task '"
                                << task.key << "' does not parse";
      FailureOr<DesignSpace> space = DesignSpace::fromScript(*script);
      if (failed(space))
        return failure();
      reasons.insert(sketch.reasons.begin(), sketch.reasons.end());
      tuned.sketchNames.push_back(sketch.name);
      tuned.sketchHashes.push_back(hashText(sketch.script));
      scripts.push_back(std::move(sketch.script));
      spaces.push_back(std::move(*space));
    }
  }
  tuned.program = pool->add(task.module, std::move(scripts), spaces,
                            options.target.cacheLine);
  tuned.search = std::make_unique<TaskSearch>(
      task.key, std::move(spaces), pool->makeEvaluator(tuned.program),
      options.evolution);
  tuned.hasWeights = hasWeights(func);
  tasks.push_back(std::move(tuned));
  ScheduledTask scheduled;
  scheduled.key = task.key;
  scheduled.structure = computeStructureKey(func);
  scheduled.flops = task.flops;
  schedule.push_back(std::move(scheduled));
  result.tasks.emplace_back();
  result.tasks.back().reasons = std::move(reasons);
  result.tasks.back().task = std::move(task);
  return success();
}

LogicalResult Session::openMeasurer() {
  if (options.measurer) {
    measurer = options.measurer;
    return success();
  }
  std::string error;
  if (!options.replayPath.empty()) {
    FailureOr<RecordLog> log = loadRecords(options.replayPath, error);
    if (failed(log))
      return emitError() << error;
    ownMeasurer = createReplayMeasurer(std::move(*log));
  } else {
    MeasureOptions measureOptions = options.measure;
    measureOptions.target = options.target;
    measureOptions.coldBytes = coldBytes;
    FailureOr<std::unique_ptr<Measurer>> local =
        createLocalMeasurer(measureOptions, error);
    if (failed(local))
      return emitError() << error;
    ownMeasurer = std::move(*local);
  }
  measurer = ownMeasurer.get();
  return success();
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// The trials of task `index` if what is left is spread so that all tasks end
/// with as many, as far as possible ("water level").
static int64_t levelShare(ArrayRef<ScheduledTask> tasks, unsigned index,
                          int64_t left) {
  SmallVector<int64_t> done;
  for (const ScheduledTask &task : tasks)
    if (!task.finished)
      done.push_back(task.trials);
  llvm::sort(done);
  int64_t sum = 0, level = 0, extra = 0;
  for (size_t i = 0; i < done.size(); ++i) {
    sum += done[i];
    int64_t count = i + 1;
    // The first `count` tasks share what is left, if that stays below the next.
    if (i + 1 == done.size() || (left + sum) / count < done[i + 1]) {
      level = (left + sum) / count;
      extra = (left + sum) % count;
      break;
    }
  }
  // The remainder goes to the first tasks.
  int64_t mine = level - tasks[index].trials;
  int64_t before = 0;
  for (const ScheduledTask &task : tasks.take_front(index))
    before += !task.finished && task.trials <= level;
  if (before < extra && mine >= 0)
    ++mine;
  return mine;
}

int64_t ansor::roundSize(int64_t trials, int64_t tasks) {
  // Small rounds: each one is chosen by a model that has learned more. Large
  // ones keep many builders busy where trials abound.
  int64_t size = std::clamp<int64_t>(trials / (24 * tasks), 8, 64);
  // However few the trials, the model shall have a say in half of them.
  int64_t share = (trials + tasks - 1) / tasks;
  return std::min(size, std::max<int64_t>(1, (share + 1) / 2));
}

/// How many trials task `index` gets now.
int64_t Session::batchSize(unsigned index) const {
  int64_t left = options.trials - trialsDone();
  if (left <= 0)
    return 0;
  int64_t batch = roundSize(options.trials, tasks.size());
  int64_t mine = left;
  if (!options.chooseTask && options.scheduler == SchedulerKind::RoundRobin)
    mine = levelShare(schedule, index, left);
  else // one is kept for each task that has none
    for (auto [other, task] : llvm::enumerate(schedule))
      mine -= other != index && !task.finished && task.history.empty();
  return std::clamp<int64_t>(std::min(batch, mine), 0, left);
}

/// The best schedule that the model sees for each task without a measured one.
LogicalResult Session::predict() {
  for (auto [state, tuned] : llvm::zip_equal(result.tasks, tasks)) {
    if (stopped() || state.trials > 0)
      continue;
    RandomGenerator rng = makeGenerator(options.seed, state.task.key, 0);
    std::optional<Candidate> best = tuned.search->predictBest(*model, rng);
    if (!model->getLastError().empty())
      return emitError() << "the cost model can't predict: "
                         << model->getLastError();
    for (const auto &entry : tuned.search->getRejections())
      state.rejections[entry.getKey().str()] = entry.getValue();
    if (!best)
      continue;
    std::string error;
    FailureOr<std::string> script =
        pool->getScript(tuned.program, *best, error);
    if (failed(script))
      return emitError() << "the best script of task '" << state.task.key
                         << "' is lost: " << error;
    state.predicted = true;
    state.bestSketch = tuned.sketchNames[best->sketch];
    state.bestScript = std::move(*script);
    report();
  }
  result.interrupted = stopped();
  return success();
}

LogicalResult Session::run() {
  report();
  if (options.trials == 0)
    return predict();
  while (!stopped() && trialsDone() < options.trials) {
    RandomGenerator rng =
        makeGenerator(options.seed, "task scheduler", trialsDone());
    std::optional<unsigned> next = scheduler->next(schedule, rng);
    if (!next) {
      if (llvm::any_of(schedule, [](auto &task) { return !task.finished; }))
        result.notes.push_back(llvm::formatv(
            "{0} trials were not needed: no task can improve the objective",
            options.trials - trialsDone()));
      break;
    }
    int64_t count = batchSize(*next);
    if (count == 0)
      break;
    if (failed(tuneOnce(*next, count)))
      return failure();
    report();
  }
  result.interrupted = stopped();
  bool wasMeasured = llvm::any_of(result.tasks, [](const TaskState &state) {
    return state.trials > 0 || !state.unmeasurable;
  });
  if (!wasMeasured)
    return emitError() << firstFailure;
  return success();
}

void Session::report() {
  if (!progress)
    return;
  TuneProgress now;
  now.tasks = result.tasks;
  now.trialsDone = trialsDone();
  now.trialsTotal = std::max(options.trials, now.trialsDone);
  now.elapsed = watch.seconds();
  int64_t made = now.trialsDone - trialsAtStart;
  if (made > 0)
    now.remaining = now.elapsed / made * (now.trialsTotal - now.trialsDone);
  progress(now);
}

LogicalResult Session::finish() {
  for (unsigned index = 0; measurer && index < tasks.size(); ++index)
    if (failed(compareFinalists(index)))
      return failure();
  if (writer && failed(writer->sync()))
    return emitError() << writer->getError();
  for (auto [state, tuned] : llvm::zip_equal(result.tasks, tasks)) {
    result.cost.sample += tuned.search->getSampleSeconds();
    result.cost.score += tuned.search->getScoreSeconds();
    result.cost.scored += tuned.search->getScored();
    if (!std::isfinite(state.best))
      continue;
    std::string error;
    FailureOr<std::string> script =
        pool->getScript(tuned.program, tuned.best, error);
    if (failed(script))
      return emitError() << "the best script of task '"
                                << state.task.key << "' is lost: " << error;
    state.bestScript = std::move(*script);
  }
  std::string error;
  Preparation prepared;
  for (ModuleOp network : networks) {
    Preparation ofNetwork = getPreparation(network);
    if (prepared.dynamicSizes.empty())
      prepared.dynamicSizes = ofNetwork.dynamicSizes;
    if (prepared.layout == NetworkLayout::Keep)
      prepared.layout = ofNetwork.layout;
  }
  if (!options.libraryPath.empty() &&
      failed(writeLibrary(options.libraryPath,
                          result.bestEntries(options.keepSlower),
                          options.target, networks.front()->getContext(), error,
                          prepared)))
    return emitError() << error;
  return endCost();
}

/// Adds up where the time went, and logs it, unless nothing was measured.
LogicalResult Session::endCost() {
  CostOfSearch &cost = result.cost;
  MeasureCost measuring = measurer ? measurer->getCost() : MeasureCost();
  cost.build = measuring.build;
  cost.run = measuring.run;
  cost.check = measuring.check;
  cost.total = watch.seconds();
  RunRecord run;
  run.trials = trialsDone() - trialsAtStart;
  if (!writer || run.trials == 0 || !options.replayPath.empty())
    return success();
  run.seed = options.seed;
  run.scored = cost.scored;
  run.interrupted = result.interrupted;
  run.extract = cost.extract;
  run.sketch = cost.sketch;
  run.sample = cost.sample;
  run.score = cost.score;
  run.train = cost.train;
  run.build = cost.build;
  run.run = cost.run;
  run.check = cost.check;
  run.total = cost.total;
  if (failed(writer->append(run)) || failed(writer->sync()))
    return emitError() << writer->getError();
  return success();
}

FailureOr<TuneResult>
ansor::tune(ArrayRef<ModuleOp> networks, const TuneOptions &options,
            const std::function<void(const TuneProgress &)> &progress,
            const std::function<bool()> &stop) {
  Session session(networks, options, progress, stop);
  if (failed(session.prepare()) || failed(session.run()) ||
      failed(session.finish()))
    return failure();
  return std::move(session.result);
}

FailureOr<TuneResult>
ansor::tune(ModuleOp module, const TuneOptions &options,
            const std::function<void(const TuneProgress &)> &progress,
            const std::function<bool()> &stop) {
  return tune(ArrayRef(module), options, progress, stop);
}
