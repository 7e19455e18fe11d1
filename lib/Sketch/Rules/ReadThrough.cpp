//===- ReadThrough.cpp - Layouts that are not changed -----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage that only permutes the dimensions of a tensor, for users that no
// schedule made a copy for: they read the tensor as it is.
//
//===----------------------------------------------------------------------===//

#include "../Rules.h"
#include "ansor/IR/AnsorDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::ansor;

bool mlir::ansor::permutesOnly(const Stage &stage) {
  auto op = dyn_cast_or_null<linalg::GenericOp>(stage.op);
  return op && stage.structured && stage.elementwise && !stage.reduces &&
         stage.reads.size() == 1 && op.getNumDpsInputs() == 1 &&
         op->getNumResults() == 1 && stage.reads.front().map.isPermutation() &&
         llvm::hasSingleElement(*op.getBody()) &&
         op.getBody()->getTerminator()->getOperand(0) ==
             op.getBody()->getArgument(0);
}

namespace {
class ReadThroughRule : public SketchRule {
public:
  StringRef getName() const override { return "read-through"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    const Stage &stage = context.graph.getStage(index);
    if (!permutesOnly(stage) || stage.output || stage.consumers.empty() ||
        state.status[index] != StageStatus::Open)
      return Match::Skip;
    bool structured = llvm::all_of(stage.consumers, [&](unsigned consumer) {
      return context.graph.getStage(consumer).structured;
    });
    return structured ? Match::ApplyAndSkipRest : Match::Skip;
  }

  void apply(const SketchContext &context, const SketchState &state,
             unsigned index,
             std::vector<Successor> &successors) const override {
    SketchState next = state;
    next.addNest(makeTextNest(index, ("transform.annotate {op} \"" +
                                      kReadThroughAttr +
                                      "\" : !transform.any_op")
                                         .str()));
    successors.emplace_back(std::move(next), static_cast<int>(index) - 1);
  }
};
} // namespace

std::unique_ptr<SketchRule> mlir::ansor::createReadThroughRule() {
  return std::make_unique<ReadThroughRule>();
}
