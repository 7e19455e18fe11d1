//===- PipelinesTest.cpp - Objects and entries -------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/Pipelines/MemoryPlan.h"
#include "ansor/Pipelines/Pipelines.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <dlfcn.h>
#include <random>
#include <thread>

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

  /// Compiles `text` and finds a function of it; null, with a failure, if that
  /// can't be done.
  void (*load(StringRef text, const char *name))(void **) {
    OwningOpRef<ModuleOp> module = parse(text);
    CPULoweringOptions options;
    options.parallel = false;
    std::string error;
    if (!module || failed(lowerToCPU(*module, options)) ||
        failed(emitObject(*module, path("k.o"), options)) ||
        failed(linkShared({path("k.o")}, path("k.so"), "", error))) {
      ADD_FAILURE() << "can't be compiled: " << error;
      return nullptr;
    }
    handle = dlopen(path("k.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      ADD_FAILURE() << dlerror();
      return nullptr;
    }
    return reinterpret_cast<void (*)(void **)>(dlsym(handle, name));
  }

  MLIRContext context;
  SmallString<128> dir;
  void *handle = nullptr;
};
} // namespace

TEST_F(PipelinesTest, PackedEntryOfASharedObject) {
  auto entry = load(kScale, "scale_packed");
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
}

TEST_F(PipelinesTest, ResultsGoWhereTheCallerSays) {
  auto entry = load(kScale, "scale_packed");
  ASSERT_TRUE(entry);
  float data[37], result[37] = {};
  for (int i = 0; i < 37; ++i)
    data[i] = i;
  // Only the pointer counts.
  Vector1D x = {data, data, 0, 37, 1}, r = {result, result, 5, 5, 5};
  float s = 3, t = 0;
  void *args[] = {&r, &t, &x, &s};
  entry(args);
  EXPECT_EQ(r.aligned, result);
  EXPECT_EQ(r.offset, 0);
  EXPECT_EQ(r.size, 37);
  EXPECT_EQ(t, 3);
  for (int i = 0; i < 37; ++i)
    EXPECT_EQ(result[i], 3.0f * i);
}

