//===- KnobDomainTest.cpp - Tests of knob domains ---------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/IR/KnobDomain.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {

class KnobDomainTest : public ::testing::Test {
protected:
  KnobDomain parse(StringRef text) {
    auto dict = cast<DictionaryAttr>(parseAttribute(text, &context));
    FailureOr<KnobDomain> domain = KnobDomain::parse(
        dict, [&] { return emitError(UnknownLoc::get(&context)); });
    EXPECT_TRUE(succeeded(domain)) << text.str();
    return succeeded(domain) ? *domain : KnobDomain();
  }

  KnobDomain tile(StringRef extra, int64_t level = 0) {
    return parse(
        ("{kind = \"tile\", stage = 2 : i64, loop = 1 : i64, level = " +
         Twine(level) + " : i64, levels = 3 : i64, extent = 12 : i64" + extra +
         "}")
            .str());
  }

  MLIRContext context;
};

TEST_F(KnobDomainTest, RoundTrip) {
  for (StringRef text :
       {R"({kind = "tile", stage = 2 : i64, loop = 1 : i64, level = 0 : i64,
            levels = 3 : i64, extent = 12 : i64})",
        R"({kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 2 : i64,
            levels = 3 : i64, extent = 9223372036854775807 : i64,
            policy = "remainder", multiple_of = 4 : i64, max = 64 : i64})",
        R"({kind = "unroll", stage = 1 : i64, values = [0, 16, 64, 512]})",
        R"({kind = "parallel", stage = 1 : i64, values = [1, 2]})",
        R"({kind = "location", stage = 1 : i64, values = [0]})",
        R"({kind = "choice", stage = 1 : i64, values = [3, 1]})"}) {
    Attribute attr = parseAttribute(text, &context);
    EXPECT_EQ(parse(text).toAttr(&context), attr) << text.str();
  }
  // Defaults are left out.
  KnobDomain domain = tile(", policy = \"divisor\", max = 0 : i64");
  EXPECT_EQ(domain.toAttr(&context), tile("").toAttr(&context));
  EXPECT_EQ(domain.stage, 2);
  EXPECT_EQ(domain.loop, 1);
  EXPECT_EQ(domain.extent, 12);
}

TEST_F(KnobDomainTest, ContainsTiles) {
  auto members = [](const KnobDomain &domain) {
    SmallVector<int64_t> result;
    for (int64_t value = -1; value <= 14; ++value)
      if (domain.contains(value))
        result.push_back(value);
    return result;
  };
  using Values = SmallVector<int64_t>;
  EXPECT_EQ(members(tile("")), (Values{1, 2, 3, 4, 6, 12}));
  EXPECT_EQ(members(tile(", max = 5 : i64")), (Values{1, 2, 3, 4}));
  EXPECT_EQ(members(tile(", multiple_of = 3 : i64")), (Values{3, 6, 12}));
  // The extent counts as a multiple.
  EXPECT_EQ(members(tile(", multiple_of = 5 : i64")), (Values{12}));
  EXPECT_EQ(members(tile(", policy = \"remainder\", multiple_of = 5 : i64")),
            (Values{5, 10, 12}));
  EXPECT_EQ(members(tile(", policy = \"remainder\", max = 3 : i64")),
            (Values{1, 2, 3}));
  // Further in, what the level outside is decides.
  EXPECT_TRUE(tile("", 1).contains(5));
}

TEST_F(KnobDomainTest, ContainsValues) {
  KnobDomain domain =
      parse(R"({kind = "unroll", stage = 1 : i64, values = [0, 16]})");
  EXPECT_TRUE(domain.contains(0));
  EXPECT_TRUE(domain.contains(16));
  EXPECT_FALSE(domain.contains(8));
}

} // namespace
