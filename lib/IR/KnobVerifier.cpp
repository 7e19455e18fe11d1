//===- KnobVerifier.cpp - Verification of knobs -----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/IR/KnobVerifier.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/IR/KnobDomain.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::ansor;

//===----------------------------------------------------------------------===//
// Knobs
//===----------------------------------------------------------------------===//

/// Verifies one knob. It may be malformed otherwise: its own verifier may not
/// have run yet.
static LogicalResult verifyKnob(Operation *op) {
  auto options = op->getAttrOfType<DictionaryAttr>("options");
  if (!options || !options.get("kind"))
    return success();
  FailureOr<KnobDomain> domain =
      KnobDomain::parse(options, [&] { return mlir::emitError(op->getLoc()); });
  if (failed(domain))
    return failure();
  Attribute selected = op->getAttr("selected");
  if (!selected)
    return success();
  auto value = dyn_cast<IntegerAttr>(selected);
  if (!value || !value.getType().isSignlessInteger(64))
    return emitError(op->getLoc())
           << "the selected value of a knob must be an i64, got " << selected;
  if (!domain->contains(value.getInt()))
    return emitError(op->getLoc())
           << "the selected value " << value.getInt()
           << " is outside the knob's domain " << options;
  return success();
}

LogicalResult mlir::ansor::verifyKnobs(Operation *root) {
  WalkResult result = root->walk([](Operation *op) {
    if (op->getName().getStringRef() == "transform.tune.knob" &&
        failed(verifyKnob(op)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Bindings
//===----------------------------------------------------------------------===//

/// {knob = "…", extent = …}: as many tiles as the extent makes.
static bool isTileCount(Attribute attr) {
  auto dict = dyn_cast<DictionaryAttr>(attr);
  if (!dict || dict.size() != 2 || !dict.getAs<StringAttr>("knob"))
    return false;
  auto extent = dict.getAs<IntegerAttr>("extent");
  return extent && extent.getType().isSignlessInteger(64) &&
         extent.getInt() > 0;
}

static bool isKnobOrConstant(Attribute attr) {
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return integer.getType().isSignlessInteger(64);
  return isa<StringAttr>(attr) || isTileCount(attr);
}

LogicalResult mlir::ansor::verifyBinding(Operation *op, Attribute binding) {
  auto dict = dyn_cast<DictionaryAttr>(binding);
  if (!dict)
    return emitError(op->getLoc())
           << "'" << kBindAttr
           << "' must be a dictionary from attribute names to "
              "knobs, got "
           << binding;
  for (NamedAttribute entry : dict) {
    Attribute value = entry.getValue();
    auto array = dyn_cast<ArrayAttr>(value);
    if (!isa<StringAttr>(value) && !isTileCount(value) &&
        !(array && llvm::all_of(array, isKnobOrConstant)))
      return emitError(op->getLoc())
             << "'" << entry.getName().getValue() << "' of '" << kBindAttr
             << "' must be the name of a knob, {knob = \"NAME\", extent = N : "
                "i64} for the number of its tiles, or an array of these and "
                "i64 constants, got "
             << value;
    Attribute target = op->getAttr(entry.getName());
    if (!target)
      return emitError(op->getLoc())
             << "'" << kBindAttr << "' names '" << entry.getName().getValue()
             << "', which this op lacks: give it a "
                "placeholder value";
    bool fits = array ? isa<ArrayAttr, DenseI64ArrayAttr>(target)
                      : isa<IntegerAttr>(target);
    if (!fits)
      return emitError(op->getLoc())
             << "'" << kBindAttr << "' can't fill '"
             << entry.getName().getValue() << "' = " << target
             << (array ? ": it is no array of integers" : ": it is no integer");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

static bool isI64(Attribute attr) {
  auto integer = dyn_cast_or_null<IntegerAttr>(attr);
  return integer && integer.getType().isSignlessInteger(64);
}

/// Fails on a key of `dict` that isn't in `known`.
static LogicalResult checkKeys(DictionaryAttr dict, StringRef what,
                               ArrayRef<StringRef> known,
                               function_ref<InFlightDiagnostic()> emitError) {
  for (NamedAttribute entry : dict)
    if (!llvm::is_contained(known, entry.getName().getValue())) {
      InFlightDiagnostic diag = emitError()
                                << "unknown key '" << entry.getName().getValue()
                                << "' in " << what << "; known are ";
      llvm::interleaveComma(known, diag, [&](StringRef key) { diag << key; });
      return diag;
    }
  return success();
}

static LogicalResult verifyTerm(StringRef constraint, Attribute attr,
                                function_ref<InFlightDiagnostic()> emitError) {
  auto term = dyn_cast<DictionaryAttr>(attr);
  if (!term)
    return emitError() << "a term of constraint '" << constraint
                       << "' must be a dictionary, got " << attr;
  if (failed(checkKeys(term, "a term of a constraint", {"coefficient", "knobs"},
                       emitError)))
    return failure();
  if (Attribute coefficient = term.get("coefficient");
      coefficient && !isI64(coefficient))
    return emitError() << "'coefficient' of constraint '" << constraint
                       << "' must be an i64, got " << coefficient;
  auto knobs = dyn_cast_or_null<ArrayAttr>(term.get("knobs"));
  if (!knobs || !llvm::all_of(knobs, llvm::IsaPred<StringAttr>))
    return emitError() << "a term of constraint '" << constraint
                       << "' needs 'knobs', an array of knob names";
  return success();
}

LogicalResult
mlir::ansor::verifyConstraints(Attribute attr,
                               function_ref<InFlightDiagnostic()> emitError) {
  auto array = dyn_cast<ArrayAttr>(attr);
  if (!array)
    return emitError() << "'" << kConstraintsAttr
                       << "' must be an array of dictionaries, got " << attr;
  for (Attribute element : array) {
    auto dict = dyn_cast<DictionaryAttr>(element);
    if (!dict)
      return emitError() << "'" << kConstraintsAttr
                         << "' must be an array of dictionaries, it holds "
                         << element;
    auto name = dyn_cast_or_null<StringAttr>(dict.get("name"));
    if (!name || name.getValue().empty())
      return emitError() << "a constraint needs 'name', a string that is not "
                            "empty";
    if (failed(checkKeys(dict, "a constraint",
                         {"name", "reason", "terms", "max"}, emitError)))
      return failure();
    if (Attribute reason = dict.get("reason");
        reason && !isa<StringAttr>(reason))
      return emitError() << "'reason' of constraint '" << name.getValue()
                         << "' must be a string, got " << reason;
    if (!isI64(dict.get("max")))
      return emitError() << "constraint '" << name.getValue()
                         << "' needs 'max', an i64";
    auto terms = dyn_cast_or_null<ArrayAttr>(dict.get("terms"));
    if (!terms || terms.empty())
      return emitError() << "constraint '" << name.getValue()
                         << "' needs 'terms', an array of dictionaries that is "
                            "not empty";
    for (Attribute term : terms)
      if (failed(verifyTerm(name.getValue(), term, emitError)))
        return failure();
  }
  return success();
}
