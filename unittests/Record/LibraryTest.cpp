//===- LibraryTest.cpp - Tests of libraries ---------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/InitAll.h"
#include "ansor/Record/Record.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {

constexpr llvm::StringLiteral kModule = R"(
func.func private @task_0(%in: tensor<16x8xf32>, %init: tensor<16x8xf32>)
    -> tensor<16x8xf32> attributes {ansor.task = "a1-00", ansor.weight = 1 : i64} {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
                       affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%in : tensor<16x8xf32>) outs(%init : tensor<16x8xf32>)
      attrs = {ansor.stage = 0 : i64} {
  ^bb0(%x: f32, %y: f32):
    %e = math.exp %x : f32
    linalg.yield %e : f32
  } -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
func.func private @task_1(%in: tensor<4xf32>, %init: tensor<4xf32>)
    -> tensor<4xf32> attributes {ansor.task = "a1-01", ansor.weight = 1 : i64} {
  %0 = linalg.copy {ansor.stage = 0 : i64} ins(%in : tensor<4xf32>)
      outs(%init : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})";

/// A decided script that tiles stage 0 of a task by `size`.
std::string makeScript(StringRef key, StringRef size) {
  return ("module attributes {transform.with_named_sequence, ansor.sketch = "
          "\"s0\"} {\n"
          "transform.named_sequence @schedule(%func: !transform.any_op "
          "{transform.readonly}) {\n"
          "  %t = transform.tune.knob<\"s0.d0.l0\"> = " +
          size +
          " : i64 from options = {kind = \"tile\", stage = 0 : i64, loop = 0 : "
          "i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64} -> "
          "!transform.param<i64>\n"
          "  %op = transform.structured.match attributes {ansor.stage = 0 : "
          "i64} in %func : (!transform.any_op) -> !transform.any_op\n"
          "  %tiled, %loop = transform.structured.tile_using_for %op "
          "tile_sizes [%t] : (!transform.any_op, !transform.param<i64>) -> "
          "(!transform.any_op, !transform.any_op)\n"
          "  transform.yield\n}\n"
          "transform.named_sequence @__transform_main(%module: "
          "!transform.any_op {transform.readonly}) {\n"
          "  %f = transform.structured.match ops{[\"func.func\"]} attributes "
          "{ansor.task = \"" +
          key +
          "\"} in %module : (!transform.any_op) -> !transform.any_op\n"
          "  transform.foreach %f : !transform.any_op {\n"
          "  ^bb0(%func: !transform.any_op):\n"
          "    transform.include @schedule failures(propagate) (%func) : "
          "(!transform.any_op) -> ()\n"
          "  }\n  transform.yield\n}\n}\n")
      .str();
}

class LibraryTest : public ::testing::Test {
protected:
  LibraryTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          messages.push_back(diagnostic.str());
        }) {
    DialectRegistry registry;
    registerUpstream(registry);
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    target.name = "test";
    payload = parseSourceString<ModuleOp>(kModule, &context);
    SmallString<128> name;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("library", "mlir", name));
    path = std::string(name);
  }
  ~LibraryTest() override { llvm::sys::fs::remove(path); }

  static std::string print(Operation *op) {
    std::string text;
    llvm::raw_string_ostream os(text);
    op->print(os);
    return text;
  }
  void write(StringRef text) {
    std::error_code code;
    llvm::raw_fd_ostream os(path, code);
    os << text;
  }
  BestEntry makeEntry(StringRef key, StringRef size) {
    return {key.str(), "s0", makeScript(key, size), 0.5, 2.0, 7};
  }
  bool said(StringRef text) {
    return llvm::any_of(messages, [&](StringRef message) {
      return message.contains(text);
    });
  }
  /// Applying `text` fails with `message`, and changes nothing.
  void expectRefused(StringRef text, StringRef message) {
    write(text);
    messages.clear();
    std::string before = print(*payload);
    EXPECT_TRUE(failed(applyLibrary(*payload, StringRef(path))));
    EXPECT_TRUE(said(message)) << message.str() << " not in "
                               << llvm::join(messages, "\n");
    EXPECT_EQ(before, print(*payload));
  }

  MLIRContext context;
  std::vector<std::string> messages;
  ScopedDiagnosticHandler handler;
  TargetInfo target;
  OwningOpRef<ModuleOp> payload;
  std::string path, error;
};

