//===- JsonTest.cpp - The runner's JSON -------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Runtime/Json.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace ansor::runtime;

static Json parse(const std::string &text) {
  Json value;
  std::string error;
  EXPECT_TRUE(Json::parse(text, value, error)) << text << ": " << error;
  return value;
}

static std::string parseError(const std::string &text) {
  Json value;
  std::string error;
  EXPECT_FALSE(Json::parse(text, value, error)) << text;
  return error;
}

TEST(JsonTest, ReadsEveryKind) {
  Json value =
      parse(" {\"a\": [1, -2.5e1, true, null], \"b\": {\"c\": \"d\"}} ");
  const auto &list = value["a"].elements();
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0].asInt(), 1);
  EXPECT_EQ(list[1].asDouble(), -25);
  EXPECT_TRUE(list[2].asBool());
  EXPECT_TRUE(list[3].isNull());
  EXPECT_EQ(value["b"]["c"].asString(), "d");
  EXPECT_TRUE(value["missing"].isNull());
  EXPECT_EQ(value["missing"].asInt(7), 7);
}

TEST(JsonTest, KeepsLargeIntegers) {
  EXPECT_EQ(parse("9007199254740993").asInt(), 9007199254740993);
  EXPECT_EQ(uint64_t(parse("18446744073709551615").asInt()), ~uint64_t(0));
  EXPECT_EQ(parse("1e3").asInt(), 1000);
}

TEST(JsonTest, ReadsEscapes) {
  EXPECT_EQ(parse("\"a\\n\\\"\\\\\\/\\u0041\\u00e9\"").asString(),
            "a\n\"\\/A\xc3\xa9");
  EXPECT_EQ(parse("\"\\ud83d\\ude00\"").asString(), "\xf0\x9f\x98\x80");
}

TEST(JsonTest, PrintsWhatItReads) {
  std::string text = "{\"a\": [1, 0.5, true, null], \"b\\n\": \"\\u0001\"}";
  EXPECT_EQ(parse(parse(text).dump()).dump(), parse(text).dump());
  EXPECT_EQ(parse(text)["a"].dump(), "[1, 0.5, true, null]");
}

TEST(JsonTest, WritesNullForWhatJsonCantHold) {
  EXPECT_EQ(Json(double(NAN)).dump(), "null");
  EXPECT_EQ(Json(double(INFINITY)).dump(), "null");
}

TEST(JsonTest, RejectsBadInput) {
  EXPECT_EQ(parseError(""), "expected a value at byte 0");
  EXPECT_EQ(parseError("{\"a\" 1}"), "expected ':' at byte 5");
  EXPECT_EQ(parseError("{\"a\": 1,}"), "expected a member's name at byte 8");
  EXPECT_EQ(parseError("[1, 2"), "expected ',' or ']' at byte 5");
  EXPECT_EQ(parseError("[1] 2"), "expected the end of the input at byte 4");
  EXPECT_EQ(parseError("\"abc"), "unterminated string at byte 4");
  EXPECT_EQ(parseError("\"\\x\""), "unknown escape at byte 3");
  EXPECT_EQ(parseError("\"\\u12g4\""),
            "expected four hexadecimal digits at byte 5");
  EXPECT_EQ(parseError("\"a\nb\""), "control character in a string at byte 2");
  EXPECT_EQ(parseError("1."), "expected digits at byte 2");
  EXPECT_EQ(parseError("-"), "expected a value at byte 1");
  EXPECT_EQ(parseError("nul"), "expected a value at byte 0");
  EXPECT_EQ(parseError(std::string("1\0", 2)),
            "expected the end of the input at byte 1");
}

TEST(JsonTest, BoundsNesting) {
  EXPECT_EQ(parseError(std::string(100000, '[')),
            "nested too deeply at byte 65");
}
