//===- PipelinesTest.cpp - Objects and entries -------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/Pipelines/Pipelines.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::ansor;

static constexpr const char *kScale = R"mlir(
func.func @scale(%x: tensor<37xf32>, %s: f32) -> (tensor<37xf32>, f32) {
  %e = tensor.empty() : tensor<37xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<37xf32>) outs(%e : tensor<37xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %s : f32
    linalg.yield %m : f32
  } -> tensor<37xf32>
  return %r, %s : tensor<37xf32>, f32
}
)mlir";

namespace {
struct Vector1D {
  float *allocated, *aligned;
  int64_t offset, size, stride;
};

class PipelinesTest : public ::testing::Test {
protected:
  PipelinesTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllExtensions(registry);
    registerAllToLLVMIRTranslations(registry);
    context.appendDialectRegistry(registry);
    llvm::sys::fs::createUniqueDirectory("ansor-pipelines", dir);
  }
  ~PipelinesTest() override { llvm::sys::fs::remove_directories(dir); }

  std::string path(StringRef name) { return (dir + "/" + name).str(); }
  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, &context);
  }

  MLIRContext context;
  SmallString<128> dir;
};
} // namespace

TEST_F(PipelinesTest, PackedEntryOfASharedObject) {
  OwningOpRef<ModuleOp> module = parse(kScale);
  CPULoweringOptions options;
  options.parallel = false;
  ASSERT_TRUE(succeeded(lowerToCPU(*module, options)));
  ASSERT_TRUE(succeeded(emitObject(*module, path("k.o"), options)));
  std::string error;
  ASSERT_TRUE(succeeded(linkShared({path("k.o")}, path("k.so"), "", error)))
      << error;
  void *handle = dlopen(path("k.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(handle) << dlerror();
  auto entry =
      reinterpret_cast<void (*)(void **)>(dlsym(handle, "scale_packed"));
  ASSERT_TRUE(entry);

  float data[37];
  for (int i = 0; i < 37; ++i)
    data[i] = i - 18;
  Vector1D x = {data, data, 0, 37, 1}, r = {};
  float s = 3, t = 0;
  void *args[] = {&r, &t, &x, &s};
  entry(args);
  ASSERT_EQ(r.size, 37);
  EXPECT_EQ(t, 3);
  for (int i = 0; i < 37; ++i) {
    EXPECT_EQ(r.aligned[i], 3.0f * (i - 18));
    EXPECT_EQ(data[i], i - 18); // Inputs are left alone.
  }
  free(r.allocated);
  dlclose(handle);
}

TEST_F(PipelinesTest, TextByTheEnding) {
  OwningOpRef<ModuleOp> module = parse(kScale);
  ASSERT_TRUE(succeeded(lowerToCPU(*module)));
  ASSERT_TRUE(succeeded(emitObject(*module, path("k.ll"))));
  ASSERT_TRUE(succeeded(emitObject(*module, path("k.s"))));
  auto ir = llvm::MemoryBuffer::getFile(path("k.ll"));
  ASSERT_TRUE(static_cast<bool>(ir));
  StringRef text = (*ir)->getBuffer();
  // Without these llvm.memset is a byte loop and vectors are split.
  EXPECT_TRUE(text.contains("target triple"));
  EXPECT_TRUE(text.contains("target datalayout"));
  EXPECT_TRUE(text.contains("target-cpu"));
  auto assembly = llvm::MemoryBuffer::getFile(path("k.s"));
  ASSERT_TRUE(static_cast<bool>(assembly));
  EXPECT_TRUE((*assembly)->getBuffer().contains("scale_packed"));
}

TEST_F(PipelinesTest, LinkerErrorIsTold) {
  std::string error;
  EXPECT_TRUE(failed(linkShared({path("none.o")}, path("k.so"), "", error)));
  EXPECT_TRUE(StringRef(error).contains("none.o")) << error;
}

TEST_F(PipelinesTest, TooLarge) {
  OwningOpRef<ModuleOp> module = parse(kScale);
  CPULoweringOptions options;
  options.maxOperations = 5;
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message += diagnostic.str();
  });
  EXPECT_TRUE(failed(lowerToCPU(*module, options)));
  EXPECT_NE(message.find("too large"), std::string::npos) << message;
}

TEST_F(PipelinesTest, Describe) {
  OwningOpRef<ModuleOp> module = parse(R"mlir(
    func.func @f(%a: tensor<2x?xf16>, %b: i32) -> tensor<4xi8> {
      %e = tensor.empty() : tensor<4xi8>
      return %e : tensor<4xi8>
    })mlir");
  auto func = *module->getOps<func::FuncOp>().begin();
  std::string text;
  llvm::raw_string_ostream(text) << describeEntry(func);
  EXPECT_EQ(text,
            R"({"args":[{"kind":"memref","shape":[2,-1],"type":"f16"},)"
            R"({"kind":"scalar","type":"i32"}],"entry":"f","inits":0,)"
            R"("results":[{"kind":"memref","shape":[4],"type":"i8"}]})");
}