TEST_F(LibraryTest, SchedulesOfUnmarkedTasksAreTakenForWeights) {
  // Two tasks, the first with a marked input, by their true keys.
  auto task = payload->lookupSymbol<func::FuncOp>("task_0");
  auto other = payload->lookupSymbol<func::FuncOp>("task_1");
  std::string unmarked = computeTaskKey(task);
  task.setArgAttr(0, "ansor.weight", UnitAttr::get(&context));
  std::string marked = computeTaskKey(task);
  EXPECT_NE(marked, unmarked);
  EXPECT_EQ(computeUnmarkedKey(task), unmarked);
  EXPECT_EQ(computeUnmarkedKey(other), computeTaskKey(other));
  task->setAttr("ansor.task", StringAttr::get(&context, marked));

  auto apply = [&](ArrayRef<BestEntry> entries) {
    OwningOpRef<ModuleOp> copy(payload->clone());
    EXPECT_TRUE(
        succeeded(writeLibrary(path, entries, target, &context, error)))
        << error;
    unsigned applied = 0;
    EXPECT_TRUE(succeeded(applyLibrary(*copy, StringRef(path), &applied)));
    EXPECT_EQ(applied, 1u);
    return print(copy->lookupSymbol<func::FuncOp>("task_0"));
  };
  EXPECT_NE(apply({makeEntry(unmarked, "4")}).find("tensor<4x8xf32>"),
            std::string::npos);
  // One that was found for weights comes first.
  EXPECT_NE(apply({makeEntry(unmarked, "4"), makeEntry(marked, "2")})
                .find("tensor<2x8xf32>"),
            std::string::npos);
  // The other way round there is none: such a task may read data.
  task.removeArgAttr(0, "ansor.weight");
  task->setAttr("ansor.task", StringAttr::get(&context, unmarked));
  unsigned applied = 1;
  ASSERT_TRUE(succeeded(writeLibrary(path, {makeEntry(marked, "2")}, target,
                                     &context, error)));
  EXPECT_TRUE(succeeded(applyLibrary(*payload, StringRef(path), &applied)));
  EXPECT_EQ(applied, 0u);
}

TEST_F(LibraryTest, WrittenLibraryApplies) {
  ASSERT_TRUE(succeeded(writeLibrary(
      path, {makeEntry("a1-00", "4"), makeEntry("a1-01", "2")}, target,
      &context, error)))
      << error;
  auto library = parseSourceFile<ModuleOp>(path, &context);
  ASSERT_TRUE(library);
  std::string text = print(*library);
  // Folded, described, names made unique.
  EXPECT_EQ(text.find("tune.knob"), std::string::npos);
  EXPECT_NE(text.find("@schedule("), std::string::npos);
  EXPECT_NE(text.find("@schedule_0("), std::string::npos);
  for (StringRef part :
       {"ansor.task = \"a1-00\"", "ansor.speedup = 4.0", "ansor.trials = 7",
        "ansor.target = \"test\"", "ansor.sketch = \"s0\""})
    EXPECT_NE(text.find(part.str()), std::string::npos) << part.str();

  unsigned applied = 0;
  ASSERT_TRUE(succeeded(applyLibrary(*payload, StringRef(path), &applied)))
      << llvm::join(messages, "\n");
  EXPECT_EQ(applied, 2u);
  EXPECT_TRUE(succeeded(verify(*payload)));
  text = print(*payload);
  EXPECT_NE(text.find("tensor<4x8xf32>"), std::string::npos);
  EXPECT_NE(text.find("tensor<2xf32>"), std::string::npos);
  EXPECT_TRUE(messages.empty());
}

TEST_F(LibraryTest, MissingTasksAreLeftWithARemark) {
  ASSERT_TRUE(succeeded(writeLibrary(path, {makeEntry("a1-01", "2")}, target,
                                     &context, error)));
  unsigned applied = 0;
  ASSERT_TRUE(succeeded(applyLibrary(*payload, StringRef(path), &applied)));
  EXPECT_EQ(applied, 1u);
  EXPECT_TRUE(said("the library has no schedule of task 'a1-00' (@task_0)"));
  EXPECT_EQ(print(*payload).find("tensor<4x8xf32>"), std::string::npos);
}

