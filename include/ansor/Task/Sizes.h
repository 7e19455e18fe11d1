//===- Sizes.h - Dynamic extents fixed to given sizes -----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function whose arguments have dynamic extents is copied for given sizes,
// static in the copy, and becomes a dispatcher:
//
//   func.func @main(%x: tensor<?x300xf32>) -> tensor<?x10xf32> {
//     if the extents of %x are 32: cast, call @main_32, cast back
//     else if they are 128: …
//     else call @main_general, which has the old body
//   }
//
// The tasks of the copies are like any other: they have the keys of the same
// computation in a static module. What a size is for is written as
//
//   "?=32,128"          each extent is 32, or each is 128
//   "d0=1,8;?=64"       the first extent is 1 or 8, the others are 64
//
// where d0, d1, … are the dynamic extents of the arguments in order of
// appearance, those that have to be equal (by the maps of linalg ops) being
// one. With several lists each combination is a copy.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_TASK_SIZES_H
#define ANSOR_TASK_SIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir::ansor {

/// Module attribute (and that of a library): the sizes, as above.
inline constexpr StringLiteral kDynamicSizesAttr = "ansor.dynamic_sizes";

/// The dynamic extents of the tensor arguments of a function.
struct DynamicExtent {
  /// Argument and dimension of each place where it occurs.
  SmallVector<std::pair<unsigned, unsigned>> places;
};

/// The extents of `func` in order of appearance.
SmallVector<DynamicExtent> findDynamicExtents(func::FuncOp func);

/// Makes dispatchers of the public functions of `module`, which has no tasks
/// yet, and notes `sizes` on it. Emits and fails if `sizes` can't be read or
/// names an extent that no function has, with the module unchanged. `count` is
/// the number of copies.
LogicalResult specializeSizes(ModuleOp module, StringRef sizes,
                              unsigned *count = nullptr);

/// The sizes that `module` asks for by its attribute, or "".
StringRef getDynamicSizes(ModuleOp module);

/// True if an argument of `func` has a dynamic extent.
bool hasDynamicArguments(func::FuncOp func);

/// True if that holds for a public function with a body.
bool hasDynamicFunctions(ModuleOp module);

} // namespace mlir::ansor

#endif // ANSOR_TASK_SIZES_H
