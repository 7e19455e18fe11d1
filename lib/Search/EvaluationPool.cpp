//===- EvaluationPool.cpp - Scoring on worker threads -----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluationPool.h"
#include "ansor/Feature/SketchFeatures.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <thread>

using namespace mlir;
using namespace mlir::ansor;

/// Candidates of a sketch that are interpreted before it is learned, which
/// costs about as many interpretations.
static constexpr unsigned kLearnAfter = 96;

struct EvaluationPool::Program {
  std::string module;
  std::vector<std::string> scripts;
  std::vector<DesignSpace> spaces;
  int64_t cacheLine;

  struct Sketch {
    unsigned asked = 0; ///< candidates, until it is learned
    std::optional<SketchFeatures> features;
    bool differs = false; ///< it was learned wrong
  };
  std::vector<Sketch> sketches;

  /// What a candidate is like by arithmetic; nullopt if it must be interpreted.
  std::optional<FeatureMatrix> instantiate(const Candidate &candidate) const {
    const Sketch &sketch = sketches[candidate.sketch];
    if (!sketch.features || sketch.differs)
      return std::nullopt;
    std::optional<NestDesc> nests =
        sketch.features->instantiate(candidate.decisions);
    if (!nests)
      return std::nullopt;
    return computeFeatures(*nests, cacheLine);
  }
};

struct EvaluationPool::Worker {
  explicit Worker(const DialectRegistry &registry)
      : context(registry, MLIRContext::Threading::DISABLED) {
    // Stands under the handlers of single steps: nothing reaches the terminal.
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      if (message.empty() &&
          diagnostic.getSeverity() == DiagnosticSeverity::Error)
        message = diagnostic.str();
      return success();
    });
  }

  /// A task, parsed in this worker's context; scripts as they are needed.
  struct Parsed {
    OwningOpRef<ModuleOp> module;
    std::vector<OwningOpRef<ModuleOp>> scripts;
  };

  /// The script of a sketch, or null.
  ModuleOp parse(unsigned number, const Program &program, unsigned sketch);
  /// The script of `candidate`, decided in place, or null with `error` set.
  ModuleOp decide(unsigned number, const Program &program,
                  const Candidate &candidate, std::string &error);
  Evaluation evaluate(unsigned number, const Program &program,
                      const Candidate &candidate);

  MLIRContext context;
  std::string message; ///< first error since it was cleared
  std::vector<Parsed> parsed;
};

ModuleOp EvaluationPool::Worker::parse(unsigned number, const Program &program,
                                       unsigned sketch) {
  if (parsed.size() <= number)
    parsed.resize(number + 1);
  Parsed &task = parsed[number];
  if (!task.module) {
    task.module = parseSourceString<ModuleOp>(program.module, &context);
    task.scripts.resize(program.scripts.size());
  }
  OwningOpRef<ModuleOp> &script = task.scripts[sketch];
  if (task.module && !script)
    script = parseSourceString<ModuleOp>(program.scripts[sketch], &context);
  return script.get();
}

ModuleOp EvaluationPool::Worker::decide(unsigned number, const Program &program,
                                        const Candidate &candidate,
                                        std::string &error) {
  message.clear();
  ModuleOp script = parse(number, program, candidate.sketch);
  if (script && succeeded(applyDecisions(
                    script, program.spaces[candidate.sketch],
                    candidate.decisions)))
    return script;
  error = message;
  return nullptr;
}

Evaluation EvaluationPool::Worker::evaluate(unsigned number,
                                            const Program &program,
                                            const Candidate &candidate) {
  Evaluation evaluation;
  ModuleOp script = decide(number, program, candidate, evaluation.error);
  if (!script)
    return evaluation;
  OwningOpRef<ModuleOp> payload(parsed[number].module->clone());
  if (failed(interpretScript(*payload, script, evaluation.error)))
    return evaluation;
  evaluation.valid = true;
  FailureOr<NestDesc> nests = extractNests(*payload);
  if (succeeded(nests))
    evaluation.features = computeFeatures(*nests, program.cacheLine);
  return evaluation;
}

EvaluationPool::EvaluationPool(const DialectRegistry &registry,
                               unsigned threads) {
  // A context each: more of them than cores only take memory.
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  threads = threads == 0 ? cores : std::min(threads, cores);
  for (unsigned i = 0; i < threads; ++i)
    workers.push_back(std::make_unique<Worker>(registry));
}

