//===- Element.cpp - Elements of measured arrays ----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Runtime/Element.h"
#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace ansor::runtime;

bool ElementType::parse(const std::string &text, ElementType &type) {
  if (text.compare(0, 8, "complex<") == 0 && text.back() == '>') {
    if (!parse(text.substr(8, text.size() - 9), type) || !type.isFloat())
      return false;
    type.complex = true;
    return true;
  }
  type.complex = false;
  auto set = [&](Scalar scalar, unsigned bytes) {
    type.scalar = scalar;
    type.bytes = bytes;
    type.bits = bytes * 8;
    return true;
  };
  if (text == "f16")
    return set(Scalar::F16, 2);
  if (text == "bf16")
    return set(Scalar::BF16, 2);
  if (text == "f32")
    return set(Scalar::F32, 4);
  if (text == "f64")
    return set(Scalar::F64, 8);
  if (text == "index")
    return set(Scalar::Int, 8);
  size_t start = text.compare(0, 2, "si") == 0 || text.compare(0, 2, "ui") == 0;
  if (text.size() < start + 2 || text[start] != 'i')
    return false;
  char *end;
  unsigned long bits = std::strtoul(text.c_str() + start + 1, &end, 10);
  if (*end || bits == 0 || bits > 64)
    return false;
  unsigned bytes = 1;
  while (bytes * 8 < bits)
    bytes *= 2;
  set(bits == 1 ? Scalar::Bool : Scalar::Int, bytes);
  type.bits = bits;
  return true;
}

std::string ElementType::print() const {
  static const char *const names[] = {"f16", "bf16", "f32", "f64"};
  std::string name =
      isFloat() ? names[int(scalar)] : "i" + std::to_string(bits);
  return complex ? "complex<" + name + ">" : name;
}

double ElementType::epsilon() const {
  switch (scalar) {
  case Scalar::F16:
    return std::ldexp(1.0, -11);
  case Scalar::BF16:
    return std::ldexp(1.0, -8);
  case Scalar::F32:
    return std::ldexp(1.0, -24);
  case Scalar::F64:
    return std::ldexp(1.0, -53);
  default:
    return 0;
  }
}

template <typename To, typename From> static To bitCast(From from) {
  To to;
  static_assert(sizeof(To) == sizeof(From), "same size");
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

float ansor::runtime::bfloatToFloat(uint16_t bits) {
  return bitCast<float>(uint32_t(bits) << 16);
}

uint16_t ansor::runtime::floatToBfloat(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  if (std::isnan(value))
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float ansor::runtime::halfToFloat(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float value;
  if (exponent == 31)
    value = mantissa ? NAN : INFINITY;
  else if (exponent == 0)
    value = std::ldexp(float(mantissa), -24);
  else
    value = std::ldexp(float(mantissa + 1024), exponent - 25);
  return bits & 0x8000 ? -value : value;
}

uint16_t ansor::runtime::floatToHalf(float value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return sign | 0x7e00;
  float magnitude = std::fabs(value);
  if (magnitude >= 65520)
    return sign | 0x7c00;
  if (magnitude < std::ldexp(1.0f, -14)) // denormal: a multiple of 2^-24
    return sign | uint16_t(std::nearbyint(std::ldexp(magnitude, 24)));
  int exponent;
  float fraction = std::frexp(magnitude, &exponent); // in [0.5, 1)
  // The rounding may carry into the exponent, as it should.
  return sign | uint16_t(((exponent + 13) << 10) +
                         int(std::nearbyint(std::ldexp(fraction, 11))));
}

double ansor::runtime::loadDouble(const ElementType &type, const void *data,
                                  size_t i) {
  const char *at = static_cast<const char *>(data) + i * type.bytes;
  uint16_t half;
  float single;
  double wide;
  switch (type.scalar) {
  case Scalar::F16:
    std::memcpy(&half, at, 2);
    return halfToFloat(half);
  case Scalar::BF16:
    std::memcpy(&half, at, 2);
    return bfloatToFloat(half);
  case Scalar::F32:
    std::memcpy(&single, at, 4);
    return single;
  case Scalar::F64:
    std::memcpy(&wide, at, 8);
    return wide;
  default:
    return double(loadInt(type, data, i));
  }
}

int64_t ansor::runtime::loadInt(const ElementType &type, const void *data,
                                size_t i) {
  const char *at = static_cast<const char *>(data) + i * type.bytes;
  uint64_t value = 0;
  std::memcpy(&value, at, type.bytes); // little endian, as every target here
  if (type.scalar == Scalar::Bool)
    return value & 1;
  unsigned shift = 64 - type.bits;
  return int64_t(value << shift) >> shift;
}

void ansor::runtime::storeInt(const ElementType &type, void *data, size_t i,
                              int64_t value) {
  char *at = static_cast<char *>(data) + i * type.bytes;
  if (type.scalar == Scalar::Bool)
    value &= 1;
  std::memcpy(at, &value, type.bytes);
}

/// Rounds `value` to a float with `drop` of its 52 fraction bits cut; up with a
/// probability proportional to what is cut off.
static double roundStochastically(double value, unsigned drop, double dice) {
  uint64_t bits = bitCast<uint64_t>(value);
  uint64_t unit = uint64_t(1) << drop, rest = bits & (unit - 1);
  bits -= rest;
  if (double(rest) > dice * double(unit))
    bits += unit;
  return bitCast<double>(bits);
}

void ansor::runtime::storeDouble(const ElementType &type, void *data, size_t i,
                                 double value, double dice) {
  char *at = static_cast<char *>(data) + i * type.bytes;
  uint16_t half;
  float single;
  switch (type.scalar) {
  case Scalar::F16:
    if (dice >= 0)
      value = roundStochastically(value, 42, dice);
    half = floatToHalf(float(value));
    std::memcpy(at, &half, 2);
    return;
  case Scalar::BF16:
    if (dice >= 0)
      value = roundStochastically(value, 45, dice);
    half = floatToBfloat(float(value));
    std::memcpy(at, &half, 2);
    return;
  case Scalar::F32:
    if (dice >= 0)
      value = roundStochastically(value, 29, dice);
    single = float(value);
    std::memcpy(at, &single, 4);
    return;
  case Scalar::F64:
    std::memcpy(at, &value, 8);
    return;
  default:
    storeInt(type, data, i, int64_t(std::llround(value)));
  }
}
