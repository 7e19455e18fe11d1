//===- Search.cpp - The search ----------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading guide. tune() is the whole run: it extracts tasks, derives their
// sketches (Session::addTask), takes over what the log has (Session::resume),
// and then gives the tasks batches in turn (Session::run). A batch
// (Session::tuneOnce) is proposed by the task's policy (TaskSearch.cpp, which
// evolves candidates by Evolution.cpp and scores them on the workers of
// EvaluationPool.cpp), measured, logged, and learned from.
//
// A run is a function of seed, options and the measured times alone: the
// generator of each batch is seeded by the seed, the task and the number of
// trials it has behind it, so that a resumed run goes the way it would have
// gone, and a replayed one the way it went.
//
//===----------------------------------------------------------------------===//

#include "ansor/Search/Search.h"
#include "Clock.h"
#include "EvaluationPool.h"
#include "ansor/InitAll.h"
#include "ansor/Search/TaskSearch.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"
#include <atomic>
#include <cmath>
#include <thread>

using namespace mlir;
using namespace mlir::ansor;

/// Trials that are measured in one go: their records are written together, so
/// that a killed run loses little.
static constexpr size_t kChunk = 16;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Small helpers
//===----------------------------------------------------------------------===//

static std::string hashText(StringRef text) {
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true,
                         /*Width=*/16);
}

/// The generator of one batch, see the top of this file.
static RandomGenerator makeGenerator(uint64_t seed, StringRef key,
                                     int64_t trials) {
  uint64_t task = llvm::xxh3_64bits(key);
  std::seed_seq sequence{uint32_t(seed),   uint32_t(seed >> 32),
                         uint32_t(task),   uint32_t(task >> 32),
                         uint32_t(trials), uint32_t(uint64_t(trials) >> 32)};
  return RandomGenerator(sequence);
}