EvaluationPool::~EvaluationPool() = default;

unsigned EvaluationPool::add(std::string module,
                             std::vector<std::string> scripts,
                             std::vector<DesignSpace> spaces,
                             int64_t cacheLine) {
  size_t numSketches = scripts.size();
  programs.push_back(std::make_unique<Program>(
      Program{std::move(module), std::move(scripts), std::move(spaces),
              cacheLine, std::vector<Program::Sketch>(numSketches)}));
  return programs.size() - 1;
}

void EvaluationPool::forEach(size_t count,
                             function_ref<void(Worker &, size_t)> fn) {
  std::atomic<size_t> next{0};
  auto work = [&](Worker &worker) {
    for (size_t i; (i = next.fetch_add(1)) < count;)
      fn(worker, i);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(workers.size(), count); ++i)
    threads.emplace_back(work, std::ref(*workers[i]));
  work(*workers[0]);
  for (std::thread &thread : threads)
    thread.join();
}

void EvaluationPool::learn(unsigned number, ArrayRef<Candidate> candidates) {
  Program &program = *programs[number];
  SmallVector<unsigned> wanted;
  for (const Candidate &candidate : candidates) {
    Program::Sketch &sketch = program.sketches[candidate.sketch];
    if (!sketch.features && ++sketch.asked == kLearnAfter)
      wanted.push_back(candidate.sketch);
  }
  numLearned += wanted.size();
  forEach(wanted.size(), [&](Worker &worker, size_t i) {
    if (ModuleOp script = worker.parse(number, program, wanted[i]))
      program.sketches[wanted[i]].features =
          SketchFeatures::learn(*worker.parsed[number].module, script,
                                program.spaces[wanted[i]]);
  });
}

unsigned EvaluationPool::getNumFallbacks() const {
  unsigned count = 0;
  for (const auto &program : programs)
    for (const Program::Sketch &sketch : program->sketches)
      count += sketch.features &&
               (sketch.differs || !sketch.features->qualifies());
  return count;
}

std::vector<Evaluation>
EvaluationPool::evaluate(unsigned number, ArrayRef<Candidate> candidates) {
  learn(number, candidates);
  std::vector<Evaluation> results(candidates.size());
  const Program &program = *programs[number];
  forEach(candidates.size(), [&](Worker &worker, size_t i) {
    if (auto features = program.instantiate(candidates[i])) {
      results[i].valid = true;
      results[i].features = std::move(*features);
    } else {
      results[i] = worker.evaluate(number, program, candidates[i]);
    }
  });
  return results;
}

std::vector<Evaluation>
EvaluationPool::interpret(unsigned number, ArrayRef<Candidate> candidates) {
  std::vector<Evaluation> results(candidates.size());
  Program &program = *programs[number];
  forEach(candidates.size(), [&](Worker &worker, size_t i) {
    results[i] = worker.evaluate(number, program, candidates[i]);
  });
  for (auto [candidate, result] : llvm::zip_equal(candidates, results)) {
    auto features = program.instantiate(candidate);
    if (features && result.valid &&
        features->data != result.features.data)
      program.sketches[candidate.sketch].differs = true;
  }
  return results;
}

FailureOr<std::string> EvaluationPool::getScript(unsigned number,
                                                 const Candidate &candidate,
                                                 std::string &error) {
  ModuleOp script =
      workers[0]->decide(number, *programs[number], candidate, error);
  if (!script)
    return failure();
  std::string text;
  llvm::raw_string_ostream os(text);
  script.print(os);
  return text;
}

namespace {
class PoolEvaluator : public Evaluator {
public:
  PoolEvaluator(EvaluationPool &pool, unsigned number)
      : pool(pool), number(number) {}
  std::vector<Evaluation> evaluate(ArrayRef<Candidate> candidates) override {
    return pool.evaluate(number, candidates);
  }
  std::vector<Evaluation>
  interpret(ArrayRef<Candidate> candidates) override {
    return pool.interpret(number, candidates);
  }

private:
  EvaluationPool &pool;
  unsigned number;
};
} // namespace

std::unique_ptr<Evaluator> EvaluationPool::makeEvaluator(unsigned number) {
  return std::make_unique<PoolEvaluator>(*this, number);
}
