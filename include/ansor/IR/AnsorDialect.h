//===- AnsorDialect.h - The ansor dialect -----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect of this project's discardable attributes, and their names.
// Everything is made of builtin attributes, so that printed IR parses in a
// stock mlir-opt; see AnsorDialect.td for the table of meanings.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_IR_ANSORDIALECT_H
#define ANSOR_IR_ANSORDIALECT_H

#include "mlir/IR/Dialect.h"

#include "ansor/IR/AnsorDialect.h.inc"

namespace mlir::ansor {

/// Key of a task, on its function: a string.
inline constexpr llvm::StringLiteral kTaskAttr = "ansor.task";
/// On a task's function, how often the network runs it: i64 >= 1. On an argument
/// of a function, that it is a weight: unit.
inline constexpr llvm::StringLiteral kWeightAttr = "ansor.weight";
/// On an op, that it depends on weights alone: unit. On a function, the two that it is
/// made of: its packing and what is left, an array of symbols.
inline constexpr llvm::StringLiteral kPrepackAttr = "ansor.prepack";
/// Index of a stage in its task, producers first: i64 >= 0.
inline constexpr llvm::StringLiteral kStageAttr = "ansor.stage";
/// Name of the sketch that a named sequence holds: a string.
inline constexpr llvm::StringLiteral kSketchAttr = "ansor.sketch";
/// The rules that made a sketch, in order: an array of strings.
inline constexpr llvm::StringLiteral kDerivationAttr = "ansor.derivation";
/// Constraints over the knobs of a sketch: an array of dictionaries.
inline constexpr llvm::StringLiteral kConstraintsAttr = "ansor.constraints";
/// A loop whose iterations may run in parallel: unit.
inline constexpr llvm::StringLiteral kParallelAttr = "ansor.parallel";
/// The largest number of body copies that unrolling may make: i64 >= 0.
inline constexpr llvm::StringLiteral kUnrollAttr = "ansor.unroll";
/// A tiled op that becomes vector code: unit.
inline constexpr llvm::StringLiteral kVectorizeAttr = "ansor.vectorize";
/// An op that only permutes dimensions, which its users do instead: unit.
inline constexpr llvm::StringLiteral kReadThroughAttr = "ansor.read_through";
/// Attribute operands of a transform op that are filled from knobs.
inline constexpr llvm::StringLiteral kBindAttr = "ansor.bind";

} // namespace mlir::ansor

#endif // ANSOR_IR_ANSORDIALECT_H
