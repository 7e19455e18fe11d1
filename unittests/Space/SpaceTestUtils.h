//===- SpaceTestUtils.h - Helpers of the tests of Space ---------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_SPACE_SPACETESTUTILS_H
#define UNITTESTS_SPACE_SPACETESTUTILS_H

#include "ansor/IR/AnsorDialect.h"
#include "ansor/Space/DesignSpace.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtension.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace mlir::ansor {

/// A context with what sketches need, and spaces read from the bodies of
/// scripts.
class SpaceTest : public ::testing::Test {
protected:
  SpaceTest()
      : handler(&context, [this](Diagnostic &diag) {
          diagnostics.push_back(diag.str());
        }) {
    DialectRegistry registry;
    registry.insert<AnsorDialect, transform::TransformDialect>();
    transform::registerTuneExtension(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The script with these knobs, constraints, and ops behind the knobs.
  OwningOpRef<ModuleOp> parseScript(StringRef knobs, StringRef constraints = "",
                                    StringRef body = "") {
    std::string text =
        ("module attributes {transform.with_named_sequence, ansor.sketch = "
         "\"s0\", ansor.constraints = [" +
         constraints +
         "]} {\n transform.named_sequence @__transform_main(%arg: "
         "!transform.any_op {transform.readonly}) {\n" +
         knobs + body + "\n transform.yield\n }\n}\n")
            .str();
    return parseSourceString<ModuleOp>(text, &context);
  }

  FailureOr<DesignSpace> makeSpace(StringRef knobs,
                                   StringRef constraints = "") {
    OwningOpRef<ModuleOp> script = parseScript(knobs, constraints);
    if (!script)
      return failure();
    return DesignSpace::fromScript(*script);
  }

  MLIRContext context;
  SmallVector<std::string> diagnostics;
  ScopedDiagnosticHandler handler;
};

/// The knobs of all levels of a loop; `extra` is added to each dictionary.
inline std::string tileKnobs(int64_t stage, int64_t loop, int64_t levels,
                             int64_t extent, StringRef extra = "") {
  std::string text;
  for (int64_t level = 0; level < levels; ++level) {
    std::string name = "s" + std::to_string(stage) + ".d" +
                       std::to_string(loop) + ".l" + std::to_string(level);
    text += "%" + std::string("t") + std::to_string(stage) + "_" +
            std::to_string(loop) + "_" + std::to_string(level) +
            " = transform.tune.knob<\"" + name +
            "\"> options = {kind = \"tile\", stage = " + std::to_string(stage) +
            " : i64, loop = " + std::to_string(loop) +
            " : i64, level = " + std::to_string(level) +
            " : i64, levels = " + std::to_string(levels) +
            " : i64, extent = " + std::to_string(extent) + " : i64" +
            extra.str() + "} -> !transform.param<i64>\n";
  }
  return text;
}

/// A knob of another kind; `values` is the text of a list.
inline std::string valueKnob(StringRef name, StringRef kind, int64_t stage,
                             StringRef values) {
  return ("%" + name + " = transform.tune.knob<\"" + name +
          "\"> options = {kind = \"" + kind +
          "\", stage = " + std::to_string(stage) + " : i64, values = [" +
          values + "]} -> !transform.param<i64>\n")
      .str();
}

} // namespace mlir::ansor

#endif // UNITTESTS_SPACE_SPACETESTUTILS_H
