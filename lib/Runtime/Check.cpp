//===- Check.cpp - The check of results -------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Runtime/Check.h"
#include "ansor/Runtime/Timing.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace ansor::runtime;

/// Multiple of the change by moved inputs that is still right. The moves are
/// samples: another order of evaluation may do somewhat more.
static constexpr double kMoveFactor = 4;
/// Roundings of the last operations, in units of the result's roundoff.
static constexpr double kOutputFactor = 8;
/// A reference slower than this is run fewer times.
static constexpr double kSlowReference = 2, kVerySlowReference = 15;

/// What memory is filled with now; 0: nothing.
static unsigned char poison = 0;

void ansor::runtime::poisonAllocations(unsigned char byte) {
  poison = byte;
#ifdef M_PERTURB
  // glibc fills with the complement.
  mallopt(M_PERTURB, byte ? byte ^ 0xff : 0);
#endif
}

//===----------------------------------------------------------------------===//
// Tolerance
//===----------------------------------------------------------------------===//

/// The median of the non-zero finite magnitudes in `values`, of a sample.
static double medianMagnitude(std::vector<double> values) {
  values.erase(
      std::remove_if(values.begin(), values.end(),
                     [](double v) { return v == 0 || !std::isfinite(v); }),
      values.end());
  if (values.empty())
    return 0;
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Calls `callback(i)` for at most about `count` components, evenly spread.
template <typename Callback>
static void forSample(size_t components, size_t count, Callback callback) {
  size_t step = std::max<size_t>(1, components / count) | 1;
  for (size_t i = 0; i < components; i += step)
    callback(i);
}
static constexpr size_t kSample = 100000;

/// The relative size of the move that stands for rounding.
static double moveSize(const CheckSpec &spec) {
  double delta = spec.accumulator * (2 + std::sqrt(std::max(spec.terms, 1.0)));
  if (spec.storage > spec.accumulator)
    delta += 2 * spec.storage;
  return std::min(delta, 0.25);
}

static double difference(const Output &a, const Output &b, size_t i) {
  if (i >= b.components())
    return INFINITY;
  if (!a.type.isFloat())
    return std::fabs(double(loadInt(a.type, a.data.data(), i)) -
                     double(loadInt(b.type, b.data.data(), i)));
  double x = loadDouble(a.type, a.data.data(), i);
  double y = loadDouble(b.type, b.data.data(), i);
  if (x == y || (std::isnan(x) && std::isnan(y)))
    return 0;
  double d = std::fabs(x - y);
  return std::isnan(d) ? INFINITY : d;
}

std::vector<float>
ansor::runtime::computeTolerance(const Output &base,
                                 const std::vector<Output> &moved,
                                 const CheckSpec &spec, bool exact) {
  size_t count = base.components();
  std::vector<float> tolerance(count, 0);
  auto changeOf = [&](size_t i) {
    double change = 0;
    for (const Output &other : moved)
      change = std::max(change, difference(base, other, i));
    return change;
  };
  if (!base.type.isFloat()) {
    // Integers are exact, unless they hang on a float near a threshold.
    for (size_t i = 0; i < count; ++i)
      tolerance[i] = float(kMoveFactor * changeOf(i));
    return tolerance;
  }
  std::vector<double> magnitudes, changes;
  forSample(count, kSample, [&](size_t i) {
    magnitudes.push_back(std::fabs(loadDouble(base.type, base.data.data(), i)));
    changes.push_back(changeOf(i));
  });
  double typical = medianMagnitude(std::move(magnitudes));
  double typicalChange = medianMagnitude(std::move(changes));
  double epsilon = base.type.epsilon();
  double relative = kOutputFactor * epsilon;
  double floor = kMoveFactor * typicalChange + moveSize(spec) * typical;
  if (exact) {
    relative = std::max(epsilon, std::min(32 * spec.accumulator, 0x1p-18));
    floor = std::min(32 * spec.accumulator, 0x1p-18) * typical;
  }
  for (size_t i = 0; i < count; ++i) {
    double value = std::fabs(loadDouble(base.type, base.data.data(), i));
    double own = std::isfinite(value) ? relative * value : 0;
    double sum = own + floor + kMoveFactor * changeOf(i);
    tolerance[i] = std::isfinite(sum) ? float(std::min(sum, 3e38)) : INFINITY;
  }
  return tolerance;
}

//===----------------------------------------------------------------------===//
// Making the reference
//===----------------------------------------------------------------------===//

namespace {
struct Attempt {
  std::vector<Output> outputs;
  double seconds = 0;
  size_t floats = 0, finite = 0, infinite = 0;
};
} // namespace

static bool runOnce(Call &call, const Draw &draw, Attempt &attempt,
                    std::string &error) {
  call.fill(draw);
  if (poison)
    call.poison(poison);
  double begin = now();
  call.run();
  attempt.seconds = now() - begin;
  attempt.floats = attempt.finite = attempt.infinite = 0;
  if (!call.collect(attempt.outputs, error))
    return false;
  for (const Output &output : attempt.outputs) {
    if (!output.type.isFloat())
      continue;
    attempt.floats += output.components();
    for (size_t i = 0; i < output.components(); ++i) {
      double value = loadDouble(output.type, output.data.data(), i);
      attempt.finite += std::isfinite(value);
      attempt.infinite += std::isinf(value);
    }
  }
  return true;
}

/// Whether the tolerances leave hardly anything of the float results to check.
static bool isChaotic(const Reference &reference) {
  size_t floats = 0, weak = 0;
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const Output &output = reference.outputs[o];
    if (!output.type.isFloat())
      continue;
    std::vector<double> magnitudes;
    forSample(output.components(), kSample, [&](size_t i) {
      magnitudes.push_back(
          std::fabs(loadDouble(output.type, output.data.data(), i)));
    });
    // A zero, as a rectifier gives, is judged by what is usual elsewhere.
    double typical = medianMagnitude(magnitudes);
    size_t next = 0;
    forSample(output.components(), kSample, [&](size_t i) {
      ++floats;
      weak += reference.tolerances[o][i] >
              0.05 * std::max(magnitudes[next++], typical);
    });
  }
  return weak * 2 > floats;
}

