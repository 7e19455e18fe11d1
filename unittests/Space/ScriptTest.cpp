//===- ScriptTest.cpp - Tests of decisions in scripts -----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceTestUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include <thread>

using namespace mlir;
using namespace mlir::ansor;

namespace {

/// Annotates the payload with the knob's value, and by one of two regions.
constexpr llvm::StringLiteral kBody = R"(
  transform.annotate %arg "test.size" = %t0_0_1
    : !transform.any_op, !transform.param<i64>
  transform.tune.alternatives<"side"> attributes {ansor.stage = 3 : i64} {
    transform.annotate %arg "test.left" : !transform.any_op
    transform.yield
  }, {
    transform.annotate %arg "test.right" : !transform.any_op
    transform.yield
  }
)";

std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os);
  return text;
}

TEST_F(SpaceTest, AlternativesAreChoices) {
  auto script = parseScript(tileKnobs(0, 0, 2, 12), "", kBody);
  ASSERT_TRUE(script);
  auto space = DesignSpace::fromScript(*script);
  ASSERT_TRUE(succeeded(space));
  ASSERT_EQ(space->getGroups().size(), 2u);
  EXPECT_EQ(space->getGroups()[1].name, "side");
  EXPECT_EQ(space->getGroups()[1].stage, 3);
  EXPECT_EQ(space->size(), 18.0 * 2.0);
}

TEST_F(SpaceTest, AppliedScriptsRunAgainAndAgain) {
  auto script = parseScript(tileKnobs(0, 0, 2, 12), "", kBody);
  ASSERT_TRUE(script);
  auto space = DesignSpace::fromScript(*script);
  ASSERT_TRUE(succeeded(space));
  for (int64_t side : {0, 1, 0}) {
    for (int64_t size : {1, 2, 6}) {
      ASSERT_TRUE(
          succeeded(applyDecisions(*script, *space, {{6, size}, {side}})));
      ASSERT_TRUE(succeeded(verify(*script)));
      OwningOpRef<ModuleOp> payload =
          ModuleOp::create(UnknownLoc::get(&context));
      std::string error;
      ASSERT_TRUE(succeeded(interpretScript(*payload, *script, error)))
          << error;
      EXPECT_EQ(payload->getOperation()
                    ->getAttrOfType<IntegerAttr>("test.size")
                    .getInt(),
                size);
      EXPECT_EQ(payload->getOperation()->hasAttr("test.left"), side == 0);
      EXPECT_EQ(payload->getOperation()->hasAttr("test.right"), side == 1);
    }
  }
}

TEST_F(SpaceTest, DecisionsMustFitTheScript) {
  auto script = parseScript(tileKnobs(0, 0, 2, 12), "", kBody);
  auto space = DesignSpace::fromScript(*script);
  ASSERT_TRUE(succeeded(space));
  EXPECT_TRUE(failed(applyDecisions(*script, *space, {{6, 1}})));
  EXPECT_EQ(diagnostics.back(), "expected decisions for 2 groups, got 1");
  EXPECT_TRUE(failed(applyDecisions(*script, *space, {{6}, {0}})));
  EXPECT_EQ(diagnostics.back(), "\"s0.d0\" takes 2 values, got 1");
  auto other = parseScript(tileKnobs(0, 1, 1, 12));
  auto otherSpace = DesignSpace::fromScript(*other);
  EXPECT_TRUE(failed(applyDecisions(*script, *otherSpace, {{6}})));
  EXPECT_EQ(diagnostics.back(), "the design space lacks the knob \"s0.d0.l0\"");
}

TEST_F(SpaceTest, BindingsFillAttributes) {
  // Any transform op with attributes serves.
  auto script =
      parseScript(tileKnobs(0, 0, 2, 12), "",
                  R"(transform.annotate %arg "x" {sizes = array<i64: 0, 0>,
           list = [0], one = 0 : i32, ansor.bind = {
           sizes = ["s0.d0.l1", 7 : i64], list = ["s0.d0.l0"],
           one = "s0.d0.l0"}} : !transform.any_op)");
  ASSERT_TRUE(script);
  auto space = DesignSpace::fromScript(*script);
  ASSERT_TRUE(succeeded(space));
  ASSERT_TRUE(succeeded(applyDecisions(*script, *space, {{6, 3}})));
  std::string text = print(*script);
  EXPECT_NE(text.find("sizes = array<i64: 3, 7>"), std::string::npos) << text;
  EXPECT_NE(text.find("list = [6]"), std::string::npos) << text;
  EXPECT_NE(text.find("one = 6 : i32"), std::string::npos) << text;
}

