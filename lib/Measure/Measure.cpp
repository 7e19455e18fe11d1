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
