//===- XGBoostModel.cpp - Gradient boosted trees ----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The learned model: XGBoost's trees. Only the sum over the rows of a program is
// known, so the gradient of each row is that of its program's loss. S is that
// sum, and y the normalised throughput. What a search needs is the order of a
// task's programs, so the loss is that of pairs a, b of one task with
// y_a > y_b, where what differs less than timing does is a tie:
//
//   loss = (y_a - y_b) y_a log(1 + exp(-k (S_a - S_b)))
//
// averaged over the programs that each one is paired with. Ansor's loss can be
// added or taken instead, with w = max(y, floor):
//
//   loss = w / 2 * (S - y)^2     gradient = w * (S - y)     hessian = w
//
// A tree moves all rows of a program at once, and a program of more than 2 / eta
// rows would overshoot by more than its error, and diverge; so hessians are
// multiplied by the number of rows times eta, if that is above 1.
//
// A model with a base starts S from the base's score, so that its trees learn
// the difference.
//
// XGBoost's C API catches its own exceptions and returns codes, which become
// messages here.
//
//===----------------------------------------------------------------------===//

#include "ansor/CostModel/CostModel.h"
#include "ansor/Support/Files.h"
#include "ansor/Support/Hash.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>
#include <mutex>
#include <xgboost/c_api.h>

using namespace mlir;
using namespace mlir::ansor;

/// Throughputs that differ by less are a tie.
static constexpr double kTie = 0.02;
/// Steepness of the pairs' loss: a difference of 1 / k counts as clear.
static constexpr double kSteepness = 8;
/// Programs that each one is paired with, at most: of larger tasks a sample, so
/// that training stays linear in the programs.
static constexpr size_t kPartners = 64;

/// Version of the file that `save` writes: a line of JSON, then the booster.
static constexpr int64_t kFileVersion = 1;