/// Runs the program on moved inputs and fills the tolerances.
static bool measureTolerances(Call &call, const Manifest &manifest,
                              Reference &reference, std::string &error) {
  std::vector<std::vector<Output>> moved(reference.outputs.size());
  std::vector<Draw::Move> moves;
  if (!reference.exact && moveSize(manifest.check) > 0) {
    moves = {Draw::Move::Random, Draw::Move::Magnitude, Draw::Move::Relative};
    if (reference.seconds > kSlowReference)
      moves.resize(2);
    if (reference.seconds > kVerySlowReference)
      moves.resize(1);
  }
  for (Draw::Move move : moves) {
    Draw draw = reference.draw;
    draw.move = move;
    draw.delta = moveSize(manifest.check);
    Attempt attempt;
    if (!runOnce(call, draw, attempt, error))
      return false;
    for (size_t o = 0; o < attempt.outputs.size(); ++o)
      moved[o].push_back(std::move(attempt.outputs[o]));
  }
  reference.tolerances.clear();
  for (size_t o = 0; o < reference.outputs.size(); ++o)
    reference.tolerances.push_back(computeTolerance(
        reference.outputs[o], moved[o], manifest.check, reference.exact));
  return true;
}

/// Runs the program again over other leftovers in memory: what changes was
/// never defined.
static bool findUndefined(Call &call, Reference &reference,
                          std::string &error) {
  Attempt again;
  poisonAllocations(0x01);
  bool ran = runOnce(call, reference.draw, again, error);
  poisonAllocations(0x7f);
  if (!ran)
    return false;
  reference.seconds = std::min(reference.seconds, again.seconds);
  size_t undefined = 0, total = 0;
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const Output &first = reference.outputs[o], &second = again.outputs[o];
    total += first.components();
    for (size_t i = 0; i < first.components(); ++i)
      if (std::memcmp(&first.data[i * first.type.bytes],
                      &second.data[i * first.type.bytes], first.type.bytes)) {
        reference.tolerances[o][i] = INFINITY;
        ++undefined;
      }
  }
  if (undefined)
    reference.note = std::to_string(undefined) + " of " +
                     std::to_string(total) +
                     " values depend on uninitialised memory and are not "
                     "checked";
  return true;
}

bool ansor::runtime::makeReference(const Manifest &manifest, Entry entry,
                                   uint64_t seed, int firstAttempt,
                                   Reference &reference, std::string &error) {
  Call call(manifest, entry);
  poisonAllocations(0x7f);
  bool found = false, onlyInfinite = false;
  double bestShare = -1;
  for (int number = firstAttempt; number < kAttempts; ++number) {
    Reference candidate;
    candidate.draw.seed = seed;
    candidate.draw.attempt = number;
    candidate.exact = number == 0 && manifest.check.gridBits >= 0;
    Attempt attempt;
    if (!runOnce(call, candidate.draw, attempt, error))
      return false;
    double share =
        attempt.floats ? double(attempt.finite) / double(attempt.floats) : 1;
    // A program may give nothing but infinities by its own constants; a
    // reference of NaNs tells nothing.
    bool infinite = share == 0 && attempt.infinite == attempt.floats;
    candidate.seconds = attempt.seconds;
    candidate.outputs = std::move(attempt.outputs);
    if (share <= bestShare)
      continue;
    if (!measureTolerances(call, manifest, candidate, error))
      return false;
    bool chaotic = isChaotic(candidate);
    if (chaotic)
      candidate.note = "results depend so much on rounding that most are "
                       "hardly checked";
    if (infinite)
      candidate.note = "no inputs were found that give finite results: only "
                       "that they are infinite is checked";
    onlyInfinite = infinite;
    bestShare = chaotic ? share * 0.5 : share;
    reference = std::move(candidate);
    found = true;
    if (bestShare == 1 || reference.seconds > kVerySlowReference)
      break;
  }
  if (!found || (bestShare == 0 && !onlyInfinite)) {
    error = "no inputs were found that give a finite reference";
    return false;
  }
  if (reference.seconds < kSlowReference &&
      !findUndefined(call, reference, error))
    return false;
  poisonAllocations(0);
  return true;
}

