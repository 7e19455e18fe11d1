//===- Target.cpp - Targets -------------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Target/Target.h"
#include "LLVMTarget.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace mlir::ansor;

//===----------------------------------------------------------------------===//
// Members by name
//===----------------------------------------------------------------------===//

namespace {
/// A number of TargetInfo: its key, and the least value that makes sense.
struct NumberMember {
  StringLiteral key;
  int64_t TargetInfo::*member;
  int64_t least;
};
struct StringMember {
  StringLiteral key;
  std::string TargetInfo::*member;
};
} // namespace

static constexpr NumberMember kNumbers[] = {
    {"cores", &TargetInfo::cores, 1},
    {"vector_bits", &TargetInfo::vectorBits, 8},
    {"vector_registers", &TargetInfo::vectorRegisters, 1},
    {"cache_line", &TargetInfo::cacheLine, 1},
    {"l1", &TargetInfo::l1, 1},
    {"l2", &TargetInfo::l2, 1},
    {"l3", &TargetInfo::l3, 1},
    {"max_threads_per_block", &TargetInfo::maxThreadsPerBlock, 0},
    {"shared_memory", &TargetInfo::sharedMemory, 0},
    {"warp_size", &TargetInfo::warpSize, 0},
    {"registers_per_block", &TargetInfo::registersPerBlock, 0},
};

static constexpr StringMember kStrings[] = {
    {"name", &TargetInfo::name},
    {"triple", &TargetInfo::triple},
    {"cpu", &TargetInfo::cpu},
    {"features", &TargetInfo::features},
};

static StringRef stringifyKind(TargetKind kind) {
  return kind == TargetKind::GPU ? "gpu" : "cpu";
}

llvm::json::Value TargetInfo::toJSON() const {
  llvm::json::Object object;
  object["kind"] = stringifyKind(kind);
  for (const StringMember &entry : kStrings)
    object[entry.key] = this->*entry.member;
  for (const NumberMember &entry : kNumbers)
    object[entry.key] = this->*entry.member;
  return object;
}

FailureOr<TargetInfo> TargetInfo::fromJSON(const llvm::json::Value &value) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return failure();
  TargetInfo target;
  if (const llvm::json::Value *kind = object->get("kind")) {
    std::optional<StringRef> text = kind->getAsString();
    if (!text || (*text != "cpu" && *text != "gpu"))
      return failure();
    target.kind = *text == "gpu" ? TargetKind::GPU : TargetKind::CPU;
  }
  for (const StringMember &entry : kStrings) {
    const llvm::json::Value *member = object->get(entry.key);
    if (!member)
      continue;
    std::optional<StringRef> text = member->getAsString();
    if (!text)
      return failure();
    target.*entry.member = text->str();
  }
  for (const NumberMember &entry : kNumbers) {
    const llvm::json::Value *member = object->get(entry.key);
    if (!member)
      continue;
    std::optional<int64_t> number = member->getAsInteger();
    if (!number || *number < entry.least)
      return failure();
    target.*entry.member = *number;
  }
  return target;
}

//===----------------------------------------------------------------------===//
// Named targets
//===----------------------------------------------------------------------===//

static constexpr int64_t K = 1024, M = 1024 * 1024;

/// A part that is typical of the name: LLVM knows the instructions of each, but
/// not the cores and caches. These are from the makers' data sheets.
static TargetInfo makeCPU(StringRef name, StringRef triple, StringRef cpu,
                          int64_t cores, int64_t l1, int64_t l2, int64_t l3,
                          int64_t line = 64) {
  TargetInfo target;
  target.name = name.str();
  target.triple = triple.str();
  target.cpu = cpu.str();
  target.cores = cores;
  target.l1 = l1;
  target.l2 = l2;
  target.l3 = l3;
  target.cacheLine = line;
  deriveVectors(target);
  return target;
}

