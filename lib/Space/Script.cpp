//===- Script.cpp - Decisions applied to scripts ----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/IR/AnsorDialect.h"
#include "ansor/IR/KnobVerifier.h"
#include "ansor/Space/DesignSpace.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::ansor;

//===----------------------------------------------------------------------===//
// Applying
//===----------------------------------------------------------------------===//

/// The value that one element of a binding stands for.
static FailureOr<int64_t> resolveBinding(Operation *op, Attribute element,
                                         const DesignSpace &space,
                                         const Decisions &decisions) {
  if (auto constant = dyn_cast<IntegerAttr>(element))
    return constant.getInt();
  auto tiles = dyn_cast<DictionaryAttr>(element);
  StringRef name = tiles ? tiles.getAs<StringAttr>("knob").getValue()
                         : cast<StringAttr>(element).getValue();
  if (std::optional<int64_t> value = space.getValue(decisions, name))
    return tiles ? llvm::divideCeilSigned(
                       tiles.getAs<IntegerAttr>("extent").getInt(),
                       std::max<int64_t>(*value, 1))
                 : *value;
  return emitError(op->getLoc())
         << "'" << kBindAttr << "' names the unknown knob \"" << name << "\"";
}

/// Fills the attributes of `op` that `binding` names.
static LogicalResult applyBinding(Operation *op, Attribute binding,
                                  const DesignSpace &space,
                                  const Decisions &decisions) {
  if (failed(verifyBinding(op, binding)))
    return failure();
  Builder builder(op->getContext());
  for (NamedAttribute entry : cast<DictionaryAttr>(binding)) {
    Attribute placeholder = op->getAttr(entry.getName());
    auto array = dyn_cast<ArrayAttr>(entry.getValue());
    if (!array) {
      FailureOr<int64_t> value =
          resolveBinding(op, entry.getValue(), space, decisions);
      if (failed(value))
        return failure();
      op->setAttr(entry.getName(),
                  builder.getIntegerAttr(
                      cast<IntegerAttr>(placeholder).getType(), *value));
      continue;
    }
    SmallVector<int64_t> values;
    for (Attribute element : array) {
      FailureOr<int64_t> value = resolveBinding(op, element, space, decisions);
      if (failed(value))
        return failure();
      values.push_back(*value);
    }
    if (isa<DenseI64ArrayAttr>(placeholder))
      op->setAttr(entry.getName(), builder.getDenseI64ArrayAttr(values));
    else
      op->setAttr(entry.getName(), builder.getI64ArrayAttr(values));
  }
  return success();
}

/// Sets the selection of one knob or alternatives.
static LogicalResult applyDecision(Operation *op, StringRef name,
                                   const DesignSpace &space,
                                   const Decisions &decisions,
                                   function_ref<void(IntegerAttr)> select) {
  std::optional<int64_t> value = space.getValue(decisions, name);
  if (!value)
    return emitError(op->getLoc())
           << "the design space lacks the knob \"" << name << "\"";
  select(Builder(op->getContext()).getI64IntegerAttr(*value));
  return success();
}

