//===- LLVMTarget.h - What LLVM knows of a target ---------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_TARGET_LLVMTARGET_H
#define ANSOR_LIB_TARGET_LLVMTARGET_H

#include "ansor/Target/Target.h"

namespace mlir::ansor {

/// True if LLVM has a back end for the triple, and it knows the CPU.
bool isKnownTriple(StringRef triple);
bool isKnownCPU(StringRef triple, StringRef cpu);

/// The first part of the feature string that isn't "+name" or "-name" with a
/// feature that LLVM knows; empty if all are.
StringRef findUnknownFeature(StringRef triple, StringRef features);

/// Sets the vector registers of a CPU target from its LLVM CPU and features;
/// leaves them if LLVM has no back end for it.
void deriveVectors(TargetInfo &target);

/// Of `features`, those in which the machine differs from what LLVM takes the
/// CPU to have, as a feature string in a fixed order.
std::string getExtraFeatures(StringRef triple, StringRef cpu,
                             const llvm::StringMap<bool> &features);

} // namespace mlir::ansor

#endif // ANSOR_LIB_TARGET_LLVMTARGET_H