TEST_F(LibraryTest, EmptyEntriesLeaveTheTask) {
  BestEntry entry;
  entry.taskKey = "a1-00";
  entry.trials = 3;
  ASSERT_TRUE(
      succeeded(writeLibrary(path, {entry}, target, &context, error)))
      << error;
  EXPECT_NE(print(*parseSourceFile<ModuleOp>(path, &context))
                .find("no schedule was faster than the unscheduled program"),
            std::string::npos);
  std::string before = print(*payload);
  unsigned applied = 1;
  ASSERT_TRUE(succeeded(applyLibrary(*payload, StringRef(path), &applied)));
  EXPECT_EQ(applied, 0u);
  EXPECT_EQ(before, print(*payload));
  EXPECT_FALSE(said("'a1-00'")); // it has an entry: no remark
}

TEST_F(LibraryTest, OpenScriptsAreNotWritten) {
  BestEntry entry = makeEntry("a1-00", "4");
  size_t at = entry.script.find("= 4 : i64 from ");
  entry.script.erase(at, StringRef("= 4 : i64 from ").size());
  EXPECT_TRUE(failed(writeLibrary(path, {entry}, target, &context, error)));
  EXPECT_NE(error.find("the schedule of task 'a1-00' can't be written"),
            std::string::npos);
  EXPECT_NE(error.find("open"), std::string::npos) << error;
  entry.script = "nonsense";
  EXPECT_TRUE(failed(writeLibrary(path, {entry}, target, &context, error)));
}

TEST_F(LibraryTest, LibrariesThatDoNotFitAreRefused) {
  expectRefused("nonsense", "can't be read or parsed");
  expectRefused("module {}", "not a library of schedules");
  expectRefused("module attributes {ansor.library = 9 : i64} {}",
                "of task key version 9");
  StringRef head = "module attributes {transform.with_named_sequence} {\n";
  StringRef argument = "(%f: !transform.any_op {transform.readonly})";
  expectRefused((head + "transform.named_sequence @x" + argument +
                 " attributes {ansor.task = \"a9-00\"} { transform.yield }\n}")
                    .str(),
                "the task key 'a9-00' does not begin with 'a1-'");
  expectRefused((head + "transform.named_sequence @x" + argument +
                 " attributes {ansor.task = \"a1-00\"} { transform.yield }\n"
                 "transform.named_sequence @y" +
                 argument +
                 " attributes {ansor.task = \"a1-00\"} { transform.yield }\n}")
                    .str(),
                "a second schedule of task 'a1-00'");
  expectRefused((head +
                 "transform.named_sequence @x() attributes {ansor.task = "
                 "\"a1-00\"} { transform.yield }\n}")
                    .str(),
                "must have a body and take one handle");
}

TEST_F(LibraryTest, AScheduleThatFailsChangesNothing) {
  // The first task's schedule applies, the second one's doesn't.
  std::string script = makeScript("a1-01", "2");
  size_t at = script.find("tile_sizes [%t]");
  script.replace(at, StringRef("tile_sizes [%t]").size(),
                 "tile_sizes [%t, %t, %t]");
  StringRef types = "(!transform.any_op, !transform.param<i64>) -> "
                    "(!transform.any_op, !transform.any_op)";
  at = script.find(types.str());
  script.replace(at, types.size(),
                 "(!transform.any_op, !transform.param<i64>, "
                 "!transform.param<i64>, !transform.param<i64>) -> "
                 "(!transform.any_op, !transform.any_op, !transform.any_op, "
                 "!transform.any_op)");
  BestEntry broken = makeEntry("a1-01", "2");
  at = script.find("%tiled, %loop =");
  script.replace(at, StringRef("%tiled, %loop =").size(), "%tiled, %loop:3 =");
  broken.script = script;
  ASSERT_TRUE(succeeded(writeLibrary(
      path, {makeEntry("a1-00", "4"), broken}, target, &context, error)))
      << error;
  std::string before = print(*payload);
  unsigned applied = 99;
  EXPECT_TRUE(failed(applyLibrary(*payload, StringRef(path), &applied)));
  EXPECT_TRUE(said("schedule of task 'a1-01' does not apply to @task_1"))
      << llvm::join(messages, "\n");
  EXPECT_EQ(applied, 99u);
  EXPECT_EQ(before, print(*payload));
}

TEST_F(LibraryTest, UnwritablePlacesAreToldOf) {
  EXPECT_TRUE(failed(writeLibrary("/nowhere/best.mlir",
                                  {makeEntry("a1-00", "4")}, target, &context,
                                  error)));
  EXPECT_NE(error.find("cannot write '/nowhere/best.mlir'"),
            std::string::npos);
}

} // namespace
