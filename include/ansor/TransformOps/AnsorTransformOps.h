//===- AnsorTransformOps.h - Ops of the transform dialect -------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transform ops that upstream lacks. Exported schedules use them only where no
// upstream op serves.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_TRANSFORMOPS_ANSORTRANSFORMOPS_H
#define ANSOR_TRANSFORMOPS_ANSORTRANSFORMOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/PatternMatch.h"

#define GET_OP_CLASSES
#include "ansor/TransformOps/AnsorTransformOps.h.inc"

namespace mlir::ansor {

/// The patterns of `transform.apply_patterns.ansor.split_initial_values`.
void populateSplitInitialValuesPatterns(RewritePatternSet &patterns);

/// The patterns of `transform.apply_patterns.ansor.fold_pads`.
void populateFoldPadsPatterns(RewritePatternSet &patterns);

/// What `transform.ansor.pack_operand` does to one op; see there. If it can't,
/// nothing is changed, and `error` says why.
LogicalResult packOperand(RewriterBase &rewriter, linalg::LinalgOp op,
                          int64_t operand, int64_t loop, int64_t tile,
                          std::string &error);

/// How `transform.ansor.im2col` rewrites an op.
struct Im2colOptions {
  int64_t operand = 0; ///< the input that is read through windows
  int64_t group = 1;   ///< a row of windows is a multiple of it
  int64_t lane = -1;   ///< the loop that lies innermost in the buffer, or -1
};

/// The ops that `transform.ansor.im2col` makes of one.
struct Im2colOps {
  linalg::GenericOp product, copy;
};

/// What `transform.ansor.im2col` does to one op; see there. If it can't, nothing
/// is changed, and `error` says why.
FailureOr<Im2colOps> im2col(RewriterBase &rewriter, linalg::LinalgOp op,
                            const Im2colOptions &options, std::string &error);

/// Registers the extension of the transform dialect that holds the ops.
void registerTransformExtension(DialectRegistry &registry);

} // namespace mlir::ansor

#endif // ANSOR_TRANSFORMOPS_ANSORTRANSFORMOPS_H
