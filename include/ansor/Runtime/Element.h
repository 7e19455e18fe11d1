//===- Element.h - Elements of measured arrays ------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The element types that a measured program may take and give, and their
// conversion from and to double, without compiler support for small floats.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_RUNTIME_ELEMENT_H
#define ANSOR_RUNTIME_ELEMENT_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace ansor::runtime {

enum class Scalar { F16, BF16, F32, F64, Bool, Int };

struct ElementType {
  Scalar scalar = Scalar::F32;
  unsigned bytes = 4;   ///< of one component, in memory
  unsigned bits = 32;   ///< of an integer's value
  bool complex = false; ///< two components

  /// The MLIR type that parse() reads.
  std::string print() const;
  /// Parses an MLIR type: f16, bf16, f32, f64, i1, i8, …, index, complex<f32>.
  static bool parse(const std::string &text, ElementType &type);

  bool isFloat() const {
    return scalar != Scalar::Bool && scalar != Scalar::Int;
  }
  unsigned components() const { return complex ? 2 : 1; }
  size_t size() const { return size_t(bytes) * components(); }
  /// Unit roundoff of a floating point type; 0 for an integer.
  double epsilon() const;
};

/// Component `i` of the array at `data`.
double loadDouble(const ElementType &type, const void *data, size_t i);
int64_t loadInt(const ElementType &type, const void *data, size_t i);
/// Rounds to nearest, or, with `dice` in [0, 1), stochastically: up with the
/// probability that keeps the expected value.
void storeDouble(const ElementType &type, void *data, size_t i, double value,
                 double dice = -1);
void storeInt(const ElementType &type, void *data, size_t i, int64_t value);

float halfToFloat(uint16_t bits);
uint16_t floatToHalf(float value);
float bfloatToFloat(uint16_t bits);
uint16_t floatToBfloat(float value);

} // namespace ansor::runtime

#endif // ANSOR_RUNTIME_ELEMENT_H
