//===- ApplyDecisions.cpp - See Passes.td -----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/IR/AnsorDialect.h"
#include "ansor/IR/KnobVerifier.h"
#include "ansor/Space/DesignSpace.h"
#include "ansor/Support/Files.h"
#include "ansor/Transforms/Passes.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_APPLYDECISIONSPASS
#include "ansor/Transforms/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

/// Samples that are drawn to find a legal one.
static constexpr unsigned kAttempts = 1000;

namespace {
/// A named sequence with open choices.
struct OpenSequence {
  transform::NamedSequenceOp op;
  DesignSpace space;
  bool isApplied; ///< @__transform_main includes it, or there is none
};

struct ApplyDecisionsPass
    : public ansor::impl::ApplyDecisionsPassBase<ApplyDecisionsPass> {
  using ApplyDecisionsPassBase::ApplyDecisionsPassBase;

  void runOnOperation() override {
    std::vector<OpenSequence> sequences;
    if (failed(verifyKnobs(getOperation())) || failed(collect(sequences)))
      return signalPassFailure();
    LogicalResult result =
        decisions.empty() ? sampleAll(sequences) : applyJSON(sequences);
    if (failed(result))
      return signalPassFailure();
  }

private:
  LogicalResult collect(std::vector<OpenSequence> &sequences);
  LogicalResult sampleAll(MutableArrayRef<OpenSequence> sequences);
  LogicalResult applyJSON(MutableArrayRef<OpenSequence> sequences);
  LogicalResult apply(OpenSequence &sequence, const Decisions &chosen);
  LogicalResult applyJSON(OpenSequence &sequence,
                          const llvm::json::Value &value);
};
} // namespace

LogicalResult
ApplyDecisionsPass::collect(std::vector<OpenSequence> &sequences) {
  ModuleOp module = getOperation();
  auto main = module.lookupSymbol<transform::NamedSequenceOp>(
      transform::TransformDialect::kTransformEntryPointSymbolName);
  llvm::StringSet<> included;
  if (main)
    main.walk([&](transform::IncludeOp include) {
      included.insert(include.getTarget().getLeafReference().getValue());
    });
  for (auto op : module.getOps<transform::NamedSequenceOp>()) {
    FailureOr<DesignSpace> space = DesignSpace::fromScript(op);
    if (failed(space))
      return failure();
    if (space->getGroups().empty())
      continue;
    sequences.push_back(
        {op, std::move(*space),
         !main || op == main || included.contains(op.getSymName())});
  }
  if (sequences.empty()) {
    emitRemark(module.getLoc())
        << "the module has no open choice: generate sketches "
           "first (--ansor-generate-sketches)";
    return success();
  }
  // Constraints of the module are those of its one sketch.
  if (!module->hasAttr(kConstraintsAttr))
    return success();
  if (sequences.size() > 1)
    return emitError(module.getLoc())
           << "'" << kConstraintsAttr << "' on a module with "
           << sequences.size()
           << " sketches: put it on the named sequence that it is about";
  FailureOr<DesignSpace> space = DesignSpace::fromScript(module);
  if (failed(space))
    return failure();
  sequences.front().space = std::move(*space);
  return success();
}

LogicalResult ApplyDecisionsPass::apply(OpenSequence &sequence,
                                        const Decisions &chosen) {
  if (std::optional<Violation> violation = sequence.space.check(chosen))
    return emitError(sequence.op.getLoc())
           << "decisions violate \"" << violation->constraint
           << "\": " << violation->reason;
  if (failed(applyDecisions(sequence.op, sequence.space, chosen)))
    return failure();
  if (!fold)
    return success();
  ModuleOp module = getOperation();
  for (StringRef name : {StringRef(kSketchAttr), StringRef(kDerivationAttr),
                         StringRef(kConstraintsAttr)})
    module->removeDiscardableAttr(name);
  return foldDecisions(sequence.op);
}

LogicalResult
ApplyDecisionsPass::sampleAll(MutableArrayRef<OpenSequence> sequences) {
  RandomGenerator rng(seed);
  for (OpenSequence &sequence : sequences) {
    llvm::StringMap<int64_t> rejections;
    std::optional<Decisions> sample =
        sequence.space.sampleLegal(rng, kAttempts, rejections);
    if (!sample) {
      InFlightDiagnostic diag = emitError(sequence.op.getLoc())
                                << "none of " << kAttempts
                                << " samples satisfies the constraints";
      std::map<StringRef, int64_t> sorted;
      for (const auto &entry : rejections)
        sorted[entry.getKey()] = entry.getValue();
      for (const auto &[name, count] : sorted)
        diag.attachNote() << count << " rejected by \"" << name << "\"";
      return diag;
    }
    if (failed(apply(sequence, *sample)))
      return failure();
  }
  return success();
}

LogicalResult ApplyDecisionsPass::applyJSON(OpenSequence &sequence,
                                            const llvm::json::Value &value) {
  std::string error;
  FailureOr<Decisions> chosen = sequence.space.fromJSON(value, error);
  if (failed(chosen))
    return emitError(sequence.op.getLoc()) << error;
  return apply(sequence, *chosen);
}

LogicalResult
ApplyDecisionsPass::applyJSON(MutableArrayRef<OpenSequence> sequences) {
  ModuleOp module = getOperation();
  // Pass options lose the braces around their value.
  std::string text = decisions;
  if (!StringRef(text).trim().starts_with("{"))
    text = "{" + text + "}";
  llvm::Expected<llvm::json::Value> value = parseJson(text);
  if (!value)
    return emitError(module.getLoc()) << "option 'decisions' is no JSON: "
                                      << llvm::toString(value.takeError());
  const llvm::json::Object *object = value->getAsObject();
  assert(object && "braces make an object");

  // {"sequence": {"group": …}, …}
  bool isNested = !object->empty() && llvm::all_of(*object, [](auto &entry) {
    return entry.second.getAsObject() != nullptr;
  });
  if (isNested) {
    std::map<StringRef, const llvm::json::Value *> byName;
    for (const auto &entry : *object)
      byName[StringRef(entry.first)] = &entry.second;
    for (OpenSequence &sequence : sequences) {
      auto it = byName.find(sequence.op.getSymName());
      if (it == byName.end())
        continue;
      if (failed(applyJSON(sequence, *it->second)))
        return failure();
      byName.erase(it);
    }
    if (!byName.empty())
      return emitError(module.getLoc())
             << "no named sequence with open choices is called \""
             << byName.begin()->first << "\"";
    return success();
  }

  SmallVector<OpenSequence *> applied;
  for (OpenSequence &sequence : sequences)
    if (sequence.isApplied)
      applied.push_back(&sequence);
  if (applied.size() == 1)
    return applyJSON(*applied.front(), *value);
  InFlightDiagnostic diag = emitError(module.getLoc())
                            << applied.size()
                            << " sketches with open choices are applied: name "
                               "the one that the decisions are for: {\"NAME\": "
                               "{…}}";
  for (OpenSequence *sequence : applied)
    diag.attachNote(sequence->op.getLoc())
        << "\"" << sequence->op.getSymName() << "\"";
  return diag;
}
