//===- AnsorDialect.cpp - The ansor dialect ---------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/IR/AnsorDialect.h"
#include "ansor/IR/KnobVerifier.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::ansor;

#include "ansor/IR/AnsorDialect.cpp.inc"

void AnsorDialect::initialize() {}

//===----------------------------------------------------------------------===//
// Verification of the discardable attributes
//===----------------------------------------------------------------------===//

/// Fails with "'ansor.x' belongs on …, not on …" if `fits` is false.
static LogicalResult verifyPlace(Operation *op, NamedAttribute attr, bool fits,
                                 StringRef places) {
  // What an op that isn't registered is can't be known.
  if (fits || !op->isRegistered())
    return success();
  return emitError(op->getLoc())
         << "'" << attr.getName().getValue() << "' belongs on " << places
         << ", not on '" << op->getName() << "'";
}

/// Starts "'ansor.x' must be …".
static InFlightDiagnostic emitValueError(Operation *op, NamedAttribute attr,
                                         StringRef expected) {
  return emitError(op->getLoc())
         << "'" << attr.getName().getValue() << "' must be " << expected
         << ", got " << attr.getValue();
}

static LogicalResult verifyInt(Operation *op, NamedAttribute attr,
                               int64_t least) {
  auto integer = dyn_cast<IntegerAttr>(attr.getValue());
  if (integer && integer.getType().isSignlessInteger(64) &&
      integer.getInt() >= least)
    return success();
  return emitValueError(op, attr,
                        "an i64 of at least " + std::to_string(least));
}

static LogicalResult verifyUnit(Operation *op, NamedAttribute attr) {
  if (isa<UnitAttr>(attr.getValue()))
    return success();
  return emitValueError(op, attr, "a unit attribute");
}

static LogicalResult verifyString(Operation *op, NamedAttribute attr) {
  auto string = dyn_cast<StringAttr>(attr.getValue());
  if (string && !string.getValue().empty())
    return success();
  return emitValueError(op, attr, "a string that is not empty");
}

static LogicalResult verifyStrings(Operation *op, NamedAttribute attr) {
  auto array = dyn_cast<ArrayAttr>(attr.getValue());
  if (array && llvm::all_of(array, llvm::IsaPred<StringAttr>))
    return success();
  return emitValueError(op, attr, "an array of strings");
}

LogicalResult AnsorDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attr) {
  StringRef name = attr.getName().getValue();
  if (name == kTaskAttr) {
    // A schedule in a library names its task, too.
    // Functions of other dialects keep it when they are lowered.
    if (failed(verifyPlace(op, attr, isa<FunctionOpInterface>(op),
                           "a 'func.func' or a 'transform.named_sequence'")))
      return failure();
    return verifyString(op, attr);
  }
  if (name == kWeightAttr) {
    if (failed(verifyPlace(op, attr, isa<FunctionOpInterface>(op),
                           "a 'func.func'")))
      return failure();
    return verifyInt(op, attr, 1);
  }
  if (name == kPrepackAttr) {
    if (!isa<FunctionOpInterface>(op))
      return verifyUnit(op, attr);
    auto array = dyn_cast<ArrayAttr>(attr.getValue());
    if (array && array.size() == 2 &&
        llvm::all_of(array, llvm::IsaPred<FlatSymbolRefAttr>))
      return success();
    return emitValueError(op, attr, "an array of two symbols on a function");
  }
  if (name == kStageAttr)
    return verifyInt(op, attr, 0);
  if (name == kUnrollAttr)
    return verifyInt(op, attr, 0);
  if (name == kVectorizeAttr || name == kReadThroughAttr)
    return verifyUnit(op, attr);
  if (name == kParallelAttr) {
    if (failed(verifyPlace(op, attr, isa<LoopLikeOpInterface>(op), "a loop")))
      return failure();
    return verifyUnit(op, attr);
  }
  if (name == kBindAttr) {
    bool fits = isa_and_nonnull<transform::TransformDialect>(op->getDialect());
    if (failed(verifyPlace(op, attr, fits, "an op of the transform dialect")))
      return failure();
    return verifyBinding(op, attr.getValue());
  }
  if (name == kSketchAttr || name == kDerivationAttr ||
      name == kConstraintsAttr) {
    bool fits = isa<ModuleOp, transform::NamedSequenceOp>(op);
    if (failed(
            verifyPlace(op, attr, fits,
                        "a 'builtin.module' or a 'transform.named_sequence'")))
      return failure();
    if (name == kDerivationAttr)
      return verifyStrings(op, attr);
    if (name == kConstraintsAttr)
      return verifyConstraints(attr.getValue(),
                               [&] { return mlir::emitError(op->getLoc()); });
    if (failed(verifyString(op, attr)))
      return failure();
    return verifyKnobs(op);
  }
  return success();
}

LogicalResult AnsorDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                     unsigned,
                                                     NamedAttribute attr) {
  if (attr.getName() != kWeightAttr)
    return success();
  if (failed(verifyPlace(op, attr, isa<FunctionOpInterface>(op),
                         "an argument of a 'func.func'")))
    return failure();
  return verifyUnit(op, attr);
}
