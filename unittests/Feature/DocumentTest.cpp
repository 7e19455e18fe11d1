//===- DocumentTest.cpp - docs/Features.md against the code -----*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Feature/Feature.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir;
using namespace mlir::ansor;

/// Rows of the tables of columns: "| 57 + 18i | `b<i>.bytes` | … |".
static std::vector<std::pair<std::string, std::string>> readTable() {
  std::vector<std::pair<std::string, std::string>> rows;
  auto buffer = llvm::MemoryBuffer::getFile(ANSOR_FEATURES_DOCUMENT);
  EXPECT_TRUE(bool(buffer));
  if (!buffer)
    return rows;
  for (StringRef line : llvm::split((*buffer)->getBuffer(), '\n')) {
    SmallVector<StringRef> cells;
    line.split(cells, '|');
    if (cells.size() != 5 ||
        !llvm::isDigit(cells[1].trim().empty() ? ' ' : cells[1].trim().front()))
      continue;
    EXPECT_FALSE(cells[3].trim().empty()) << line.str();
    rows.push_back({cells[1].trim().str(), cells[2].trim(" `").str()});
  }
  return rows;
}

TEST(FeatureNames, AreUnique) {
  ArrayRef<StringRef> names = getFeatureNames();
  EXPECT_EQ(names.size(), kNumFeatures);
  std::set<std::string> unique;
  for (StringRef name : names)
    unique.insert(name.str());
  EXPECT_EQ(unique.size(), names.size());
}

TEST(FeatureNames, AreDocumented) {
  std::vector<std::string> documented(kNumFeatures);
  auto put = [&](unsigned column, const std::string &name) {
    ASSERT_LT(column, kNumFeatures) << name;
    EXPECT_EQ(documented[column], "") << "column " << column << " twice";
    documented[column] = name;
  };
  for (auto &[index, name] : readTable()) {
    auto [base, step] = StringRef(index).split(" + ");
    unsigned column = 0, stride = 0;
    ASSERT_FALSE(base.getAsInteger(10, column)) << index;
    size_t at = name.find("<i>");
    if (at == std::string::npos) {
      EXPECT_TRUE(step.empty());
      put(column, name);
      continue;
    }
    ASSERT_FALSE(step.rtrim('i').getAsInteger(10, stride)) << index;
    for (unsigned i = 0, e = at == 1 ? 5 : 10; i < e; ++i)
      put(column + i * stride,
          std::string(name).replace(at, 3, std::to_string(i)));
  }
  ArrayRef<StringRef> names = getFeatureNames();
  for (unsigned column = 0; column < kNumFeatures; ++column)
    EXPECT_EQ(documented[column], names[column].str()) << "column " << column;
}

TEST(FeatureNames, DocumentHasTheVersion) {
  auto buffer = llvm::MemoryBuffer::getFile(ANSOR_FEATURES_DOCUMENT);
  ASSERT_TRUE(bool(buffer));
  std::string version = "**version " + std::to_string(kFeatureVersion) + "**";
  EXPECT_NE((*buffer)->getBuffer().find(version), StringRef::npos);
}