/// Polls `stop` while the measurer works, and ends its children then.
namespace {
class StopWatcher {
public:
  StopWatcher(const std::function<bool()> &stop, Measurer &measurer) {
    if (!stop)
      return;
    thread = std::thread([this, &stop, &measurer] {
      while (!done) {
        if (stop()) {
          measurer.interrupt();
          return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
  }
  ~StopWatcher() {
    done = true;
    if (thread.joinable())
      thread.join();
  }

private:
  std::atomic<bool> done{false};
  std::thread thread;
};
} // namespace

std::optional<ModelKind> ansor::parseModelKind(StringRef text) {
  return llvm::StringSwitch<std::optional<ModelKind>>(text)
      .Case("xgboost", ModelKind::XGBoost)
      .Case("random", ModelKind::Random)
      .Default(std::nullopt);
}

std::optional<SpaceKind> ansor::parseSpaceKind(StringRef text) {
  return llvm::StringSwitch<std::optional<SpaceKind>>(text)
      .Case("full", SpaceKind::Full)
      .Case("ansor", SpaceKind::Ansor)
      .Default(std::nullopt);
}

std::vector<BestEntry> TuneResult::bestEntries(bool keepSlower) const {
  std::vector<BestEntry> entries;
  for (const TaskState &state : tasks) {
    if (state.trials == 0)
      continue;
    BestEntry entry;
    entry.taskKey = state.task.key;
    entry.trials = state.trials;
    entry.reference = state.reference;
    entry.median = state.reference;
    if (state.improved() || (keepSlower && !state.bestScript.empty())) {
      entry.sketch = state.bestSketch;
      entry.script = state.bestScript;
      entry.median = state.best;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

FailureOr<TargetInfo> ansor::resolveTuneTarget(ModuleOp module, StringRef spec,
                                               StringRef replayPath) {
  if (!spec.empty() || replayPath.empty())
    return resolveTarget(module, spec);
  std::string error;
  FailureOr<RecordLog> log = loadRecords(replayPath, error);
  if (failed(log))
    return module.emitError() << error;
  if (log->tasks.empty())
    return module.emitError() << "nothing to replay: '" << replayPath
                              << "' has no task; does the file exist?";
  return log->tasks.front().target;
}

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

namespace {
/// One task under search.
struct TunedTask {
  std::unique_ptr<TaskSearch> search;
  std::vector<std::string> sketchNames;
  std::vector<std::string> sketchHashes;
  unsigned program = 0;       ///< number in the pool
  int64_t lastGain = 0;       ///< trials when the best one was found
  Candidate best;
  bool hasReference = false;  ///< measured, or failed for good
};

class Session {
public:
  Session(ModuleOp module, const TuneOptions &options,
          const std::function<void(const TuneProgress &)> &progress,
          const std::function<bool()> &stop)
      : module(module), options(options), progress(progress), stop(stop) {}

  LogicalResult prepare();
  LogicalResult run();
  LogicalResult finish();

  TuneResult result;

private:
  LogicalResult addTask(func::FuncOp func, Task task);
  LogicalResult openFiles();
  LogicalResult resume(const RecordLog &log);
  LogicalResult openMeasurer();

  int64_t batchSize(unsigned index) const;
  LogicalResult tuneOnce(unsigned index, int64_t count);
  LogicalResult measureReference(unsigned index);
  LogicalResult measureBatch(unsigned index, ArrayRef<Candidate> batch);
  std::vector<MeasureResult> measure(ArrayRef<MeasureInput> inputs);
  void note(unsigned index, const Candidate &candidate,
            const TrialRecord &trial);
  LogicalResult train(StringRef key);
  LogicalResult append(const TrialRecord &trial);
  void report();

  bool stopped() const { return stop && stop(); }
  int64_t trialsDone() const {
    int64_t done = 0;
    for (const TaskState &state : result.tasks)
      done += state.trials;
    return done;
  }

  ModuleOp module;
  const TuneOptions &options;
  const std::function<void(const TuneProgress &)> &progress;
  const std::function<bool()> &stop;

  std::unique_ptr<EvaluationPool> pool;
  std::vector<TunedTask> tasks;
  std::unique_ptr<CostModel> model;
  std::vector<TrainingSample> samples;
  size_t trainedOn = 0; ///< samples that the model has seen
  std::unique_ptr<Measurer> ownMeasurer;
  Measurer *measurer = nullptr;
  std::unique_ptr<RecordWriter> writer;
  Stopwatch watch; ///< since the start
  int64_t trialsAtStart = 0;
};
} // namespace

LogicalResult Session::prepare() {
  if (options.trials < 0)
    return module.emitError() << "the number of trials must not be negative";
  SmallVector<Task> found;
  {
    Stopwatch watch(result.cost.extract);
    found = collectTasks(module);
    if (found.empty()) {
      if (failed(extractTasks(module)))
        return failure();
      found = collectTasks(module);
    }
  }
  if (found.empty())
    return module.emitError()
           << "nothing to schedule: no function has linalg operations on "
              "tensors; convert the model to linalg on tensors first (for "
              "TOSA by --tosa-to-linalg-named and --tosa-to-linalg, for "
              "StableHLO by --stablehlo-legalize-to-linalg)";
  if (options.trials < int64_t(found.size()))
    return module.emitError()
           << "too few trials: " << options.trials << " for " << found.size()
           << (found.size() == 1 ? " task" : " tasks")
           << "; trials are the total over all tasks: give at least "
           << found.size() << ", better " << 64 * found.size();

  // Workers get all that this project knows, and what the embedder added.
  DialectRegistry registry;
  registerUpstream(registry);
  registerAllDialects(registry);
  module.getContext()->getDialectRegistry().appendTo(registry);
  pool = std::make_unique<EvaluationPool>(registry, options.scoreThreads);

  SymbolTable symbols(module);
  for (Task &task : found)
    if (failed(addTask(symbols.lookup<func::FuncOp>(task.name), task)))
      return failure();

  if (options.model == ModelKind::XGBoost)
    model = createXGBoostModel();
  if (failed(openFiles()))
    return failure();
  return openMeasurer();
}

LogicalResult Session::addTask(func::FuncOp func, Task task) {
  TunedTask tuned;
  SketchOptions sketchOptions;
  sketchOptions.space = options.space;
  std::vector<std::string> scripts;
  std::vector<DesignSpace> spaces;
  {
    Stopwatch watch(result.cost.sketch);
    FailureOr<SmallVector<Sketch>> sketches =
        generateSketches(func, options.target, sketchOptions);
    if (failed(sketches))
      return failure();
    for (Sketch &sketch : *sketches) {
      auto script =
          parseSourceString<ModuleOp>(sketch.script, module.getContext());
      if (!script)
        return func.emitError() << "sketch " << sketch.name << " of task '"
                                << task.key << "' does not parse";
      FailureOr<DesignSpace> space = DesignSpace::fromScript(*script);
      if (failed(space))
        return failure();
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
  tasks.push_back(std::move(tuned));
  result.tasks.emplace_back();
  result.tasks.back().task = std::move(task);
  return success();
}

LogicalResult Session::openFiles() {
  if (options.recordsPath.empty())
    return success();
  std::string error;
  FailureOr<RecordLog> log = loadRecords(options.recordsPath, error);
  if (failed(log))
    return module.emitError() << error;
  if (failed(resume(*log)))
    return failure();
  FailureOr<std::unique_ptr<RecordWriter>> opened =
      RecordWriter::open(options.recordsPath, error);
  if (failed(opened))
    return module.emitError() << error;
  writer = std::move(*opened);
  for (const TaskState &state : result.tasks)
    if (!log->findTask(state.task.key) &&
        failed(writer->append(state.task, options.target)))
      return module.emitError() << writer->getError();
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
      return module.emitError() << error;
    ownMeasurer = createReplayMeasurer(std::move(*log));
  } else {
    MeasureOptions measureOptions = options.measure;
    measureOptions.target = options.target;
    FailureOr<std::unique_ptr<Measurer>> local =
        createLocalMeasurer(measureOptions, error);
    if (failed(local))
      return module.emitError() << error;
    ownMeasurer = std::move(*local);
  }
  measurer = ownMeasurer.get();
  return success();
}

LogicalResult Session::resume(const RecordLog &log) {
  if (log.droppedTornLine)
    result.notes.push_back("the last line of '" + options.recordsPath +
                           "' was torn, and is dropped");
  llvm::StringMap<unsigned> numbers;
  for (auto [index, state] : llvm::enumerate(result.tasks)) {
    const RecordLog::TaskLine *line = log.findTask(state.task.key);
    if (!line)
      continue;
    numbers[state.task.key] = index;
    if (line->target.toJSON() != options.target.toJSON())
      return module.emitError()
             << "'" << options.recordsPath << "' has times of task '"
             << state.task.key << "' on another target ('" << line->target.name
             << "', " << line->target.cpu << ", " << line->target.cores
             << " cores), which can't be compared with this one ('"
             << options.target.name << "', " << options.target.cpu << ", "
             << options.target.cores << " cores): give another record file";
  }

  // Samples keep the order of the log, so that the model is the one that an
  // uninterrupted run has.
  using Results = std::vector<std::pair<Candidate, double>>;
  std::vector<Results> measured(tasks.size());
  std::vector<unsigned> order; // task of each sample
  std::vector<llvm::StringSet<>> seen(tasks.size());
  int64_t otherThreads = 0, otherSketches = 0;
  for (const TrialRecord &trial : log.trials) {
    auto number = numbers.find(trial.taskKey);
    // A device that failed says nothing about the candidate.
    if (number == numbers.end() || trial.error == ErrorKind::Device)
      continue;
    unsigned index = number->second;
    TunedTask &tuned = tasks[index];
    if (trial.threads != options.measure.threads) {
      ++otherThreads;
      continue;
    }
    if (trial.isReference()) {
      if (!tuned.hasReference)
        note(index, {}, trial);
      continue;
    }
    Candidate candidate;
    candidate.sketch = llvm::find(tuned.sketchNames, trial.sketch) -
                       tuned.sketchNames.begin();
    std::string error;
    FailureOr<Decisions> decisions = failure();
    if (candidate.sketch < tuned.sketchNames.size() &&
        trial.sketchHash == tuned.sketchHashes[candidate.sketch])
      decisions = tuned.search->getSpaces()[candidate.sketch].fromJSON(
          trial.decisions, error);
    if (failed(decisions)) {
      ++otherSketches;
      continue;
    }
    candidate.decisions = std::move(*decisions);
    if (!seen[index].insert(candidate.key()).second)
      continue;
    note(index, candidate, trial);
    ++result.tasks[index].resumed;
    measured[index].push_back({candidate, trial.median});
    order.push_back(index);
  }
  std::vector<std::vector<TrainingSample>> ofTask;
  for (auto [results, tuned] : llvm::zip_equal(measured, tasks))
    ofTask.push_back(tuned.search->addMeasured(results));
  std::vector<size_t> next(tasks.size(), 0);
  for (unsigned index : order)
    samples.push_back(std::move(ofTask[index][next[index]++]));

  if (otherThreads)
    result.notes.push_back(
        llvm::formatv("{0} records of '{1}' were made with another number of "
                      "threads, and are not used",
                      otherThreads, options.recordsPath));
  if (otherSketches)
    result.notes.push_back(
        llvm::formatv("{0} records of '{1}' belong to other sketches (another "
                      "space, or another version), and are not used",
                      otherSketches, options.recordsPath));
  trialsAtStart = trialsDone();
  return success();
}

/// Takes the result of a trial, or of the reference, into the task's state.
void Session::note(unsigned index, const Candidate &candidate,
                   const TrialRecord &trial) {
  TaskState &state = result.tasks[index];
  TunedTask &tuned = tasks[index];
  if (trial.isReference()) {
    tuned.hasReference = true;
    if (trial.error == ErrorKind::None)
      state.reference = trial.median;
    else
      result.notes.push_back(llvm::formatv(
          "the unscheduled program of task '{0}' could not be measured ({1}): "
          "{2}",
          state.task.key, stringify(trial.error), trial.message));
    return;
  }
  ++state.trials;
  if (trial.error != ErrorKind::None) {
    std::string kind = stringify(trial.error).str();
    ++state.errors[kind];
    state.firstMessage.try_emplace(kind, trial.message);
    return;
  }
  if (trial.median < state.best) {
    state.best = trial.median;
    state.bestSketch = tuned.sketchNames[candidate.sketch];
    tuned.best = candidate;
    tuned.lastGain = state.trials;
  }
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// How many trials task `index` gets now. The trials that are left are spread
/// so that all tasks end with as many, as far as possible ("water level").
int64_t Session::batchSize(unsigned index) const {
  SmallVector<int64_t> done;
  for (const TaskState &state : result.tasks)
    if (!state.finished)
      done.push_back(state.trials);
  int64_t left = options.trials - trialsDone();
  if (left <= 0)
    return 0;
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
  int64_t mine = level - result.tasks[index].trials;
  int64_t before = 0;
  for (unsigned i = 0; i < index; ++i)
    before += !result.tasks[i].finished && result.tasks[i].trials <= level;
  if (before < extra && mine >= 0)
    ++mine;

  int64_t count = result.tasks.size();
  int64_t batch = std::clamp<int64_t>(options.trials / (4 * count), 8, 64);
  // However few the trials, the model shall have a say in half of them.
  int64_t share = (options.trials + count - 1) / count;
  batch = std::min(batch, std::max<int64_t>(1, (share + 1) / 2));
  return std::clamp<int64_t>(std::min(batch, mine), 0, left);
}

LogicalResult Session::run() {
  report();
  while (!stopped()) {
    // In turn: the one with the fewest trials, which a resumed run finds, too.
    std::optional<unsigned> next;
    for (unsigned i = 0; i < tasks.size(); ++i)
      if (!result.tasks[i].finished && batchSize(i) > 0 &&
          (!next || result.tasks[i].trials < result.tasks[*next].trials))
        next = i;
    if (!next)
      break;
    if (failed(tuneOnce(*next, batchSize(*next))))
      return failure();
    report();
  }
  result.interrupted = stopped();
  return success();
}

LogicalResult Session::tuneOnce(unsigned index, int64_t count) {
  TaskState &state = result.tasks[index];
  TunedTask &tuned = tasks[index];
  if (!tuned.hasReference && failed(measureReference(index)))
    return failure();
  if (stopped())
    return success();

  // The first batch of a task is random, whatever the model learned from
  // others: it shows the model the whole space.
  CostModel *scorer = nullptr;
  if (model && state.trials > 0) {
    if (failed(train(state.task.key)))
      return failure();
    if (model->isTrained())
      scorer = model.get();
  }
  RandomGenerator rng =
      makeGenerator(options.seed, state.task.key, state.trials);
  std::vector<Candidate> batch = tuned.search->nextBatch(count, scorer, rng);
  for (const auto &entry : tuned.search->getRejections())
    state.rejections[entry.getKey().str()] = entry.getValue();
  if (batch.empty()) {
    state.finished = true;
    if (state.trials == 0)
      result.notes.push_back(llvm::formatv(
          "no candidate of task '{0}' can be built{1}{2}; it stays unscheduled",
          state.task.key,
          tuned.search->getFirstFailure().empty() ? "" : ": ",
          tuned.search->getFirstFailure()));
    return success();
  }
  ++state.rounds;
  state.learnedRounds += scorer != nullptr;
  for (ArrayRef<Candidate> rest = batch; !rest.empty() && !stopped();) {
    ArrayRef<Candidate> chunk = rest.take_front(kChunk);
    if (failed(measureBatch(index, chunk)))
      return failure();
    rest = rest.drop_front(chunk.size());
  }
  if (options.earlyStop > 0 &&
      state.trials - tuned.lastGain >= options.earlyStop)
    state.finished = true;
  return success();
}

std::vector<MeasureResult> Session::measure(ArrayRef<MeasureInput> inputs) {
  Stopwatch watch(result.cost.measure);
  StopWatcher watcher(stop, *measurer);
  std::vector<MeasureResult> results = measurer->measure(inputs);
  for (const MeasureResult &measured : results) {
    result.cost.build += measured.buildSeconds;
    result.cost.run += measured.runSeconds;
  }
  return results;
}

static TrialRecord makeRecord(const MeasureResult &measured) {
  TrialRecord trial;
  trial.error = measured.error;
  trial.message = measured.message;
  trial.seconds = measured.seconds;
  if (measured.error == ErrorKind::None)
    trial.median = measured.median;
  trial.maxError = measured.maxError;
  trial.buildSeconds = measured.buildSeconds;
  trial.runSeconds = measured.runSeconds;
  return trial;
}

LogicalResult Session::append(const TrialRecord &trial) {
  if (!writer || succeeded(writer->append(trial)))
    return success();
  return module.emitError() << writer->getError();
}

LogicalResult Session::measureReference(unsigned index) {
  const Task &task = result.tasks[index].task;
  std::vector<MeasureResult> results =
      measure({{task.key, task.module, "", ""}});
  const MeasureResult &measured = results.front();
  if (stopped() && measured.error != ErrorKind::None)
    return success();
  if (measured.error == ErrorKind::Device && options.replayPath.empty())
    return module.emitError() << "cannot measure on this device: "
                              << measured.message;
  TrialRecord trial = makeRecord(measured);
  trial.taskKey = task.key;
  trial.seed = options.seed;
  trial.threads = options.measure.threads;
  note(index, {}, trial);
  return measured.error == ErrorKind::Device ? success() : append(trial);
}

LogicalResult Session::measureBatch(unsigned index, ArrayRef<Candidate> batch) {
  TaskState &state = result.tasks[index];
  TunedTask &tuned = tasks[index];
  std::vector<MeasureInput> inputs;
  std::vector<TrialRecord> trials;
  for (const Candidate &candidate : batch) {
    std::string error;
    FailureOr<std::string> script =
        pool->getScript(tuned.program, candidate, error);
    if (failed(script))
      return module.emitError() << "the script of a candidate of task '"
                                << state.task.key << "' is lost: " << error;
    TrialRecord trial;
    trial.sketch = tuned.sketchNames[candidate.sketch];
    trial.sketchHash = tuned.sketchHashes[candidate.sketch];
    trial.decisions = tuned.search->getSpaces()[candidate.sketch].toJSON(
        candidate.decisions);
    inputs.push_back({state.task.key, state.task.module, std::move(*script),
                      candidateId(trial.sketch, trial.decisions)});
    trials.push_back(std::move(trial));
  }

  std::vector<MeasureResult> results = measure(inputs);
  const bool interrupted = stopped();
  std::vector<std::pair<Candidate, double>> measured;
  bool deviceOnly = true;
  for (auto [candidate, trial, got] : llvm::zip_equal(batch, trials, results)) {
    // Children that were told to end fail in any way: not the candidate's.
    if (interrupted && got.error != ErrorKind::None)
      continue;
    deviceOnly &= got.error == ErrorKind::Device;
    TrialRecord record = makeRecord(got);
    record.taskKey = state.task.key;
    record.sketch = trial.sketch;
    record.sketchHash = trial.sketchHash;
    record.decisions = trial.decisions;
    record.seed = options.seed;
    record.trial = state.trials;
    record.threads = options.measure.threads;
    note(index, candidate, record);
    measured.push_back({candidate, record.median});
    if (failed(append(record)))
      return failure();
  }
  if (writer && failed(writer->sync()))
    return module.emitError() << writer->getError();
  for (TrainingSample &sample : tuned.search->addMeasured(measured))
    samples.push_back(std::move(sample));

  if (!deviceOnly || interrupted)
    return success();
  if (!options.replayPath.empty()) {
    result.notes.push_back("the replayed log has no more candidates of task '" +
                           state.task.key + "'");
    state.finished = true;
    return success();
  }
  return module.emitError() << "cannot measure on this device any more: "
                            << results.front().message;
}

/// How many of `samples`, from the first, the model of a batch of task `key`
/// learns from. All of them would make training quadratic in the trials of a
/// network: the model waits for a twentieth more, unless the task itself has
/// news. It depends on the samples alone, so that a resumed run has the same
/// model.
static size_t trainingPrefix(ArrayRef<TrainingSample> samples, StringRef key) {
  size_t prefix = 0;
  for (size_t next = 1; next <= samples.size();
       next += std::max<size_t>(1, next / 20))
    prefix = next;
  auto ofTask = [&](const TrainingSample &sample) {
    return sample.task == key;
  };
  size_t all = llvm::count_if(samples, ofTask);
  size_t missed = llvm::count_if(samples.drop_front(prefix), ofTask);
  return missed * 5 > all ? samples.size() : prefix;
}

LogicalResult Session::train(StringRef key) {
  size_t prefix = trainingPrefix(samples, key);
  if (trainedOn == prefix)
    return success();
  Stopwatch watch(result.cost.train);
  trainedOn = prefix;
  ArrayRef<TrainingSample> seen = ArrayRef(samples).take_front(prefix);
  if (llvm::none_of(seen, [](const TrainingSample &sample) {
        return std::isfinite(sample.seconds) && sample.features.rows() > 0;
      }))
    return success(); // nothing to learn from yet
  if (failed(model->update(seen)))
    return module.emitError() << "training the cost model failed";
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
  for (auto [state, tuned] : llvm::zip_equal(result.tasks, tasks)) {
    result.cost.sample += tuned.search->getSampleSeconds();
    result.cost.score += tuned.search->getScoreSeconds();
    result.cost.scored += tuned.search->getScored();
    if (state.best == kInfinity)
      continue;
    std::string error;
    FailureOr<std::string> script =
        pool->getScript(tuned.program, tuned.best, error);
    if (failed(script))
      return module.emitError() << "the best script of task '"
                                << state.task.key << "' is lost: " << error;
    state.bestScript = std::move(*script);
  }
  std::string error;
  if (!options.libraryPath.empty() &&
      failed(writeLibrary(options.libraryPath,
                          result.bestEntries(options.keepSlower),
                          options.target, module.getContext(), error)))
    return module.emitError() << error;
  result.cost.total = watch.seconds();
  return success();
}

FailureOr<TuneResult>
ansor::tune(ModuleOp module, const TuneOptions &options,
            const std::function<void(const TuneProgress &)> &progress,
            const std::function<bool()> &stop) {
  Session session(module, options, progress, stop);
  if (failed(session.prepare()) || failed(session.run()) ||
      failed(session.finish()))
    return failure();
  return std::move(session.result);
}
