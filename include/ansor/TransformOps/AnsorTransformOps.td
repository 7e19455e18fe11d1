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

def PackOperandOp
    : Op<Transform_Dialect, "ansor.pack_operand",
         [DeclareOpInterfaceMethods<TransformOpInterface>,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
          ReportTrackingListenerFailuresOpTrait]> {
  let summary = "Lets tiled ops read an operand from panels";
  let description = [{
    Packs the tensor that operand number `operand` of each target is a tile of
    into panels, `linalg.pack` with the inner tile `tile` along the dimension
    that `loop` of the target goes through, and lets the target read its tile of
    a panel. So what an innermost tile reads in turn lies side by side:

    ```
    %b = extract_slice %B[%k, %n] [4, 32]                // tensor<512x256xf32>
    generic ins(%a, %b)

    %P = linalg.pack %B outer_dims_perm = [1, 0] inner_dims_pos = [1]
           inner_tiles = [32]                            // tensor<8x512x32xf32>
    %b = extract_slice %P[%n floordiv 32, %k, 0] [1, 4, 32]
    generic ins(%a, %b)
    ```

    The dimensions of the packed tensor are, from the outermost: the panels;
    those of the target's parallel loops; those of its reduction loops, in their
    order; the inside of a panel. The last panel is padded with zeros, which are
    never read, if `tile` doesn't divide the dimension.

    The tensor is found behind the slices and permutations of dimensions that
    tiling and fusion have put in between. The latter are packed away: the
    tensor before them is packed, and the target's map changes as needed. The op
    `linalg.pack` is put behind the definition of the tensor, in the outermost
    block of the function, or at its start; targets that want the same panels
    share it.

    Fails silenceably at a target, which stays as it is, if the operand isn't
    read element by element, its tensor is computed inside of loops, or the tile
    isn't known to lie in one panel.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       TransformParamTypeInterface:$tile,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$operand,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$loop);
  let assemblyFormat = [{
    $target `[` $operand `]` `loop` $loop `tile` $tile attr-dict
    `:` type($target) `,` type($tile)
  }];
}

def Im2colOp
    : Op<Transform_Dialect, "ansor.im2col",
         [DeclareOpInterfaceMethods<TransformOpInterface>,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
          ReportTrackingListenerFailuresOpTrait]> {
  let summary = "Copies the windows of an operand, and makes a product of the rest";
  let description = [{
    Copies what each target reads of its input number `operand` into a buffer in
    which the reduction loops are one dimension, and lets the target read that,
    in one reduction loop. What was read through windows is a matrix then:

    ```
    // x: (h, w, i, j, c) -> (h * 2 + i, w * 2 + j, c), k: (i, j, c, f)
    generic ins(%x, %k : tensor<9x9x3xf32>, tensor<3x3x3x8xf32>)

    %m = collapse_shape %x [[0], [1, 2]]               // tensor<9x27xf32>
    %e = tensor.empty() : tensor<4x4x3x9xf32>
    // (h, w, i, q) -> (h * 2 + i, w * 6 + q)
    %c = generic ins(%m) outs(%e)                      // the copy
    %a = collapse_shape %c [[0], [1], [2, 3]]          // tensor<4x4x27xf32>
    %b = collapse_shape %k [[0, 1, 2], [3]]            // tensor<27x8xf32>
    generic ins(%a, %b)                                // h, w, f; k
    ```

    The dimensions of the buffer are, from the outermost: those of the target's
    parallel loops that the operand depends on; the reductions in the order in
    which another input holds them; with `lane`, that parallel loop. Reductions
    that another input doesn't hold side by side stay several loops. A row of
    the copy is as long as what is contiguous in the operand: dimensions that a
    window holds as a whole are collapsed.

    With `group`, the last reduction loop is a multiple of it: the buffer and the
    other inputs get zeros at the end. The target then has to add products.

    Upstream has `transform.structured.convert_conv2d_to_img2col`, for named
    convolutions of two dimensions without dilation; it makes the rows element by
    element, by quotients and remainders.

    Results are the rewritten targets, and the copies. Attributes of the targets
    are kept. Fails silenceably at a target, which stays as it is, if it isn't of
    static shape on tensors, if its input depends on no reduction loop, or if
    another input isn't read element by element along those.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$operand,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$group,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$lane);
  let results = (outs TransformHandleTypeInterface:$product,
                      TransformHandleTypeInterface:$copy);
  let assemblyFormat = [{
    $target `[` $operand `]` (`group` $group^)? (`lane` $lane^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // ANSOR_TRANSFORMOPS_ANSORTRANSFORMOPS_TD
