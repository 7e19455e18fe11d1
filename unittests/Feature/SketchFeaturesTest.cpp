//===- SketchFeaturesTest.cpp - Features by arithmetic ----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Feature/SketchFeatures.h"
#include "ansor/InitAll.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {

constexpr llvm::StringLiteral kTask = R"(
func.func @copy(%in: tensor<60x36xf32>, %out: tensor<60x36xf32>) -> tensor<60x36xf32>
    attributes {ansor.task = "t"} {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%in : tensor<60x36xf32>) outs(%out : tensor<60x36xf32>) attrs = {ansor.stage = 0 : i64} {
    ^bb0(%a: f32, %b: f32):
      %c = math.exp %a : f32
      linalg.yield %c : f32
  } -> tensor<60x36xf32>
  return %0 : tensor<60x36xf32>
})";

class SketchFeaturesTest : public ::testing::Test {
protected:
  SketchFeaturesTest() {
    DialectRegistry registry;
    registerUpstream(registry);
    ansor::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    task = parseSourceString<ModuleOp>(kTask, &context);
  }

  /// Learns a script: two knobs of the rows' tiles, %a and %b, and `body`.
  SketchFeatures learn(StringRef body) {
    std::string text = R"(module attributes {transform.with_named_sequence} {
      transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
        %a = transform.tune.knob<"s0.d0.l0"> options = {kind = "tile", stage = 0 : i64,
          loop = 0 : i64, level = 0 : i64, levels = 2 : i64, extent = 60 : i64} -> !transform.param<i64>
        %b = transform.tune.knob<"s0.d0.l1"> options = {kind = "tile", stage = 0 : i64,
          loop = 0 : i64, level = 1 : i64, levels = 2 : i64, extent = 60 : i64} -> !transform.param<i64>
        %op = transform.structured.match attributes {ansor.stage = 0 : i64} in %m
          : (!transform.any_op) -> !transform.any_op
)" + body.str() + "\ntransform.yield\n}\n}";
    script = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(script);
    FailureOr<DesignSpace> made = DesignSpace::fromScript(*script);
    EXPECT_TRUE(succeeded(made));
    space = *made;
    return SketchFeatures::learn(*task, *script, space);
  }

  FeatureMatrix interpret(const Decisions &decisions) {
    EXPECT_TRUE(succeeded(applyDecisions(*script, space, decisions)));
    OwningOpRef<ModuleOp> payload(task->clone());
    std::string error;
    EXPECT_TRUE(succeeded(interpretScript(*payload, *script, error))) << error;
    FailureOr<NestDesc> nests = extractNests(*payload);
    EXPECT_TRUE(succeeded(nests));
    return computeFeatures(*nests);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> task, script;
  DesignSpace space;
};

constexpr llvm::StringLiteral kTile = R"(
  %t, %l = transform.structured.tile_using_for %op tile_sizes [%a, 0]
    : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
  %u, %k = transform.structured.tile_using_for %t tile_sizes [%b, 0]
    : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
)";

TEST_F(SketchFeaturesTest, EveryDecision) {
  SketchFeatures features = learn(kTile);
  EXPECT_TRUE(features.qualifies()) << features.getReason().str();
  unsigned count = 0;
  for (int64_t a = 1; a <= 60; ++a)
    for (int64_t b = 1; b <= a; ++b) {
      if (60 % a != 0 || a % b != 0)
        continue;
      Decisions decisions = {{a, b}};
      std::optional<NestDesc> nests = features.instantiate(decisions);
      ASSERT_TRUE(nests);
      EXPECT_EQ(computeFeatures(*nests).data, interpret(decisions).data)
          << a << " " << b;
      ++count;
    }
  EXPECT_EQ(count, 54u);
}

// A clean-up that drops loops of one trip changes the structure, not the
// features.
TEST_F(SketchFeaturesTest, Canonicalized) {
  SketchFeatures features = learn((kTile + R"(
    %f = transform.structured.match ops{["func.func"]} in %m
      : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %f {
      transform.apply_patterns.canonicalization
    } : !transform.any_op
  )").str());
  EXPECT_TRUE(features.qualifies()) << features.getReason().str();
  for (Decisions decisions : {Decisions{{60, 60}}, Decisions{{60, 1}},
                              Decisions{{1, 1}}, Decisions{{12, 12}}}) {
    std::optional<NestDesc> nests = features.instantiate(decisions);
    ASSERT_TRUE(nests);
    EXPECT_EQ(computeFeatures(*nests).data, interpret(decisions).data);
  }
}

TEST_F(SketchFeaturesTest, ChoicesQualifyOneByOne) {
  SketchFeatures features = learn((kTile + R"(
    transform.tune.alternatives<"side"> attributes {ansor.stage = 0 : i64} {
      transform.annotate %k "ansor.unroll" = %b : !transform.any_op, !transform.param<i64>
      transform.yield
    }, {
      %p = transform.get_parent_op %l {op_name = "scf.while"}
        : (!transform.any_op) -> !transform.any_op
      transform.yield
    }, {
      transform.annotate %l "ansor.parallel" : !transform.any_op
      transform.yield
    }
  )").str());
  EXPECT_FALSE(features.qualifies());
  EXPECT_TRUE(features.getReason().starts_with("the script fails on some "
                                               "decisions: "))
      << features.getReason().str();
  EXPECT_FALSE(features.instantiate({{12, 4}, {1}}));
  for (int64_t side : {0, 2}) {
    Decisions decisions = {{12, 4}, {side}};
    std::optional<NestDesc> nests = features.instantiate(decisions);
    ASSERT_TRUE(nests) << side;
    EXPECT_EQ(computeFeatures(*nests).data, interpret(decisions).data);
  }
}

// The knob cuts a loop of another extent than its domain says.
TEST_F(SketchFeaturesTest, UnknownExtent) {
  SketchFeatures features = learn(R"(
    %t, %l:2 = transform.structured.tile_using_for %op tile_sizes [%a, %b]
      : (!transform.any_op, !transform.param<i64>, !transform.param<i64>)
      -> (!transform.any_op, !transform.any_op, !transform.any_op)
  )");
  EXPECT_FALSE(features.qualifies());
  EXPECT_FALSE(features.instantiate({{12, 4}}));
  EXPECT_TRUE(features.getReason().ends_with(
      "is no known function of the decisions"))
      << features.getReason().str();
}

TEST_F(SketchFeaturesTest, KnobsWithoutEffect) {
  SketchFeatures features =
      learn("transform.annotate %op \"test.size\" = %a "
            ": !transform.any_op, !transform.param<i64>");
  EXPECT_TRUE(features.qualifies()) << features.getReason().str();
  EXPECT_TRUE(features.instantiate({{12, 4}}));
}

} // namespace
