//===- KnobDomain.cpp - Domains of tune knobs -------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/IR/KnobDomain.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::ansor;

StringRef mlir::ansor::stringify(KnobKind kind) {
  switch (kind) {
  case KnobKind::Tile:
    return "tile";
  case KnobKind::Unroll:
    return "unroll";
  case KnobKind::Parallel:
    return "parallel";
  case KnobKind::Location:
    return "location";
  case KnobKind::Choice:
    return "choice";
  }
  llvm_unreachable("unknown kind of knob");
}

namespace {
/// Reads the entries of a domain's dictionary one by one, with diagnostics.
class DomainReader {
public:
  DomainReader(DictionaryAttr dict, function_ref<InFlightDiagnostic()> emit)
      : dict(dict), emit(emit) {}

  /// Reads the integer `key` into `result`; a missing optional key leaves it.
  LogicalResult readInt(StringRef key, int64_t &result, int64_t least,
                        bool required) {
    Attribute attr = dict.get(key);
    if (!attr) {
      if (required)
        return emit() << "knob domain lacks '" << key << "'";
      return success();
    }
    auto integer = dyn_cast<IntegerAttr>(attr);
    if (!integer || !integer.getType().isSignlessInteger(64))
      return emit() << "'" << key << "' of a knob domain must be an i64, got "
                    << attr;
    result = integer.getInt();
    if (result < least)
      return emit() << "'" << key << "' of a knob domain must be at least "
                    << least << ", got " << result;
    return success();
  }

  /// Reads the string `key`; empty if it is optional and missing.
  FailureOr<StringRef> readString(StringRef key, bool required) {
    Attribute attr = dict.get(key);
    if (!attr) {
      if (required)
        return emit() << "knob domain lacks '" << key << "'";
      return StringRef();
    }
    auto string = dyn_cast<StringAttr>(attr);
    if (!string)
      return emit() << "'" << key << "' of a knob domain must be a string, got "
                    << attr;
    return string.getValue();
  }

  LogicalResult readValues(SmallVectorImpl<int64_t> &values) {
    Attribute attr = dict.get("values");
    if (!attr)
      return emit() << "knob domain lacks 'values'";
    if (auto dense = dyn_cast<DenseI64ArrayAttr>(attr)) {
      values.append(dense.asArrayRef().begin(), dense.asArrayRef().end());
    } else if (auto array = dyn_cast<ArrayAttr>(attr)) {
      for (Attribute element : array) {
        auto integer = dyn_cast<IntegerAttr>(element);
        if (!integer || !integer.getType().isSignlessInteger(64))
          return emit() << "'values' of a knob domain must be an array of i64, "
                           "it holds "
                        << element;
        values.push_back(integer.getInt());
      }
    } else {
      return emit() << "'values' of a knob domain must be an array of i64, got "
                    << attr;
    }
    if (values.empty())
      return emit() << "'values' of a knob domain must not be empty";
    for (auto [index, value] : llvm::enumerate(values)) {
      if (value < 0)
        return emit() << "'values' of a knob domain must not be negative, got "
                      << value;
      if (llvm::is_contained(ArrayRef(values).take_front(index), value))
        return emit() << "'values' of a knob domain holds " << value
                      << " twice";
    }
    return success();
  }

  /// Fails on a key that `known` lacks.
  LogicalResult checkKeys(ArrayRef<StringRef> known, KnobKind kind) {
    for (NamedAttribute entry : dict)
      if (!llvm::is_contained(known, entry.getName().getValue())) {
        InFlightDiagnostic diag = emit() << "unknown key '"
                                         << entry.getName().getValue()
                                         << "' in a knob domain of kind '"
                                         << stringify(kind) << "'; known are ";
        llvm::interleaveComma(known, diag, [&](StringRef key) { diag << key; });
        return diag;
      }
    return success();
  }

private:
  DictionaryAttr dict;
  function_ref<InFlightDiagnostic()> emit;
};
} // namespace

/// True if no size at all is possible, whatever the sizes around it.
static bool isEmptyTile(const KnobDomain &domain) {
  int64_t bound =
      domain.max ? std::min(domain.max, domain.extent) : domain.extent;
  return domain.multipleOf > bound && domain.extent > bound;
}

