//===- Inputs.cpp - Arguments of a measured program -------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Runtime/Inputs.h"
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace ansor::runtime;

//===----------------------------------------------------------------------===//
// Manifest
//===----------------------------------------------------------------------===//

int64_t ValueSpec::elements() const {
  int64_t product = 1;
  for (int64_t size : shape)
    product *= size;
  return product;
}

static bool parseValueSpec(const Json &json, int64_t dynamicSize,
                           const Json &shape, ValueSpec &spec,
                           std::string &error) {
  const std::string &kind = json["kind"].asString();
  if (kind != "memref" && kind != "scalar") {
    error = "expected \"kind\" to be \"memref\" or \"scalar\"";
    return false;
  }
  spec.isMemref = kind == "memref";
  spec.isWeight = spec.isMemref && json["weight"].asBool();
  if (!ElementType::parse(json["type"].asString(), spec.type)) {
    error = "element type '" + json["type"].asString() + "' can't be measured";
    return false;
  }
  const auto &sizes = json["shape"].elements();
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t size = sizes[i].asInt(-1);
    if (!shape.isNull()) {
      if (shape.elements().size() != sizes.size()) {
        error = "expected " + std::to_string(sizes.size()) + " sizes, got " +
                std::to_string(shape.elements().size());
        return false;
      }
      int64_t given = shape.elements()[i].asInt(-1);
      if (given < 0 || (size >= 0 && given != size)) {
        error = "size " + std::to_string(given) + " does not fit dimension " +
                std::to_string(i);
        return false;
      }
      size = given;
    }
    spec.shape.push_back(size < 0 ? dynamicSize : size);
  }
  return true;
}

/// Reads "prepack" of a manifest whose arguments are known.
static bool parsePrepack(const Json &json, size_t numArgs, PrepackSpec &spec,
                         std::string &error) {
  spec.entry = json["entry"].asString();
  spec.run = json["run"].asString();
  for (const Json &result : json["results"].elements()) {
    spec.results.emplace_back();
    if (!parseValueSpec(result, -1, Json(), spec.results.back(), error)) {
      error = "packed weight: " + error;
      return false;
    }
    bool known = spec.results.back().isMemref;
    for (int64_t size : spec.results.back().shape)
      known = known && size > 0;
    if (!known) {
      error = "packed weights must have static shapes";
      return false;
    }
  }
  auto parseNumbers = [&](const Json &list, int64_t least,
                          std::vector<int> &numbers) {
    for (const Json &element : list.elements()) {
      int64_t number = element.asInt(int64_t(numArgs));
      if (number < least || number >= int64_t(numArgs))
        return false;
      numbers.push_back(int(number));
    }
    return true;
  };
  if (spec.entry.empty() || spec.run.empty() ||
      !parseNumbers(json["args"], 0, spec.args) ||
      !parseNumbers(json["run_args"], -int64_t(spec.results.size()),
                    spec.runArgs)) {
    error = "manifest: \"prepack\" is none";
    return false;
  }
  return true;
}

bool Manifest::parse(const Json &json, int64_t dynamicSize, const Json &shapes,
                     Manifest &manifest, std::string &error) {
  if (!json["entry"].isString() || !json["args"].isArray()) {
    error = "manifest: expected \"entry\" and \"args\"";
    return false;
  }
  manifest = Manifest();
  manifest.entry = json["entry"].asString();
  const auto &args = json["args"].elements();
  for (size_t i = 0; i < args.size(); ++i) {
    const Json none;
    const Json &shape =
        i < shapes.elements().size() ? shapes.elements()[i] : none;
    manifest.args.emplace_back();
    if (!parseValueSpec(args[i], dynamicSize, shape, manifest.args.back(),
                        error)) {
      error = "argument " + std::to_string(i) + ": " + error;
      return false;
    }
  }
  const auto &results = json["results"].elements();
  for (size_t i = 0; i < results.size(); ++i) {
    manifest.results.emplace_back();
    if (!parseValueSpec(results[i], -1, Json(), manifest.results.back(),
                        error)) {
      error = "result " + std::to_string(i) + ": " + error;
      return false;
    }
  }
  int64_t inits = json["inits"].asInt(0);
  if (inits < 0 || inits > int64_t(args.size())) {
    error = "manifest: more \"inits\" than \"args\"";
    return false;
  }
  manifest.inits = unsigned(inits);
  if (!json["prepack"].isNull() &&
      !parsePrepack(json["prepack"], args.size(), manifest.prepack, error))
    return false;
  const Json &check = json["check"];
  manifest.check.terms = check["terms"].asDouble(1);
  manifest.check.accumulator = check["accumulator"].asDouble(0);
  manifest.check.storage = check["storage"].asDouble(0);
  manifest.check.gridBits = int(check["grid_bits"].asInt(-1));
  manifest.check.indexBound = check["index_bound"].asInt(0);
  return true;
}

