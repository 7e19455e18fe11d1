//===- Measure.cpp - Error kinds --------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Measure/Measure.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::ansor;

static constexpr std::pair<ErrorKind, StringLiteral> kNames[] = {
    {ErrorKind::None, "none"},
    {ErrorKind::Illegal, "illegal"},
    {ErrorKind::Transform, "transform"},
    {ErrorKind::BuildTimeout, "build-timeout"},
    {ErrorKind::BuildCrash, "build-crash"},
    {ErrorKind::TooLarge, "too-large"},
    {ErrorKind::RunTimeout, "run-timeout"},
    {ErrorKind::RunCrash, "run-crash"},
    {ErrorKind::WrongResult, "wrong-result"},
    {ErrorKind::Device, "device"}};

StringRef ansor::stringify(ErrorKind kind) {
  return llvm::find_if(kNames, [&](auto &pair) { return pair.first == kind; })
      ->second;
}

std::optional<ErrorKind> ansor::parseErrorKind(StringRef text) {
  for (auto &[kind, name] : kNames)
    if (name == text)
      return kind;
  return std::nullopt;
}

Measurer::~Measurer() = default;

MeasureResult ansor::mergePasses(ArrayRef<MeasureResult> passes) {
  if (passes.size() == 1)
    return passes.front();
  MeasureResult merged = passes.front();
  merged.seconds.clear();
  merged.runSeconds = 0;
  for (const MeasureResult &pass : passes) {
    if (pass.error != ErrorKind::None)
      return pass;
    merged.seconds.push_back(pass.median);
    merged.maxError = std::max(merged.maxError, pass.maxError);
    merged.runSeconds += pass.runSeconds;
  }
  std::vector<double> sorted = merged.seconds;
  llvm::sort(sorted);
  size_t half = sorted.size() / 2;
  merged.median = sorted.size() % 2 ? sorted[half]
                                    : (sorted[half - 1] + sorted[half]) / 2;
  return merged;
}

std::vector<MeasureResult> Measurer::compare(ArrayRef<MeasureInput> inputs,
                                             unsigned passes) {
  std::vector<std::vector<MeasureResult>> ofInput(inputs.size());
  for (unsigned pass = 0; pass < passes; ++pass)
    for (auto [results, result] : llvm::zip_equal(ofInput, measure(inputs)))
      results.push_back(std::move(result));
  std::vector<MeasureResult> merged;
  for (ArrayRef<MeasureResult> results : ofInput)
    merged.push_back(mergePasses(results));
  return merged;
}
