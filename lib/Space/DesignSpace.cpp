//===- DesignSpace.cpp - Decisions of a sketch ------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Space/DesignSpace.h"
#include "Tables.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/IR/KnobVerifier.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::ansor;

//===----------------------------------------------------------------------===//
// Constraint
//===----------------------------------------------------------------------===//

FailureOr<Constraint>
Constraint::parse(DictionaryAttr dict,
                  function_ref<InFlightDiagnostic()> emitError) {
  if (failed(verifyConstraints(ArrayAttr::get(dict.getContext(), {dict}),
                               emitError)))
    return failure();
  Constraint result;
  result.name = dict.getAs<StringAttr>("name").str();
  if (auto reason = dict.getAs<StringAttr>("reason"))
    result.reason = reason.str();
  result.max = dict.getAs<IntegerAttr>("max").getInt();
  for (auto attr :
       dict.getAs<ArrayAttr>("terms").getAsRange<DictionaryAttr>()) {
    Term term;
    if (auto coefficient = attr.getAs<IntegerAttr>("coefficient"))
      term.coefficient = coefficient.getInt();
    for (auto knob : attr.getAs<ArrayAttr>("knobs").getAsRange<StringAttr>())
      term.knobs.push_back(knob.str());
    result.terms.push_back(std::move(term));
  }
  return result;
}

DictionaryAttr Constraint::toAttr(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<Attribute> termAttrs;
  for (const Term &term : terms) {
    SmallVector<StringRef> names(term.knobs.begin(), term.knobs.end());
    termAttrs.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("coefficient",
                              builder.getI64IntegerAttr(term.coefficient)),
         builder.getNamedAttr("knobs", builder.getStrArrayAttr(names))}));
  }
  SmallVector<NamedAttribute> attrs = {
      builder.getNamedAttr("name", builder.getStringAttr(name)),
      builder.getNamedAttr("terms", builder.getArrayAttr(termAttrs)),
      builder.getNamedAttr("max", builder.getI64IntegerAttr(max))};
  if (!reason.empty())
    attrs.push_back(
        builder.getNamedAttr("reason", builder.getStringAttr(reason)));
  return builder.getDictionaryAttr(attrs);
}

//===----------------------------------------------------------------------===//
// Reading a script
//===----------------------------------------------------------------------===//

/// "s2.d0" of "s2.d0.l1" at level 1; "s<stage>.d<loop>" if the knob has another
/// kind of name.
static std::string getGroupName(StringRef name, const KnobDomain &domain) {
  if (domain.kind != KnobKind::Tile)
    return name.str();
  if (name.consume_back(".l" + std::to_string(domain.level)) && !name.empty())
    return name.str();
  return "s" + std::to_string(domain.stage) + ".d" +
         std::to_string(domain.loop);
}

/// The domain of a knob: a dictionary, or an array of i64 as a plain choice.
static FailureOr<KnobDomain> readDomain(transform::tune::KnobOp knob) {
  auto emit = [&] { return emitError(knob.getLoc()); };
  if (auto dict = dyn_cast<DictionaryAttr>(knob.getOptions()))
    return KnobDomain::parse(dict, emit);
  if (auto array = dyn_cast<ArrayAttr>(knob.getOptions())) {
    Builder builder(knob.getContext());
    return KnobDomain::parse(
        builder.getDictionaryAttr(
            {builder.getNamedAttr("kind", builder.getStringAttr("choice")),
             builder.getNamedAttr("stage", builder.getI64IntegerAttr(0)),
             builder.getNamedAttr("values", array)}),
        emit);
  }
  return emitError(knob.getLoc())
         << "the options of a knob must be a knob domain (a "
            "dictionary) or an array of i64, got "
         << knob.getOptions();
}

