//===- Target.h - What a device is ------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The description of the machine that code is scheduled for: detected on the
// host, looked up by name, or read from the DLTI attributes of a module. All
// sizes are bytes, all vector widths bits.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_TARGET_TARGET_H
#define ANSOR_TARGET_TARGET_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <string>

namespace mlir::ansor {

enum class TargetKind { CPU, GPU };

struct TargetInfo {
  std::string name = "host"; ///< name of the target, "host" if detected
  TargetKind kind = TargetKind::CPU;
  std::string triple;   ///< LLVM triple
  std::string cpu;      ///< LLVM CPU name
  std::string features; ///< LLVM feature string, "+avx2,-avx512f"
  int64_t cores = 1;
  int64_t vectorBits = 128;     ///< width of one vector register
  int64_t vectorRegisters = 16; ///< architectural vector registers
  int64_t cacheLine = 64;
  /// Data cache sizes; a level that is missing has the size of the one before.
  int64_t l1 = 32768, l2 = 1048576, l3 = 33554432;
  // GPU limits; zero on a CPU. The cores of a GPU are its multiprocessors.
  int64_t maxThreadsPerBlock = 0, sharedMemory = 0, warpSize = 0,
          registersPerBlock = 0;

  /// Elements of `bits` wide each that one vector register holds (>= 1).
  int64_t lanes(int64_t bits) const {
    return std::max<int64_t>(1, vectorBits / std::max<int64_t>(bits, 1));
  }

  /// An object with a key for each member, in snake case: "vector_bits", ….
  llvm::json::Value toJSON() const;
  /// Missing keys keep their defaults, unknown ones are ignored. Fails on a
  /// value of the wrong type, or a size out of range.
  static FailureOr<TargetInfo> fromJSON(const llvm::json::Value &value);
};

/// The machine that this process runs on. `cores` counts the processors that it
/// may run on.
TargetInfo detectHostTarget();

/// Names that `lookupTarget` knows, without "host".
SmallVector<StringRef> getTargetNames();

/// Resolves "host" (or ""), or a named target ("x86-64-v3", "x86-64-v4",
/// "znver4", "cortex-a72", …), optionally followed by overrides with the keys
/// of the JSON form: "znver4:cores=8,l2=1M". Sizes may end in K, M or G; the
/// parts of "features" are separated by ';'. A new "cpu" or "triple" brings its
/// own vector registers, unless they are given too. Emits at `loc` with the
/// list of known names, and fails, on an unknown name or key.
FailureOr<TargetInfo> lookupTarget(StringRef spec, Location loc);

/// True if LLVM takes the target's CPU to have `feature`, such as "avx512vnni".
bool hasFeature(const TargetInfo &target, StringRef feature);

/// LLVM's data layout string of the target; empty if this LLVM can't generate
/// code for it.
std::string getDataLayout(const TargetInfo &target);

/// Writes the target to `module` as DLTI attributes (and the LLVM triple and
/// data layout attributes, which the lowering needs). The caller has the DLTI
/// and LLVM dialects loaded.
void attachTarget(ModuleOp module, const TargetInfo &target);

/// The target that `module` carries, or the host's if it carries none. What a
/// foreign description leaves out is taken from the host.
TargetInfo getTarget(ModuleOp module);

/// Whether the description that `module` carries can be read: numbers are
/// numbers, CPUs known. Emits and fails if not; warns of what is ignored.
LogicalResult verifyTarget(ModuleOp module);

/// lookupTarget of `spec`, or getTarget of `module` if `spec` is empty, in
/// which case it has to verify.
FailureOr<TargetInfo> resolveTarget(ModuleOp module, StringRef spec);

} // namespace mlir::ansor

#endif // ANSOR_TARGET_TARGET_H
