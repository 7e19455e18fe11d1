//===- model.cpp - Data set and quality of the cost model -------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes a data set of the records that dataset/collect.py keeps, evaluates the
// cost model on it, and trains the one that is installed:
//
//   ansor-bench-model pack DIR/*.jsonl --out=SHARD.jsonl
//   ansor-bench-model measure SHARD.jsonl ... --out=SHARD.jsonl [--seconds=80]
//   ansor-bench-model evaluate SHARD.jsonl ... [--target-bits=512] [--ablate]
//   ansor-bench-model train SHARD.jsonl ... --out=MODEL [--leave-out=GMM]
//
// A shard is JSON lines: each task's IR, each sketch's script, and a line a
// measured program with its decisions and time, so that rows are computed anew
// for any version of the features. Records must be packed by the build that
// made them, as sketches are known by a hash.
//
// `measure` times the programs of shards again, those of a task in turn and
// twice, and writes a shard with the new times. It goes on where it ended.
//
// `rows` writes each program's task, operator, vector bits, seconds, number of
// rows and the rows, a line each, for experiments elsewhere.
//
// `evaluate` predicts each program by a model that did not see it: five folds
// of each task's programs, then each operator by a model of all the others. It
// prints a JSON object a setting: root mean square error and R² of the
// normalised throughput, and, averaged over the tasks, the share of pairs that
// are ordered right, the share of the 30 (10) fastest among the 30 (10) best
// predicted, and the speed of the best predicted program relative to the
// fastest (top1). Tasks with fewer programs than twice the recall's number are
// left out of it.
//
//===----------------------------------------------------------------------===//

#include "ansor/CostModel/CostModel.h"
#include "ansor/InitAll.h"
#include "ansor/Measure/Measure.h"
#include "ansor/Record/Record.h"
#include "ansor/Sketch/Sketch.h"
#include "ansor/Space/DesignSpace.h"
#include "ansor/Support/Hash.h"
#include "ansor/Support/Stopwatch.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <numeric>
#include <set>

using namespace mlir;
using namespace mlir::ansor;
namespace cl = llvm::cl;
namespace json = llvm::json;

namespace {
/// A measured program with its rows.
struct Program {
  std::string task, op;
  int64_t bits = 0; ///< of a vector register of its target
  TrainingSample sample;
};
} // namespace

