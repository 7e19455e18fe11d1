//===- TaskTest.cpp - Tests of tasks ----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Task/Task.h"
#include "ansor/Task/Weights.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/InitAll.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {

class TaskTest : public ::testing::Test {
protected:
  TaskTest() {
    DialectRegistry registry;
    registerUpstream(registry);
    ansor::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, &context);
  }

  /// The tasks of the module `text`.
  SmallVector<Task> tasksOf(StringRef text) {
    OwningOpRef<ModuleOp> module = parse(text);
    EXPECT_TRUE(module);
    if (!module || failed(extractTasks(*module)))
      return {};
    return collectTasks(*module);
  }

  MLIRContext context;
};

/// A matmul of `m` x 16 by 16 x 8 that starts from `zero`, then a maximum.
std::string matmulRelu(int m, StringRef zero, StringRef name = "f",
                       StringRef attrs = "") {
  std::string shape = std::to_string(m) + "x8xf32>";
  std::string lhs = "tensor<" + std::to_string(m) + "x16xf32>";
  std::string out = "tensor<" + shape;
  return ("module" + attrs + " { func.func @" + name + "(%a: " + lhs +
          ", %b: tensor<16x8xf32>) -> " + out + " {\n" +
          "%z = arith.constant " + zero + " : f32\n" +
          "%e = tensor.empty() : " + out + "\n" +
          "%f = linalg.fill ins(%z : f32) outs(%e : " + out + ") -> " + out +
          "\n%m = linalg.matmul ins(%a, %b : " + lhs +
          ", tensor<16x8xf32>) outs(%f : " + out + ") -> " + out +
          "\n%r = linalg.max ins(%m, %f : " + out + ", " + out +
          ") outs(%e : " + out + ") -> " + out + "\nreturn %r : " + out +
          "\n} }")
      .str();
}

TEST_F(TaskTest, KeyIsVersionAndHash) {
  SmallVector<Task> tasks = tasksOf(matmulRelu(4, "0.0"));
  ASSERT_EQ(tasks.size(), 1u);
  StringRef key = tasks[0].key;
  std::string prefix = "a" + std::to_string(kTaskKeyVersion) + "-";
  ASSERT_TRUE(key.consume_front(prefix));
  EXPECT_EQ(key.size(), 16u);
  EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), StringRef::npos);
}

TEST_F(TaskTest, KeyIgnoresNames) {
  SmallVector<Task> one = tasksOf(matmulRelu(4, "0.0", "f"));
  SmallVector<Task> two = tasksOf(matmulRelu(4, "0.0", "g"));
  ASSERT_EQ(one.size(), 1u);
  ASSERT_EQ(two.size(), 1u);
  EXPECT_EQ(one[0].key, two[0].key);
}

TEST_F(TaskTest, KeySeesShapesAndConstants) {
  std::string base = tasksOf(matmulRelu(4, "0.0"))[0].key;
  EXPECT_NE(base, tasksOf(matmulRelu(5, "0.0"))[0].key);
  EXPECT_NE(base, tasksOf(matmulRelu(4, "1.0"))[0].key);
}

TEST_F(TaskTest, KeyOfExtractedFunctionIsStable) {
  OwningOpRef<ModuleOp> module = parse(matmulRelu(4, "0.0"));
  ASSERT_TRUE(succeeded(extractTasks(*module)));
  auto func = module->lookupSymbol<func::FuncOp>("task_0");
  ASSERT_TRUE(func);
  std::string key = func->getAttrOfType<StringAttr>(kTaskAttr).getValue().str();
  EXPECT_EQ(key, computeTaskKey(func));
  // Neither the name, nor the weight, nor attributes of arguments count.
  func.setName("other");
  func->setAttr(kWeightAttr, Builder(&context).getI64IntegerAttr(7));
  func.setArgAttr(0, "llvm.noalias", UnitAttr::get(&context));
  EXPECT_EQ(key, computeTaskKey(func));
}

TEST_F(TaskTest, BytesOfWeights) {
  // One weight of 512 bytes is read by two tasks, in two shapes; another one of
  // 64 by one; data counts nothing.
  OwningOpRef<ModuleOp> module = parse(R"(
    func.func @f(%x: tensor<4x16xf32>, %w: tensor<16x8xf32> {ansor.weight},
        %v: tensor<16xf32> {ansor.weight}, %y: tensor<128xf32>) -> (tensor<4x8xf32>, tensor<128xf32>, tensor<4x16xf32>) {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<4x8xf32>
      %e1 = tensor.empty() : tensor<128xf32>
      %e2 = tensor.empty() : tensor<4x16xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
      %m = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x8xf32>)
          outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
      %flat = tensor.collapse_shape %w [[0, 1]] : tensor<16x8xf32> into tensor<128xf32>
      %g = linalg.add ins(%flat, %y : tensor<128xf32>, tensor<128xf32>)
          outs(%e1 : tensor<128xf32>) -> tensor<128xf32>
      %b = linalg.broadcast ins(%v : tensor<16xf32>) outs(%e2 : tensor<4x16xf32>) dimensions = [0]
      %s = linalg.add ins(%x, %b : tensor<4x16xf32>, tensor<4x16xf32>)
          outs(%e2 : tensor<4x16xf32>) -> tensor<4x16xf32>
      return %m, %g, %s : tensor<4x8xf32>, tensor<128xf32>, tensor<4x16xf32>
    })");
  ASSERT_TRUE(module);
  ASSERT_TRUE(succeeded(extractTasks(*module)));
  EXPECT_EQ(countWeightBytes(*module), 512 + 64);
  EXPECT_TRUE(findTasksOfWeights(*module).empty());
  // A task alone is its own network.
  SmallVector<Task> tasks = collectTasks(*module);
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(countWeightBytes(*parse(tasks[0].module)), 512);
  EXPECT_EQ(countWeightBytes(*parse(matmulRelu(4, "0.0"))), 0);
}