namespace {
/// Collects groups from ops, and checks that each is complete.
class GroupBuilder {
public:
  LogicalResult add(Operation *op, StringRef name, const KnobDomain &domain) {
    auto [it, isNew] = ops.try_emplace(name, op);
    if (!isNew) {
      InFlightDiagnostic diag = emitError(op->getLoc())
                                << "knob name \"" << name << "\" is used twice";
      diag.attachNote(it->second->getLoc()) << "first used here";
      return diag;
    }
    std::string groupName = getGroupName(name, domain);
    auto [groupIt, isNewGroup] = indices.try_emplace(groupName, groups.size());
    if (isNewGroup) {
      groups.emplace_back();
      groups.back().name = groupName;
      groups.back().stage = domain.stage;
      groupOps.push_back(op);
    }
    KnobGroup &group = groups[groupIt->second];
    if (!isNewGroup) {
      const KnobDomain &first = group.domains.front();
      if (domain.kind != KnobKind::Tile || first.kind != KnobKind::Tile)
        return emitError(op->getLoc())
               << "knob name \"" << name
               << "\" is the name of a loop's tiles too";
      if (domain.stage != first.stage || domain.loop != first.loop ||
          domain.levels != first.levels || domain.extent != first.extent)
        return emitError(op->getLoc())
               << "knob \"" << name
               << "\" differs from the other levels of its loop in stage, "
                  "loop, levels or extent";
      for (const KnobDomain &other : group.domains)
        if (other.level == domain.level)
          return emitError(op->getLoc())
                 << "knob \"" << name << "\" is level " << domain.level
                 << " of its loop, like another knob";
    }
    // Outermost first, whatever the order in the script.
    unsigned position = 0;
    while (position < group.domains.size() &&
           group.domains[position].level < domain.level)
      ++position;
    group.domains.insert(group.domains.begin() + position, domain);
    group.knobs.insert(group.knobs.begin() + position, name.str());
    return success();
  }

  /// Fails if a level is missing.
  LogicalResult finish() {
    for (auto [group, op] : llvm::zip_equal(groups, groupOps))
      if (group.domains.front().kind == KnobKind::Tile &&
          static_cast<int64_t>(group.domains.size()) !=
              group.domains.front().levels)
        return emitError(op->getLoc())
               << "loop \"" << group.name << "\" has "
               << group.domains.front().levels << " levels, but knobs for "
               << group.domains.size() << " of them";
    return success();
  }

  SmallVector<KnobGroup> groups;
  SmallVector<Operation *> groupOps;

private:
  llvm::StringMap<Operation *> ops;
  llvm::StringMap<unsigned> indices;
};
} // namespace

/// Adds a knob or open alternatives.
static LogicalResult addChoice(Operation *op, GroupBuilder &builder) {
  if (auto knob = dyn_cast<transform::tune::KnobOp>(op)) {
    FailureOr<KnobDomain> domain = readDomain(knob);
    if (failed(domain))
      return failure();
    return builder.add(op, knob.getName(), *domain);
  }
  auto alternatives = dyn_cast<transform::tune::AlternativesOp>(op);
  if (!alternatives || alternatives.getSelectedRegionParam())
    return success();
  KnobDomain domain;
  domain.kind = KnobKind::Choice;
  if (auto stage = op->getAttrOfType<IntegerAttr>(kStageAttr))
    domain.stage = stage.getInt();
  for (unsigned i = 0; i < alternatives.getAlternatives().size(); ++i)
    domain.values.push_back(i);
  return builder.add(op, alternatives.getName(), domain);
}