static int fail(const Twine &message) {
  llvm::errs() << "ansor-bench-model: " << message << "\n";
  return 1;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// "GMM" of "DIR/host@GMM-512-512.jsonl".
static std::string operatorOf(StringRef path) {
  return llvm::sys::path::filename(path).split('@').second.split('-').first.str();
}

static int pack(ArrayRef<std::string> paths, StringRef out,
                MLIRContext &context) {
  std::error_code code;
  llvm::raw_fd_ostream os(out, code);
  if (code)
    return fail("can't write '" + out + "': " + code.message());
  size_t numPrograms = 0, numLost = 0;
  for (StringRef path : paths) {
    std::string error;
    FailureOr<RecordLog> log = loadRecords(path, error);
    if (failed(log))
      return fail(error);
    for (const RecordLog::TaskLine &line : log->tasks) {
      // One task may come from two files: a key each.
      std::string key = (llvm::sys::path::stem(path) + ":" + line.task.key).str();
      auto module = parseSourceString<ModuleOp>(line.task.module, &context);
      func::FuncOp func;
      if (module)
        for (auto candidate : module->getOps<func::FuncOp>())
          if (candidate->hasAttr("ansor.task"))
            func = candidate;
      FailureOr<SmallVector<Sketch>> sketches = failure();
      if (func)
        sketches = generateSketches(func, line.target);
      if (failed(sketches))
        return fail("no sketches for a task of '" + path + "'");
      os << json::Object{{"kind", "task"},
                         {"key", key},
                         {"operator", operatorOf(path)},
                         {"bits", line.target.vectorBits},
                         {"ir", line.task.module}}
         << "\n";
      std::set<std::string> known, used;
      for (const Sketch &sketch : *sketches)
        known.insert(hashText(sketch.script));
      for (const TrialRecord &trial : log->trials) {
        if (trial.taskKey != line.task.key || trial.isReference() ||
            trial.error == ErrorKind::Device)
          continue;
        if (!known.count(trial.sketchHash)) {
          ++numLost;
          continue;
        }
        used.insert(trial.sketchHash);
      }
      for (const Sketch &sketch : *sketches) {
        std::string hash =
            hashText(sketch.script);
        if (used.count(hash))
          os << json::Object{{"kind", "sketch"}, {"hash", hash},
                             {"script", sketch.script}}
             << "\n";
      }
      for (const TrialRecord &trial : log->trials)
        if (trial.taskKey == line.task.key && used.count(trial.sketchHash)) {
          json::Object object{{"kind", "program"},
                              {"sketch", trial.sketchHash},
                              {"decisions", trial.decisions}};
          if (std::isfinite(trial.median))
            object["seconds"] = trial.median;
          os << std::move(object) << "\n";
          ++numPrograms;
        }
    }
  }
  llvm::outs() << json::Object{{"programs", int64_t(numPrograms)},
                               {"of_other_sketches", int64_t(numLost)}}
               << "\n";
  return 0;
}

//===----------------------------------------------------------------------===//
// Measuring again
//===----------------------------------------------------------------------===//

namespace {
/// The lines of a task in a shard.
struct TaskLines {
  std::string task;
  std::vector<std::string> sketches, programs;
};
} // namespace

/// Calls `visit` with each line of the shard at `path`, its text and its object.
static LogicalResult
forEachLine(StringRef path, std::string &error,
            llvm::function_ref<void(StringRef, const json::Object &)> visit) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    error = ("can't read '" + path + "': " + buffer.getError().message()).str();
    return failure();
  }
  for (llvm::line_iterator line(**buffer); !line.is_at_end(); ++line) {
    llvm::Expected<json::Value> value = json::parse(*line);
    json::Object *object = value ? value->getAsObject() : nullptr;
    if (!object) {
      llvm::consumeError(value.takeError());
      error = (path + ":" + Twine(line.line_number()) + ": no JSON object").str();
      return failure();
    }
    visit(*line, *object);
  }
  return success();
}

static LogicalResult readLines(StringRef path, int64_t bits,
                               std::vector<TaskLines> &tasks,
                               std::string &error) {
  bool wanted = false;
  return forEachLine(path, error, [&](StringRef line,
                                      const json::Object &object) {
    StringRef kind = object.getString("kind").value_or("");
    if (kind == "task") {
      wanted = !bits || object.getInteger("bits").value_or(0) == bits;
      if (wanted)
        tasks.emplace_back().task = line.str();
    } else if (wanted && !tasks.empty()) {
      (kind == "sketch" ? tasks.back().sketches : tasks.back().programs)
          .push_back(line.str());
    }
  });
}

/// Times the programs of `lines` and sets their seconds.
static LogicalResult measureAgain(TaskLines &lines, Measurer &measurer,
                                  MLIRContext &context, std::string &error) {
  json::Object task = *json::parse(lines.task)->getAsObject();
  std::string module = task.getString("ir").value_or("").str();
  llvm::StringMap<OwningOpRef<ModuleOp>> scripts;
  for (const std::string &line : lines.sketches) {
    json::Object sketch = *json::parse(line)->getAsObject();
    scripts[sketch.getString("hash").value_or("")] =
        parseSourceString<ModuleOp>(sketch.getString("script").value_or(""),
                                    &context);
  }
  std::vector<MeasureInput> inputs;
  std::vector<json::Object> programs;
  for (const std::string &line : lines.programs) {
    json::Object program = *json::parse(line)->getAsObject();
    StringRef hash = program.getString("sketch").value_or("");
    auto it = scripts.find(hash);
    const json::Value *values = program.get("decisions");
    if (it == scripts.end() || !it->second || !values)
      continue;
    FailureOr<DesignSpace> space = DesignSpace::fromScript(*it->second);
    FailureOr<Decisions> decisions = failure();
    if (succeeded(space))
      decisions = space->fromJSON(*values, error);
    if (failed(decisions) ||
        failed(applyDecisions(*it->second, *space, *decisions)))
      continue;
    MeasureInput input{task.getString("key").value_or("").str(), module, "",
                       std::to_string(programs.size())};
    llvm::raw_string_ostream(input.script) << **it->second;
    inputs.push_back(std::move(input));
    programs.push_back(std::move(program));
  }
  lines.programs.clear();
  std::vector<MeasureResult> results = measurer.compare(inputs, /*passes=*/2);
  for (auto [program, result] : llvm::zip_equal(programs, results)) {
    if (result.error == ErrorKind::Device) {
      error = result.message;
      return failure();
    }
    // The faster pass: what else the machine does only slows a program.
    program.erase("seconds");
    if (result.error == ErrorKind::None)
      program["seconds"] = *llvm::min_element(result.seconds);
    std::string &line = lines.programs.emplace_back();
    llvm::raw_string_ostream(line) << json::Value(std::move(program));
  }
  return success();
}

