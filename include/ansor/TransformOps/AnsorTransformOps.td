//===- AnsorTransformOps.td - Ops of the transform dialect -*- tablegen -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_TRANSFORMOPS_ANSORTRANSFORMOPS_TD
#define ANSOR_TRANSFORMOPS_ANSORTRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Dialect/Transform/IR/TransformTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ApplySplitInitialValuesPatternsOp
    : Op<Transform_Dialect, "apply_patterns.ansor.split_initial_values",
         [DeclareOpInterfaceMethods<PatternDescriptorOpInterface>]> {
  let summary = "Patterns that give each part of a split op its initial value";
  let description = [{
    After `transform.structured.split`, a part reads its initial value from a
    tensor that the parts before it were inserted into, and a fill makes the
    whole of it at first, out of reach of fusion. With these patterns a slice
    looks past insertions that don't touch it, a slice of a fill is a fill of
    the slice, and a fill that insertions cover altogether is left out.
  }];
  let assemblyFormat = "attr-dict";
}

def ApplyFoldPadsPatternsOp
    : Op<Transform_Dialect, "apply_patterns.ansor.fold_pads",
         [DeclareOpInterfaceMethods<PatternDescriptorOpInterface>]> {
  let summary = "Patterns that drop the padding of tiles that need none";
  let description = [{
    A tile of a `tensor.pad` pads by what its place asks for, behind a test
    whether it is padding altogether. The patterns decide both where the bounds
    of the loops around leave one answer. Of loops and other ops nothing is
    changed, unlike by canonicalization.
  }];
  let assemblyFormat = "attr-dict";
}

#endif // ANSOR_TRANSFORMOPS_ANSORTRANSFORMOPS_TD
