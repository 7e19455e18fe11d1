//===- WorkerPoolTest.cpp - Child processes ---------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Measure/WorkerPool.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace mlir::ansor;
using Status = WorkerReply::Status;

namespace {
/// A directory with a shell script that plays the child.
class WorkerPoolTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("ansor-pool", dir));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(dir); }

  WorkerPoolOptions withScript(StringRef body) {
    std::string path = (dir + "/child.sh").str();
    {
      std::error_code code;
      llvm::raw_fd_ostream file(path, code);
      file << "#!/bin/sh\n" << body;
    }
    llvm::sys::fs::setPermissions(path, llvm::sys::fs::all_all);
    WorkerPoolOptions options;
    options.program = path;
    options.logPrefix = (dir + "/log").str();
    return options;
  }

  static WorkerPool::MakeRequest numbers() {
    return [](size_t i, WorkerPool::Session &) { return std::to_string(i); };
  }

  SmallString<128> dir;
};
} // namespace

TEST_F(WorkerPoolTest, RepliesComeInOrder) {
  auto options = withScript("while read n; do\n"
                            "  [ $n = 0 ] && sleep 0.2\n"
                            "  echo \"$n $$ $1\"\n"
                            "done\n");
  options.count = 2;
  WorkerPool pool(options);
  auto replies = pool.run(6, 10, numbers());
  ASSERT_EQ(replies.size(), 6u);
  std::set<std::string> pids;
  for (size_t i = 0; i < 6; ++i) {
    ASSERT_EQ(replies[i].status, Status::Line);
    SmallVector<StringRef> fields;
    StringRef(replies[i].line).split(fields, ' ');
    EXPECT_EQ(fields[0], std::to_string(i));
    EXPECT_EQ(fields[2], "--parent=" + std::to_string(getpid()));
    pids.insert(fields[1].str());
  }
  EXPECT_EQ(pids.size(), 2u); // children are kept
}

TEST_F(WorkerPoolTest, SessionEndsWithTheChild) {
  auto options = withScript("while read n; do echo $n; done\n");
  options.recycle = [](StringRef line) { return line == "known"; };
  WorkerPool pool(options);
  auto request = [](size_t, WorkerPool::Session &session) -> std::string {
    if (!session.known.empty())
      return "known";
    session.known.push_back("k");
    return "new";
  };
  auto replies = pool.run(4, 10, request);
  EXPECT_EQ(replies[0].line, "new");
  EXPECT_EQ(replies[1].line, "known"); // and is recycled
  EXPECT_EQ(replies[2].line, "new");
  EXPECT_EQ(replies[3].line, "known");
}

TEST_F(WorkerPoolTest, DeathCostsOneRequest) {
  auto options =
      withScript("while read n; do\n"
                 "  if [ $n = 1 ]; then echo boom >&2; kill -SEGV $$; fi\n"
                 "  if [ $n = 2 ]; then exit 7; fi\n"
                 "  echo noise >&2; echo $n\n"
                 "done\n");
  WorkerPool pool(options);
  auto replies = pool.run(4, 10, numbers());
  EXPECT_EQ(replies[0].line, "0");
  EXPECT_EQ(replies[1].status, Status::Died);
  EXPECT_EQ(replies[1].stderrText, "boom\n");
  EXPECT_EQ(replies[1].describeEnd(),
            "killed by signal 11 (Segmentation fault)");
  EXPECT_EQ(replies[2].status, Status::Died);
  EXPECT_EQ(replies[2].describeEnd(), "exited with code 7");
  EXPECT_EQ(replies[3].line, "3");
}

/// Waits for `condition` for at most two seconds.
template <typename Condition> static bool soon(Condition condition) {
  for (int i = 0; i < 200; ++i) {
    if (condition())
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return condition();
}

TEST_F(WorkerPoolTest, TimeoutKillsTheWholeGroup) {
  std::string pidFile = (dir + "/pid").str();
  auto options = withScript("while read n; do\n"
                            "  if [ $n = 0 ]; then\n"
                            "    sleep 100 & echo $! > " +
                            pidFile +
                            "; wait\n"
                            "  fi\n"
                            "  echo $n\n"
                            "done\n");
  WorkerPool pool(options);
  auto replies = pool.run(2, 0.5, numbers());
  EXPECT_EQ(replies[0].status, Status::Timeout);
  EXPECT_GE(replies[0].seconds, 0.5);
  EXPECT_EQ(replies[1].line, "1");
  pid_t grandchild = 0;
  std::ifstream(pidFile) >> grandchild;
  ASSERT_GT(grandchild, 0);
  // It may be a zombie until somebody reaps it; then it is gone or 'Z'.
  EXPECT_TRUE(soon([&] {
    std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
    std::string pid, name, state;
    return !(stat >> pid >> name >> state) || state == "Z";
  }));
}

TEST_F(WorkerPoolTest, InterruptEndsAtOnce) {
  auto options = withScript("while read n; do sleep 100; done\n");
  WorkerPool pool(options);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    pool.interrupt();
  });
  auto begin = std::chrono::steady_clock::now();
  auto replies = pool.run(3, 60, numbers());
  other.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  for (const WorkerReply &reply : replies)
    EXPECT_EQ(reply.status, Status::Interrupted);
}

TEST_F(WorkerPoolTest, MissingProgramIsTold) {
  WorkerPoolOptions options;
  options.program = (dir + "/missing").str();
  options.logPrefix = (dir + "/log").str();
  WorkerPool pool(options);
  auto replies = pool.run(2, 10, numbers());
  EXPECT_EQ(replies[0].status, Status::NotStarted);
  EXPECT_EQ(replies[1].status, Status::NotStarted);
}

TEST_F(WorkerPoolTest, LargeRequestsDoNotBlock) {
  auto options =
      withScript("while read n; do printf '%s\\n' \"${#n}\"; done\n");
  WorkerPool pool(options);
  auto replies = pool.run(2, 30, [](size_t, WorkerPool::Session &) {
    return std::string(300000, 'x');
  });
  EXPECT_EQ(replies[0].line, "300000");
  EXPECT_EQ(replies[1].line, "300000");
}
