//===- Finals.cpp - The last comparison of a task's best --------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The best of many measurements is the luckiest one, too. At the end of a run
// the best few candidates of each task, and the unscheduled program if it is as
// fast, are measured against each other. Many are compared, as what is good by
// nature is among them, and then the best few of these more often, as few
// measurements can't tell those apart; of them, the one wins that was the fastest
// relative to the others of each pass. The results are kept in the log as
// "final" lines, so that a run that has nothing left to try, and one that is
// replayed, decide alike.
//

#include "Session.h"
#include <cmath>

using namespace mlir;
using namespace mlir::ansor;

/// Trials that allow one finalist, so that finals stay a small share of a run.
static constexpr int64_t kTrialsPerFinalist = 8;
/// Candidates of the second comparison, and how many times as often as in the
/// first they are measured.
static constexpr size_t kLast = 4;
static constexpr unsigned kLastPasses = 2;
/// Up to this speed-up the unscheduled program is measured again, too: its own
/// time is from the start of the run, when the machine may have been faster.
static constexpr double kDoubtfulSpeedUp = 4;

std::vector<Candidate> Session::finalists(unsigned index) const {
  const TaskState &state = result.tasks[index];
  int64_t count =
      std::min<int64_t>(options.finalists,
                        std::max<int64_t>(2, state.trials / kTrialsPerFinalist));
  double limit = state.best * (1 + options.finalShare);
  std::vector<Candidate> candidates;
  for (const auto &[seconds, candidate] : tasks[index].search->getMeasured())
    if (int64_t(candidates.size()) < count && seconds <= limit)
      candidates.push_back(candidate);
  return candidates;
}

static double medianOf(std::vector<double> values) {
  llvm::sort(values);
  size_t half = values.size() / 2;
  return values.size() % 2 ? values[half]
                           : (values[half - 1] + values[half]) / 2;
}

/// How slow each program was relative to the others of its pass: the median
/// over the passes, of which `seconds` has as many for each program. A machine
/// that drifts slows all of a pass, so this repeats better than the seconds:
/// on a busy one they deviated by .07 to .17, this by .04 to .11.
static SmallVector<double> relativeTimes(ArrayRef<ArrayRef<double>> seconds) {
  SmallVector<std::vector<double>> ratios(seconds.size());
  for (size_t pass = 0; pass < seconds.front().size(); ++pass) {
    std::vector<double> ofPass;
    for (ArrayRef<double> ofProgram : seconds)
      ofPass.push_back(ofProgram[pass]);
    const double usual = medianOf(ofPass);
    for (auto [ofProgram, time] : llvm::zip_equal(ratios, ofPass))
      ofProgram.push_back(time / usual);
  }
  SmallVector<double> times;
  for (std::vector<double> &ofProgram : ratios)
    times.push_back(ofProgram.empty() ? 0 : medianOf(std::move(ofProgram)));
  return times;
}

/// Takes over the winner of `finals`; nothing if all failed.
void Session::decide(unsigned index) {
  TaskState &state = result.tasks[index];
  TunedTask &tuned = tasks[index];
  SmallVector<const TrialRecord *> contenders;
  SmallVector<ArrayRef<double>> seconds;
  size_t passes = 0; // of the second comparison, if there was one
  for (const TrialRecord &trial : tuned.finals)
    if (trial.error == ErrorKind::None && !trial.isReference())
      passes = std::max(passes, trial.seconds.size());
  for (const TrialRecord &trial : tuned.finals) {
    if (trial.error != ErrorKind::None || trial.seconds.size() < passes)
      continue;
    if (trial.isReference()) {
      state.reference = trial.median;
      continue;
    }
    contenders.push_back(&trial);
    seconds.push_back(ArrayRef(trial.seconds).take_front(passes));
  }
  if (contenders.empty())
    return;
  SmallVector<double> times = relativeTimes(seconds);
  const TrialRecord *best =
      contenders[llvm::min_element(times) - times.begin()];
  std::string error;
  unsigned sketch =
      llvm::find(tuned.sketchNames, best->sketch) - tuned.sketchNames.begin();
  FailureOr<Decisions> decisions =
      tuned.search->getSpaces()[sketch].fromJSON(best->decisions, error);
  if (failed(decisions))
    return;
  state.compared = llvm::count_if(tuned.finals, [](const TrialRecord &trial) {
    return !trial.isReference();
  });
  state.best = best->median;
  state.bestSketch = best->sketch;
  Candidate winner{sketch, std::move(*decisions)};
  state.overturned = winner.key() != tuned.best.key();
  tuned.best = std::move(winner);
}

LogicalResult Session::compareFinalists(unsigned index) {
  TaskState &state = result.tasks[index];
  TunedTask &tuned = tasks[index];
  if (options.finalists < 2 || !std::isfinite(state.best) || stopped())
    return success();
  // A log that ends with finals of these very trials needs no others.
  llvm::erase_if(tuned.finals, [&](const TrialRecord &trial) {
    return trial.trial != state.trials;
  });
  if (!tuned.finals.empty()) {
    decide(index);
    return success();
  }

  std::vector<MeasureInput> inputs;
  std::vector<TrialRecord> records;
  for (const Candidate &candidate : finalists(index)) {
    TrialRecord record;
    FailureOr<MeasureInput> input = describe(index, candidate, record);
    if (failed(input))
      return failure();
    inputs.push_back(std::move(*input));
    records.push_back(std::move(record));
  }
  const double limit = 1 + options.finalShare;
  if (state.reference > 0 &&
      state.reference <= state.best * kDoubtfulSpeedUp &&
      state.best <= state.reference * limit) {
    inputs.push_back({state.task.key, state.task.module, "", ""});
    records.emplace_back();
  }
  if (inputs.size() < 2)
    return success();

  auto compare = [&](ArrayRef<MeasureInput> inputs, unsigned passes) {
    Stopwatch watch(result.cost.measure);
    StopWatcher watcher(stop, *measurer);
    return measurer->compare(inputs, passes);
  };
  std::vector<MeasureResult> results = compare(inputs, options.finalPasses);
  SmallVector<size_t> order;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].script.empty() && results[i].error == ErrorKind::None)
      order.push_back(i);
  if (order.size() > kLast && !stopped()) {
    llvm::sort(order, [&](size_t a, size_t b) {
      return std::make_pair(results[a].median, a) <
             std::make_pair(results[b].median, b);
    });
    order.resize(kLast);
    if (inputs.back().script.empty())
      order.push_back(inputs.size() - 1);
    std::vector<MeasureInput> last;
    for (size_t i : order)
      last.push_back(inputs[i]);
    for (auto [i, got] :
         llvm::zip_equal(order, compare(last, kLastPasses * options.finalPasses)))
      results[i] = got;
  }
  // Nothing is decided by half of a comparison.
  if (stopped() || llvm::any_of(results, [](const MeasureResult &got) {
        return got.error == ErrorKind::Device;
      }))
    return success();
  for (auto [record, got] : llvm::zip_equal(records, results)) {
    TrialRecord final = makeRecord(index, std::move(record), got);
    final.trial = state.trials;
    if (writer && failed(writer->appendFinal(final)))
      return emitError() << writer->getError();
    tuned.finals.push_back(std::move(final));
  }
  decide(index);
  return success();
}
