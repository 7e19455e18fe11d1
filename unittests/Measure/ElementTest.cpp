//===- ElementTest.cpp - Element types --------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Runtime/Element.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace ansor::runtime;

static ElementType parse(const std::string &text) {
  ElementType type;
  EXPECT_TRUE(ElementType::parse(text, type)) << text;
  return type;
}

TEST(ElementTest, ParsesTypes) {
  EXPECT_EQ(parse("f16").bytes, 2u);
  EXPECT_EQ(parse("bf16").scalar, Scalar::BF16);
  EXPECT_EQ(parse("i1").scalar, Scalar::Bool);
  EXPECT_EQ(parse("i1").bytes, 1u);
  EXPECT_EQ(parse("index").bytes, 8u);
  EXPECT_EQ(parse("ui8").bytes, 1u);
  EXPECT_EQ(parse("i24").bytes, 4u);
  EXPECT_EQ(parse("complex<f32>").size(), 8u);
  for (const char *text :
       {"f16", "bf16", "f32", "f64", "i1", "i8", "i64", "complex<f64>"})
    EXPECT_EQ(parse(text).print(), text);
  ElementType type;
  for (const char *text :
       {"", "i", "i0", "i65", "i8x", "f8E4M3FN", "complex<i32>", "complex<"})
    EXPECT_FALSE(ElementType::parse(text, type)) << text;
}

TEST(ElementTest, HalfRoundTrips) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    float value = halfToFloat(uint16_t(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(value))));
    else
      ASSERT_EQ(floatToHalf(value), bits);
    float brain = bfloatToFloat(uint16_t(bits));
    if (!std::isnan(brain))
      ASSERT_EQ(floatToBfloat(brain), bits);
  }
}

TEST(ElementTest, HalfRoundsToNearestEven) {
  EXPECT_EQ(floatToHalf(1 + 0x1p-11f), 0x3c00); // a tie, down
  EXPECT_EQ(floatToHalf(1 + 0x3p-11f), 0x3c02); // a tie, up
  EXPECT_EQ(floatToHalf(1 + 0x1.1p-11f), 0x3c01);
  EXPECT_EQ(floatToHalf(65519), 0x7bff);
  EXPECT_EQ(floatToHalf(65520), 0x7c00);     // infinity
  EXPECT_EQ(floatToHalf(-0x1p-24f), 0x8001); // denormal
  EXPECT_EQ(floatToBfloat(1 + 0x1p-8f), 0x3f80);
  EXPECT_EQ(floatToBfloat(1 + 0x3p-8f), 0x3f82);
}

TEST(ElementTest, StochasticRoundingKeepsTheMean) {
  ElementType type = parse("bf16");
  double value = 1 + 0x1p-9, sum = 0; // a quarter of the way to the next
  for (int i = 0; i < 1000; ++i) {
    uint16_t stored;
    storeDouble(type, &stored, 0, value, (i + 0.5) / 1000);
    sum += loadDouble(type, &stored, 0);
  }
  EXPECT_NEAR(sum / 1000, value, 1e-5);
}

TEST(ElementTest, IntegersKeepTheirSign) {
  ElementType type = parse("i8");
  int8_t data[2];
  storeInt(type, data, 1, -5);
  EXPECT_EQ(loadInt(type, data, 1), -5);
  ElementType odd = parse("i24");
  int32_t word;
  storeInt(odd, &word, 0, -3);
  EXPECT_EQ(loadInt(odd, &word, 0), -3);
}
