//===- CheckAnalysisTest.cpp - What the check knows -------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/InitAll.h"
#include "ansor/Measure/Builder.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace mlir::ansor;

namespace {
class CheckAnalysisTest : public testing::Test {
protected:
  CheckAnalysisTest() : context(makeRegistry()) {}

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerUpstream(registry);
    ansor::registerAllDialects(registry);
    return registry;
  }

  llvm::json::Object check(StringRef text) {
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(module);
    std::string error;
    func::FuncOp func = findEntry(*module, "", error);
    EXPECT_TRUE(func) << error;
    llvm::json::Value manifest = describeForMeasuring(func);
    return std::move(*manifest.getAsObject()->getObject("check"));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

/// A matmul of a type, with K terms and an epilogue on %m.
static std::string matmul(const std::string &type, const std::string &k,
                          const std::string &epilogue = "") {
  std::string t = "x" + type + ">";
  return "func.func @f(%a: tensor<8x" + k + t + ", %b: tensor<" + k + "x8" + t +
         ") -> tensor<8x8" + t +
         " {\n"
         "  %z = arith.constant 0.0 : " +
         type +
         "\n"
         "  %e = tensor.empty() : tensor<8x8" +
         t +
         "\n"
         "  %i = linalg.fill ins(%z : " +
         type + ") outs(%e : tensor<8x8" + t + ") -> tensor<8x8" + t +
         "\n"
         "  %m = linalg.matmul ins(%a, %b : tensor<8x" +
         k + t + ", tensor<" + k + "x8" + t + ") outs(%i : tensor<8x8" + t +
         ") -> tensor<8x8" + t + "\n" +
         (epilogue.empty() ? "  %r = tensor.cast %m : tensor<8x8" + t +
                                 " to tensor<8x8" + t + "\n"
                           : epilogue) +
         "  return %r : tensor<8x8" + t + "\n}\n";
}

static std::string elementwise(const std::string &body) {
  return "  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, "
         "j)>, "
         "affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", "
         "\"parallel\"]} ins(%m : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) "
         "{\n  ^bb0(%x: f32, %o: f32):\n" +
         body + "    linalg.yield %y : f32\n  } -> tensor<8x8xf32>\n";
}

TEST_F(CheckAnalysisTest, SumsOfProductsAreExactOnAGrid) {
  llvm::json::Object spec = check(matmul("f32", "512"));
  EXPECT_EQ(spec.getInteger("grid_bits"), 3);
  EXPECT_EQ(spec.getNumber("accumulator"), 0x1p-24);
  EXPECT_GE(*spec.getNumber("terms"), 512);
  EXPECT_LE(*spec.getNumber("terms"), 600);
}

TEST_F(CheckAnalysisTest, ShortMantissasNeedACoarseGrid) {
  EXPECT_EQ(check(matmul("bf16", "64")).getInteger("grid_bits"), 1);
  EXPECT_EQ(check(matmul("bf16", "1024")).getInteger("grid_bits"), 0);
  EXPECT_EQ(check(matmul("bf16", "100000")).getInteger("grid_bits"), -1);
}

TEST_F(CheckAnalysisTest, NarrowingKeepsAGridThatFits) {
  std::string narrow = elementwise("    %h = arith.truncf %x : f32 to f16\n"
                                   "    %y = arith.extf %h : f16 to f32\n");
  EXPECT_EQ(check(matmul("f32", "512", narrow)).getInteger("grid_bits"), 2);
  EXPECT_EQ(check(matmul("f32", "8192", narrow)).getInteger("grid_bits"), 1);
}

TEST_F(CheckAnalysisTest, ReluIsExactAndExpIsNot) {
  EXPECT_EQ(check(matmul("f32", "64",
                         elementwise("    %y = arith.maximumf %x, %z : f32\n")))
                .getInteger("grid_bits"),
            3);
  llvm::json::Object spec =
      check(matmul("f32", "64", elementwise("    %y = math.exp %x : f32\n")));
  EXPECT_EQ(spec.getInteger("grid_bits"), -1);
  EXPECT_GT(*spec.getNumber("terms"), 256);
  EXPECT_EQ(check(matmul("f32", "64",
                         elementwise("    %c = arith.constant 0.1 : f32\n"
                                     "    %y = arith.mulf %x, %c : f32\n")))
                .getInteger("grid_bits"),
            -1);
  EXPECT_EQ(check(matmul("f32", "64",
                         elementwise("    %c = arith.constant 0.25 : f32\n"
                                     "    %y = arith.mulf %x, %c : f32\n")))
                .getInteger("grid_bits"),
            3);
}

TEST_F(CheckAnalysisTest, SquaresDoNotCancel) {
  // One tensor by two maps: the diagonal sums squares, up to all 262144 of
  // them, which need 18 bits before the fraction.
  std::string text =
      "func.func @f(%a: tensor<4x262144xf32>, %c: tensor<4x4xf32>) -> "
      "tensor<4x4xf32> {\n"
      "  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, "
      "k)>, "
      "affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], "
      "iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} ins(%a, "
      "%a "
      ": tensor<4x262144xf32>, tensor<4x262144xf32>) outs(%c : "
      "tensor<4x4xf32>) "
      "{\n  ^bb0(%x: f32, %y: f32, %o: f32):\n"
      "    %p = arith.mulf %x, %y : f32\n    %s = arith.addf %o, %p : f32\n"
      "    linalg.yield %s : f32\n  } -> tensor<4x4xf32>\n"
      "  return %r : tensor<4x4xf32>\n}\n";
  EXPECT_EQ(check(text).getInteger("grid_bits"), 2);
}

TEST_F(CheckAnalysisTest, InitsThatAreReadStayExact) {
  EXPECT_EQ(
      check("func.func @f(%a: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> "
            "tensor<8x8xf32> {\n"
            "  %r = linalg.matmul ins(%a, %a : tensor<8x8xf32>, "
            "tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>\n"
            "  return %r : tensor<8x8xf32>\n}\n")
          .getInteger("grid_bits"),
      3);
}

TEST_F(CheckAnalysisTest, FindsTheSizeThatDataIndexes) {
  std::string text =
      "func.func @f(%t: tensor<11x16xf32>, %i: tensor<7xi32>) -> "
      "tensor<7x16xf32> {\n"
      "  %e = tensor.empty() : tensor<7x16xf32>\n"
      "  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, "
      "affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", "
      "\"parallel\"]} ins(%i : tensor<7xi32>) outs(%e : tensor<7x16xf32>) {\n"
      "  ^bb0(%k: i32, %o: f32):\n"
      "    %a = arith.index_cast %k : i32 to index\n"
      "    %c = linalg.index 1 : index\n"
      "    %v = tensor.extract %t[%a, %c] : tensor<11x16xf32>\n"
      "    linalg.yield %v : f32\n  } -> tensor<7x16xf32>\n"
      "  return %r : tensor<7x16xf32>\n}\n";
  EXPECT_EQ(check(text).getInteger("index_bound"), 11);
  EXPECT_EQ(check(matmul("f32", "8")).getInteger("index_bound"), 0);
}

TEST_F(CheckAnalysisTest, TakesTheSmallestOfTheSizesThatDataIndexes) {
  // A slice that has nine places comes after an element that has five.
  std::string text =
      "func.func @f(%t: tensor<5xf32>, %u: tensor<12xf32>, %i: i32) -> "
      "(f32, tensor<4xf32>) {\n"
      "  %a = arith.index_cast %i : i32 to index\n"
      "  %v = tensor.extract %t[%a] : tensor<5xf32>\n"
      "  %s = tensor.extract_slice %u[%a] [4] [1] : tensor<12xf32> to "
      "tensor<4xf32>\n"
      "  return %v, %s : f32, tensor<4xf32>\n}\n";
  EXPECT_EQ(check(text).getInteger("index_bound"), 5);
}

TEST_F(CheckAnalysisTest, CountsWork) {
  (void)check(matmul("f32", "512"));
  auto entry = [&] { return module->lookupSymbol<func::FuncOp>("f"); };
  bool isExact = false;
  EXPECT_EQ(countWork(entry(), &isExact), 2. * 8 * 8 * 512);
  EXPECT_TRUE(isExact);
  (void)check(matmul("f32", "?"));
  EXPECT_EQ(countWork(entry(), &isExact), 2. * 8 * 8 * 3);
  EXPECT_FALSE(isExact);
}

// What is called counts as often as it is called; what isn't, not at all; a
// softmax has no body to count, a recursive call no end.
TEST_F(CheckAnalysisTest, CountsWorkOfCalls) {
  (void)check(R"mlir(
    func.func private @unused(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %r = linalg.exp ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>)
          -> tensor<4x8xf32>
      return %r : tensor<4x8xf32>
    }
    func.func private @again(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %r = linalg.exp ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>)
          -> tensor<4x8xf32>
      %s = call @again(%r) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      return %s : tensor<4x8xf32>
    }
    func.func private @normal(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %r = linalg.softmax dimension(1) ins(%x : tensor<4x8xf32>)
          outs(%x : tensor<4x8xf32>) -> tensor<4x8xf32>
      return %r : tensor<4x8xf32>
    }
    func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %a = call @normal(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%y = %a)
          -> (tensor<4x8xf32>) {
        %b = func.call @normal(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32>
        scf.yield %b : tensor<4x8xf32>
      }
      %s = call @again(%r) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      return %s : tensor<4x8xf32>
    })mlir");
  bool isExact = false;
  EXPECT_EQ(countWork(module->lookupSymbol<func::FuncOp>("f"), &isExact),
            32. * (5 * 6 + 1));
  EXPECT_TRUE(isExact);
}

TEST_F(CheckAnalysisTest, FindsParallelConflicts) {
  auto conflictIn = [&](StringRef offset) {
    std::string text =
        "func.func @f(%c: tensor<64xf32>) -> tensor<64xf32> {\n"
        "  %r = scf.forall (%i) = (0) to (64) step (8) shared_outs(%o = %c) -> "
        "(tensor<64xf32>) {\n"
        "    %c0 = arith.constant 0 : index\n"
        "    %x = affine.apply affine_map<(d) -> (d floordiv 2 + 8)>(%i)\n"
        "    %s = tensor.extract_slice %o[0] [8] [1] : tensor<64xf32> to "
        "tensor<8xf32>\n"
        "    scf.forall.in_parallel { tensor.parallel_insert_slice %s into "
        "%o[" +
        offset.str() +
        "] [8] [1] : tensor<8xf32> into "
        "tensor<64xf32> }\n"
        "  }\n  return %r : tensor<64xf32>\n}\n";
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(module);
    return findParallelConflict(*module);
  };
  EXPECT_EQ(conflictIn("%i"), "");
  EXPECT_EQ(conflictIn("%x"), "");
  EXPECT_NE(conflictIn("%c0"), "");
  EXPECT_NE(conflictIn("16"), "");
}