namespace {

struct FreeMatrix {
  void operator()(void *handle) const { XGDMatrixFree(handle); }
};
struct FreeBooster {
  void operator()(void *handle) const { XGBoosterFree(handle); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

/// The rows of the samples that have some, one after the other.
struct TrainingSet {
  std::vector<float> rows;
  std::vector<unsigned> rowsOf; ///< number of rows, by program
  std::vector<double> labels;   ///< normalised throughput, by program
  std::vector<double> starts;   ///< the base's scores, by program
  std::vector<std::vector<unsigned>> tasks; ///< the programs of each
};

class XGBoostModel : public CostModel {
public:
  explicit XGBoostModel(const XGBoostOptions &options) : options(options) {}

  StringRef getName() const override { return "xgboost"; }
  bool isTrained() const override { return booster || base; }
  std::vector<double> predict(ArrayRef<FeatureMatrix> programs) override;
  LogicalResult update(ArrayRef<TrainingSample> samples) override;
  LogicalResult save(StringRef path, std::string &error) const override;
  LogicalResult load(StringRef path, std::string &error) override {
    return read(path, booster, error);
  }
  LogicalResult loadBase(StringRef path, std::string &error) override {
    return read(path, base, error);
  }

private:
  LogicalResult read(StringRef path, Booster &result, std::string &error) const;
  LogicalResult makeBooster(Matrix *train, Booster &result,
                            std::string &error) const;
  LogicalResult train(const TrainingSet &set, Booster &result,
                      std::string &error) const;

  XGBoostOptions options;
  Booster booster, base;
  std::mutex errorMutex; ///< of lastError, while threads predict
};

} // namespace

/// Turns a return code of the C API into a result and a message.
static LogicalResult check(int code, StringRef what, std::string &error) {
  if (code == 0)
    return success();
  // The first line only: a stack trace follows it.
  StringRef message = StringRef(XGBGetLastError()).split("\n").first;
  error = (what + " failed: " + message).str();
  return failure();
}

/// Describes the samples by rows and labels: for each task, the best time over
/// the sample's time, and 0 for what failed.
static TrainingSet makeTrainingSet(ArrayRef<TrainingSample> samples) {
  auto isValid = [](const TrainingSample &sample) {
    return std::isfinite(sample.seconds) && sample.seconds > 0;
  };
  llvm::StringMap<double> best;
  for (const TrainingSample &sample : samples)
    if (isValid(sample)) {
      auto it = best.try_emplace(sample.task, sample.seconds).first;
      it->second = std::min(it->second, sample.seconds);
    }
  TrainingSet set;
  llvm::StringMap<size_t> numbers;
  for (const TrainingSample &sample : samples) {
    if (sample.features.rows() == 0)
      continue;
    size_t task =
        numbers.try_emplace(sample.task, numbers.size()).first->second;
    if (task == set.tasks.size())
      set.tasks.emplace_back();
    set.tasks[task].push_back(set.rowsOf.size());
    set.rows.insert(set.rows.end(), sample.features.data.begin(),
                    sample.features.data.end());
    set.rowsOf.push_back(sample.features.rows());
    set.labels.push_back(
        isValid(sample) ? best.lookup(sample.task) / sample.seconds : 0);
  }
  return set;
}

LogicalResult XGBoostModel::makeBooster(Matrix *train, Booster &result,
                                        std::string &error) const {
  BoosterHandle handle = nullptr;
  DMatrixHandle cached[] = {train ? train->get() : nullptr};
  if (failed(check(XGBoosterCreate(cached, train ? 1 : 0, &handle),
                   "creating a model", error)))
    return failure();
  result.reset(handle);
  std::pair<const char *, std::string> parameters[] = {
      {"verbosity", "0"},
      {"nthread", "1"},
      {"seed", std::to_string(options.seed)},
      {"booster", "gbtree"},
      {"tree_method", "hist"},
      {"base_score", "0"},
      {"disable_default_eval_metric", "1"},
      {"max_depth", std::to_string(options.maxDepth)},
      {"eta", std::to_string(options.eta)},
      {"gamma", std::to_string(options.gamma)},
      {"min_child_weight", std::to_string(options.minChildWeight)},
      {"colsample_bynode", std::to_string(options.featureShare)}};
  for (auto &[name, value] : parameters)
    if (failed(check(XGBoosterSetParam(handle, name, value.c_str()),
                     "setting a parameter", error)))
      return failure();
  return success();
}

/// Adds the gradients and hessians of the pairs' loss, by program.
static void addPairs(const TrainingSet &set, ArrayRef<double> sums,
                     double pairWeight, MutableArrayRef<double> gradients,
                     MutableArrayRef<double> hessians) {
  for (ArrayRef<unsigned> programs : set.tasks) {
    const size_t count = programs.size();
    if (count < 2)
      continue;
    // Each pair once: the i-th with those at these distances behind it, at most
    // half of the circle. Of many programs, distances that are spread evenly.
    const size_t reach = count / 2;
    const size_t partners = std::min(reach, kPartners);
    for (size_t i = 0; i < count; ++i)
      for (size_t k = 0; k < partners; ++k) {
        size_t distance =
            1 + k * (reach - 1) / std::max<size_t>(1, partners - 1);
        if (2 * distance == count && i >= distance)
          continue; // met from the other side
        unsigned a = programs[i], b = programs[(i + distance) % count];
        if (set.labels[a] < set.labels[b])
          std::swap(a, b);
        double difference = set.labels[a] - set.labels[b];
        if (difference <= kTie)
          continue;
        double wrong = 1 / (1 + std::exp(kSteepness * (sums[a] - sums[b])));
        double weight = pairWeight * difference * set.labels[a] / partners;
        double gradient = weight * kSteepness * wrong;
        double hessian = weight * kSteepness * kSteepness * wrong * (1 - wrong);
        gradients[a] -= gradient;
        gradients[b] += gradient;
        hessians[a] += hessian;
        hessians[b] += hessian;
      }
  }
}

LogicalResult XGBoostModel::train(const TrainingSet &set, Booster &result,
                                  std::string &error) const {
  size_t numRows = set.rows.size() / kNumFeatures;
  DMatrixHandle handle = nullptr;
  if (failed(check(XGDMatrixCreateFromMat_omp(
                       set.rows.data(), numRows, kNumFeatures,
                       std::numeric_limits<float>::quiet_NaN(), &handle,
                       /*nthread=*/1),
                   "making the training matrix", error)))
    return failure();
  Matrix matrix(handle);
  if (failed(makeBooster(&matrix, result, error)))
    return failure();

  const char *config = R"({"type": 1, "training": true, "iteration_begin": 0,
                           "iteration_end": 0, "strict_shape": false})";
  std::vector<float> gradients(numRows), hessians(numRows);
  std::vector<double> sums(set.rowsOf.size()), slopes(sums), curvatures(sums);
  for (int round = 0; round < options.rounds; ++round) {
    const bst_ulong *shape = nullptr;
    bst_ulong rank = 0;
    const float *margins = nullptr;
    if (failed(
            check(XGBoosterPredictFromDMatrix(result.get(), matrix.get(),
                                              config, &shape, &rank, &margins),
                  "predicting", error)))
      return failure();
    const float *margin = margins;
    for (auto [i, count] : llvm::enumerate(set.rowsOf)) {
      sums[i] = set.starts[i];
      for (unsigned r = 0; r < count; ++r)
        sums[i] += *margin++;
      double weight = options.squaredWeight *
                      std::max(std::pow(set.labels[i], options.weightPower),
                               options.minWeight);
      slopes[i] = weight * (sums[i] - set.labels[i]);
      curvatures[i] = weight;
    }
    if (options.pairWeight > 0)
      addPairs(set, sums, options.pairWeight, slopes, curvatures);
    size_t row = 0;
    for (auto [i, count] : llvm::enumerate(set.rowsOf)) {
      double rows = std::max(1.0, count * options.eta);
      for (size_t end = row + count; row < end; ++row) {
        gradients[row] = slopes[i];
        hessians[row] = curvatures[i] * rows;
      }
    }
    if (failed(check(XGBoosterBoostOneIter(result.get(), matrix.get(),
                                           gradients.data(), hessians.data(),
                                           numRows),
                     "training", error)))
      return failure();
  }
  return success();
}

