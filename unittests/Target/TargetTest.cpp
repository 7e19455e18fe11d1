//===- TargetTest.cpp - Tests of targets ------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Target/DotInstructions.h"
#include "ansor/Target/Target.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {

class TargetTest : public ::testing::Test {
protected:
  TargetTest()
      : handler(&context, [this](Diagnostic &diag) { error = diag.str(); }) {
    context.loadDialect<DLTIDialect, LLVM::LLVMDialect>();
  }

  FailureOr<TargetInfo> lookup(StringRef spec) {
    error.clear();
    return lookupTarget(spec, UnknownLoc::get(&context));
  }

  MLIRContext context;
  std::string error;
  ScopedDiagnosticHandler handler;
};

TEST_F(TargetTest, HostIsPlausible) {
  TargetInfo host = detectHostTarget();
  EXPECT_EQ(host.name, "host");
  EXPECT_EQ(host.kind, TargetKind::CPU);
  EXPECT_FALSE(host.triple.empty());
  EXPECT_FALSE(host.cpu.empty());
  EXPECT_GE(host.cores, 1);
  EXPECT_GE(host.vectorBits, 64);
  EXPECT_GE(host.vectorRegisters, 8);
  EXPECT_GE(host.l1, 4096);
  EXPECT_GE(host.l2, host.l1);
  EXPECT_FALSE(getDataLayout(host).empty());
  EXPECT_TRUE(succeeded(lookup("host")));
  EXPECT_EQ(lookup("")->toJSON(), host.toJSON());
}

TEST_F(TargetTest, DotInstructions) {
  auto find = [&](StringRef name, int64_t bits, char first, char second) {
    FailureOr<TargetInfo> target = lookup(name);
    EXPECT_TRUE(succeeded(target)) << name.str();
    return findDotInstruction(*target, bits, first, second);
  };
  auto match = find("sapphirerapids", 512, 'u', 's');
  ASSERT_TRUE(match);
  EXPECT_EQ(match->instruction->group, 4);
  EXPECT_FALSE(match->swapped || match->offset);
  EXPECT_TRUE(find("sapphirerapids", 512, 's', 'u')->swapped);
  EXPECT_TRUE(find("sapphirerapids", 512, 's', 's')->offset);
  EXPECT_FALSE(find("sapphirerapids", 512, 'u', 'u'));
  EXPECT_FALSE(find("sapphirerapids", 128, 'u', 's'));
  EXPECT_EQ(find("sapphirerapids", 512, 'f', 'f')->instruction->group, 2);
  EXPECT_FALSE(find("x86-64-v4", 512, 'u', 's'));
  EXPECT_FALSE(find("neoverse-n1", 128, 's', 's')->offset);
  EXPECT_FALSE(find("cortex-a72", 128, 's', 's'));
}

TEST_F(TargetTest, VectorsOfNamedTargets) {
  auto expect = [&](StringRef name, int64_t bits, int64_t registers) {
    FailureOr<TargetInfo> target = lookup(name);
    ASSERT_TRUE(succeeded(target)) << name.str();
    EXPECT_EQ(target->vectorBits, bits) << name.str();
    EXPECT_EQ(target->vectorRegisters, registers) << name.str();
  };
  expect("x86-64-v2", 128, 16);
  expect("x86-64-v3", 256, 16);
  expect("x86-64-v4", 512, 32);
  expect("haswell", 256, 16);
  expect("skylake-avx512", 512, 32);
  expect("sapphirerapids", 512, 32);
  expect("znver4", 512, 32);
  expect("cortex-a72", 128, 32);
  expect("neoverse-v1", 128, 32);
  expect("apple-m1", 128, 32);
}

TEST_F(TargetTest, EveryNamedTargetIsWhole) {
  EXPECT_GE(getTargetNames().size(), 14u);
  for (StringRef name : getTargetNames()) {
    FailureOr<TargetInfo> target = lookup(name);
    ASSERT_TRUE(succeeded(target)) << name.str();
    EXPECT_EQ(target->name, name);
    EXPECT_LE(target->l1, target->l2);
    EXPECT_LE(target->l2, target->l3);
    EXPECT_FALSE(getDataLayout(*target).empty()) << name.str();
    bool isGPU = target->kind == TargetKind::GPU;
    EXPECT_EQ(isGPU, name.starts_with("sm_"));
    EXPECT_EQ(target->warpSize, isGPU ? 32 : 0);
    EXPECT_EQ(target->maxThreadsPerBlock, isGPU ? 1024 : 0);
  }
}

TEST_F(TargetTest, Overrides) {
  FailureOr<TargetInfo> target =
      lookup("x86-64-v3:cores=12,l2=2M,l1=48K,name=mine");
  ASSERT_TRUE(succeeded(target));
  EXPECT_EQ(target->cores, 12);
  EXPECT_EQ(target->l2, 2 << 20);
  EXPECT_EQ(target->l1, 48 << 10);
  EXPECT_EQ(target->name, "mine");
  EXPECT_EQ(target->vectorBits, 256);
  // Another CPU brings its vectors; a number given too wins.
  target = lookup("x86-64-v3:cpu=skylake-avx512");
  ASSERT_TRUE(succeeded(target));
  EXPECT_EQ(target->vectorBits, 512);
  target = lookup("x86-64-v3:vector_bits=256,cpu=skylake-avx512");
  ASSERT_TRUE(succeeded(target));
  EXPECT_EQ(target->vectorBits, 256);
  EXPECT_EQ(target->vectorRegisters, 32);
  target = lookup("x86-64-v4:features=-avx512f;+amx-int8");
  ASSERT_TRUE(succeeded(target));
  EXPECT_EQ(target->features, "-avx512f,+amx-int8");
  EXPECT_EQ(target->vectorBits, 256);
}