FailureOr<DesignSpace> DesignSpace::fromScript(Operation *script) {
  GroupBuilder builder;
  SmallVector<std::pair<Constraint, Operation *>> found;
  WalkResult walk = script->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (failed(addChoice(op, builder)))
      return WalkResult::interrupt();
    Attribute attr = op->getAttr(kConstraintsAttr);
    if (!attr)
      return WalkResult::advance();
    auto emit = [&] { return emitError(op->getLoc()); };
    if (failed(verifyConstraints(attr, emit)))
      return WalkResult::interrupt();
    for (auto dict : cast<ArrayAttr>(attr).getAsRange<DictionaryAttr>()) {
      FailureOr<Constraint> constraint = Constraint::parse(dict, emit);
      if (failed(constraint))
        return WalkResult::interrupt();
      found.emplace_back(std::move(*constraint), op);
    }
    return WalkResult::advance();
  });
  if (walk.wasInterrupted() || failed(builder.finish()))
    return failure();

  DesignSpace space;
  auto tables = std::make_shared<Tables>();
  space.groups = std::move(builder.groups);
  for (auto [index, group] : llvm::enumerate(space.groups)) {
    tables->groups.emplace_back(group);
    if (tables->groups.back().getNumChains() == 0.0)
      return emitError(builder.groupOps[index]->getLoc())
             << "no choice of the tile sizes of loop \"" << group.name
             << "\" satisfies its domains";
    for (auto [i, name] : llvm::enumerate(group.knobs))
      tables->places[name] = {static_cast<unsigned>(index),
                              static_cast<unsigned>(i)};
  }
  for (auto &[constraint, op] : found) {
    Tables::Bound bound;
    bound.max = constraint.max;
    for (const Constraint::Term &term : constraint.terms) {
      Tables::Term resolved;
      resolved.coefficient = term.coefficient;
      for (StringRef name : term.knobs) {
        auto it = tables->places.find(name);
        if (it == tables->places.end())
          return emitError(op->getLoc())
                 << "constraint '" << constraint.name
                 << "' names the unknown knob \"" << name << "\"";
        resolved.places.push_back(it->second);
        bound.groups.push_back(it->second.group);
      }
      bound.terms.push_back(std::move(resolved));
    }
    llvm::sort(bound.groups);
    bound.groups.erase(llvm::unique(bound.groups), bound.groups.end());
    tables->bounds.push_back(std::move(bound));
    space.constraints.push_back(std::move(constraint));
  }
  space.tables = std::move(tables);
  return space;
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

/// "2 * a * b + c", for a person.
static std::string printTerms(const Constraint &constraint) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      constraint.terms, os,
      [&](const Constraint::Term &term) {
        if (term.coefficient != 1 || term.knobs.empty())
          os << term.coefficient << (term.knobs.empty() ? "" : " * ");
        llvm::interleave(term.knobs, os, " * ");
      },
      " + ");
  return text;
}

static std::string printWide(__int128 value) {
  if (value > INT64_MAX)
    return "a number above the range of i64";
  if (value < INT64_MIN)
    return "a number below the range of i64";
  return std::to_string(static_cast<int64_t>(value));
}

/// Why `value` alone doesn't lie in `domain`.
static std::string explainDomain(const KnobDomain &domain, int64_t value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (domain.kind != KnobKind::Tile) {
    os << "not among ";
    llvm::interleaveComma(domain.values, os);
  } else if (value < 1) {
    os << "not positive";
  } else if (value > domain.extent) {
    os << "above the extent " << domain.extent;
  } else if (domain.max != 0 && value > domain.max) {
    os << "above the largest size " << domain.max;
  } else if (value % domain.multipleOf != 0 && value != domain.extent) {
    os << "not a multiple of " << domain.multipleOf;
  } else {
    os << "no divisor of the extent " << domain.extent;
  }
  return text;
}