// Two threads that call one entry don't get into each other's arena.
TEST_F(PipelinesTest, EntriesAreReentrant) {
  auto entry = load(R"mlir(
    func.func @two(%x: tensor<64x64xf32>, %init: tensor<64x64xf32>) -> tensor<64x64xf32>
        attributes {ansor.task = "a1-0000000000000000"} {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<64x64xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
      %a = linalg.matmul ins(%x, %x : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
      %g = linalg.fill ins(%zero : f32) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
      %b = linalg.matmul ins(%a, %x : tensor<64x64xf32>, tensor<64x64xf32>) outs(%g : tensor<64x64xf32>) -> tensor<64x64xf32>
      return %b : tensor<64x64xf32>
    })mlir", "two_packed");
  ASSERT_TRUE(entry);
  ASSERT_TRUE(dlsym(handle, "two_workspace")); // It has an arena.
  struct Matrix {
    float *allocated, *aligned;
    int64_t offset, sizes[2], strides[2];
  };
  auto fails = [&](float value) {
    std::vector<float> x(64 * 64, value), y(64 * 64);
    Matrix in = {x.data(), x.data(), 0, {64, 64}, {64, 1}};
    Matrix out = {y.data(), y.data(), 0, {64, 64}, {64, 1}};
    void *args[] = {&in, &out};
    int wrong = 0;
    for (int i = 0; i < 2000; ++i) {
      entry(args);
      wrong += y[i % y.size()] != value * value * value * 64 * 64;
    }
    return wrong;
  };
  int first = 0, second = 0;
  std::thread other([&] { first = fails(1); });
  second = fails(2);
  other.join();
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 0);
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

// A loop of 64 copies, of vectors or of scalars.
static std::string copyLoop(StringRef type) {
  return ("llvm.func @copy(%p: !llvm.ptr, %q: !llvm.ptr {llvm.noalias}) {\n"
          "  %zero = llvm.mlir.constant(0 : i64) : i64\n"
          "  %one = llvm.mlir.constant(1 : i64) : i64\n"
          "  %size = llvm.mlir.constant(64 : i64) : i64\n"
          "  llvm.br ^loop(%zero : i64)\n"
          "^loop(%i: i64):\n"
          "  %from = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, " +
          type + "\n  %v = llvm.load %from : !llvm.ptr -> " + type +
          "\n  %sum = llvm.fadd %v, %v : " + type +
          "\n  %to = llvm.getelementptr %q[%i] : (!llvm.ptr, i64) -> "
          "!llvm.ptr, " +
          type + "\n  llvm.store %sum, %to : " + type + ", !llvm.ptr\n" +
          "  %next = llvm.add %i, %one : i64\n"
          "  %more = llvm.icmp \"slt\" %next, %size : i64\n"
          "  llvm.cond_br %more, ^loop(%next : i64), ^end\n"
          "^end:\n"
          "  llvm.return\n"
          "}\n")
      .str();
}

// LLVM looks for vectors where there are none yet, and leaves loops of vectors
// as the schedule made them.
TEST_F(PipelinesTest, OnlyScalarsAreVectorized) {
  auto emit = [&](StringRef type) -> std::string {
    OwningOpRef<ModuleOp> module = parse(copyLoop(type));
    if (!module)
      return "";
    context.loadDialect<DLTIDialect>();
    auto named = lookupTarget("haswell", module->getLoc());
    EXPECT_TRUE(succeeded(named));
    attachTarget(*module, *named);
    EXPECT_TRUE(succeeded(emitObject(*module, path("k.ll"))));
    auto ir = llvm::MemoryBuffer::getFile(path("k.ll"));
    return ir ? (*ir)->getBuffer().str() : "";
  };
  EXPECT_TRUE(StringRef(emit("f32")).contains("load <8 x float>"));
  EXPECT_EQ(StringRef(emit("vector<8xf32>")).count("load <8 x float>"), 1u);
}

TEST(InspectAssembly, X86) {
  CodeStats stats = inspectAssembly(R"(
main:                                   # @main
	movq	%rax, 16(%rsp)                  # 8-byte Spill
.LBB0_1:                                # =>This Loop Header: Depth=1
                                        #     Child Loop BB0_2 Depth 2
	vaddps	%ymm0, %ymm1, %ymm2
.LBB0_2:                                #   Parent Loop BB0_1 Depth=1
                                        # =>  This Inner Loop Header: Depth=2
	vmovups	(%rsi), %zmm3
	vmovups	%zmm4, 64(%rsp)                 # 64-byte Spill
	vfmadd231ps	%zmm3, %zmm4, %zmm5
	vfmadd231ps	(%rdi){1to16}, %zmm4, %zmm6
	vfmadd231ps	%zmm3, %zmm7, %zmm5
	jne	.LBB0_2
# %bb.3:                                #   in Loop: Header=BB0_2 Depth=2
	vmovups	64(%rsp), %zmm4                 # 64-byte Reload
	callq	expf
# %bb.4:                                #   in Loop: Header=BB0_1 Depth=1
	callq	free
)");
  EXPECT_EQ(stats.innerLoops, 1);
  EXPECT_EQ(stats.spills, 1);
  EXPECT_EQ(stats.reloads, 1);
  EXPECT_EQ(stats.calls, 1);
  EXPECT_EQ(stats.vectorBits, 512);
  EXPECT_EQ(stats.accumulators, 2);
  EXPECT_EQ(stats.arithmetic, 3);
  EXPECT_EQ(stats.instructions, 8);
}

TEST(InspectAssembly, AArch64) {
  CodeStats stats = inspectAssembly(R"(
main:                                   // @main
.LBB0_1:                                // =>This Inner Loop Header: Depth=1
	ldr	q0, [x1]
	str	q8, [sp, #16]                   // 16-byte Spill
	fmla	v1.4s, v0.4s, v2.s[0]
	fmla	v3.4s, v0.4s, v2.s[1]
	fmadd	s4, s5, s6, s4
	bl	sinf
	b.ne	.LBB0_1
)");
  EXPECT_EQ(stats.innerLoops, 1);
  EXPECT_EQ(stats.spills, 1);
  EXPECT_EQ(stats.calls, 1);
  EXPECT_EQ(stats.vectorBits, 128);
  EXPECT_EQ(stats.accumulators, 3);
}

TEST(InspectAssembly, NoLoop) {
  CodeStats stats = inspectAssembly("main:\n# %bb.0:\n\taddss\t%xmm1, %xmm0\n"
                                    "\tretq\n");
  EXPECT_EQ(stats.innerLoops, 0);
  EXPECT_EQ(stats.vectorBits, 32);
  EXPECT_EQ(stats.instructions, 2);
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

//===----------------------------------------------------------------------===//
// MemoryPlan
//===----------------------------------------------------------------------===//

TEST(MemoryPlan, BuffersOfOneStepDoNotOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<LiveBuffer> buffers(1 + random() % 40);
    int64_t most = 0, sum = 0;
    for (LiveBuffer &buffer : buffers) {
      buffer.bytes = 1 + random() % 1000;
      buffer.first = random() % 20;
      buffer.last = buffer.first + random() % 6;
      sum += (buffer.bytes + 63) / 64 * 64;
    }
    for (int step = 0; step < 26; ++step) {
      int64_t live = 0;
      for (const LiveBuffer &buffer : buffers)
        if (buffer.first <= step && step <= buffer.last)
          live += buffer.bytes;
      most = std::max(most, live);
    }
    int64_t total = planMemory(buffers);
    EXPECT_GE(total, most);
    EXPECT_LE(total, sum);
    for (const LiveBuffer &a : buffers) {
      EXPECT_EQ(a.offset % 64, 0);
      EXPECT_LE(a.offset + a.bytes, total);
      for (const LiveBuffer &b : buffers) {
        if (&a == &b || a.last < b.first || b.last < a.first)
          continue;
        EXPECT_TRUE(a.offset + a.bytes <= b.offset ||
                    b.offset + b.bytes <= a.offset);
      }
    }
  }
}

TEST(MemoryPlan, LaterBuffersReuseMemory) {
  // A chain: each buffer is read in the step that writes the next one.
  std::vector<LiveBuffer> chain;
  for (int64_t i = 0; i < 10; ++i)
    chain.push_back({640, i, i + 1});
  EXPECT_EQ(planMemory(chain), 2 * 640);
  std::vector<LiveBuffer> none;
  EXPECT_EQ(planMemory(none), 0);
}
