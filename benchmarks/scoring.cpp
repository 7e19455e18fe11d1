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
//   ansor-bench-scoring model.mlir --num-threads=2 --count=40000
//
// The sketches are learned first, in the time called "learn"; then each thread
// has its share of the candidates: sample legal decisions, describe the nests
// by arithmetic on them, compute the features, and score them in batches. A
// sketch that doesn't qualify (a fallback), and each one with --interpret, has
// its decisions set in the script, the script interpreted on a clone of the
// task, and the nests extracted. Prints a JSON object a task, and one of all.
// Phases are thread CPU time, microseconds a candidate.
//
//===----------------------------------------------------------------------===//

#include "ansor/CostModel/CostModel.h"
#include "ansor/Feature/SketchFeatures.h"
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
    count("count", cl::init(10000),
          cl::desc("candidates a task, over its sketches"));
static cl::opt<uint64_t> seed("seed", cl::init(0), cl::desc("seed"));
static cl::opt<bool> interpretAll("interpret",
                                  cl::desc("interpret every candidate"));
static cl::opt<int> onlySketch("sketch", cl::init(-1),
                               cl::desc("only this sketch"));

namespace {

/// Names of the phases, in order.
enum Phase {
  Sample,
  Instantiate,
  Apply,
  Clone,
  Interpret,
  Extract,
  Free,
  Features,
  Predict,
  NumPhases
};
const char *const phaseNames[] = {"sample",    "instantiate", "apply",
                                  "clone",     "interpret",   "extract",
                                  "free",      "features",    "predict"};
/// Programs that are scored at once.
constexpr size_t kBatch = 512;

/// What one thread did.
struct Share {
  double seconds[NumPhases] = {};
  unsigned scored = 0, interpreted = 0, rejected = 0, failed = 0;
  std::string firstFailure;
};

/// A context of its own for a thread, with the task and its sketches.
struct Workspace {
  explicit Workspace(const DialectRegistry &registry)
      : context(registry, MLIRContext::Threading::DISABLED) {
    context.getDiagEngine().registerHandler([](Diagnostic &) {});
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<OwningOpRef<ModuleOp>> scripts;
  std::vector<DesignSpace> spaces;
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

static std::unique_ptr<Workspace> parse(const DialectRegistry &registry,
                                        const Task &task,
                                        ArrayRef<Sketch> sketches) {
  auto result = std::make_unique<Workspace>(registry);
  result->module = parseSourceString<ModuleOp>(task.module, &result->context);
  for (const Sketch &sketch : sketches) {
    result->scripts.push_back(
        parseSourceString<ModuleOp>(sketch.script, &result->context));
    FailureOr<DesignSpace> space = failure();
    if (result->module && result->scripts.back())
      space = DesignSpace::fromScript(*result->scripts.back());
    if (failed(space))
      return nullptr;
    result->spaces.push_back(std::move(*space));
  }
  return result;
}

/// The nests of a candidate by interpretation.
static FailureOr<NestDesc> interpret(Workspace &space, unsigned sketch,
                                     const Decisions &decisions,
                                     Stopwatch &watch, std::string &error) {
  bool applied = succeeded(applyDecisions(*space.scripts[sketch],
                                          space.spaces[sketch], decisions));
  watch.lap(Apply);
  OwningOpRef<ModuleOp> payload(space.module->clone());
  watch.lap(Clone);
  bool done = applied &&
              succeeded(interpretScript(*payload, *space.scripts[sketch],
                                        error));
  watch.lap(Interpret);
  FailureOr<NestDesc> nests = failure();
  if (done)
    nests = extractNests(*payload);
  watch.lap(Extract);
  payload = {};
  watch.lap(Free);
  return nests;
}

/// Scores candidates `begin`, `begin + numThreads`, …
static void work(Workspace &space, ArrayRef<SketchFeatures> learned,
                 CostModel *model, unsigned begin, unsigned step,
                 unsigned count, Share &share,
                 std::vector<FeatureMatrix> *kept) {
  llvm::StringMap<int64_t> rejections;
  std::vector<FeatureMatrix> batch;
  Stopwatch watch(share);
  auto flush = [&] {
    share.scored += batch.size();
    watch.restart();
    if (model)
      model->predict(batch);
    watch.lap(Predict);
    if (kept)
      llvm::move(batch, std::back_inserter(*kept));
    batch.clear();
  };
  for (unsigned i = begin; i < count; i += step) {
    unsigned s = i % space.spaces.size();
    RandomGenerator rng(seed + i);
    watch.restart();
    std::optional<Decisions> decisions =
        space.spaces[s].sampleLegal(rng, 100, rejections);
    watch.lap(Sample);
    if (!decisions) {
      ++share.rejected;
      continue;
    }
    std::optional<NestDesc> nests;
    if (!learned.empty())
      nests = learned[s].instantiate(*decisions);
    watch.lap(Instantiate);
    if (!nests) {
      std::string error;
      ++share.interpreted;
      FailureOr<NestDesc> extracted =
          interpret(space, s, *decisions, watch, error);
      if (failed(extracted)) {
        if (share.failed++ == 0)
          share.firstFailure = error;
        continue;
      }
      nests = std::move(*extracted);
    }
    batch.push_back(computeFeatures(*nests));
    watch.lap(Features);
    if (batch.size() == kBatch)
      flush();
  }
  flush();
}

/// A model of some of the candidates, with made-up times.
static std::unique_ptr<CostModel> train(ArrayRef<FeatureMatrix> programs) {
  std::vector<TrainingSample> samples;
  for (const FeatureMatrix &program : programs) {
    double sum = 1;
    for (float value : program.data)
      sum += value;
    samples.push_back({program, "task", sum});
  }
  std::unique_ptr<CostModel> model = createXGBoostModel();
  if (failed(model->update(samples)))
    llvm::errs() << "training failed: " << model->getLastError() << "\n";
  return model;
}

namespace {
/// Sums over the tasks.
struct Totals {
  unsigned sketches = 0, fallbacks = 0, scored = 0;
  double learn = 0, wall = 0;
};
} // namespace

static LogicalResult benchmark(const DialectRegistry &registry,
                               const Task &task, ArrayRef<Sketch> sketches,
                               Totals &totals) {
  std::vector<std::unique_ptr<Workspace>> spaces;
  for (unsigned t = 0; t < numThreads; ++t) {
    spaces.push_back(parse(registry, task, sketches));
    if (!spaces.back())
      return emitError(UnknownLoc::get(&spaces.front()->context),
                       "a sketch doesn't parse");
  }
  auto onThreads = [&](function_ref<void(unsigned)> fn) {
    double start = wallTime();
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < numThreads; ++t)
      threads.emplace_back([&, t] { fn(t); });
    for (std::thread &thread : threads)
      thread.join();
    return wallTime() - start;
  };

  std::vector<SketchFeatures> learned;
  double learnSeconds = 0;
  if (!interpretAll) {
    learned.resize(sketches.size());
    learnSeconds = onThreads([&](unsigned t) {
      for (size_t s = t; s < sketches.size(); s += numThreads)
        learned[s] =
            SketchFeatures::learn(*spaces[t]->module, *spaces[t]->scripts[s],
                                  spaces[t]->spaces[s]);
    });
  }
  Share ignored;
  std::vector<FeatureMatrix> some;
  work(*spaces[0], learned, nullptr, 0, 1, std::min<unsigned>(count, 500),
       ignored, &some);
  std::unique_ptr<CostModel> model = train(some);

  std::vector<Share> shares(numThreads);
  double wall = onThreads([&](unsigned t) {
    work(*spaces[t], learned, model.get(), t, numThreads, count, shares[t],
         nullptr);
  });

  Share sum;
  for (const Share &share : shares) {
    for (int p = 0; p < NumPhases; ++p)
      sum.seconds[p] += share.seconds[p];
    sum.scored += share.scored;
    sum.interpreted += share.interpreted;
    sum.rejected += share.rejected;
    sum.failed += share.failed;
    if (sum.firstFailure.empty())
      sum.firstFailure = share.firstFailure;
  }
  std::string firstReason;
  int64_t fallbacks = 0, probes = 0;
  for (const SketchFeatures &sketch : learned) {
    fallbacks += !sketch.qualifies();
    probes += sketch.getNumProbes();
    if (firstReason.empty())
      firstReason = sketch.getReason();
  }
  llvm::json::OStream json(llvm::outs(), 2);
  json.object([&] {
    json.attribute("task", task.key);
    json.attribute("sketches", int64_t(sketches.size()));
    json.attribute("fallbacks", fallbacks);
    if (!firstReason.empty())
      json.attribute("first_reason", firstReason);
    json.attribute("probes", probes);
    json.attribute("learn_seconds", learnSeconds);
    json.attribute("threads", int64_t(numThreads));
    json.attribute("scored", int64_t(sum.scored));
    json.attribute("interpreted", int64_t(sum.interpreted));
    json.attribute("rejected", int64_t(sum.rejected));
    json.attribute("failed", int64_t(sum.failed));
    if (!sum.firstFailure.empty())
      json.attribute("first_failure", sum.firstFailure);
    json.attribute("candidates_per_second", sum.scored / wall);
    double perCandidate = 1e6 / std::max(sum.scored, 1u), total = 0;
    json.attributeObject("cpu_microseconds", [&] {
      for (int p = 0; p < NumPhases; ++p) {
        json.attribute(phaseNames[p], sum.seconds[p] * perCandidate);
        total += sum.seconds[p];
      }
      json.attribute("sum", total * perCandidate);
    });
  });
  llvm::outs() << "\n";
  totals.sketches += sketches.size();
  totals.fallbacks += fallbacks;
  totals.scored += sum.scored;
  totals.learn += learnSeconds;
  totals.wall += wall;
  return success(sum.scored > 0);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Scoring benchmark\n");
  if (numThreads == 0 || numThreads > 1024 || count == 0) {
    llvm::errs() << "--num-threads must be from 1 to 1024, --count at least "
                    "1\n";
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
  Totals totals;
  for (const Task &task : collectTasks(*module)) {
    auto func = module->lookupSymbol<func::FuncOp>(task.name);
    FailureOr<SmallVector<Sketch>> sketches = generateSketches(func, target);
    if (failed(sketches))
      return 1;
    ArrayRef<Sketch> chosen = *sketches;
    if (onlySketch >= 0 && size_t(onlySketch) < chosen.size())
      chosen = chosen.slice(onlySketch, 1);
    ok &= succeeded(benchmark(registry, task, chosen, totals));
  }
  llvm::outs() << llvm::json::Object{
                      {"sketches", int64_t(totals.sketches)},
                      {"fallbacks", int64_t(totals.fallbacks)},
                      {"fallback_share", double(totals.fallbacks) /
                                             std::max(totals.sketches, 1u)},
                      {"learn_seconds", totals.learn},
                      {"candidates_per_second",
                       totals.scored / std::max(totals.wall, 1e-9)}}
               << "\n";
  return ok ? 0 : 1;
}