TEST_F(TargetTest, BadSpecifications) {
  auto errorOf = [&](StringRef spec) {
    EXPECT_TRUE(failed(lookup(spec))) << spec.str();
    return StringRef(error);
  };
  EXPECT_TRUE(errorOf("pentium").starts_with(
      "unknown target \"pentium\"; known are host, x86-64-v2, "));
  EXPECT_EQ(errorOf("host:cores"),
            "expected key=value in the options of a target, got \"cores\"");
  EXPECT_TRUE(
      errorOf("host:core=2")
          .starts_with("unknown target option 'core'; known are name, triple"));
  EXPECT_EQ(errorOf("host:cores=0"), "target option 'cores' must be an integer "
                                     "of at least 1, got \"0\"");
  EXPECT_EQ(errorOf("host:l2=99999999999999999999"),
            "target option 'l2' must be an integer of at least 1, got "
            "\"99999999999999999999\"");
  EXPECT_EQ(errorOf("host:l2=9999999999999999G"),
            "target option 'l2' must be an integer of at least 1, got "
            "\"9999999999999999G\"");
  EXPECT_EQ(errorOf("host:vector_bits=100"),
            "target option 'vector_bits' must be a multiple of 8, got 100");
  EXPECT_EQ(errorOf("x86-64-v3:cpu=zen9"),
            "LLVM knows no CPU \"zen9\" for the triple "
            "\"x86_64-unknown-linux-gnu\"");
  EXPECT_EQ(errorOf("x86-64-v3:features=+avx2;mmx9"),
            "LLVM knows no feature \"mmx9\" of the triple "
            "\"x86_64-unknown-linux-gnu\"; write +NAME or -NAME");
  EXPECT_EQ(errorOf("x86-64-v3:triple=pdp11-dec-unix"),
            "this LLVM has no back end for the triple \"pdp11-dec-unix\"");
}

TEST_F(TargetTest, JSONRoundTrip) {
  for (StringRef name : {"znver4", "sm_90"}) {
    TargetInfo target = *lookup(name);
    FailureOr<TargetInfo> read = TargetInfo::fromJSON(target.toJSON());
    ASSERT_TRUE(succeeded(read));
    EXPECT_EQ(read->toJSON(), target.toJSON());
  }
  auto parse = [](StringRef text) {
    return TargetInfo::fromJSON(llvm::cantFail(llvm::json::parse(text)));
  };
  EXPECT_TRUE(succeeded(parse(R"({"cores": 3, "later": []})")));
  EXPECT_EQ(parse(R"({"cores": 3})")->cores, 3);
  EXPECT_TRUE(failed(parse("[]")));
  EXPECT_TRUE(failed(parse(R"({"cores": "3"})")));
  EXPECT_TRUE(failed(parse(R"({"cores": 0})")));
  EXPECT_TRUE(failed(parse(R"({"kind": "fpga"})")));
  EXPECT_TRUE(failed(parse(R"({"name": 1})")));
}

TEST_F(TargetTest, AttributesRoundTripThroughText) {
  for (StringRef spec : {"znver4:cores=3", "sm_80", "cortex-a76", "host"}) {
    TargetInfo target = *lookup(spec);
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    attachTarget(*module, target);
    EXPECT_EQ((*module)->hasAttr("llvm.data_layout"),
              target.kind == TargetKind::CPU);
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os);
    OwningOpRef<ModuleOp> read = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(getTarget(*read).toJSON(), target.toJSON());
  }
}

TEST_F(TargetTest, ForeignDescriptions) {
  // Known keys are read, whatever their integer type; the rest is the host's.
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"(module attributes {dlti.target_system_spec =
        #dlti.target_system_spec<
          "CPU" = #dlti.target_device_spec<
            "L1_cache_size_in_bytes" = 4096 : ui32,
            "max_vector_op_width" = 0 : i32, "other" = "x">,
          "GPU" = #dlti.target_device_spec<
            "max_vector_op_width" = 64 : ui32>>} {})",
      &context);
  ASSERT_TRUE(module);
  TargetInfo target = getTarget(*module), host = detectHostTarget();
  EXPECT_EQ(target.l1, 4096);
  EXPECT_EQ(target.kind, TargetKind::CPU);
  EXPECT_EQ(target.vectorBits, host.vectorBits);
  EXPECT_EQ(target.cpu, host.cpu);
  // Attaching keeps the other device.
  attachTarget(*module, host);
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  EXPECT_NE(text.find("\"GPU\""), std::string::npos) << text;
  EXPECT_EQ(getTarget(*module).toJSON(), host.toJSON());

  OwningOpRef<ModuleOp> empty = ModuleOp::create(UnknownLoc::get(&context));
  EXPECT_EQ(getTarget(*empty).toJSON(), host.toJSON());
}

TEST(TargetInfo, Lanes) {
  TargetInfo target;
  target.vectorBits = 512;
  EXPECT_EQ(target.lanes(32), 16);
  EXPECT_EQ(target.lanes(64), 8);
  EXPECT_EQ(target.lanes(1024), 1);
  EXPECT_EQ(target.lanes(0), 512);
}

} // namespace
