//===- LowerPack.h - Code that packs ----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_PIPELINES_LOWERPACK_H
#define ANSOR_LIB_PIPELINES_LOWERPACK_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::ansor {

/// Replaces a pack in panels (one inner tile, static shapes) by copies of
/// slices, panel by panel in parallel. A last panel that isn't full is padded
/// behind the loop: upstream's rewrite would copy the whole tensor for it.
/// Fails, changing nothing, for other packs.
LogicalResult lowerPanels(RewriterBase &rewriter, linalg::PackOp pack);

} // namespace mlir::ansor

#endif // ANSOR_LIB_PIPELINES_LOWERPACK_H