std::optional<Violation> DesignSpace::check(const Decisions &decisions) const {
  if (decisions.size() != groups.size())
    return Violation{"arity", "expected " + std::to_string(groups.size()) +
                                  " groups of decisions, got " +
                                  std::to_string(decisions.size())};
  for (auto [index, group] : llvm::enumerate(groups)) {
    ArrayRef<int64_t> chain = decisions[index];
    if (chain.size() != group.knobs.size())
      return Violation{
          "arity", group.name + " takes " + std::to_string(group.knobs.size()) +
                       " values, got " + std::to_string(chain.size())};
    std::optional<GroupTable::Fault> fault =
        tables->groups[index].findFault(chain);
    if (!fault)
      continue;
    std::string what = group.knobs[fault->level] + " = " +
                       std::to_string(chain[fault->level]) + " is ";
    if (!fault->isChain)
      return Violation{"domain",
                       what + explainDomain(group.domains[fault->level],
                                            chain[fault->level])};
    bool isDivisor = group.domains[fault->level].policy == TilePolicy::Divisor;
    return Violation{"chain",
                     what + (isDivisor ? "no divisor of " : "larger than ") +
                         group.knobs[fault->level - 1] + " = " +
                         std::to_string(chain[fault->level - 1])};
  }
  std::optional<unsigned> violated = tables->findViolated(decisions);
  if (!violated)
    return std::nullopt;
  Constraint constraint = constraints[*violated];
  __int128 value = tables->bounds[*violated].evaluate(decisions);
  // A lower bound is a negated one.
  bool isLower = llvm::all_of(constraint.terms, [](const auto &term) {
    return term.coefficient < 0 && term.coefficient != INT64_MIN;
  });
  __int128 bound = isLower ? -__int128(constraint.max) : constraint.max;
  if (isLower) {
    value = -value;
    for (Constraint::Term &term : constraint.terms)
      term.coefficient = -term.coefficient;
  }
  return Violation{
      constraint.name,
      printTerms(constraint) + " is " + printWide(value) +
          (isLower ? ", less than " : ", more than ") + printWide(bound) +
          (constraint.reason.empty() ? "" : " (" + constraint.reason + ")")};
}

double DesignSpace::size() const {
  double result = 1.0;
  for (const GroupTable &table : tables->groups)
    result *= table.getNumChains();
  return result;
}

std::optional<int64_t> DesignSpace::getValue(const Decisions &decisions,
                                             StringRef name) const {
  auto it = tables->places.find(name);
  if (it == tables->places.end())
    return std::nullopt;
  return decisions[it->second.group][it->second.index];
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

llvm::json::Value DesignSpace::toJSON(const Decisions &decisions) const {
  llvm::json::Object object;
  for (auto [group, values] : llvm::zip(groups, decisions))
    object[group.name] = llvm::json::Array(ArrayRef<int64_t>(values));
  return object;
}

FailureOr<Decisions> DesignSpace::fromJSON(const llvm::json::Value &value,
                                           std::string &error) const {
  const llvm::json::Object *object = value.getAsObject();
  if (!object) {
    error = "decisions must be a JSON object";
    return failure();
  }
  Decisions result;
  for (const KnobGroup &group : groups) {
    const llvm::json::Value *entry = object->get(group.name);
    if (!entry) {
      error = "decisions lack \"" + group.name + "\"";
      return failure();
    }
    SmallVector<int64_t> values;
    if (const llvm::json::Array *array = entry->getAsArray()) {
      for (const llvm::json::Value &element : *array) {
        std::optional<int64_t> integer = element.getAsInteger();
        if (!integer) {
          error = "the values of \"" + group.name + "\" must be integers";
          return failure();
        }
        values.push_back(*integer);
      }
    } else if (std::optional<int64_t> integer = entry->getAsInteger()) {
      values.push_back(*integer);
    } else {
      error =
          "the values of \"" + group.name + "\" must be an array of integers";
      return failure();
    }
    if (values.size() != group.knobs.size()) {
      error = "\"" + group.name + "\" takes " +
              std::to_string(group.knobs.size()) + " values, got " +
              std::to_string(values.size());
      return failure();
    }
    result.push_back(std::move(values));
  }
  // Sorted, so that the message doesn't depend on a hash.
  SmallVector<StringRef> unknown;
  for (const auto &entry : *object)
    if (llvm::none_of(groups, [&](const KnobGroup &group) {
          return group.name == StringRef(entry.first);
        }))
      unknown.push_back(entry.first);
  if (!unknown.empty()) {
    error = "unknown group \"" + llvm::min_element(unknown)->str() +
            "\" in decisions; known are ";
    llvm::raw_string_ostream os(error);
    llvm::interleaveComma(groups, os,
                          [&](const KnobGroup &group) { os << group.name; });
    return failure();
  }
  return result;
}
