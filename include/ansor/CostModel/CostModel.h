//===- CostModel.h - Learned cost models ------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scores of candidates: higher is faster. The score of a program is the sum
// of the predictions of its rows, trained on throughputs normalised to the
// best of the task (OSDI 2020, section 5.2). Interfaces are batches; a model
// knows nothing of IR.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_COSTMODEL_COSTMODEL_H
#define ANSOR_COSTMODEL_COSTMODEL_H

#include "ansor/Feature/Feature.h"
#include "mlir/Support/LLVM.h"
#include <memory>
#include <string>

namespace mlir::ansor {

/// One measured program.
struct TrainingSample {
  FeatureMatrix features;
  std::string task;     ///< key; throughputs are normalised per task
  double seconds = 0;   ///< median time; infinity for a failed trial
};

class CostModel {
public:
  virtual ~CostModel();
  virtual StringRef getName() const = 0;
  /// One score a program. A program without rows scores -infinity.
  virtual std::vector<double> predict(ArrayRef<FeatureMatrix> programs) = 0;
  /// Retrains on all of `samples` (the whole set, not the new ones only).
  virtual LogicalResult update(ArrayRef<TrainingSample> samples) = 0;
  /// True once predictions come from training.
  virtual bool isTrained() const = 0;
  /// Both emit nothing; `error` says what failed.
  virtual LogicalResult save(StringRef path, std::string &error) const = 0;
  virtual LogicalResult load(StringRef path, std::string &error) = 0;
};

struct XGBoostOptions {
  int maxDepth = 6;
  int rounds = 30;
  double eta = 0.2, gamma = 0.001, minChildWeight = 0;
  int seed = 43;
};

/// Gradient boosted trees by XGBoost's C API, one thread.
std::unique_ptr<CostModel> createXGBoostModel(const XGBoostOptions &options = {});
/// Scores that are uniform random numbers of `seed`.
std::unique_ptr<CostModel> createRandomModel(uint64_t seed);
/// Scores read from `path`, a JSON lines file of {"hash": …, "score": …}, by
/// the hash of the features; for tests.
FailureOr<std::unique_ptr<CostModel>> createRecordedModel(StringRef path,
                                                          std::string &error);

} // namespace mlir::ansor

#endif // ANSOR_COSTMODEL_COSTMODEL_H
