//===- Report.cpp - What a tuning run tells ---------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace mlir;
using namespace mlir::ansor;
using llvm::format;

static std::string formatSeconds(double seconds) {
  if (seconds < 60)
    return llvm::formatv("{0:f0} s", seconds);
  if (seconds < 3600)
    return llvm::formatv("{0} min {1} s", int64_t(seconds) / 60,
                         int64_t(seconds) % 60);
  return llvm::formatv("{0} h {1} min", int64_t(seconds) / 3600,
                       int64_t(seconds) / 60 % 60);
}

/// Weighted times of all tasks that have a reference: unscheduled, and with
/// what is best by now. Of all networks, or of one.
static std::pair<double, double>
sumTimes(ArrayRef<TaskState> tasks, std::optional<size_t> network = {}) {
  double reference = 0, best = 0;
  for (const TaskState &state : tasks) {
    if (state.reference <= 0)
      continue;
    double weight = network ? state.weights[*network] : state.task.weight;
    reference += weight * state.reference;
    best += weight * std::min(state.best, state.reference);
  }
  return {reference, best};
}

std::string ansor::describeProgress(const TuneProgress &progress) {
  std::string text;
  llvm::raw_string_ostream os(text);
  size_t count = progress.tasks.size();
  os << count << (count == 1 ? " task" : " tasks") << " | trial "
     << progress.trialsDone << "/" << progress.trialsTotal;
  auto [reference, best] = sumTimes(progress.tasks);
  if (best > 0)
    os << " | best " << format("%.4g ms (%.2fx)", best * 1e3, reference / best);
  std::map<std::string, int64_t> errors;
  for (const TaskState &state : progress.tasks)
    for (const auto &[kind, number] : state.errors)
      errors[kind] += number;
  if (!errors.empty()) {
    os << " | errors:";
    for (const auto &[kind, number] : errors)
      os << " " << number << " " << kind;
  }
  if (progress.remaining > 0)
    os << " | " << formatSeconds(progress.remaining) << " left";
  return text;
}

void ProgressLine::show(const TuneProgress &progress) {
  std::string text = describeProgress(progress);
  if (terminal) {
    // A line that wraps can't be written over.
    unsigned columns = llvm::sys::Process::StandardErrColumns();
    if (columns > 1 && text.size() >= columns)
      text.resize(columns - 1);
    os << "\r\033[K" << text;
  } else {
    os << text << "\n";
  }
  open = terminal;
  os.flush();
}

void ProgressLine::end() {
  if (open)
    os << "\n";
  open = false;
}

static void printTable(raw_ostream &os, ArrayRef<TaskState> tasks,
                       ArrayRef<std::string> networks) {
  os << format("%-24s %6s %9s %15s %11s %9s %7s %7s\n", "task", "weight",
               "GFLOP", "unscheduled ms", "best ms", "speed-up", "trials",
               "errors");
  auto milliseconds = [](double seconds) -> std::string {
    if (seconds <= 0 || std::isinf(seconds))
      return "-";
    std::string text;
    llvm::raw_string_ostream(text) << format("%.4g", seconds * 1e3);
    return text;
  };
  for (const TaskState &state : tasks) {
    int64_t errors = 0;
    for (const auto &[kind, number] : state.errors)
      errors += number;
    std::string speedup = "-";
    if (state.reference > 0)
      speedup = state.improved()
                    ? llvm::formatv("{0:f2}x", state.reference / state.best)
                    : std::string("1.00x");
    // Networks name their tasks alike.
    std::string name = state.task.name;
    if (networks.size() > 1)
      for (auto [number, weight] : llvm::enumerate(state.weights))
        if (weight > 0) {
          name = llvm::formatv("{0}:{1}", number + 1, name);
          break;
        }
    os << format("%-24s %6lld %9.4f %15s %11s %9s %7lld %7lld\n",
                 name.c_str(), (long long)state.task.weight,
                 state.task.flops / 1e9, milliseconds(state.reference).c_str(),
                 milliseconds(state.best).c_str(), speedup.c_str(),
                 (long long)state.trials, (long long)errors);
  }
  auto printTotal = [&](StringRef name, std::optional<size_t> network) {
    auto [reference, best] = sumTimes(tasks, network);
    if (best > 0)
      os << format("%-24s %6s %9s %15s %11s %9s\n", name.str().c_str(), "", "",
                   milliseconds(reference).c_str(), milliseconds(best).c_str(),
                   llvm::formatv("{0:f2}x", reference / best).str().c_str());
  };
  if (networks.size() > 1)
    for (auto [number, path] : llvm::enumerate(networks))
      printTotal(llvm::sys::path::filename(path), number);
  printTotal("total, weighted", std::nullopt);
}

