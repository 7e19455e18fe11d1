//===- FilesTest.cpp - Tests of reading and writing -------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Support/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ansor;
namespace fs = llvm::sys::fs;

namespace {
class FilesTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(fs::createUniqueDirectory("files", folder));
  }
  void TearDown() override { fs::remove_directories(folder); }

  std::string at(StringRef name) { return (folder + "/" + name).str(); }
  LogicalResult write(StringRef path, StringRef text) {
    return writeFile(path, [&](raw_ostream &os) { os << text; }, error);
  }
  static std::string read(StringRef path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "unreadable";
  }
  unsigned countFiles() {
    std::error_code code;
    unsigned count = 0;
    for (fs::directory_iterator it(folder, code), end; it != end;
         it.increment(code))
      ++count;
    return count;
  }

  SmallString<128> folder;
  std::string error;
};
} // namespace

TEST_F(FilesTest, ReplacesAndLeavesNothingBehind) {
  EXPECT_TRUE(succeeded(write(at("a"), "one")));
  EXPECT_TRUE(succeeded(write(at("a"), "two")));
  EXPECT_EQ(read(at("a")), "two");
  EXPECT_EQ(countFiles(), 1u);
}

TEST_F(FilesTest, FollowsLinks) {
  ASSERT_TRUE(succeeded(write(at("a"), "one")));
  ASSERT_FALSE(fs::create_link(at("a"), at("link")));
  EXPECT_TRUE(succeeded(write(at("link"), "two")));
  EXPECT_TRUE(fs::is_symlink_file(at("link")));
  EXPECT_EQ(read(at("a")), "two");
}

TEST_F(FilesTest, WritesDevicesAndTellsWhenFull) {
  EXPECT_TRUE(succeeded(write("/dev/null", "one")));
  EXPECT_TRUE(failed(write("/dev/full", "one")));
  EXPECT_EQ(error, "cannot write '/dev/full': No space left on device");
  fs::file_status status;
  ASSERT_FALSE(fs::status("/dev/full", status));
  EXPECT_EQ(status.type(), fs::file_type::character_file);
}

TEST_F(FilesTest, RefusesFolders) {
  EXPECT_TRUE(failed(write(folder, "one")));
  EXPECT_TRUE(failed(write(at("none/a"), "one")));
  EXPECT_NE(error.find("No such file or directory"), std::string::npos);
  EXPECT_EQ(countFiles(), 0u);
}

TEST(ParseJson, RefusesDeepNesting) {
  auto nested = [](size_t depth) {
    auto value = parseJson(std::string(depth, '[') + std::string(depth, ']'));
    bool good = bool(value);
    llvm::consumeError(value.takeError());
    return good;
  };
  EXPECT_TRUE(nested(50));
  EXPECT_FALSE(nested(100000));
  // Brackets in strings are none.
  auto text = parseJson("\"\\\"" + std::string(1000, '[') + "\"");
  EXPECT_TRUE(bool(text));
  llvm::consumeError(text.takeError());
}