//===----------------------------------------------------------------------===//
// Against higher precision
//===----------------------------------------------------------------------===//

/// Multiples of the program's own error, at an element and in the mean, that
/// another order of evaluation may reach.
static constexpr double kOwnErrorFactor = 4, kMeanErrorFactor = 6;

/// Refines the tolerances of one float result `base`, and its values.
static void refineOutput(Output &base, const Output &wide,
                         const CheckSpec &spec,
                         std::vector<float> &tolerances) {
  size_t count = base.components(), finite = 0;
  double squares = 0;
  std::vector<double> magnitudes;
  for (size_t i = 0; i < count; ++i) {
    double error = difference(base, wide, i);
    if (!std::isfinite(error))
      continue;
    ++finite;
    squares += error * error;
  }
  forSample(count, kSample, [&](size_t i) {
    magnitudes.push_back(std::fabs(loadDouble(wide.type, wide.data.data(), i)));
  });
  double typical = medianMagnitude(std::move(magnitudes));
  double mean = finite ? std::sqrt(squares / double(finite)) : 0;
  double epsilon = base.type.epsilon();
  for (size_t i = 0; i < count; ++i) {
    double error = difference(base, wide, i);
    double value = std::fabs(loadDouble(wide.type, wide.data.data(), i));
    if (!std::isfinite(error) || !std::isfinite(value)) {
      tolerances[i] = INFINITY; // beyond the range of the narrow type
      continue;
    }
    double bound = kOwnErrorFactor * error + kMeanErrorFactor * mean +
                   kOutputFactor * epsilon * value + moveSize(spec) * typical;
    tolerances[i] = float(std::min(tolerances[i] + error, bound));
  }
  base.data = wide.data;
}

bool ansor::runtime::refineReference(const Manifest &manifest, Entry wide,
                                     Reference &reference,
                                     std::string &error) {
  // Elsewhere the moved inputs tell enough, and more of what two right programs
  // may differ by.
  if (reference.exact || !isChaotic(reference))
    return true;
  Call call(manifest, wide);
  Attempt attempt;
  if (!runOnce(call, reference.draw, attempt, error))
    return false;
  if (attempt.outputs.size() != reference.outputs.size())
    return true;
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    Output &base = reference.outputs[o];
    const Output &other = attempt.outputs[o];
    if (base.type.isFloat() && base.shape == other.shape)
      refineOutput(base, other, manifest.check, reference.tolerances[o]);
  }
  if (!isChaotic(reference) &&
      reference.note.find("rounding") != std::string::npos)
    reference.note.clear();
  return true;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

static std::string describe(const Output &output, size_t component) {
  size_t element = component / output.type.components();
  std::string indices;
  for (size_t d = output.shape.size(); d-- > 0;) {
    size_t size = size_t(output.shape[d]);
    indices = std::to_string(element % size) +
              (indices.empty() ? "" : ", " + indices);
    element /= size;
  }
  return output.name + " at [" + indices + "]";
}

static std::string print(const Output &output, size_t i) {
  if (!output.type.isFloat())
    return std::to_string(loadInt(output.type, output.data.data(), i));
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.9g",
                loadDouble(output.type, output.data.data(), i));
  return buffer;
}