FailureOr<KnobDomain>
KnobDomain::parse(DictionaryAttr dict,
                  function_ref<InFlightDiagnostic()> emitError) {
  DomainReader reader(dict, emitError);
  KnobDomain domain;
  FailureOr<StringRef> kindName = reader.readString("kind", true);
  if (failed(kindName))
    return failure();
  auto kind = llvm::StringSwitch<std::optional<KnobKind>>(*kindName)
                  .Case("tile", KnobKind::Tile)
                  .Case("unroll", KnobKind::Unroll)
                  .Case("parallel", KnobKind::Parallel)
                  .Case("location", KnobKind::Location)
                  .Case("choice", KnobKind::Choice)
                  .Default(std::nullopt);
  if (!kind)
    return emitError() << "unknown 'kind' of a knob domain: \"" << *kindName
                       << "\"; known are tile, unroll, parallel, location, "
                          "choice";
  domain.kind = *kind;
  if (*kind != KnobKind::Tile) {
    if (failed(reader.checkKeys({"kind", "stage", "values"}, *kind)) ||
        failed(reader.readInt("stage", domain.stage, 0, true)) ||
        failed(reader.readValues(domain.values)))
      return failure();
    return domain;
  }

  if (failed(reader.checkKeys({"kind", "stage", "loop", "level", "levels",
                               "extent", "policy", "multiple_of", "max"},
                              *kind)) ||
      failed(reader.readInt("stage", domain.stage, 0, true)) ||
      failed(reader.readInt("loop", domain.loop, 0, true)) ||
      failed(reader.readInt("level", domain.level, 0, true)) ||
      failed(reader.readInt("levels", domain.levels, 1, true)) ||
      failed(reader.readInt("extent", domain.extent, 1, true)) ||
      failed(reader.readInt("multiple_of", domain.multipleOf, 1, false)) ||
      failed(reader.readInt("max", domain.max, 0, false)))
    return failure();
  if (domain.level >= domain.levels)
    return emitError() << "'level' of a knob domain must be less than "
                          "'levels', got "
                       << domain.level << " of " << domain.levels;
  FailureOr<StringRef> policy = reader.readString("policy", false);
  if (failed(policy))
    return failure();
  if (*policy == "remainder")
    domain.policy = TilePolicy::Remainder;
  else if (!policy->empty() && *policy != "divisor")
    return emitError() << "unknown 'policy' of a knob domain: \"" << *policy
                       << "\"; known are divisor, remainder";
  if (isEmptyTile(domain))
    return emitError() << "knob domain has no value: the least multiple, "
                       << domain.multipleOf << ", and the extent, "
                       << domain.extent << ", are above the largest size, "
                       << (domain.max ? domain.max : domain.extent);
  return domain;
}

DictionaryAttr KnobDomain::toAttr(MLIRContext *context) const {
  Builder builder(context);
  NamedAttrList attrs;
  auto addInt = [&](StringRef key, int64_t value) {
    attrs.append(key, builder.getI64IntegerAttr(value));
  };
  attrs.append("kind", builder.getStringAttr(stringify(kind)));
  addInt("stage", stage);
  if (kind != KnobKind::Tile) {
    attrs.append("values", builder.getI64ArrayAttr(values));
    return attrs.getDictionary(context);
  }
  addInt("loop", loop);
  addInt("level", level);
  addInt("levels", levels);
  addInt("extent", extent);
  if (policy == TilePolicy::Remainder)
    attrs.append("policy", builder.getStringAttr("remainder"));
  if (multipleOf != 1)
    addInt("multiple_of", multipleOf);
  if (max != 0)
    addInt("max", max);
  return attrs.getDictionary(context);
}

bool KnobDomain::contains(int64_t value) const {
  if (kind != KnobKind::Tile)
    return llvm::is_contained(values, value);
  if (value < 1 || value > extent || (max != 0 && value > max))
    return false;
  if (value % multipleOf != 0 && value != extent)
    return false;
  // Further in, "divisor" speaks of the size of the level outside.
  return policy == TilePolicy::Remainder || level != 0 || extent % value == 0;
}