/// Adds to `scores` what `booster` predicts for the rows, `rowsOf` by program.
static LogicalResult addScores(void *booster, ArrayRef<float> rows,
                               ArrayRef<unsigned> rowsOf,
                               MutableArrayRef<double> scores,
                               std::string &error) {
  if (!booster || rows.empty())
    return success();
  std::string values;
  llvm::raw_string_ostream(values)
      << "{\"data\": [" << reinterpret_cast<uintptr_t>(rows.data())
      << ", true], \"shape\": [" << rows.size() / kNumFeatures << ", "
      << kNumFeatures << "], \"typestr\": \"<f4\", \"version\": 3}";
  const char *config = R"({"type": 1, "training": false, "iteration_begin": 0,
                           "iteration_end": 0, "strict_shape": false,
                           "missing": NaN, "cache_id": 0})";
  const bst_ulong *shape = nullptr;
  bst_ulong rank = 0;
  const float *margins = nullptr;
  if (failed(check(XGBoosterPredictFromDense(booster, values.c_str(), config,
                                             nullptr, &shape, &rank, &margins),
                   "predicting", error)))
    return failure();
  for (auto [score, count] : llvm::zip_equal(scores, rowsOf))
    for (unsigned r = 0; r < count; ++r)
      score += *margins++;
  return success();
}

LogicalResult XGBoostModel::update(ArrayRef<TrainingSample> samples) {
  lastError.clear();
  TrainingSet set = makeTrainingSet(samples);
  // Nothing to rank: no program, or failures only.
  if (llvm::none_of(set.labels, [](double label) { return label > 0; })) {
    booster.reset();
    return success();
  }
  set.starts.assign(set.labels.size(), 0);
  Booster trained;
  if (failed(addScores(base.get(), set.rows, set.rowsOf, set.starts,
                       lastError)) ||
      failed(train(set, trained, lastError)))
    return failure();
  booster = std::move(trained);
  return success();
}