double Manifest::totalBytes() const {
  double total = 0;
  for (const ValueSpec &arg : args) {
    double bytes = double(arg.type.size());
    for (int64_t size : arg.shape)
      bytes *= double(size);
    total += bytes;
  }
  return total;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// splitmix64: element i of a stream is a function of i, in any order.
static uint64_t hash(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

static double toUnit(uint64_t bits) { return double(bits >> 11) * 0x1p-53; }

namespace {
/// The distribution of one argument.
struct Range {
  bool grid = false; ///< multiples of 2^-gridBits in [-1, 1]
  int gridBits = 0;
  double low = -1, high = 1;
  int64_t intLow = -8, intHigh = 7;
};
} // namespace

static Range chooseRange(const Manifest &manifest, unsigned index,
                         const Draw &draw) {
  const ValueSpec &spec = manifest.args[index];
  Range range;
  if (manifest.check.indexBound > 0) {
    range.intLow = 0;
    range.intHigh = manifest.check.indexBound - 1;
  }
  if (!spec.isMemref && !spec.type.isFloat()) {
    // A scalar integer is a size, a position or a factor.
    range.intLow = 1;
    range.intHigh = std::min<int64_t>(
        3, manifest.check.indexBound > 0 ? manifest.check.indexBound - 1 : 3);
  }
  if (draw.attempt > 0) // no division by zero, no negative shift
    range.intLow = std::max<int64_t>(range.intLow, 1);
  range.intHigh = std::max(range.intHigh, range.intLow);

  if (draw.attempt == 0) {
    range.grid = manifest.check.gridBits >= 0;
    range.gridBits = manifest.check.gridBits;
    return range;
  }
  // Vectors and scalars are variances, scales or counts as often as not.
  bool positive =
      spec.shape.size() <= 1 || draw.attempt == 2 || draw.attempt >= 4;
  double amplitude = 1;
  if (spec.shape.size() > 1) {
    int64_t largest = *std::max_element(spec.shape.begin(), spec.shape.end());
    double fanIn =
        double(spec.elements()) / double(std::max<int64_t>(1, largest));
    amplitude = std::min(1.0, std::sqrt(3 / std::max(fanIn, 1.0)));
    if (draw.attempt == 3 || draw.attempt == 4)
      amplitude /= 8;
    if (draw.attempt == 5)
      amplitude /= 64;
  }
  range.low = positive ? amplitude * 0.05 : -amplitude;
  range.high = amplitude;
  return range;
}

static double drawFloat(const Range &range, uint64_t bits) {
  if (range.grid) {
    int64_t steps = int64_t(1) << range.gridBits;
    int64_t k = int64_t((bits >> 8) % uint64_t(2 * steps + 1)) - steps;
    return double(k) / double(steps); // exact
  }
  if (range.low < 0 && (bits & 15) == 0)
    return 0;
  // Float-sized, so that every candidate reads the very same number.
  return float(range.low + (range.high - range.low) * toUnit(bits));
}

static double moveValue(double value, const Draw &draw, uint64_t bits) {
  switch (draw.move) {
  case Draw::Move::None:
    return value;
  case Draw::Move::Random:
    return value * (1 + (bits & 1 ? draw.delta : -draw.delta));
  case Draw::Move::Magnitude:
    return value + draw.delta * std::fabs(value);
  case Draw::Move::Relative:
    return value * (1 + draw.delta);
  }
  return value;
}

void ansor::runtime::fillArgument(const Manifest &manifest, unsigned index,
                                  const Draw &draw, void *data) {
  const ValueSpec &spec = manifest.args[index];
  Range range = chooseRange(manifest, index, draw);
  uint64_t base = hash(draw.seed * 1000003 + uint64_t(draw.attempt)) ^
                  hash(0x1234567 + index);
  size_t count = size_t(spec.elements()) * spec.type.components();
  uint64_t span = uint64_t(range.intHigh - range.intLow) + 1;
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = hash(base + i);
    if (spec.type.isFloat()) {
      storeDouble(spec.type, data, i, drawFloat(range, bits));
      if (draw.move == Draw::Move::None)
        continue;
      double value = loadDouble(spec.type, data, i); // as it was rounded
      uint64_t dice = hash(bits ^ uint64_t(draw.move) * 77);
      storeDouble(spec.type, data, i, moveValue(value, draw, dice),
                  toUnit(hash(dice)));
    } else if (spec.type.scalar == Scalar::Bool) {
      storeInt(spec.type, data, i, int64_t(bits >> 32 & 1));
    } else {
      storeInt(spec.type, data, i, range.intLow + int64_t((bits >> 8) % span));
    }
  }
}

//===----------------------------------------------------------------------===//
// Buffer
//===----------------------------------------------------------------------===//

static constexpr size_t kAlignment = 64, kGuard = 64;
static constexpr char kGuardByte = char(0xa5);

Buffer::Buffer(size_t bytes)
    : storage(new char[bytes + kAlignment + kGuard]), bytes(bytes) {
  uintptr_t address = reinterpret_cast<uintptr_t>(storage.get());
  aligned = storage.get() + (kAlignment - address % kAlignment) % kAlignment;
  std::memset(aligned + bytes, kGuardByte, kGuard);
}

bool Buffer::guardIsIntact() const {
  for (size_t i = 0; i < kGuard; ++i)
    if (aligned[bytes + i] != kGuardByte)
      return false;
  return true;
}
