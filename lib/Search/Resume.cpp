//===- Resume.cpp - What the log of a run knows -----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::ansor;

LogicalResult Session::openFiles() {
  if (options.recordsPath.empty())
    return success();
  std::string error;
  FailureOr<RecordLog> log = loadRecords(options.recordsPath, error);
  if (failed(log))
    return emitError() << error;
  if (failed(resume(*log)))
    return failure();
  FailureOr<std::unique_ptr<RecordWriter>> opened =
      RecordWriter::open(options.recordsPath, error);
  if (failed(opened))
    return emitError() << error;
  writer = std::move(*opened);
  for (const TaskState &state : result.tasks)
    if (!log->findTask(state.task.key) &&
        failed(writer->append(state.task, options.target)))
      return emitError() << writer->getError();
  return success();
}

/// Whether times with weights of `a` and of `b` bytes can be compared: both
/// warm, or networks of about the same size.
static bool areAlikeCold(int64_t a, int64_t b) {
  return a == b || (a > 0 && b > 0 && a <= 2 * b && b <= 2 * a);
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
      return emitError()
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
  int64_t otherThreads = 0, otherSketches = 0, otherWeights = 0;
  // A replayed run takes times as they are.
  auto fitsWeights = [&](unsigned index, const TrialRecord &trial) {
    return !options.replayPath.empty() ||
           areAlikeCold(trial.coldBytes, coldBytesOf(index));
  };
  // The round that the last trial belongs to. Logs of an older version lack
  // the number: there, a round ends where another task has its turn.
  std::optional<std::pair<unsigned, int64_t>> round;
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
    if (!fitsWeights(index, trial)) {
      ++otherWeights;
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
    std::pair<unsigned, int64_t> ofTrial{index, trial.round};
    if (round && *round != ofTrial)
      endRound(round->first);
    round = ofTrial;
    note(index, candidate, trial);
    ++result.tasks[index].resumed;
    measured[index].push_back({candidate, trial.median});
    order.push_back(index);
  }
  if (round)
    endRound(round->first);
  std::vector<std::vector<TrainingSample>> ofTask;
  for (auto [results, tuned] : llvm::zip_equal(measured, tasks))
    ofTask.push_back(tuned.search->addMeasured(results));
  std::vector<size_t> next(tasks.size(), 0);
  for (unsigned index : order)
    samples.push_back(std::move(ofTask[index][next[index]++]));

  for (const TrialRecord &final : log.finals) {
    auto number = numbers.find(final.taskKey);
    if (number == numbers.end() ||
        final.threads != options.measure.threads ||
        !fitsWeights(number->second, final))
      continue;
    TunedTask &tuned = tasks[number->second];
    auto sketch = llvm::find(tuned.sketchNames, final.sketch);
    if (final.isReference() ||
        (sketch != tuned.sketchNames.end() &&
         final.sketchHash ==
             tuned.sketchHashes[sketch - tuned.sketchNames.begin()]))
      tuned.finals.push_back(final);
  }

  if (otherThreads)
    result.notes.push_back(
        llvm::formatv("{0} records of '{1}' were made with another number of "
                      "threads, and are not used",
                      otherThreads, options.recordsPath));
  if (otherWeights)
    result.notes.push_back(
        llvm::formatv("{0} records of '{1}' were made with weights that were "
                      "warmer or colder than they are here (see "
                      "cold-weights), and are not used",
                      otherWeights, options.recordsPath));
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
      state.reference = schedule[index].reference = trial.median;
    else
      result.notes.push_back(llvm::formatv(
          "the unscheduled program of task '{0}' could not be measured ({1}): "
          "{2}",
          state.task.key, stringify(trial.error), trial.message));
    return;
  }
  schedule[index].trials = ++state.trials;
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
    schedule[index].lastGain = state.trials;
  }
}
