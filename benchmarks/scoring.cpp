//===- scoring.cpp - How fast candidates are scored -------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scores random candidates of the tasks of a model as a search does, and says
// how many a second and where the time goes:
//
//   ansor-bench-scoring model.mlir --num-threads=2 --count=4000
//
// Each thread has a context of its own and its share of the candidates: sample
// legal decisions, set them in the script, clone the task, interpret the script
// on the clone, extract the loop nests, compute the features; at the end all
// are scored in batches. Prints a JSON object a task. Phases are thread CPU
// time, microseconds a candidate.
//
//===----------------------------------------------------------------------===//

#include "ansor/CostModel/CostModel.h"
#include "ansor/Feature/Feature.h"
#include "ansor/InitAll.h"
#include "ansor/Sketch/Sketch.h"
#include "ansor/Space/DesignSpace.h"
#include "ansor/Target/Target.h"
#include "ansor/Task/Task.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <thread>
#include <time.h>

using namespace mlir;
using namespace mlir::ansor;
namespace cl = llvm::cl;

static cl::opt<std::string> inputPath(cl::Positional, cl::Required,
                                      cl::desc("<model.mlir>"));
static cl::opt<unsigned> numThreads("num-threads", cl::init(1),
                                    cl::desc("threads, a context each"));
static cl::opt<unsigned>
    count("count", cl::init(2000),
          cl::desc("candidates a task, over its sketches"));
static cl::opt<uint64_t> seed("seed", cl::init(0), cl::desc("seed"));
static cl::opt<int> onlySketch("sketch", cl::init(-1),
                               cl::desc("only this sketch"));

namespace {

/// Names of the phases, in order.
enum Phase {
  Sample,
  Apply,
  Clone,
  Interpret,
  Extract,
  Features,
  Free,
  NumPhases
};
const char *const phaseNames[] = {"sample",  "apply",    "clone", "interpret",
                                  "extract", "features", "free"};

/// What one thread did.
struct Share {
  double seconds[NumPhases] = {};
  unsigned rejected = 0, failed = 0;
  std::string firstFailure;
  std::vector<FeatureMatrix> features;
};

/// CPU time of the calling thread, in seconds.
double threadTime() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

double wallTime() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Adds the CPU time since the last call to a phase.
class Stopwatch {
public:
  explicit Stopwatch(Share &share) : share(share), last(threadTime()) {}
  void lap(Phase phase) {
    double now = threadTime();
    share.seconds[phase] += now - last;
    last = now;
  }
  void restart() { last = threadTime(); }

private:
  Share &share;
  double last;
};

} // namespace

/// Scores candidates `begin`, `begin + numThreads`, … in a context of its own.
static void work(const DialectRegistry &registry, const Task &task,
                 ArrayRef<Sketch> sketches, unsigned begin, double &ready,
                 Share &share) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([](Diagnostic &) {});
  auto module = parseSourceString<ModuleOp>(task.module, &context);
  std::vector<OwningOpRef<ModuleOp>> scripts;
  std::vector<DesignSpace> spaces;
  for (const Sketch &sketch : sketches) {
    scripts.push_back(parseSourceString<ModuleOp>(sketch.script, &context));
    FailureOr<DesignSpace> space =
        scripts.back() ? DesignSpace::fromScript(*scripts.back())
                       : FailureOr<DesignSpace>();
    if (!module || failed(space)) {
      share.firstFailure = "a sketch doesn't parse";
      return;
    }
    spaces.push_back(std::move(*space));
  }
  ready = wallTime();
  llvm::StringMap<int64_t> rejections;
  for (unsigned i = begin; i < count; i += numThreads) {
    unsigned s = i % sketches.size();
    RandomGenerator rng(seed + i);
    Stopwatch watch(share);
    std::optional<Decisions> decisions =
        spaces[s].sampleLegal(rng, 100, rejections);
    watch.lap(Sample);
    if (!decisions) {
      ++share.rejected;
      continue;
    }
    bool applied =
        succeeded(applyDecisions(*scripts[s], spaces[s], *decisions));
    watch.lap(Apply);
    OwningOpRef<ModuleOp> payload(module->clone());
    watch.lap(Clone);
    std::string error;
    bool done =
        applied && succeeded(interpretScript(*payload, *scripts[s], error));
    watch.lap(Interpret);
    if (!done) {
      if (share.failed++ == 0)
        share.firstFailure = error;
      continue;
    }
    FailureOr<NestDesc> nests = extractNests(*payload);
    watch.lap(Extract);
    if (succeeded(nests))
      share.features.push_back(computeFeatures(*nests));
    watch.lap(Features);
    payload = {};
    watch.lap(Free);
  }
}

