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
// In: features, and measured times of some of them. Out: a score a program.
// Nothing here prints or throws; what failed is said by a message.
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
  std::string task;   ///< key; throughputs are normalised per task
  double seconds = 0; ///< median time; infinity for a failed trial
};

class CostModel {
public:
  virtual ~CostModel();
  virtual StringRef getName() const = 0;
  /// One score a program. A program without rows scores -infinity. If it fails,
  /// the scores mean nothing, and `getLastError` says why. Models but the
  /// random one may be asked by several threads at once, not during `update` or
  /// `load`.
  virtual std::vector<double> predict(ArrayRef<FeatureMatrix> programs) = 0;
  /// Retrains on all of `samples` (the whole set, not the new ones only). Sets
  /// without a successful sample leave the model untrained, which is no
  /// failure. On failure the model is as before, and `getLastError` says why.
  virtual LogicalResult update(ArrayRef<TrainingSample> samples) = 0;
  /// True once predictions come from training.
  virtual bool isTrained() const = 0;
  /// Both emit nothing; `error` says what failed. A model that was not loaded
  /// is as before.
  virtual LogicalResult save(StringRef path, std::string &error) const = 0;
  virtual LogicalResult load(StringRef path, std::string &error) = 0;
  /// Loads a model to start from: it scores until `update` is called, which
  /// then learns what to add to its scores.
  virtual LogicalResult loadBase(StringRef path, std::string &error) = 0;

  /// Why the last `update` or `predict` failed; empty if none did.
  StringRef getLastError() const { return lastError; }

protected:
  std::string lastError;
};

struct XGBoostOptions {
  // Many small trees that look at few features each: by 64 samples of one task
  // they order 0.67 to 0.75 of the pairs of others, trees of depth 6 over all
  // features 0.64 to 0.72.
  int maxDepth = 4;
  int rounds = 100;
  double eta = 0.1, gamma = 0.001, minChildWeight = 0;
  int seed = 43;
  /// Least weight of a sample. Ansor weighs a sample by its normalised
  /// throughput, so that fast programs count most; a failure, whose throughput
  /// is 0, then teaches nothing. With this floor a model learns to avoid them
  /// and fast programs still dominate.
  double minWeight = 0.05;
  /// Weights of the two parts of the loss: the squared error of a program's
  /// throughput, which Ansor has alone, and the order of each two programs of a
  /// task. By 32 to 128 random samples of a matmul or convolution, of the ten
  /// best predicted of 200 others 0.18 to 0.31 are among the 20 fastest if the
  /// order alone counts, 0.12 to 0.22 if the error has a fiftieth of the weight,
  /// and 0.05 to 0.13 if it has all.
  double squaredWeight = 0, pairWeight = 1;
  /// Power of the throughput in a sample's weight.
  double weightPower = 1;
  /// Share of the features that each split looks at. Below 1 the trees differ
  /// more, and few samples give finer scores.
  double featureShare = 0.1;
};

/// Gradient boosted trees by XGBoost's C API, one thread. The same samples in
/// the same order give the same model, bit for bit. Scores 0 until trained.
std::unique_ptr<CostModel>
createXGBoostModel(const XGBoostOptions &options = {});

/// The installed model for vectors of `vectorBits`, beside or above the running
/// program: share/ansor-mlir/cost-model-<bits>.json. Empty if there is none.
std::string findInstalledModel(int64_t vectorBits);
/// Scores that are uniform random numbers of `seed`.
std::unique_ptr<CostModel> createRandomModel(uint64_t seed);
/// Scores read from `path`, a JSON lines file of {"hash": "<16 hexadecimal
/// digits>", "score": number}, by `hashFeatures`; for tests. Other programs
/// score 0.
FailureOr<std::unique_ptr<CostModel>> createRecordedModel(StringRef path,
                                                          std::string &error);

/// Hash of the numbers of a program's rows: 16 hexadecimal digits.
std::string hashFeatures(const FeatureMatrix &features);

} // namespace mlir::ansor

#endif // ANSOR_COSTMODEL_COSTMODEL_H