std::vector<double> XGBoostModel::predict(ArrayRef<FeatureMatrix> programs) {
  std::vector<double> scores(programs.size(), 0);
  std::vector<float> rows;
  std::vector<unsigned> rowsOf;
  for (auto [score, program] : llvm::zip_equal(scores, programs)) {
    if (program.rows() == 0)
      score = -std::numeric_limits<double>::infinity();
    rows.insert(rows.end(), program.data.begin(), program.data.end());
    rowsOf.push_back(program.rows());
  }
  for (const Booster *part : {&base, &booster}) {
    std::string error;
    if (failed(addScores(part->get(), rows, rowsOf, scores, error))) {
      std::lock_guard<std::mutex> lock(errorMutex);
      lastError = error;
    }
  }
  return scores;
}

LogicalResult XGBoostModel::save(StringRef path, std::string &error) const {
  if (!booster) {
    error = "the cost model is not trained yet: there is nothing to save";
    return failure();
  }
  bst_ulong length = 0;
  const char *data = nullptr;
  if (failed(check(XGBoosterSaveModelToBuffer(
                       booster.get(), R"({"format": "json"})", &length, &data),
                   "saving the model", error)))
    return failure();
  StringRef body(data, length);
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::json::Value(
                llvm::json::Object{{"ansor_cost_model", kFileVersion},
                                   {"kind", getName()},
                                   {"features", kFeatureVersion},
                                   {"columns", kNumFeatures},
                                   {"hash", hashText(body)}})
         << "\n"
         << body;
  return writeFile(path, [&](raw_ostream &file) { file << text; }, error);
}

LogicalResult XGBoostModel::read(StringRef path, Booster &result,
                                 std::string &error) const {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    error = ("can't read '" + path + "': " + buffer.getError().message()).str();
    return failure();
  }
  auto fail = [&](const Twine &why) {
    error = ("'" + path + "' " + why).str();
    return failure();
  };
  auto [line, body] = (*buffer)->getBuffer().split('\n');
  llvm::Expected<llvm::json::Value> value = parseJson(line);
  if (!value)
    llvm::consumeError(value.takeError());
  llvm::json::Object *header = value ? value->getAsObject() : nullptr;
  auto fileVersion =
      header ? header->getInteger("ansor_cost_model") : std::nullopt;
  if (!fileVersion)
    return fail("is not a saved cost model");
  if (*fileVersion != kFileVersion)
    return fail("has version " + Twine(*fileVersion) + " of the file format; " +
                Twine(kFileVersion) + " is needed: train a new model");
  if (header->getString("kind") != getName())
    return fail("holds another kind of cost model");
  int64_t features = header->getInteger("features").value_or(-1);
  if (features != kFeatureVersion ||
      header->getInteger("columns") != int64_t(kNumFeatures))
    return fail("was trained on version " + Twine(features) +
                " of the features; this is version " + Twine(kFeatureVersion) +
                ": train a new model");
  if (header->getString("hash") != StringRef(hashText(body)))
    return fail("is damaged: its contents don't match its hash");
  Booster loaded;
  if (failed(makeBooster(nullptr, loaded, error)) ||
      failed(check(
          XGBoosterLoadModelFromBuffer(loaded.get(), body.data(), body.size()),
          "loading the model", error)))
    return failure();
  // Parameters of the process, not of the model.
  if (failed(check(XGBoosterSetParam(loaded.get(), "nthread", "1"),
                   "setting a parameter", error)))
    return failure();
  result = std::move(loaded);
  return success();
}

std::unique_ptr<CostModel>
mlir::ansor::createXGBoostModel(const XGBoostOptions &options) {
  return std::make_unique<XGBoostModel>(options);
}
