//===- SketchTest.cpp - Tests of the derivation of sketches -----*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/InitAll.h"
#include "ansor/Sketch/Sketch.h"
#include "ansor/Sketch/SketchRule.h"
#include "ansor/Sketch/TaskGraph.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {
constexpr const char *kTask = R"mlir(
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @task(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %o: tensor<48x64xf32>)
    -> tensor<48x64xf32> attributes {ansor.task = "a1-unit"} {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%z : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>) outs(%f : tensor<64x48xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<64x48xf32>
  %r = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<64x48xf32>) outs(%o : tensor<48x64xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%x: f32, %s: f32):
    %q = math.exp %x : f32
    linalg.yield %q : f32
  } -> tensor<48x64xf32>
  return %r : tensor<48x64xf32>
}
)mlir";

class SketchTest : public ::testing::Test {
protected:
  SketchTest() {
    DialectRegistry registry;
    registerUpstream(registry);
    ansor::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    module = parseSourceString<ModuleOp>(kTask, &context);
    target.vectorBits = 512;
    target.vectorRegisters = 32;
  }
  func::FuncOp task() { return *module->getOps<func::FuncOp>().begin(); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  TargetInfo target;
};

TEST_F(SketchTest, OnlySoManySketches) {
  std::string remark;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diag) { remark += diag.str(); });
  SketchOptions options;
  FailureOr<SmallVector<Sketch>> all =
      generateSketches(task(), target, options);
  ASSERT_TRUE(succeeded(all));
  ASSERT_GT(all->size(), 2u);
  EXPECT_EQ(remark, "");
  options.maxSketches = 2;
  FailureOr<SmallVector<Sketch>> some =
      generateSketches(task(), target, options);
  ASSERT_TRUE(succeeded(some));
  ASSERT_EQ(some->size(), 2u);
  EXPECT_EQ(remark, "only the first 2 sketches are kept");
  // The same ones, in the same order.
  for (unsigned i = 0; i < 2; ++i)
    EXPECT_EQ((*some)[i].script, (*all)[i].script);
}

TEST_F(SketchTest, TaskGraph) {
  TaskGraph graph(task());
  ASSERT_EQ(graph.size(), 3u);
  EXPECT_EQ(graph.getKey(), "a1-unit");
  EXPECT_TRUE(graph.getStage(0).initializer);
  const Stage &anchor = graph.getStage(1);
  EXPECT_TRUE(anchor.needsTiling);
  EXPECT_TRUE(anchor.reorderable);
  EXPECT_EQ(anchor.contiguousLoop(), 1);
  EXPECT_EQ(anchor.producers, SmallVector<unsigned>({0}));
  EXPECT_FALSE(anchor.output);
  EXPECT_FALSE(graph.getStage(2).inlinable); // exp
  EXPECT_TRUE(graph.getStage(2).output);
  // The consumer transposes: its loops follow the anchor's crosswise.
  auto consumer = graph.matchedConsumer(1);
  ASSERT_TRUE(consumer.has_value());
  EXPECT_EQ(consumer->stage, 2u);
  EXPECT_EQ(consumer->anchorLoop, SmallVector<unsigned>({1, 0}));
  EXPECT_FALSE(graph.matchedConsumer(2).has_value());
}

TEST_F(SketchTest, ScriptsParse) {
  for (SpaceKind space : {SpaceKind::Full, SpaceKind::Ansor}) {
    SketchOptions options;
    options.space = space;
    auto sketches = generateSketches(task(), target, options);
    ASSERT_TRUE(succeeded(sketches));
    EXPECT_GE(sketches->size(), 2u); // the consumer at both levels
    for (const Sketch &sketch : *sketches)
      EXPECT_TRUE(parseSourceString<ModuleOp>(sketch.script, &context));
  }
}

TEST_F(SketchTest, MaxSketches) {
  SketchOptions options;
  options.maxSketches = 1;
  auto sketches = generateSketches(task(), target, options);
  ASSERT_TRUE(succeeded(sketches));
  EXPECT_EQ(sketches->size(), 1u);
}

/// A user's rule: the last stage in rows of four, and nothing else.
class FourRows : public SketchRule {
public:
  StringRef getName() const override { return "four-rows"; }
  Match match(const SketchContext &context, const SketchState &state,
              unsigned stage) const override {
    return stage == 2 ? Match::ApplyAndSkipRest : Match::Skip;
  }
  void apply(const SketchContext &context, const SketchState &state,
             unsigned stage,
             std::vector<Successor> &successors) const override {
    SketchState next = state;
    KnobDomain domain;
    domain.kind = KnobKind::Unroll;
    domain.stage = 2;
    domain.values = {1, 2};
    Nest nest;
    nest.root = stage;
    Step step;
    step.kind = Step::Kind::FuseForall;
    step.stage = stage;
    step.sizes = {TileSize(4), TileSize(0)};
    step.unroll = next.addKnob("s2.mine", domain).knob;
    nest.steps.push_back(step);
    NestMember member;
    member.stage = stage;
    member.scope = 0;
    member.tile = {TileSize(4), TileSize(0)};
    nest.members.push_back(member);
    next.addNest(std::move(nest));
    successors.emplace_back(std::move(next), -1);
  }
};

TEST_F(SketchTest, UserRulesComeFirst) {
  registerSketchRule([] { return std::make_unique<FourRows>(); });
  auto sketches = generateSketches(task(), target);
  ASSERT_TRUE(succeeded(sketches));
  ASSERT_EQ(sketches->size(), 1u);
  EXPECT_EQ((*sketches)[0].derivation,
            SmallVector<std::string>({"four-rows(s2)"}));
  EXPECT_NE((*sketches)[0].script.find("tile_sizes [4, 0] {use_forall}"),
            std::string::npos);
}
} // namespace
