//===- EvaluationPool.h - Scoring on worker threads -------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interprets candidates' scripts on clones of their task, in worker threads,
// and computes the features of the results.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_SEARCH_EVALUATIONPOOL_H
#define ANSOR_LIB_SEARCH_EVALUATIONPOOL_H

#include "ansor/Search/TaskSearch.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::ansor {

/// A context a worker, with every task and script parsed once in it. Workers
/// run only inside evaluate(), so that nothing computes while code is timed.
/// Results don't depend on which worker does what.
///
/// A sketch whose candidates are asked for often is learned (SketchFeatures.h):
/// from then on its candidates are described by arithmetic, if it qualifies.
class EvaluationPool {
public:
  /// `threads` 0: one a core.
  EvaluationPool(const DialectRegistry &registry, unsigned threads);
  ~EvaluationPool();

  /// Adds a task: the text of its module, and of the script of each sketch
  /// with the space of its decisions. Returns its number.
  unsigned add(std::string module, std::vector<std::string> scripts,
               std::vector<DesignSpace> spaces, int64_t cacheLine);

  /// An evaluator of task `number`; it must not outlive the pool.
  std::unique_ptr<Evaluator> makeEvaluator(unsigned number);

  /// Candidates that are described by arithmetic count as valid; what is picked
  /// of them is to be interpreted.
  std::vector<Evaluation> evaluate(unsigned number,
                                   ArrayRef<Candidate> candidates);
  /// Interprets all candidates. A learned sketch that differs is not used for
  /// arithmetic any more.
  std::vector<Evaluation> interpret(unsigned number,
                                    ArrayRef<Candidate> candidates);

  /// Over all tasks: sketches that were asked for often enough to be learned,
  /// and those of them that don't qualify.
  unsigned getNumLearned() const { return numLearned; }
  unsigned getNumFallbacks() const;

  /// The text of the decided script of a candidate.
  FailureOr<std::string> getScript(unsigned number, const Candidate &candidate,
                                   std::string &error);

private:
  struct Program;
  struct Worker;

  void learn(unsigned number, ArrayRef<Candidate> candidates);
  /// Calls `fn(worker, i)` for i below `count`, on all workers.
  void forEach(size_t count, function_ref<void(Worker &, size_t)> fn);

  std::vector<std::unique_ptr<Program>> programs;
  std::vector<std::unique_ptr<Worker>> workers;
  unsigned numLearned = 0;
};

} // namespace mlir::ansor

#endif // ANSOR_LIB_SEARCH_EVALUATIONPOOL_H