/// Trains on some of the programs, with made-up times, and scores them all.
/// Returns seconds of CPU.
static double predict(ArrayRef<FeatureMatrix> programs) {
  std::vector<TrainingSample> samples;
  for (const FeatureMatrix &program : programs.take_front(500)) {
    double sum = 1;
    for (float value : program.data)
      sum += value;
    samples.push_back({program, "task", sum});
  }
  std::unique_ptr<CostModel> model = createXGBoostModel();
  if (failed(model->update(samples))) {
    llvm::errs() << "training failed: " << model->getLastError() << "\n";
    return 0;
  }
  double start = threadTime();
  for (size_t i = 0; i < programs.size(); i += 512)
    model->predict(
        programs.slice(i, std::min<size_t>(512, programs.size() - i)));
  return threadTime() - start;
}

static LogicalResult benchmark(const DialectRegistry &registry,
                               const Task &task, ArrayRef<Sketch> sketches) {
  std::vector<Share> shares(numThreads);
  std::vector<double> ready(numThreads, 0);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < numThreads; ++t)
    threads.emplace_back(
        [&, t] { work(registry, task, sketches, t, ready[t], shares[t]); });
  for (std::thread &thread : threads)
    thread.join();
  double end = wallTime();
  double start = *std::min_element(ready.begin(), ready.end());

  std::vector<FeatureMatrix> features;
  double seconds[NumPhases] = {};
  unsigned rejected = 0, failed = 0;
  std::string firstFailure;
  for (Share &share : shares) {
    for (int p = 0; p < NumPhases; ++p)
      seconds[p] += share.seconds[p];
    rejected += share.rejected;
    failed += share.failed;
    if (firstFailure.empty())
      firstFailure = share.firstFailure;
    for (FeatureMatrix &matrix : share.features)
      features.push_back(std::move(matrix));
  }
  double predictSeconds = features.empty() ? 0 : predict(features);
  double wall = end - start + predictSeconds;
  llvm::json::OStream json(llvm::outs(), 2);
  json.object([&] {
    json.attribute("task", task.key);
    json.attribute("sketches", int64_t(sketches.size()));
    json.attribute("threads", int64_t(numThreads));
    json.attribute("scored", int64_t(features.size()));
    json.attribute("rejected", int64_t(rejected));
    json.attribute("failed", int64_t(failed));
    if (!firstFailure.empty())
      json.attribute("first_failure", firstFailure);
    json.attribute("candidates_per_second", features.size() / wall);
    double perCandidate = 1e6 / std::max<size_t>(features.size(), 1);
    double sum = predictSeconds;
    json.attributeObject("cpu_microseconds", [&] {
      for (int p = 0; p < NumPhases; ++p) {
        json.attribute(phaseNames[p], seconds[p] * perCandidate);
        sum += seconds[p];
      }
      json.attribute("predict", predictSeconds * perCandidate);
      json.attribute("sum", sum * perCandidate);
    });
  });
  llvm::outs() << "\n";
  return success(!features.empty());
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Scoring benchmark\n");
  if (numThreads == 0 || count == 0) {
    llvm::errs() << "--num-threads and --count must be at least 1\n";
    return 1;
  }
  DialectRegistry registry;
  registerUpstream(registry);
  ansor::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto module = parseSourceFile<ModuleOp>(inputPath, &context);
  if (!module)
    return 1;
  bool hasTasks = llvm::any_of(module->getOps<func::FuncOp>(), [](auto func) {
    return func->hasAttr("ansor.task");
  });
  if (!hasTasks && failed(extractTasks(*module)))
    return 1;
  TargetInfo target = getTarget(*module);
  bool ok = true;
  for (const Task &task : collectTasks(*module)) {
    auto func = module->lookupSymbol<func::FuncOp>(task.name);
    FailureOr<SmallVector<Sketch>> sketches = generateSketches(func, target);
    if (failed(sketches))
      return 1;
    ArrayRef<Sketch> chosen = *sketches;
    if (onlySketch >= 0 && size_t(onlySketch) < chosen.size())
      chosen = chosen.slice(onlySketch, 1);
    ok &= succeeded(benchmark(registry, task, chosen));
  }
  return ok ? 0 : 1;
}
