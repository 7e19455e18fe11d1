//===- Interpret.cpp - Interpretation of scripts ----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Space/DesignSpace.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::ansor;

LogicalResult mlir::ansor::interpretScript(ModuleOp payload, ModuleOp script,
                                           std::string &error) {
  error.clear();
  auto entry = dyn_cast_or_null<transform::TransformOpInterface>(
      SymbolTable::lookupSymbolIn(
          script, transform::TransformDialect::kTransformEntryPointSymbolName));
  if (!entry) {
    error = "the script has no named sequence '@__transform_main'";
    return failure();
  }
  // The handler takes every diagnostic of the context while it lives: nothing
  // is printed, and the first error (with its notes) is what is told.
  ScopedDiagnosticHandler handler(payload.getContext(), [&](Diagnostic &diag) {
    if (!error.empty() || diag.getSeverity() != DiagnosticSeverity::Error)
      return;
    error = diag.str();
    for (Diagnostic &note : diag.getNotes())
      error += "; " + note.str();
  });
  transform::TransformOptions options;
  options.enableExpensiveChecks(false);
  if (succeeded(transform::applyTransformNamedSequence(payload, entry,
                                                       ModuleOp(), options)))
    return success();
  if (error.empty())
    error = "the script failed without a diagnostic";
  return failure();
}
