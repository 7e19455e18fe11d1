//===- Common.cpp - What built-in rules share ------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What several built-in rules share.
//
//===----------------------------------------------------------------------===//

#include "../Rules.h"

using namespace mlir;
using namespace mlir::ansor;

void FuseWithConsumersRule::apply(const SketchContext &context,
                                  const SketchState &state, unsigned index,
                                  std::vector<Successor> &successors) const {
  SketchState next = state;
  (void)fuseWithConsumers(context, next, index);
  successors.emplace_back(std::move(next), static_cast<int>(index) - 1);
}

Nest mlir::ansor::makeTextNest(unsigned index, std::string text) {
  Step step;
  step.kind = Step::Kind::Text;
  step.stage = index;
  step.text = std::move(text);
  Nest nest;
  nest.root = index;
  nest.steps.push_back(std::move(step));
  return nest;
}
