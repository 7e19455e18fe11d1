//===- InputsTest.cpp - Arguments -------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Runtime/Inputs.h"
#include "gtest/gtest.h"
#include <cmath>
#include <set>

using namespace ansor::runtime;

static Json json(const std::string &text) {
  Json value;
  std::string error;
  EXPECT_TRUE(Json::parse(text, value, error)) << error;
  return value;
}

static Manifest parse(const std::string &text, const Json &shapes = Json()) {
  Manifest manifest;
  std::string error;
  EXPECT_TRUE(Manifest::parse(json(text), 3, shapes, manifest, error)) << error;
  return manifest;
}

static std::string parseError(const std::string &text,
                              const Json &shapes = Json()) {
  Manifest manifest;
  std::string error;
  EXPECT_FALSE(Manifest::parse(json(text), 3, shapes, manifest, error));
  return error;
}

static std::string oneArgument(const std::string &type,
                               const std::string &shape,
                               const std::string &check = "{}") {
  return "{\"entry\": \"f\", \"args\": [{\"kind\": \"memref\", \"type\": \"" +
         type + "\", \"shape\": " + shape + "}], \"check\": " + check + "}";
}

TEST(ManifestTest, FillsDynamicSizes) {
  EXPECT_EQ(parse(oneArgument("f32", "[-1, 4]")).args[0].shape,
            (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(
      parse(oneArgument("f32", "[-1, 4]"), json("[[7, 4]]")).args[0].elements(),
      28);
  EXPECT_EQ(parse(oneArgument("f32", "[]")).args[0].elements(), 1);
  EXPECT_EQ(parse(oneArgument("f32", "[0, 5]")).args[0].bytes(), 0u);
}

TEST(ManifestTest, KnowsWeights) {
  Manifest manifest = parse(
      R"({"entry": "f", "args": [{"kind": "memref", "type": "f32", "shape": [4],
          "weight": true}, {"kind": "memref", "type": "f32", "shape": [4]},
          {"kind": "scalar", "type": "f32", "weight": true}]})");
  EXPECT_TRUE(manifest.args[0].isWeight);
  EXPECT_FALSE(manifest.args[1].isWeight);
  EXPECT_FALSE(manifest.args[2].isWeight); // scalars have no place
}

TEST(ManifestTest, SaysWhatIsWrong) {
  EXPECT_EQ(parseError("{}"), "manifest: expected \"entry\" and \"args\"");
  EXPECT_EQ(parseError(oneArgument("f8E4M3FN", "[1]")),
            "argument 0: element type 'f8E4M3FN' can't be measured");
  EXPECT_EQ(parseError(oneArgument("f32", "[-1, 4]"), json("[[7, 5]]")),
            "argument 0: size 5 does not fit dimension 1");
  EXPECT_EQ(parseError(oneArgument("f32", "[-1, 4]"), json("[[7]]")),
            "argument 0: expected 2 sizes, got 1");
  EXPECT_EQ(parseError("{\"entry\": \"f\", \"args\": [], \"inits\": 1}"),
            "manifest: more \"inits\" than \"args\"");
}

static std::vector<float> draw(const Manifest &manifest, Draw how) {
  std::vector<float> data(size_t(manifest.args[0].elements()));
  fillArgument(manifest, 0, how, data.data());
  return data;
}

TEST(InputsTest, AreAFunctionOfTheSeed) {
  Manifest manifest = parse(oneArgument("f32", "[100, 10]"));
  Draw how;
  how.seed = 3;
  EXPECT_EQ(draw(manifest, how), draw(manifest, how));
  Draw other = how;
  other.seed = 4;
  EXPECT_NE(draw(manifest, how), draw(manifest, other));
}

TEST(InputsTest, FirstDrawHasBothSignsAndZeros) {
  Manifest manifest = parse(oneArgument("f32", "[1000]"));
  int zeros = 0, negative = 0, positive = 0;
  for (float value : draw(manifest, Draw())) {
    zeros += value == 0;
    negative += value < 0;
    positive += value > 0;
    EXPECT_LE(std::fabs(value), 1);
  }
  EXPECT_GT(zeros, 20);
  EXPECT_GT(negative, 300);
  EXPECT_GT(positive, 300);
}

TEST(InputsTest, GridValuesAreMultiples) {
  Manifest manifest = parse(oneArgument("f32", "[1000]", "{\"grid_bits\": 3}"));
  std::set<float> seen;
  for (float value : draw(manifest, Draw())) {
    EXPECT_EQ(value * 8, std::floor(value * 8));
    EXPECT_LE(std::fabs(value), 1);
    seen.insert(value);
  }
  EXPECT_EQ(seen.size(), 17u);
}

TEST(InputsTest, LaterDrawsOfVectorsArePositive) {
  Manifest manifest = parse(oneArgument("f32", "[1000]"));
  Draw how;
  how.attempt = 1;
  for (float value : draw(manifest, how))
    EXPECT_GT(value, 0);
}

TEST(InputsTest, IntegersStayInTheIndexedSize) {
  Manifest manifest =
      parse(oneArgument("i32", "[1000]", "{\"index_bound\": 5}"));
  std::vector<int32_t> data(1000);
  fillArgument(manifest, 0, Draw(), data.data());
  std::set<int32_t> seen(data.begin(), data.end());
  EXPECT_EQ(seen, (std::set<int32_t>{0, 1, 2, 3, 4}));
}

TEST(InputsTest, IntegersAreSignedWhereNothingIsIndexed) {
  Manifest manifest = parse(oneArgument("i8", "[1000]"));
  std::vector<int8_t> data(1000);
  fillArgument(manifest, 0, Draw(), data.data());
  EXPECT_EQ(*std::min_element(data.begin(), data.end()), -8);
  EXPECT_EQ(*std::max_element(data.begin(), data.end()), 7);
}

TEST(InputsTest, MovesAreSmallAndRelative) {
  Manifest manifest = parse(oneArgument("f32", "[1000]"));
  Draw how;
  std::vector<float> base = draw(manifest, how);
  for (Draw::Move move :
       {Draw::Move::Random, Draw::Move::Magnitude, Draw::Move::Relative}) {
    how.move = move;
    how.delta = 1e-4;
    std::vector<float> moved = draw(manifest, how);
    EXPECT_NE(base, moved);
    for (size_t i = 0; i < base.size(); ++i)
      EXPECT_LE(std::fabs(moved[i] - base[i]), 1.1e-4 * std::fabs(base[i]));
  }
}

TEST(BufferTest, SeesWritesBehindTheEnd) {
  Buffer buffer(10);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
  EXPECT_TRUE(buffer.guardIsIntact());
  buffer.data()[10] = 1;
  EXPECT_FALSE(buffer.guardIsIntact());
}
