//===- LLVMTarget.cpp - What LLVM knows of a target -------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LLVMTarget.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace mlir::ansor;

/// LLVM's target of a triple, or null. Back ends are registered once.
static const llvm::Target *findTarget(StringRef triple) {
  static const bool initialized = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    return true;
  }();
  (void)initialized;
  if (triple.empty())
    return nullptr;
  std::string error;
  return llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), error);
}

static std::unique_ptr<llvm::MCSubtargetInfo>
createSubtarget(StringRef triple, StringRef cpu, StringRef features) {
  const llvm::Target *target = findTarget(triple);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      target->createMCSubtargetInfo(llvm::Triple(triple), cpu, features));
}

bool mlir::ansor::isKnownTriple(StringRef triple) {
  return findTarget(triple) != nullptr;
}

bool mlir::ansor::isKnownCPU(StringRef triple, StringRef cpu) {
  // Created without a CPU: an unknown one would be warned of on stderr.
  auto subtarget = createSubtarget(triple, "", "");
  return subtarget && subtarget->isCPUStringValid(cpu);
}

StringRef mlir::ansor::findUnknownFeature(StringRef triple,
                                          StringRef features) {
  auto subtarget = createSubtarget(triple, "", "");
  SmallVector<StringRef> parts;
  features.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    StringRef name = part.drop_front();
    if ((part[0] != '+' && part[0] != '-') || !subtarget ||
        llvm::none_of(subtarget->getAllProcessorFeatures(),
                      [&](const llvm::SubtargetFeatureKV &feature) {
                        return name == feature.Key;
                      }))
      return part;
  }
  return "";
}

void mlir::ansor::deriveVectors(TargetInfo &target) {
  if (target.kind != TargetKind::CPU || target.triple.empty())
    return;
  StringRef cpu = target.cpu;
  if (!cpu.empty() && !isKnownCPU(target.triple, cpu))
    cpu = "";
  auto subtarget = createSubtarget(target.triple, cpu, target.features);
  if (!subtarget)
    return;
  llvm::StringMap<bool> enabled;
  for (const llvm::SubtargetFeatureKV &feature :
       subtarget->getEnabledProcessorFeatures())
    enabled[feature.Key] = true;
  auto has = [&](StringRef feature) { return enabled.contains(feature); };
  auto set = [&](int64_t bits, int64_t registers) {
    target.vectorBits = bits;
    target.vectorRegisters = registers;
  };
  llvm::Triple triple(target.triple);
  if (triple.isX86()) {
    // AVX-512VL gives the narrow registers the wide register file.
    if (has("avx512f"))
      set(512, 32);
    else if (has("avx2") || has("avx"))
      set(256, 16);
    else
      set(128, triple.isArch64Bit() ? 16 : 8);
  } else if (triple.isAArch64()) {
    // SVE too: vectors of a fixed length become NEON registers.
    set(128, 32);
  } else if (triple.isARM()) {
    set(has("neon") ? 128 : 64, 16);
  } else if (triple.isRISCV()) {
    // The V extension promises 128 bits; without it all code is scalar.
    set(has("v") ? 128 : 64, 32);
  } else {
    set(128, 32);
  }
}

std::string
mlir::ansor::getExtraFeatures(StringRef triple, StringRef cpu,
                              const llvm::StringMap<bool> &features) {
  auto subtarget = createSubtarget(triple, cpu, "");
  if (!subtarget)
    return "";
  llvm::StringMap<bool> known;
  for (const llvm::SubtargetFeatureKV &feature :
       subtarget->getAllProcessorFeatures())
    known[feature.Key] = false;
  for (const llvm::SubtargetFeatureKV &feature :
       subtarget->getEnabledProcessorFeatures())
    known[feature.Key] = true;
  SmallVector<StringRef> names(features.keys());
  llvm::sort(names);
  std::string result;
  for (StringRef name : names) {
    auto it = known.find(name);
    bool isEnabled = features.lookup(name);
    if (it == known.end() || it->second == isEnabled)
      continue;
    if (!result.empty())
      result += ',';
    result += (isEnabled ? "+" : "-") + name.str();
  }
  return result;
}

bool mlir::ansor::hasFeature(const TargetInfo &target, StringRef feature) {
  if (target.kind != TargetKind::CPU)
    return false;
  StringRef cpu = target.cpu;
  if (!cpu.empty() && !isKnownCPU(target.triple, cpu))
    cpu = "";
  auto subtarget = createSubtarget(target.triple, cpu, target.features);
  return subtarget && llvm::any_of(subtarget->getEnabledProcessorFeatures(),
                                   [&](const llvm::SubtargetFeatureKV &enabled) {
                                     return feature == enabled.Key;
                                   });
}

std::string mlir::ansor::getDataLayout(const TargetInfo &info) {
  const llvm::Target *target = findTarget(info.triple);
  if (!target)
    return "";
  StringRef cpu = info.cpu;
  if (!cpu.empty() && !isKnownCPU(info.triple, cpu))
    cpu = "";
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(llvm::Triple(info.triple), cpu, info.features,
                                  llvm::TargetOptions(), llvm::Reloc::PIC_));
  return machine ? machine->createDataLayout().getStringRepresentation()
                 : std::string();
}