TEST_F(TaskTest, TasksOfWeightsRunOnce) {
  // The sum of two weights is one; a product of it with itself, too; that with
  // data isn't, and it alone counts the bytes that it reads.
  OwningOpRef<ModuleOp> module = parse(R"(
    func.func @f(%x: tensor<8x8xf32>, %w: tensor<8x8xf32> {ansor.weight},
        %v: tensor<8x8xf32> {ansor.weight}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<8x8xf32>
      %s = linalg.add ins(%w, %v : tensor<8x8xf32>, tensor<8x8xf32>)
          outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
      %p = linalg.matmul ins(%s, %s : tensor<8x8xf32>, tensor<8x8xf32>)
          outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
      %m = linalg.matmul ins(%x, %p : tensor<8x8xf32>, tensor<8x8xf32>)
          outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
      return %m, %s : tensor<8x8xf32>, tensor<8x8xf32>
    })");
  ASSERT_TRUE(module);
  ASSERT_TRUE(succeeded(extractTasks(*module)));
  ASSERT_EQ(collectTasks(*module).size(), 3u);
  DenseSet<Operation *> once = findTasksOfWeights(*module);
  EXPECT_EQ(once.size(), 2u);
  for (Operation *task : once)
    EXPECT_TRUE(hasWeights(cast<func::FuncOp>(task)));
  EXPECT_EQ(countWeightBytes(*module), 8 * 8 * 4);
}

TEST_F(TaskTest, TextIsAModuleOfItsOwn) {
  SmallVector<Task> tasks = tasksOf(
      matmulRelu(4, "0.0", "f",
                 " attributes {llvm.target_triple = \"x86_64\", front.end}"));
  ASSERT_EQ(tasks.size(), 1u);
  OwningOpRef<ModuleOp> alone = parse(tasks[0].module);
  ASSERT_TRUE(alone);
  EXPECT_TRUE(succeeded(verify(*alone)));
  EXPECT_TRUE((*alone)->hasAttr("llvm.target_triple"));
  EXPECT_FALSE((*alone)->hasAttr("front.end"));
  auto func = alone->lookupSymbol<func::FuncOp>(tasks[0].name);
  ASSERT_TRUE(func);
  EXPECT_TRUE(func.isPublic());
  EXPECT_EQ(computeTaskKey(func), tasks[0].key);
  SmallVector<Task> again = collectTasks(*alone);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].key, tasks[0].key);
}

TEST_F(TaskTest, FlopsOfMatmul) {
  // 2 a point of the product, 1 a point of the maximum.
  SmallVector<Task> tasks = tasksOf(matmulRelu(4, "0.0"));
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].flops, 2.0 * 4 * 16 * 8 + 4 * 8);
}

TEST_F(TaskTest, FlopsBySort) {
  OwningOpRef<ModuleOp> module = parse(R"mlir(
    #id = affine_map<(i) -> (i)>
    func.func @f(%x: tensor<10xf32>, %k: tensor<10xi32>, %d: tensor<?xf32>,
                 %o: tensor<10xf32>, %p: tensor<?xf32>)
        -> (tensor<10xf32>, tensor<?xf32>) {
      %c = arith.constant 2.0 : f32
      %r = linalg.generic {indexing_maps = [#id, #id, #id],
                           iterator_types = ["parallel"]}
          ins(%x, %k : tensor<10xf32>, tensor<10xi32>)
          outs(%o : tensor<10xf32>) {
      ^bb0(%a: f32, %b: i32, %z: f32):
        // Not counted: addresses, conversions, selections, constants.
        %i = linalg.index 0 : index
        %j = arith.addi %i, %i : index
        %t = arith.index_cast %j : index to i32
        %u = arith.addi %b, %t : i32
        %v = arith.sitofp %u : i32 to f32
        %w = math.fma %a, %v, %c : f32
        %y = arith.cmpf ogt, %w, %c : f32
        %s = arith.select %y, %w, %c : f32
        %e = math.exp %s : f32
        linalg.yield %e : f32
      } -> tensor<10xf32>
      %q = linalg.generic {indexing_maps = [#id, #id],
                           iterator_types = ["parallel"]}
          ins(%d : tensor<?xf32>) outs(%p : tensor<?xf32>) {
      ^bb0(%a: f32, %z: f32):
        %n = arith.negf %a : f32
        linalg.yield %n : f32
      } -> tensor<?xf32>
      return %r, %q : tensor<10xf32>, tensor<?xf32>
    })mlir");
  ASSERT_TRUE(module);
  // addi, fma (2), cmpf, exp; a dynamic extent counts as 1.
  EXPECT_EQ(countFlops(*module->getOps<func::FuncOp>().begin()), 10 * 5 + 1);
}

TEST_F(TaskTest, WeightsAddUp) {
  OwningOpRef<ModuleOp> module = parse(R"mlir(
    func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %e = tensor.empty() : tensor<8x8xf32>
      %t = linalg.transpose ins(%x : tensor<8x8xf32>)
          outs(%e : tensor<8x8xf32>) permutation = [1, 0]
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %t)
          -> tensor<8x8xf32> {
        %u = linalg.transpose ins(%a : tensor<8x8xf32>)
            outs(%e : tensor<8x8xf32>) permutation = [1, 0]
        scf.yield %u : tensor<8x8xf32>
      }
      return %r : tensor<8x8xf32>
    })mlir");
  ASSERT_TRUE(module);
  ASSERT_TRUE(succeeded(extractTasks(*module)));
  SmallVector<Task> tasks = collectTasks(*module);
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].weight, 6);
}

} // namespace