/// Limits of CUDA's compute capabilities, from NVIDIA's programming guide.
static TargetInfo makeNVIDIA(StringRef chip, int64_t cores, int64_t shared,
                             int64_t l1, int64_t l2) {
  TargetInfo target;
  target.name = target.cpu = chip.str();
  target.kind = TargetKind::GPU;
  target.triple = "nvptx64-nvidia-cuda";
  target.cores = cores;
  target.vectorBits = 128;
  target.vectorRegisters = 255;
  target.cacheLine = 128;
  target.l1 = l1;
  target.l2 = target.l3 = l2;
  target.maxThreadsPerBlock = 1024;
  target.sharedMemory = shared;
  target.warpSize = 32;
  target.registersPerBlock = 65536;
  return target;
}

static ArrayRef<TargetInfo> getNamedTargets() {
  constexpr StringLiteral x86 = "x86_64-unknown-linux-gnu";
  constexpr StringLiteral arm = "aarch64-unknown-linux-gnu";
  static const TargetInfo targets[] = {
      makeCPU("x86-64-v2", x86, "x86-64-v2", 4, 32 * K, 256 * K, 8 * M),
      makeCPU("x86-64-v3", x86, "x86-64-v3", 4, 32 * K, 512 * K, 8 * M),
      makeCPU("x86-64-v4", x86, "x86-64-v4", 8, 32 * K, 1 * M, 16 * M),
      makeCPU("haswell", x86, "haswell", 4, 32 * K, 256 * K, 8 * M),
      makeCPU("skylake-avx512", x86, "skylake-avx512", 18, 32 * K, 1 * M,
              25344 * K),
      makeCPU("sapphirerapids", x86, "sapphirerapids", 56, 48 * K, 2 * M,
              105 * M),
      makeCPU("znver4", x86, "znver4", 8, 32 * K, 1 * M, 32 * M),
      makeCPU("cortex-a72", arm, "cortex-a72", 4, 32 * K, 1 * M, 1 * M),
      makeCPU("cortex-a76", arm, "cortex-a76", 4, 64 * K, 512 * K, 2 * M),
      makeCPU("neoverse-n1", arm, "neoverse-n1", 64, 64 * K, 1 * M, 32 * M),
      makeCPU("neoverse-v1", arm, "neoverse-v1", 64, 64 * K, 1 * M, 32 * M),
      makeCPU("apple-m1", "arm64-apple-macosx11.0.0", "apple-m1", 4, 128 * K,
              12 * M, 12 * M, 128),
      makeNVIDIA("sm_80", 108, 163 * K, 192 * K, 40 * M),
      makeNVIDIA("sm_90", 132, 227 * K, 256 * K, 50 * M),
  };
  return targets;
}