TEST_F(SpaceTest, UnknownKnobInBinding) {
  auto script = parseScript("", "",
                            R"(transform.annotate %arg "x" {one = 0 : i64,
                                 ansor.bind = {one = "s9"}} : !transform.any_op)");
  ASSERT_TRUE(script);
  auto space = DesignSpace::fromScript(*script);
  ASSERT_TRUE(succeeded(space));
  EXPECT_TRUE(failed(applyDecisions(*script, *space, {})));
  EXPECT_EQ(diagnostics.back(), "'ansor.bind' names the unknown knob \"s9\"");
}

TEST_F(SpaceTest, FoldingLeavesNothingOfOurs) {
  auto script = parseScript(tileKnobs(0, 0, 2, 12), "", kBody);
  auto space = DesignSpace::fromScript(*script);
  ASSERT_TRUE(succeeded(space));
  EXPECT_TRUE(failed(foldDecisions(*OwningOpRef<ModuleOp>(script->clone()))));
  EXPECT_EQ(diagnostics.back(),
            "knob \"s0.d0.l0\" is open: apply decisions before folding");
  ASSERT_TRUE(succeeded(applyDecisions(*script, *space, {{6, 3}, {1}})));
  ASSERT_TRUE(succeeded(foldDecisions(*script)));
  ASSERT_TRUE(succeeded(verify(*script)));
  std::string text = print(*script);
  EXPECT_EQ(text.find("ansor"), std::string::npos) << text;
  EXPECT_EQ(text.find("tune"), std::string::npos) << text;
  EXPECT_EQ(text.find("test.left"), std::string::npos) << text;
  EXPECT_NE(text.find("test.right"), std::string::npos) << text;
  EXPECT_NE(text.find("param.constant 3 : i64"), std::string::npos) << text;
  OwningOpRef<ModuleOp> payload = ModuleOp::create(UnknownLoc::get(&context));
  std::string error;
  EXPECT_TRUE(succeeded(interpretScript(*payload, *script, error))) << error;
}

TEST_F(SpaceTest, FoldingAlternativesByKnobWithResults) {
  auto script = parseScript(valueKnob("c", "choice", 0, "0, 1"), "", R"(
    %x = transform.param.constant 5 : i64 -> !transform.param<i64>
    %y = transform.tune.alternatives<"a"> selected_region = %c
        : !transform.param<i64> -> !transform.param<i64> {
      transform.yield %x : !transform.param<i64>
    }, {
      %z = transform.tune.alternatives<"inner"> -> !transform.param<i64> {
        transform.yield %x : !transform.param<i64>
      }, {
        %w = transform.param.constant 9 : i64 -> !transform.param<i64>
        transform.yield %w : !transform.param<i64>
      }
      transform.yield %z : !transform.param<i64>
    }
    transform.annotate %arg "test.size" = %y
      : !transform.any_op, !transform.param<i64>)");
  ASSERT_TRUE(script);
  auto space = DesignSpace::fromScript(*script);
  ASSERT_TRUE(succeeded(space));
  ASSERT_EQ(space->getGroups().size(), 2u); // "c" and "inner", not "a"
  ASSERT_TRUE(succeeded(applyDecisions(*script, *space, {{1}, {1}})));
  ASSERT_TRUE(succeeded(foldDecisions(*script)));
  ASSERT_TRUE(succeeded(verify(*script)));
  OwningOpRef<ModuleOp> payload = ModuleOp::create(UnknownLoc::get(&context));
  std::string error;
  ASSERT_TRUE(succeeded(interpretScript(*payload, *script, error))) << error;
  EXPECT_EQ(
      payload->getOperation()->getAttrOfType<IntegerAttr>("test.size").getInt(),
      9);
}

TEST_F(SpaceTest, InterpretationFailuresAreTold) {
  auto script = parseScript(tileKnobs(0, 0, 2, 12), "", kBody);
  OwningOpRef<ModuleOp> payload = ModuleOp::create(UnknownLoc::get(&context));
  std::string error;
  diagnostics.clear();
  EXPECT_TRUE(failed(interpretScript(*payload, *script, error)));
  EXPECT_NE(error.find("non-deterministic choice"), std::string::npos) << error;
  // Nothing reaches the context's own handler.
  EXPECT_TRUE(diagnostics.empty());
  OwningOpRef<ModuleOp> empty = ModuleOp::create(UnknownLoc::get(&context));
  EXPECT_TRUE(failed(interpretScript(*payload, *empty, error)));
  EXPECT_EQ(error, "the script has no named sequence '@__transform_main'");
}

TEST_F(SpaceTest, SpaceIsSharedByThreads) {
  auto space = makeSpace(tileKnobs(0, 0, 4, 5040) + tileKnobs(0, 1, 4, 512));
  ASSERT_TRUE(succeeded(space));
  std::vector<std::vector<Decisions>> results(2);
  std::vector<std::thread> threads;
  for (auto &result : results)
    threads.emplace_back([&space, &result] {
      RandomGenerator rng(1);
      for (int i = 0; i < 500; ++i)
        result.push_back(space->sample(rng));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(results[0], results[1]);
}

} // namespace
