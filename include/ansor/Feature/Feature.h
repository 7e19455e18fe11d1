//===- Feature.h - Features of scheduled programs ---------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns scheduled IR into the cost model's input: a row of 164 numbers for
// each statement (Ansor's per-store features: OSDI 2020, section 5.2 and
// appendix), each documented in docs/Features.md.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_FEATURE_FEATURE_H
#define ANSOR_FEATURE_FEATURE_H

#include "ansor/Feature/NestDesc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace mlir::ansor {

/// Version of the feature set; stored with every trained model.
inline constexpr int kFeatureVersion = 1;
/// Columns of a row.
inline constexpr unsigned kNumFeatures = 164;

/// Rows of one program, row-major: rows() x kNumFeatures.
struct FeatureMatrix {
  std::vector<float> data;
  unsigned rows() const { return data.size() / kNumFeatures; }
};

/// Describes the scheduled, tensor-level body of `func`. Ops that the results
/// don't need are skipped, so no dead code elimination is needed before.
/// Dynamic extents count as 1, or as their constant bound (the full tile, for
/// tiles at a boundary). Fails, without a diagnostic, on a function that has
/// no body or several blocks.
FailureOr<NestDesc> extractNests(func::FuncOp func);

/// The same for the first function with `ansor.task` in `module`, or, if none
/// has it, the first function with a body. Fails if there is no such function.
FailureOr<NestDesc> extractNests(ModuleOp module);

/// The features of `program`, one row a statement.
FeatureMatrix computeFeatures(const NestDesc &program, int64_t cacheLine = 64);

/// Names of the columns, in order.
ArrayRef<StringRef> getFeatureNames();

} // namespace mlir::ansor

#endif // ANSOR_FEATURE_FEATURE_H