SmallVector<StringRef> mlir::ansor::getTargetNames() {
  SmallVector<StringRef> names;
  for (const TargetInfo &target : getNamedTargets())
    names.push_back(target.name);
  return names;
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

/// "1048576", "1024K", "1M".
static std::optional<int64_t> parseNumber(StringRef text) {
  int64_t scale = 1;
  if (text.consume_back("K"))
    scale = K;
  else if (text.consume_back("M"))
    scale = M;
  else if (text.consume_back("G"))
    scale = K * M;
  int64_t value = 0;
  if (text.getAsInteger(10, value) || value < 0 || value > INT64_MAX / scale)
    return std::nullopt;
  return value * scale;
}

/// Sets one member from "key=value".
static LogicalResult applyOverride(TargetInfo &target, StringRef key,
                                   StringRef value, Location loc) {
  for (const NumberMember &entry : kNumbers) {
    if (key != entry.key)
      continue;
    std::optional<int64_t> number = parseNumber(value);
    if (!number || *number < entry.least)
      return emitError(loc)
             << "target option '" << key << "' must be an integer of at least "
             << entry.least << ", got \"" << value << "\"";
    if (key == "vector_bits" && *number % 8 != 0)
      return emitError(loc) << "target option 'vector_bits' must be a multiple "
                               "of 8, got "
                            << *number;
    target.*entry.member = *number;
    return success();
  }
  for (const StringMember &entry : kStrings)
    if (key == entry.key) {
      target.*entry.member = value.str();
      return success();
    }
  InFlightDiagnostic diag = emitError(loc) << "unknown target option '" << key
                                           << "'; known are ";
  llvm::interleaveComma(kStrings, diag,
                        [&](const StringMember &entry) { diag << entry.key; });
  for (const NumberMember &entry : kNumbers)
    diag << ", " << entry.key;
  return diag;
}

static LogicalResult applyOverrides(TargetInfo &target, StringRef text,
                                    Location loc) {
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  SmallVector<std::pair<StringRef, std::string>> options;
  bool isOther = false, hasFeatures = false;
  for (StringRef part : parts) {
    auto [key, value] = part.split('=');
    if (key.size() == part.size() || value.empty())
      return emitError(loc) << "expected key=value in the options of a target, "
                               "got \""
                            << part << "\"";
    isOther |= key == "cpu" || key == "triple";
    hasFeatures |= key == "features";
    std::string list = value.str();
    if (key == "features")
      std::replace(list.begin(), list.end(), ';', ',');
    options.emplace_back(key, std::move(list));
  }
  // What the CPU implies comes first, so that numbers can override it.
  auto apply = [&](bool isNumber) {
    for (const auto &[key, value] : options) {
      bool isString =
          llvm::any_of(kStrings, [key = key](const StringMember &entry) {
            return key == entry.key;
          });
      if (isString != isNumber &&
          failed(applyOverride(target, key, value, loc)))
        return failure();
    }
    return success();
  };
  if (isOther)
    target.features.clear();
  if (failed(apply(/*isNumber=*/false)))
    return failure();
  if (isOther || hasFeatures) {
    if (!isKnownTriple(target.triple))
      return emitError(loc) << "this LLVM has no back end for the triple \""
                            << target.triple << "\"";
    if (!target.cpu.empty() && !isKnownCPU(target.triple, target.cpu))
      return emitError(loc) << "LLVM knows no CPU \"" << target.cpu
                            << "\" for the triple \"" << target.triple << "\"";
    StringRef unknown = findUnknownFeature(target.triple, target.features);
    if (!unknown.empty())
      return emitError(loc)
             << "LLVM knows no feature \"" << unknown << "\" of the triple \""
             << target.triple << "\"; write +NAME or -NAME";
    deriveVectors(target);
  }
  return apply(/*isNumber=*/true);
}

FailureOr<TargetInfo> mlir::ansor::lookupTarget(StringRef spec, Location loc) {
  auto [name, overrides] = spec.split(':');
  TargetInfo target;
  if (name.empty() || name == "host") {
    target = detectHostTarget();
  } else {
    const TargetInfo *found = llvm::find_if(
        getNamedTargets(),
        [name = name](const TargetInfo &entry) { return entry.name == name; });
    if (found == getNamedTargets().end()) {
      InFlightDiagnostic diag = emitError(loc) << "unknown target \"" << name
                                               << "\"; known are host";
      for (StringRef known : getTargetNames())
        diag << ", " << known;
      diag << "; for another CPU, override the nearest of them: "
              "\"x86-64-v3:cpu=NAME,cores=N\"";
      return diag;
    }
    target = *found;
  }
  if (failed(applyOverrides(target, overrides, loc)))
    return failure();
  return target;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Keys that others use for the same thing (MLIR's documentation of DLTI).
static constexpr StringLiteral kVectorWidthKey = "max_vector_op_width";
static constexpr StringLiteral kL1SizeKey = "L1_cache_size_in_bytes";

/// The key of a member in the device's description.
static std::string getSpecKey(StringRef key) {
  if (key == "vector_bits")
    return kVectorWidthKey.str();
  if (key == "l1")
    return kL1SizeKey.str();
  return ("ansor." + key).str();
}

void mlir::ansor::attachTarget(ModuleOp module, const TargetInfo &target) {
  MLIRContext *context = module.getContext();
  Builder builder(context);
  SmallVector<DataLayoutEntryInterface> entries;
  auto add = [&](StringRef key, Attribute value) {
    entries.push_back(DataLayoutEntryAttr::get(
        builder.getStringAttr(getSpecKey(key)), value));
  };
  for (const StringMember &entry : kStrings)
    add(entry.key, builder.getStringAttr(target.*entry.member));
  for (const NumberMember &entry : kNumbers)
    // Zeros are the GPU limits of a CPU.
    if (target.*entry.member != 0)
      add(entry.key, builder.getI64IntegerAttr(target.*entry.member));

  // Other devices of the system keep their descriptions.
  StringRef device = target.kind == TargetKind::GPU ? "GPU" : "CPU";
  StringAttr deviceKey = builder.getStringAttr(device);
  SmallVector<DataLayoutEntryInterface> devices;
  if (auto old = module->getAttrOfType<TargetSystemSpecAttr>(
          DLTIDialect::kTargetSystemDescAttrName))
    for (DataLayoutEntryInterface entry : old.getEntries())
      if (entry.getKey() != DataLayoutEntryKey(deviceKey))
        devices.push_back(entry);
  devices.push_back(DataLayoutEntryAttr::get(
      deviceKey, TargetDeviceSpecAttr::get(context, entries)));
  module->setAttr(DLTIDialect::kTargetSystemDescAttrName,
                  TargetSystemSpecAttr::get(context, devices));

  // The code of the host calls a GPU's kernels: its module is not for the GPU.
  if (target.kind == TargetKind::GPU)
    return;
  module->setAttr(LLVM::LLVMDialect::getTargetTripleAttrName(),
                  builder.getStringAttr(target.triple));
  std::string layout = getDataLayout(target);
  if (!layout.empty())
    module->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                    builder.getStringAttr(layout));
}

/// Whether an entry of a device's description is what a member of TargetInfo
/// can be. Emits at `loc` and fails if not.
static LogicalResult verifyEntry(StringRef key, Attribute value, Location loc) {
  for (const NumberMember &member : kNumbers) {
    if (key == member.key && key != getSpecKey(member.key)) {
      emitWarning(loc) << "the target description's \"" << key
                       << "\" is not read: write \"" << getSpecKey(member.key)
                       << "\"";
      return success();
    }
    if (key != getSpecKey(member.key))
      continue;
    auto number = dyn_cast<IntegerAttr>(value);
    if (number && number.getValue().getSignificantBits() <= 64 &&
        number.getValue().getSExtValue() >= member.least &&
        (member.key != "vector_bits" ||
         number.getValue().getSExtValue() % 8 == 0))
      return success();
    return emitError(loc) << "the target description's \"" << key
                          << "\" must be an integer of at least "
                          << member.least
                          << (member.key == "vector_bits"
                                  ? " and a multiple of 8"
                                  : "")
                          << ", got " << value;
  }
  for (const StringMember &member : kStrings)
    if (key == getSpecKey(member.key)) {
      if (isa<StringAttr>(value))
        return success();
      return emitError(loc) << "the target description's \"" << key
                            << "\" must be a string, got " << value;
    }
  if (!key.starts_with("ansor."))
    return success();
  InFlightDiagnostic diag = emitError(loc)
                            << "the target description has an unknown \""
                            << key << "\"; known are ";
  llvm::interleaveComma(kStrings, diag, [&](const StringMember &member) {
    diag << getSpecKey(member.key);
  });
  for (const NumberMember &member : kNumbers)
    diag << ", " << getSpecKey(member.key);
  return diag;
}

LogicalResult mlir::ansor::verifyTarget(ModuleOp module) {
  auto system = module->getAttrOfType<TargetSystemSpecAttr>(
      DLTIDialect::kTargetSystemDescAttrName);
  if (!system)
    return success();
  for (DataLayoutEntryInterface entry : system.getEntries()) {
    auto device = dyn_cast<TargetDeviceSpecInterface>(entry.getValue());
    if (!device)
      continue;
    TargetInfo target;
    for (DataLayoutEntryInterface member : device.getEntries()) {
      auto key = dyn_cast<StringAttr>(member.getKey());
      if (!key)
        continue;
      if (failed(verifyEntry(key.getValue(), member.getValue(),
                             module.getLoc())))
        return failure();
      if (auto text = dyn_cast<StringAttr>(member.getValue())) {
        if (key.getValue() == getSpecKey("triple"))
          target.triple = text.getValue().str();
        else if (key.getValue() == getSpecKey("cpu"))
          target.cpu = text.getValue().str();
        else if (key.getValue() == getSpecKey("features"))
          target.features = text.getValue().str();
      }
    }
    if (target.triple.empty())
      continue;
    if (!isKnownTriple(target.triple))
      return module.emitError()
             << "this LLVM has no back end for the target description's "
                "triple \""
             << target.triple << "\"";
    if (!target.cpu.empty() && !isKnownCPU(target.triple, target.cpu))
      return module.emitError()
             << "LLVM knows no CPU \"" << target.cpu
             << "\" of the target description's triple \"" << target.triple
             << "\"";
    StringRef unknown = findUnknownFeature(target.triple, target.features);
    if (!unknown.empty())
      return module.emitError()
             << "LLVM knows no feature \"" << unknown
             << "\" of the target description's triple \"" << target.triple
             << "\"";
  }
  return success();
}

FailureOr<TargetInfo> mlir::ansor::resolveTarget(ModuleOp module,
                                                 StringRef spec) {
  if (spec.empty()) {
    if (failed(verifyTarget(module)))
      return failure();
    return getTarget(module);
  }
  return lookupTarget(spec, module.getLoc());
}

TargetInfo mlir::ansor::getTarget(ModuleOp module) {
  TargetInfo target = detectHostTarget();
  auto system = module->getAttrOfType<TargetSystemSpecAttr>(
      DLTIDialect::kTargetSystemDescAttrName);
  if (!system)
    return target;
  // A GPU that this project described is what the module is scheduled for.
  TargetDeviceSpecInterface found;
  bool isGPU = false;
  for (DataLayoutEntryInterface entry : system.getEntries()) {
    auto key = dyn_cast<StringAttr>(entry.getKey());
    auto device = dyn_cast<TargetDeviceSpecInterface>(entry.getValue());
    if (!key || !device)
      continue;
    bool isOurGPU = key.getValue() == "GPU" &&
                    device.getSpecForIdentifier(StringAttr::get(
                        module.getContext(), getSpecKey("name")));
    if (isOurGPU || (key.getValue() == "CPU" && !isGPU)) {
      found = device;
      isGPU = isOurGPU;
    }
  }
  if (!found)
    return target;
  if (isGPU)
    target.kind = TargetKind::GPU;
  for (DataLayoutEntryInterface entry : found.getEntries()) {
    auto key = dyn_cast<StringAttr>(entry.getKey());
    if (!key)
      continue;
    for (const StringMember &member : kStrings)
      if (auto value = dyn_cast<StringAttr>(entry.getValue());
          value && key.getValue() == getSpecKey(member.key))
        target.*member.member = value.getValue().str();
    for (const NumberMember &member : kNumbers) {
      auto value = dyn_cast<IntegerAttr>(entry.getValue());
      if (!value || key.getValue() != getSpecKey(member.key) ||
          value.getValue().getSignificantBits() > 64)
        continue;
      int64_t number = value.getValue().getSExtValue();
      if (number >= member.least)
        target.*member.member = number;
    }
  }
  return target;
}