/// The first line of a message, cut to a length that fits a terminal.
static std::string shorten(StringRef message) {
  StringRef first = message.split('\n').first;
  return first.size() <= 160 ? first.str()
                             : first.take_front(157).str() + "...";
}

void ansor::printReport(raw_ostream &os, const TuneResult &result,
                        ArrayRef<std::string> networks) {
  if (result.interrupted)
    os << "interrupted: these are the results so far\n";
  printTable(os, result.tasks, networks);
  for (const TaskState &state : result.tasks) {
    if (state.predicted)
      os << state.task.name
         << ": the best schedule that the cost model predicts, not measured\n";
    else if (state.unmeasurable)
      os << state.task.name
         << (state.trials > 0
                 ? ": can't be measured any more, and gets no more trials\n"
                 : ": can't be measured, and stays unscheduled\n");
    else if (!state.improved())
      os << state.task.name
         << ": no schedule was faster than the unscheduled program, which is "
            "kept\n";
    for (const auto &[kind, number] : state.errors) {
      os << state.task.name << ": " << number << " x " << kind;
      auto message = state.firstMessage.find(kind);
      if (message != state.firstMessage.end() && !message->second.empty())
        os << ", first: " << shorten(message->second);
      os << "\n";
    }
    if (!state.rejections.empty()) {
      os << state.task.name << ": rejected before building:";
      for (const auto &[constraint, number] : state.rejections)
        os << " " << number << " " << constraint;
      os << "\n";
      for (const auto &[constraint, number] : state.rejections)
        if (auto reason = state.reasons.find(constraint);
            reason != state.reasons.end() && !reason->second.empty())
          os << "  " << constraint << ": " << reason->second << "\n";
    }
  }
  for (const std::string &note : result.notes)
    os << "note: " << note << "\n";

  const CostOfSearch &cost = result.cost;
  int64_t rounds = 0, learned = 0, resumed = 0, trials = 0;
  int64_t compared = 0, overturned = 0;
  int64_t pairs = 0, rightPairs = 0, top = 0, rightTop = 0;
  for (const TaskState &state : result.tasks) {
    rounds += state.rounds;
    learned += state.learnedRounds;
    resumed += state.resumed;
    trials += state.trials;
    compared += state.compared;
    overturned += state.overturned;
    pairs += state.pairs;
    rightPairs += state.rightPairs;
    top += state.top;
    rightTop += state.rightTop;
  }
  if (compared > 0)
    os << "finals: " << compared << " candidates measured again; "
       << overturned << (overturned == 1 ? " task has" : " tasks have")
       << " another winner\n";
  os << "rounds: " << rounds << ", " << learned << " by the learned model; "
     << "trials: " << trials << ", " << resumed << " from the records; "
     << "candidates scored: " << cost.scored << "\n";
  if (pairs > 0 && top > 0)
    os << format("model, within the batches that it chose: %.2f of pairs in "
                 "the right order, %.2f of the fastest quarter in its first "
                 "quarter\n",
                 double(rightPairs) / pairs, double(rightTop) / top);
  os << format("time: %.1f s = extract %.1f + sketch %.1f + sample %.1f + "
               "score %.1f + train %.1f + measure %.1f (build %.1f, run %.1f, "
               "check %.1f) + rest\n",
               cost.total, cost.extract, cost.sketch, cost.sample, cost.score,
               cost.train, cost.measure, cost.build, cost.run, cost.check);
}
