//===- CostModel.cpp - Random and recorded models ---------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/CostModel/CostModel.h"
#include "ansor/Support/Files.h"
#include "ansor/Support/Hash.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <limits>
#include <random>

using namespace mlir;
using namespace mlir::ansor;

CostModel::~CostModel() = default;

std::string mlir::ansor::findInstalledModel(int64_t vectorBits) {
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  std::string name = "/share/ansor-mlir/cost-model-" +
                     std::to_string(vectorBits >= 512 ? 512 : 256) + ".json";
  // bin/tool, or a test's folder below the build's.
  StringRef dir = llvm::sys::path::parent_path(self);
  for (unsigned level = 0; level < 3 && !dir.empty(); ++level) {
    if (llvm::sys::fs::exists(dir + name))
      return dir.str() + name;
    dir = llvm::sys::path::parent_path(dir);
  }
  return "";
}

std::string mlir::ansor::hashFeatures(const FeatureMatrix &features) {
  return hashText(
      StringRef(reinterpret_cast<const char *>(features.data.data()),
                features.data.size() * sizeof(float)));
}

static constexpr double kNoRows = -std::numeric_limits<double>::infinity();

namespace {

/// What models without a training state share.
class FixedModel : public CostModel {
public:
  LogicalResult update(ArrayRef<TrainingSample>) override { return success(); }
  bool isTrained() const override { return false; }
  LogicalResult save(StringRef path, std::string &error) const override {
    return refuse(error);
  }
  LogicalResult load(StringRef path, std::string &error) override {
    return refuse(error);
  }
  LogicalResult loadBase(StringRef path, std::string &error) override {
    return refuse(error);
  }

private:
  LogicalResult refuse(std::string &error) const {
    error =
        ("a " + getName() + " cost model has nothing to save or load").str();
    return failure();
  }
};

class RandomModel : public FixedModel {
public:
  explicit RandomModel(uint64_t seed) : rng(seed) {}
  StringRef getName() const override { return "random"; }
  std::vector<double> predict(ArrayRef<FeatureMatrix> programs) override {
    std::vector<double> scores;
    scores.reserve(programs.size());
    for (const FeatureMatrix &program : programs) {
      // 53 bits: the same on every platform, unlike the standard's
      // distributions. Drawn for every program, so that one without rows
      // doesn't change the others' scores.
      double score = static_cast<double>(rng() >> 11) * 0x1p-53;
      scores.push_back(program.rows() == 0 ? kNoRows : score);
    }
    return scores;
  }

private:
  std::mt19937_64 rng;
};

class RecordedModel : public FixedModel {
public:
  StringRef getName() const override { return "recorded"; }
  bool isTrained() const override { return true; }
  std::vector<double> predict(ArrayRef<FeatureMatrix> programs) override {
    std::vector<double> scores;
    scores.reserve(programs.size());
    for (const FeatureMatrix &program : programs)
      scores.push_back(program.rows() == 0
                           ? kNoRows
                           : recorded.lookup(hashFeatures(program)));
    return scores;
  }

  LogicalResult read(StringRef path, std::string &error) {
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
    if (!buffer) {
      error =
          ("can't read '" + path + "': " + buffer.getError().message()).str();
      return failure();
    }
    for (llvm::line_iterator line(**buffer); !line.is_at_end(); ++line) {
      auto at = [&] {
        return (path + ":" + Twine(line.line_number()) + ": ").str();
      };
      llvm::Expected<llvm::json::Value> value = parseJson(*line);
      if (!value) {
        error = at() + llvm::toString(value.takeError());
        return failure();
      }
      llvm::json::Object *object = value->getAsObject();
      auto hash = object ? object->getString("hash") : std::nullopt;
      auto score = object ? object->getNumber("score") : std::nullopt;
      if (!hash || !score) {
        error = at() + "expected {\"hash\": string, \"score\": number}";
        return failure();
      }
      recorded[*hash] = *score;
    }
    return success();
  }

private:
  llvm::StringMap<double> recorded;
};

} // namespace

std::unique_ptr<CostModel> mlir::ansor::createRandomModel(uint64_t seed) {
  return std::make_unique<RandomModel>(seed);
}

FailureOr<std::unique_ptr<CostModel>>
mlir::ansor::createRecordedModel(StringRef path, std::string &error) {
  auto model = std::make_unique<RecordedModel>();
  if (failed(model->read(path, error)))
    return failure();
  return std::unique_ptr<CostModel>(std::move(model));
}
