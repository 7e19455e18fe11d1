//===- Round.cpp - One round of one task ------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace mlir::ansor;

/// Trials that are measured in one go: their records are written together, so
/// that a killed run loses little.
static constexpr size_t kChunk = 16;
/// Candidates that each similar task lends.
static constexpr size_t kBorrowed = 2;

LogicalResult Session::tuneOnce(unsigned index, int64_t count) {
  TaskState &state = result.tasks[index];
  TunedTask &tuned = tasks[index];
  if (!tuned.hasReference && failed(measureReference(index)))
    return failure();
  if (stopped() || state.finished)
    return success();

  // Without a model to start from, the first batch of a task is random,
  // whatever the model learned from others: it shows it the whole space.
  CostModel *scorer = nullptr;
  if (model && (state.trials > 0 || !options.costModelPath.empty())) {
    if (failed(train(state.task.key)))
      return failure();
    if (model->isTrained())
      scorer = model.get();
  }
  RandomGenerator rng =
      makeGenerator(options.seed, state.task.key, state.trials);
  tuned.search->setSeeds(borrow(index, rng));
  std::vector<Candidate> batch = tuned.search->nextBatch(count, scorer, rng);
  if (scorer && !scorer->getLastError().empty())
    return emitError() << "the cost model can't predict: "
                       << scorer->getLastError();
  std::vector<double> scores = tuned.search->getBatchScores().vec();
  for (const auto &entry : tuned.search->getRejections())
    state.rejections[entry.getKey().str()] = entry.getValue();
  if (batch.empty()) {
    state.finished = schedule[index].finished = true;
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
  for (ArrayRef<Candidate> rest = batch;
       !rest.empty() && !stopped() && !state.finished;) {
    ArrayRef<Candidate> chunk = rest.take_front(kChunk);
    if (failed(measureBatch(index, chunk)))
      return failure();
    rest = rest.drop_front(chunk.size());
  }
  noteRanking(index, batch, scores);
  endRound(index);
  if (options.earlyStop > 0 &&
      state.trials - schedule[index].lastGain >= options.earlyStop)
    state.finished = schedule[index].finished = true;
  return success();
}

std::vector<Candidate> Session::borrow(unsigned index,
                                       RandomGenerator &rng) const {
  const TunedTask &tuned = tasks[index];
  std::vector<Candidate> borrowed;
  llvm::StringSet<> keys;
  for (unsigned other = 0; other < tasks.size(); ++other) {
    const TunedTask &donor = tasks[other];
    if (other == index ||
        schedule[other].structure != schedule[index].structure ||
        donor.sketchNames != tuned.sketchNames)
      continue;
    for (const auto &[seconds, candidate] :
         donor.search->getMeasured().take_front(kBorrowed)) {
      unsigned sketch = candidate.sketch;
      std::optional<Decisions> decisions =
          refit(donor.search->getSpaces()[sketch], candidate.decisions,
                tuned.search->getSpaces()[sketch], rng);
      if (!decisions)
        continue;
      Candidate fitted{sketch, std::move(*decisions)};
      if (keys.insert(fitted.key()).second)
        borrowed.push_back(std::move(fitted));
    }
  }
  return borrowed;
}

void Session::noteRanking(unsigned index, ArrayRef<Candidate> batch,
                          ArrayRef<double> scores) {
  TaskState &state = result.tasks[index];
  // Scores and times of what was measured without failure.
  SmallVector<std::pair<double, double>> results;
  for (auto [candidate, score] : llvm::zip(batch, scores)) {
    double seconds = tasks[index].search->getSeconds(candidate);
    if (std::isfinite(seconds))
      results.push_back({score, seconds});
  }
  for (size_t i = 0; i < results.size(); ++i)
    for (size_t j = 0; j < results.size(); ++j) {
      if (results[i].second * 1.02 >= results[j].second)
        continue; // i is not clearly faster
      ++state.pairs;
      state.rightPairs += results[i].first > results[j].first;
    }
  size_t quarter = results.size() / 4;
  if (quarter == 0)
    return;
  SmallVector<std::pair<double, double>> byScore = results;
  llvm::sort(byScore, std::greater<>());
  llvm::sort(results, llvm::less_second());
  double limit = results[quarter - 1].second;
  state.top += quarter;
  state.rightTop += std::min<size_t>(
      quarter, llvm::count_if(ArrayRef(byScore).take_front(quarter),
                              [&](auto &got) { return got.second <= limit; }));
}

void Session::endRound(unsigned index) {
  const TaskState &state = result.tasks[index];
  double seconds = state.best;
  if (state.reference > 0)
    seconds = std::min(seconds, state.reference);
  schedule[index].history.push_back(seconds);
  scheduler->roundDone(schedule, index);
}

std::vector<MeasureResult> Session::measure(ArrayRef<MeasureInput> inputs) {
  Stopwatch watch(result.cost.measure);
  StopWatcher watcher(stop, *measurer);
  return measurer->measure(inputs);
}

TrialRecord Session::makeRecord(unsigned index, TrialRecord described,
                                const MeasureResult &measured) const {
  TrialRecord trial = std::move(described);
  trial.taskKey = result.tasks[index].task.key;
  trial.seed = options.seed;
  trial.threads = options.measure.threads;
  trial.coldBytes = measured.coldBytes.value_or(coldBytesOf(index));
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
  return emitError() << writer->getError();
}

/// Whether every other candidate of the task fails as this one did.
static bool isHopeless(const MeasureResult &measured) {
  return measured.error == ErrorKind::Device || measured.ofReference;
}

void Session::giveUp(unsigned index, const MeasureResult &why) {
  TaskState &state = result.tasks[index];
  state.finished = schedule[index].finished = true;
  state.unmeasurable = true;
  std::string kind = stringify(why.error).str();
  ++state.errors[kind];
  state.firstMessage.try_emplace(kind, why.message);
  if (firstFailure.empty())
    firstFailure = (why.error == ErrorKind::Device
                        ? "cannot measure on this device: "
                        : "no task can be measured: ") +
                   why.message;
}

LogicalResult Session::measureReference(unsigned index) {
  const Task &task = result.tasks[index].task;
  std::vector<MeasureResult> results =
      measure({{task.key, task.module, "", ""}});
  const MeasureResult &measured = results.front();
  if (stopped() && measured.error != ErrorKind::None)
    return success();
  TrialRecord trial = makeRecord(index, {}, measured);
  if (isHopeless(measured) && options.replayPath.empty()) {
    tasks[index].hasReference = true;
    giveUp(index, measured);
  } else {
    note(index, {}, trial);
  }
  return measured.error == ErrorKind::Device ? success() : append(trial);
}

FailureOr<MeasureInput> Session::describe(unsigned index,
                                          const Candidate &candidate,
                                          TrialRecord &record) {
  const Task &task = result.tasks[index].task;
  const TunedTask &tuned = tasks[index];
  std::string error;
  FailureOr<std::string> script =
      pool->getScript(tuned.program, candidate, error);
  if (failed(script))
    return emitError() << "the script of a candidate of task '" << task.key
                       << "' is lost: " << error;
  record.sketch = tuned.sketchNames[candidate.sketch];
  record.sketchHash = tuned.sketchHashes[candidate.sketch];
  record.decisions = tuned.search->getSpaces()[candidate.sketch].toJSON(
      candidate.decisions);
  return MeasureInput{task.key, task.module, std::move(*script),
                      candidateId(record.sketch, record.decisions)};
}

LogicalResult Session::measureBatch(unsigned index, ArrayRef<Candidate> batch) {
  TaskState &state = result.tasks[index];
  TunedTask &tuned = tasks[index];
  std::vector<MeasureInput> inputs;
  std::vector<TrialRecord> trials;
  for (const Candidate &candidate : batch) {
    FailureOr<MeasureInput> input =
        describe(index, candidate, trials.emplace_back());
    if (failed(input))
      return failure();
    inputs.push_back(std::move(*input));
  }

  std::vector<MeasureResult> results = measure(inputs);
  const bool interrupted = stopped();
  if (!interrupted && options.replayPath.empty() &&
      llvm::all_of(results, isHopeless)) {
    giveUp(index, results.front());
    return success();
  }
  std::vector<std::pair<Candidate, double>> measured;
  bool deviceOnly = true;
  for (auto [candidate, trial, got] : llvm::zip_equal(batch, trials, results)) {
    // Children that were told to end fail in any way: not the candidate's.
    if (interrupted && got.error != ErrorKind::None)
      continue;
    deviceOnly &= got.error == ErrorKind::Device;
    TrialRecord record = makeRecord(index, std::move(trial), got);
    record.trial = state.trials;
    record.round = schedule[index].rounds();
    note(index, candidate, record);
    measured.push_back({candidate, record.median});
    if (failed(append(record)))
      return failure();
  }
  if (writer && failed(writer->sync()))
    return emitError() << writer->getError();
  for (TrainingSample &sample : tuned.search->addMeasured(measured))
    samples.push_back(std::move(sample));

  if (deviceOnly && !interrupted) {
    result.notes.push_back("the replayed log has no more candidates of task '" +
                           state.task.key + "'");
    state.finished = schedule[index].finished = true;
  }
  return success();
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
    return emitError() << "training the cost model failed: "
                       << model->getLastError();
  return success();
}