void ansor::runtime::compare(const Reference &reference,
                             const std::vector<Output> &outputs,
                             Comparison &comparison) {
  auto fail = [&](std::string message) {
    if (comparison.worst <= 1)
      comparison.message = std::move(message);
    comparison.worst = comparison.error = INFINITY;
  };
  if (outputs.size() != reference.outputs.size())
    return fail("the number of results differs from the reference's");
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Output &expected = reference.outputs[o], &actual = outputs[o];
    if (expected.data.size() != actual.data.size() ||
        expected.shape != actual.shape)
      return fail(actual.name + " has another shape than the reference's");
    size_t bytes = expected.type.bytes;
    for (size_t i = 0; i < expected.components(); ++i) {
      double tolerance = reference.tolerances[o][i];
      if (tolerance == INFINITY)
        continue;
      ++comparison.compared;
      if (!std::memcmp(&expected.data[i * bytes], &actual.data[i * bytes],
                       bytes)) {
        if (comparison.worst == 0)
          comparison.tolerance = std::max(comparison.tolerance, tolerance);
        continue;
      }
      double error = difference(expected, actual, i);
      double ratio = error == 0      ? 0
                     : tolerance > 0 ? error / tolerance
                                     : INFINITY;
      if (ratio <= comparison.worst)
        continue;
      bool isFirst = comparison.worst <= 1;
      comparison.worst = ratio;
      comparison.error = error;
      comparison.tolerance = tolerance;
      if (ratio > 1 && isFirst) {
        char buffer[32];
        std::snprintf(buffer, sizeof(buffer), "%.3g", tolerance);
        comparison.message = describe(actual, i) + ": got " + print(actual, i) +
                             ", expected " + print(expected, i) + " within " +
                             buffer;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Files: a line of JSON, then the values and tolerances
//===----------------------------------------------------------------------===//

bool Reference::save(const std::string &path, std::string &error) const {
  Json header = Json::object(), list = Json::array();
  header.set("ansor_reference", 1);
  header.set("seed", int64_t(draw.seed));
  header.set("attempt", draw.attempt);
  header.set("exact", exact);
  header.set("seconds", seconds);
  header.set("note", note);
  for (const Output &output : outputs) {
    Json entry = Json::object(), shape = Json::array();
    entry.set("name", output.name);
    entry.set("type", output.type.print());
    for (int64_t size : output.shape)
      shape.push(size);
    entry.set("shape", shape);
    entry.set("bytes", int64_t(output.data.size()));
    list.push(entry);
  }
  header.set("outputs", list);
  std::string temporary = path + ".part";
  FILE *file = std::fopen(temporary.c_str(), "wb");
  if (!file) {
    error = "can't write " + temporary + ": " + std::strerror(errno);
    return false;
  }
  std::string line = header.dump() + "\n";
  bool good = std::fwrite(line.data(), 1, line.size(), file) == line.size();
  for (size_t o = 0; o < outputs.size(); ++o) {
    const auto &data = outputs[o].data;
    const auto &bounds = tolerances[o];
    good = good &&
           std::fwrite(data.data(), 1, data.size(), file) == data.size() &&
           std::fwrite(bounds.data(), sizeof(float), bounds.size(), file) ==
               bounds.size();
  }
  good = std::fclose(file) == 0 && good;
  if (!good || std::rename(temporary.c_str(), path.c_str()) != 0) {
    error = "can't write " + path + ": " + std::strerror(errno);
    std::remove(temporary.c_str());
    return false;
  }
  return true;
}

bool Reference::load(const std::string &path, Reference &reference,
                     std::string &error) {
  FILE *file = std::fopen(path.c_str(), "rb");
  if (!file) {
    error = "can't read " + path + ": " + std::strerror(errno);
    return false;
  }
  std::string line;
  for (int c;
       (c = std::fgetc(file)) != EOF && c != '\n' && line.size() < 1 << 20;)
    line += char(c);
  Json header;
  std::string reason;
  bool good = Json::parse(line, header, reason) &&
              header["ansor_reference"].asInt() == 1;
  if (!good)
    error = path + " is not a reference file";
  reference = Reference();
  reference.draw.seed = uint64_t(header["seed"].asInt());
  reference.draw.attempt = int(header["attempt"].asInt());
  reference.exact = header["exact"].asBool();
  reference.seconds = header["seconds"].asDouble();
  reference.note = header["note"].asString();
  for (const Json &entry : header["outputs"].elements()) {
    if (!good)
      break;
    Output output;
    output.name = entry["name"].asString();
    size_t components = 1;
    for (const Json &size : entry["shape"].elements()) {
      output.shape.push_back(size.asInt());
      components *= size_t(size.asInt());
    }
    ElementType &type = output.type;
    good = ElementType::parse(entry["type"].asString(), type) &&
           entry["bytes"].asInt() == int64_t(components * type.size());
    std::vector<float> bounds;
    if (good) {
      output.data.resize(components * type.size());
      bounds.resize(output.components());
      good = std::fread(output.data.data(), 1, output.data.size(), file) ==
                 output.data.size() &&
             std::fread(bounds.data(), sizeof(float), bounds.size(), file) ==
                 bounds.size();
    }
    if (!good)
      error = path + " is cut short or damaged";
    reference.outputs.push_back(std::move(output));
    reference.tolerances.push_back(std::move(bounds));
  }
  std::fclose(file);
  return good;
}
