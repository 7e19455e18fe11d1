//===- Emitter.h - Sketches as transform scripts ----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_SKETCH_EMITTER_H
#define ANSOR_LIB_SKETCH_EMITTER_H

#include "ansor/Sketch/SketchRule.h"

namespace mlir::ansor {

/// Prints a complete state as the script of sketch `name`.
std::string emitScript(const SketchContext &context, const SketchState &state,
                       StringRef name);

} // namespace mlir::ansor

#endif // ANSOR_LIB_SKETCH_EMITTER_H