LogicalResult mlir::ansor::applyDecisions(Operation *script,
                                          const DesignSpace &space,
                                          const Decisions &decisions) {
  // Constraints are the caller's matter: a person may overrule them.
  ArrayRef<KnobGroup> groups = space.getGroups();
  if (decisions.size() != groups.size())
    return emitError(script->getLoc())
           << "expected decisions for " << groups.size() << " groups, got "
           << decisions.size();
  for (auto [group, values] : llvm::zip_equal(groups, decisions))
    if (group.knobs.size() != values.size())
      return emitError(script->getLoc())
             << "\"" << group.name << "\" takes " << group.knobs.size()
             << " values, got " << values.size();

  WalkResult walk = script->walk([&](Operation *op) {
    LogicalResult result = success();
    if (auto knob = dyn_cast<transform::tune::KnobOp>(op)) {
      result = applyDecision(
          op, knob.getName(), space, decisions,
          [&](IntegerAttr value) { knob.setSelectedAttr(value); });
    } else if (auto alternatives =
                   dyn_cast<transform::tune::AlternativesOp>(op)) {
      if (!alternatives.getSelectedRegionParam())
        result = applyDecision(op, alternatives.getName(), space, decisions,
                               [&](IntegerAttr value) {
                                 alternatives.setSelectedRegionAttrAttr(value);
                               });
    } else if (Attribute binding = op->getDiscardableAttr(kBindAttr)) {
      result = applyBinding(op, binding, space, decisions);
    }
    return failed(result) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

static LogicalResult foldKnob(transform::tune::KnobOp knob) {
  std::optional<Attribute> selected = knob.getSelected();
  if (!selected)
    return emitError(knob.getLoc())
           << "knob " << knob.getName()
           << " is open: apply decisions before folding";
  OpBuilder builder(knob);
  auto constant = transform::ParamConstantOp::create(
      builder, knob.getLoc(), knob.getResult().getType(), *selected);
  knob.getResult().replaceAllUsesWith(constant.getResult());
  knob.erase();
  return success();
}

static LogicalResult foldAlternatives(transform::tune::AlternativesOp op) {
  IntegerAttr selected;
  Operation *constant = nullptr;
  if (std::optional<APInt> index = op.getSelectedRegionAttr()) {
    selected = IntegerAttr::get(IntegerType::get(op.getContext(), 64),
                                index->sextOrTrunc(64).getSExtValue());
  } else if (Value param = op.getSelectedRegionParam()) {
    // Knobs were folded before.
    auto definition = param.getDefiningOp<transform::ParamConstantOp>();
    if (definition) {
      constant = definition;
      selected = dyn_cast<IntegerAttr>(definition.getValue());
    }
  }
  if (!selected)
    return emitError(op.getLoc())
           << "alternatives " << op.getName()
           << " are open: apply decisions before folding";
  int64_t index = selected.getInt();
  if (index < 0 || index >= static_cast<int64_t>(op.getAlternatives().size()))
    return emitError(op.getLoc())
           << "alternatives " << op.getName() << " have "
           << op.getAlternatives().size()
           << " regions, and the selected one is " << index;
  Block &body = op.getAlternatives()[index].front();
  Operation *terminator = body.getTerminator();
  op->replaceAllUsesWith(terminator->getOperands());
  terminator->erase();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         body.getOperations());
  op.erase();
  if (constant && constant->use_empty())
    constant->erase();
  return success();
}

LogicalResult mlir::ansor::foldDecisions(Operation *script) {
  SmallVector<transform::tune::KnobOp> knobs;
  SmallVector<transform::tune::AlternativesOp> alternatives;
  script->walk([&](transform::tune::KnobOp op) { knobs.push_back(op); });
  // Inner ones first: they are spliced with the region that they are in.
  script->walk(
      [&](transform::tune::AlternativesOp op) { alternatives.push_back(op); });
  for (transform::tune::KnobOp knob : knobs)
    if (failed(foldKnob(knob)))
      return failure();
  for (transform::tune::AlternativesOp op : alternatives)
    if (failed(foldAlternatives(op)))
      return failure();

  for (StringRef name : {StringRef(kSketchAttr), StringRef(kDerivationAttr),
                         StringRef(kConstraintsAttr)})
    script->removeDiscardableAttr(name);
  // The script may share its module with the payload, which keeps its tags.
  script->walk([](Operation *op) {
    if (!isa_and_nonnull<transform::TransformDialect>(op->getDialect()))
      return;
    for (NamedAttribute attr : llvm::to_vector(op->getDiscardableAttrs()))
      if (attr.getName().getValue().starts_with("ansor."))
        op->removeDiscardableAttr(attr.getName());
  });
  return success();
}