static int measureShards(ArrayRef<std::string> paths, StringRef out,
                         int64_t bits, double seconds, MLIRContext &context) {
  std::vector<TaskLines> tasks, done;
  std::string error;
  for (StringRef path : paths)
    if (failed(readLines(path, bits, tasks, error)))
      return fail(error);
  if (llvm::sys::fs::exists(out) && failed(readLines(out, 0, done, error)))
    return fail(error);
  std::error_code code;
  llvm::raw_fd_ostream os(out, code, llvm::sys::fs::OF_Append);
  if (code)
    return fail("can't write '" + out + "': " + code.message());
  MeasureOptions options;
  options.repeats = 3;
  options.minRepeatSeconds = 0.003;
  options.check = false; // they were right when they were recorded
  std::unique_ptr<Measurer> measurer;
  int64_t measuredBits = 0;
  Stopwatch watch;
  for (size_t i = done.size(); i < tasks.size(); ++i) {
    if (watch.seconds() > seconds)
      break;
    int64_t taskBits = *json::parse(tasks[i].task)->getAsObject()->getInteger("bits");
    if (!measurer || taskBits != measuredBits) {
      FailureOr<TargetInfo> target =
          lookupTarget(taskBits == 256 ? "x86-64-v3" : "host",
                       UnknownLoc::get(&context));
      if (failed(target))
        return 1;
      options.target = *target;
      FailureOr<std::unique_ptr<Measurer>> made =
          createLocalMeasurer(options, error);
      if (failed(made))
        return fail(error);
      measurer = std::move(*made);
      measuredBits = taskBits;
    }
    if (failed(measureAgain(tasks[i], *measurer, context, error)))
      return fail(error);
    std::string text = tasks[i].task + "\n";
    for (const std::string &line : tasks[i].sketches)
      text += line + "\n";
    for (const std::string &line : tasks[i].programs)
      text += line + "\n";
    os << text; // whole tasks only
    os.flush();
    done.emplace_back();
  }
  llvm::outs() << json::Object{{"measured", int64_t(done.size())},
                               {"tasks", int64_t(tasks.size())}}
               << "\n";
  return 0;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Adds the programs of a shard, interpreted.
static LogicalResult read(StringRef path, MLIRContext &context,
                          std::vector<Program> &programs, std::string &error) {
  struct Opened {
    OwningOpRef<ModuleOp> script;
    DesignSpace space;
  };
  llvm::StringMap<Opened> sketches;
  OwningOpRef<ModuleOp> task;
  std::string key, op;
  int64_t bits = 0;
  auto visit = [&](StringRef, const json::Object &object) {
    StringRef kind = object.getString("kind").value_or("");
    if (kind == "task") {
      key = object.getString("key").value_or("").str();
      op = object.getString("operator").value_or("").str();
      bits = object.getInteger("bits").value_or(0);
      task = parseSourceString<ModuleOp>(
          object.getString("ir").value_or(""), &context);
      sketches.clear();
    } else if (kind == "sketch") {
      Opened &opened = sketches[object.getString("hash").value_or("")];
      opened.script = parseSourceString<ModuleOp>(
          object.getString("script").value_or(""), &context);
      FailureOr<DesignSpace> space = failure();
      if (opened.script)
        space = DesignSpace::fromScript(*opened.script);
      if (succeeded(space))
        opened.space = *space;
      else
        opened.script = {};
    } else if (kind == "program") {
      auto it = sketches.find(object.getString("sketch").value_or(""));
      const json::Value *json = object.get("decisions");
      if (!task || it == sketches.end() || !it->second.script || !json)
        return;
      Opened &opened = it->second;
      FailureOr<Decisions> decisions = opened.space.fromJSON(*json, error);
      if (failed(decisions) ||
          failed(applyDecisions(*opened.script, opened.space, *decisions)))
        return;
      OwningOpRef<ModuleOp> payload(task->clone());
      if (failed(interpretScript(*payload, *opened.script, error)))
        return;
      FailureOr<NestDesc> nests = extractNests(*payload);
      if (failed(nests))
        return;
      double seconds = object.getNumber("seconds")
                           .value_or(std::numeric_limits<double>::infinity());
      programs.push_back({key, op, bits, {computeFeatures(*nests), key, seconds}});
    }
  };
  if (failed(forEachLine(path, error, visit)))
    return failure();
  error.clear(); // of programs that are left out
  return success();
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

namespace {
/// A range of columns that an ablation clears.
struct Group {
  const char *name;
  unsigned begin, end;
};
} // namespace

static const Group kGroups[] = {{"none", 0, 0},         {"arithmetic", 0, 16},
                                {"annotations", 16, 49}, {"buffers", 57, 147},
                                {"intensity", 147, 157}, {"allocation", 157, 161},
                                {"nest", 161, 164}};

static FeatureMatrix clear(const FeatureMatrix &matrix, const Group &group) {
  FeatureMatrix result = matrix;
  for (size_t row = 0; row < result.rows(); ++row)
    std::fill_n(result.data.begin() + row * kNumFeatures + group.begin,
                group.end - group.begin, 0.0f);
  return result;
}

/// Predicts `test` (indices) by a model of `train`.
static void predict(ArrayRef<Program> programs, ArrayRef<size_t> train,
                    ArrayRef<size_t> test, const Group &group,
                    const XGBoostOptions &options,
                    std::vector<double> &predictions) {
  std::vector<TrainingSample> samples;
  for (size_t i : train) {
    samples.push_back(programs[i].sample);
    samples.back().features = clear(programs[i].sample.features, group);
  }
  std::unique_ptr<CostModel> model = createXGBoostModel(options);
  if (failed(model->update(samples)))
    llvm::errs() << model->getLastError() << "\n";
  std::vector<FeatureMatrix> features;
  for (size_t i : test)
    features.push_back(clear(programs[i].sample.features, group));
  for (auto [i, score] : llvm::zip_equal(test, model->predict(features)))
    predictions[i] = score;
}

/// The measures of the top of this file, over the programs of `include`.
static json::Object measure(ArrayRef<Program> programs,
                            ArrayRef<double> predictions,
                            function_ref<bool(const Program &)> include) {
  llvm::MapVector<StringRef, std::vector<size_t>> byTask;
  for (auto [i, program] : llvm::enumerate(programs))
    if (include(program))
      byTask[program.task].push_back(i);
  double squares = 0, sum = 0, sumSquares = 0;
  size_t count = 0, tasks = 0;
  double pairs = 0, top1 = 0, recall[2] = {0, 0};
  size_t withRecall[2] = {0, 0};
  const size_t wanted[2] = {30, 10};
  for (const auto &entry : byTask) {
    const std::vector<size_t> &members = entry.second;
    double best = std::numeric_limits<double>::infinity();
    for (size_t i : members)
      best = std::min(best, programs[i].sample.seconds);
    if (!std::isfinite(best) || members.size() < 4)
      continue;
    ++tasks;
    std::vector<double> y;
    for (size_t i : members)
      y.push_back(best / programs[i].sample.seconds);
    double right = 0, all = 0;
    for (size_t a = 0; a < members.size(); ++a) {
      double error = predictions[members[a]] - y[a];
      squares += error * error;
      sum += y[a];
      sumSquares += y[a] * y[a];
      ++count;
      for (size_t b = 0; b < a; ++b) {
        if (y[a] == y[b])
          continue;
        ++all;
        double difference = predictions[members[a]] - predictions[members[b]];
        right += difference == 0 ? 0.5 : (difference > 0) == (y[a] > y[b]);
      }
    }
    pairs += all > 0 ? right / all : 1;
    std::vector<size_t> byTruth(members.size()), byScore;
    std::iota(byTruth.begin(), byTruth.end(), 0);
    byScore = byTruth;
    llvm::sort(byTruth, [&](size_t a, size_t b) {
      return std::make_pair(-y[a], a) < std::make_pair(-y[b], b);
    });
    llvm::sort(byScore, [&](size_t a, size_t b) {
      return std::make_pair(-predictions[members[a]], a) <
             std::make_pair(-predictions[members[b]], b);
    });
    top1 += y[byScore.front()];
    for (int k = 0; k < 2; ++k) {
      if (members.size() < 2 * wanted[k])
        continue;
      std::set<size_t> fastest(byTruth.begin(), byTruth.begin() + wanted[k]);
      size_t hits = llvm::count_if(
          ArrayRef(byScore).take_front(wanted[k]),
          [&](size_t i) { return fastest.count(i) != 0; });
      recall[k] += double(hits) / wanted[k];
      ++withRecall[k];
    }
  }
  double n = std::max<size_t>(count, 1), t = std::max<size_t>(tasks, 1);
  json::Object result{
      {"tasks", int64_t(tasks)},
      {"programs", int64_t(count)},
      {"rmse", std::sqrt(squares / n)},
      {"r2", 1 - squares / std::max(sumSquares - sum * sum / n, 1e-12)},
      {"pairwise", pairs / t},
      {"top1", top1 / t}};
  if (withRecall[0])
    result["recall30"] = recall[0] / withRecall[0];
  if (withRecall[1])
    result["recall10"] = recall[1] / withRecall[1];
  return result;
}

static void evaluate(ArrayRef<Program> programs, const XGBoostOptions &options,
                     bool ablate) {
  auto all = [](const Program &) { return true; };
  std::vector<double> predictions(programs.size());
  std::set<std::string> operators;
  for (const Program &program : programs)
    operators.insert(program.op);
  for (const Group &group : kGroups) {
    if (!ablate && group.begin != group.end)
      continue;
    // The folds follow a hash of the features: the same for any order.
    constexpr unsigned kFolds = 5;
    std::vector<unsigned> fold;
    for (const Program &program : programs)
      fold.push_back(llvm::xxh3_64bits(hashFeatures(program.sample.features)) %
                     kFolds);
    auto split = [&](function_ref<bool(size_t)> isTest) {
      std::vector<size_t> train, test;
      for (size_t i = 0; i < programs.size(); ++i)
        (isTest(i) ? test : train).push_back(i);
      predict(programs, train, test, group, options, predictions);
    };
    for (unsigned f = 0; f < kFolds; ++f)
      split([&](size_t i) { return fold[i] == f; });
    json::Object folds = measure(programs, predictions, all);
    folds["setting"] = "seen operators";
    folds["without"] = group.name;
    llvm::outs() << std::move(folds) << "\n";

    for (const std::string &op : operators)
      split([&](size_t i) { return programs[i].op == op; });
    json::Object unseen = measure(programs, predictions, all);
    unseen["setting"] = "unseen operators";
    unseen["without"] = group.name;
    llvm::outs() << std::move(unseen) << "\n";
    if (group.begin == group.end)
      for (const std::string &op : operators) {
        json::Object one = measure(
            programs, predictions,
            [&](const Program &program) { return program.op == op; });
        one["setting"] = "unseen operator";
        one["operator"] = op;
        llvm::outs() << std::move(one) << "\n";
      }
    llvm::outs().flush();
  }
}

static int writeRows(ArrayRef<Program> programs, StringRef out) {
  std::error_code code;
  llvm::raw_fd_ostream os(out, code);
  if (code)
    return fail("can't write '" + out + "': " + code.message());
  for (const Program &program : programs) {
    const TrainingSample &sample = program.sample;
    os << program.task << " " << program.op << " " << program.bits << " "
       << sample.seconds << " " << sample.features.rows();
    for (float value : sample.features.data)
      os << " " << llvm::format("%.6g", value);
    os << "\n";
  }
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ResetCommandLineParser();
  cl::opt<std::string> command(cl::Positional, cl::Required,
                               cl::desc("pack|measure|evaluate|train|rows"));
  cl::list<std::string> paths(cl::Positional, cl::OneOrMore, cl::desc("<files>"));
  cl::opt<std::string> out("out", cl::desc("file to write"));
  cl::opt<int64_t> bits("target-bits", cl::init(0),
                        cl::desc("only programs for vectors of this width"));
  cl::opt<std::string> leaveOut("leave-out",
                                cl::desc("operator that is not trained on"));
  cl::opt<double> seconds("seconds", cl::init(80),
                          cl::desc("`measure` ends after so long"));
  XGBoostOptions options;
  cl::opt<int> rounds("rounds", cl::init(options.rounds), cl::desc("trees"));
  cl::opt<int> depth("depth", cl::init(options.maxDepth), cl::desc("depth"));
  cl::opt<double> gamma("gamma", cl::init(options.gamma), cl::desc("gamma"));
  cl::opt<double> eta("eta", cl::init(options.eta), cl::desc("step size"));
  cl::opt<double> minWeight("min-weight", cl::init(options.minWeight),
                            cl::desc("least weight of a sample"));
  cl::opt<double> share("feature-share", cl::init(options.featureShare),
                        cl::desc("share of the features that a split looks at"));
  cl::opt<double> squared("squared-weight", cl::init(options.squaredWeight),
                          cl::desc("weight of the squared error"));
  cl::opt<double> pair("pair-weight", cl::init(options.pairWeight),
                       cl::desc("weight of the order of pairs"));
  cl::opt<bool> ablate("ablate", cl::desc("evaluate also without each group of "
                                          "features"));
  cl::ParseCommandLineOptions(argc, argv, "Data set of the cost model\n");
  options.rounds = rounds;
  options.maxDepth = depth;
  options.gamma = gamma;
  options.eta = eta;
  options.minWeight = minWeight;
  options.featureShare = share;
  options.squaredWeight = squared;
  options.pairWeight = pair;

  DialectRegistry registry;
  registerUpstream(registry);
  ansor::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  if (command == "pack")
    return out.empty() ? fail("--out is missing") : pack(paths, out, context);
  if (command == "measure")
    return out.empty() ? fail("--out is missing")
                       : measureShards(paths, out, bits, seconds, context);
  if (command != "evaluate" && command != "train" && command != "rows")
    return fail("the command must be pack, measure, evaluate, train or rows");
  std::vector<Program> programs;
  std::string error;
  for (const std::string &path : paths)
    if (failed(read(path, context, programs, error)))
      return fail(error);
  llvm::erase_if(programs, [&](const Program &program) {
    return (bits && program.bits != bits) ||
           (!leaveOut.empty() && program.op == leaveOut);
  });
  if (programs.empty())
    return fail("no programs");
  if (command == "evaluate") {
    evaluate(programs, options, ablate);
    return 0;
  }
  if (command == "rows")
    return out.empty() ? fail("--out is missing") : writeRows(programs, out);
  std::vector<TrainingSample> samples;
  for (Program &program : programs)
    samples.push_back(std::move(program.sample));
  std::unique_ptr<CostModel> model = createXGBoostModel(options);
  if (failed(model->update(samples)))
    return fail(model->getLastError());
  if (failed(model->save(out, error)))
    return fail(error);
  llvm::outs() << json::Object{{"programs", int64_t(samples.size())}} << "\n";
  return 0;
}
