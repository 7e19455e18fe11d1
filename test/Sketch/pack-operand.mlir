// An operand of tiled ops in panels, in a stock mlir-opt.
// RUN: mlir-opt %s --split-input-file --verify-diagnostics --load-dialect-plugin=%plugin --load-pass-plugin=%plugin --transform-interpreter --canonicalize --cse | FileCheck %s

// Two ops share the panels; the last panel is padded. What the loops add up to
// is divided term by term.
// CHECK-DAG: #[[AT:.*]] = affine_map<(d0, d1) -> (d0 floordiv 4 + d1 floordiv 4)>
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[A:.*]]: tensor<8x6xf32>, %[[B:.*]]: tensor<6x18xf32>
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<5x6x4xf32>
// CHECK: %[[PACK:.*]] = linalg.pack %[[B]] padding_value(%{{.*}} : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [4] into %[[EMPTY]]
// CHECK-NOT: linalg.pack
// CHECK: scf.for %[[J:.*]] = %c0 to %c16 step %c8
// CHECK-NOT: tensor.extract_slice %[[B]]
// CHECK: scf.for %[[K:.*]] = %c0 to %c6 step %c2
// CHECK: scf.for %[[JJ:.*]] = %c0 to %c8 step %c4
// CHECK: %[[PANEL:.*]] = affine.apply #[[AT]](%[[JJ]], %[[J]])
// CHECK: %[[S:.*]] = tensor.extract_slice %[[PACK]][%[[PANEL]], %[[K]], 0] [1, 2, 4] [1, 1, 1] : tensor<5x6x4xf32> to tensor<2x4xf32>
// CHECK: linalg.generic {{.*}}ins(%{{.*}}, %[[S]] : {{.*}}ansor.stage = 1
// CHECK: tensor.extract_slice %[[PACK]][4, 0, 0] [1, 6, 2] [1, 1, 1] : tensor<5x6x4xf32> to tensor<6x2xf32>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @rows(%a: tensor<8x6xf32>, %b: tensor<6x18xf32>, %c: tensor<8x18xf32>) -> tensor<8x18xf32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x6xf32>, tensor<6x18xf32>) outs(%c : tensor<8x18xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x18xf32>
  return %r : tensor<8x18xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %tile = transform.param.constant 4 : i64 -> !transform.param<i64>
    %0 = transform.structured.match ops{["linalg.generic"]} in %m : (!transform.any_op) -> !transform.any_op
    %parts = transform.structured.split %0 after 16 {dimension = 1} : !transform.any_op
    %1:2 = transform.split_handle %parts : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %2, %l0 = transform.structured.tile_using_for %1#0 tile_sizes [0, 8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %3, %l1:2 = transform.structured.tile_using_for %2 tile_sizes [0, 4, 2] interchange = [0, 2, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.ansor.pack_operand %3[1] loop 1 tile %tile : !transform.any_op, !transform.param<i64>
    transform.ansor.pack_operand %1#1[1] loop 1 tile %tile : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// The dimension of a batch stays outside, reductions are in the order of the
// loops, and the op reads by another map. The permutation that was fused is
// gone, and so is the untiled one.
// CHECK-DAG: #[[MAP:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4, d2)>
// CHECK-LABEL: func.func @permuted(
// CHECK-SAME: %{{.*}}, %[[B:.*]]: tensor<3x12x5x2xf32>
// CHECK: %[[PACK:.*]] = linalg.pack %[[B]] outer_dims_perm = [1, 3, 0, 2] inner_dims_pos = [1] inner_tiles = [6] into %{{.*}} : tensor<3x12x5x2xf32> -> tensor<2x2x3x5x6xf32>
// CHECK-NOT: linalg.yield
// CHECK: scf.for %[[BATCH:.*]] = %c0 to %c2 step
// CHECK: scf.for %[[J:.*]] = %c0 to %c12 step
// CHECK: %[[PANEL:.*]] = affine.apply {{.*}}(%[[J]])
// CHECK: %[[S:.*]] = tensor.extract_slice %[[PACK]][%[[PANEL]], %[[BATCH]], 0, 0, 0] [1, 1, 3, 5, 6] [1, 1, 1, 1, 1] : tensor<2x2x3x5x6xf32> to tensor<1x3x5x6xf32>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[MAP]], #{{.*}}]{{.*}}ins(%{{.*}}, %[[S]] :
#in = affine_map<(b, j, k, l) -> (k, j, l, b)>
#out = affine_map<(b, j, k, l) -> (b, j, l, k)>
#pa = affine_map<(b, i, j, k, l) -> (i, k, l)>
#pb = affine_map<(b, i, j, k, l) -> (b, j, l, k)>
#pc = affine_map<(b, i, j, k, l) -> (b, i, j)>
func.func @permuted(%a: tensor<4x3x5xf32>, %b: tensor<3x12x5x2xf32>, %c: tensor<2x4x12xf32>) -> tensor<2x4x12xf32> {
  %e = tensor.empty() : tensor<2x12x5x3xf32>
  %t = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%b : tensor<3x12x5x2xf32>) outs(%e : tensor<2x12x5x3xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<2x12x5x3xf32>
  %r = linalg.generic {indexing_maps = [#pa, #pb, #pc], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %t : tensor<4x3x5xf32>, tensor<2x12x5x3xf32>) outs(%c : tensor<2x4x12xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x4x12xf32>
  return %r : tensor<2x4x12xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %tile = transform.param.constant 6 : i64 -> !transform.param<i64>
    %0 = transform.structured.match attributes {ansor.stage = 1 : i64} in %m : (!transform.any_op) -> !transform.any_op
    %1, %l:2 = transform.structured.fuse %0 tile_sizes [1, 0, 6] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.ansor.pack_operand %1[1] loop 2 tile %tile : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// Tiles of 6 don't lie in panels of 4, nor do those that start with 2.
func.func @crossing(%a: tensor<8x6xf32>, %b: tensor<6x24xf32>, %c: tensor<8x24xf32>) -> tensor<8x24xf32> {
  // expected-note @below {{of this op}}
  %r = linalg.matmul ins(%a, %b : tensor<8x6xf32>, tensor<6x24xf32>) outs(%c : tensor<8x24xf32>) -> tensor<8x24xf32>
  return %r : tensor<8x24xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %tile = transform.param.constant 4 : i64 -> !transform.param<i64>
    %0 = transform.structured.match ops{["linalg.matmul"]} in %m : (!transform.any_op) -> !transform.any_op
    %1, %l = transform.structured.tile_using_for %0 tile_sizes [0, 6] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    // expected-error @below {{can't pack operand 1 in panels of 4 along loop 1: its tile isn't known to be as narrow as a panel}}
    transform.ansor.pack_operand %1[1] loop 1 tile %tile : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

func.func @starting(%a: tensor<8x6xf32>, %b: tensor<6x24xf32>, %c: tensor<8x24xf32>) -> tensor<8x24xf32> {
  // expected-note @below {{of this op}}
  %r = linalg.matmul ins(%a, %b : tensor<8x6xf32>, tensor<6x24xf32>) outs(%c : tensor<8x24xf32>) -> tensor<8x24xf32>
  return %r : tensor<8x24xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %tile = transform.param.constant 4 : i64 -> !transform.param<i64>
    %0 = transform.structured.match ops{["linalg.matmul"]} in %m : (!transform.any_op) -> !transform.any_op
    %1, %l = transform.structured.tile_using_for %0 tile_sizes [0, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    // expected-error @below {{its tile isn't known to start with a panel}}
    transform.ansor.pack_operand %1[1] loop 1 tile %tile : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// What isn't read element by element, is no input, or has no such loop.
func.func @window(%a: tensor<16xf32>, %b: tensor<3xf32>, %c: tensor<14xf32>) -> tensor<14xf32> {
  // expected-note @below {{of this op}}
  %r = linalg.conv_1d ins(%a, %b : tensor<16xf32>, tensor<3xf32>) outs(%c : tensor<14xf32>) -> tensor<14xf32>
  return %r : tensor<14xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %tile = transform.param.constant 4 : i64 -> !transform.param<i64>
    %0 = transform.structured.match ops{["linalg.conv_1d"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{can't pack operand 0 in panels of 4 along loop 0: the op doesn't read it element by element along the loop}}
    transform.ansor.pack_operand %0[0] loop 0 tile %tile : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

func.func @init(%a: tensor<8x6xf32>, %b: tensor<6x24xf32>, %c: tensor<8x24xf32>) -> tensor<8x24xf32> {
  // expected-note @below {{of this op}}
  %r = linalg.matmul ins(%a, %b : tensor<8x6xf32>, tensor<6x24xf32>) outs(%c : tensor<8x24xf32>) -> tensor<8x24xf32>
  return %r : tensor<8x24xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %tile = transform.param.constant 4 : i64 -> !transform.param<i64>
    %0 = transform.structured.match ops{["linalg.matmul"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{it is no input of an op on tensors}}
    transform.ansor.pack_operand %0[2] loop 1 tile %tile : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

func.func @loop(%a: tensor<8x6xf32>, %b: tensor<6x24xf32>, %c: tensor<8x24xf32>) -> tensor<8x24xf32> {
  // expected-note @below {{of this op}}
  %r = linalg.matmul ins(%a, %b : tensor<8x6xf32>, tensor<6x24xf32>) outs(%c : tensor<8x24xf32>) -> tensor<8x24xf32>
  return %r : tensor<8x24xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %tile = transform.param.constant 4 : i64 -> !transform.param<i64>
    %0 = transform.structured.match ops{["linalg.matmul"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{the op has no such loop}}
    transform.ansor.pack_operand %0[1] loop 3 tile %tile : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// Panels of no elements, or of more than there are.
func.func @none(%a: tensor<8x6xf32>, %b: tensor<6x24xf32>, %c: tensor<8x24xf32>) -> tensor<8x24xf32> {
  // expected-note @below {{of this op}}
  %r = linalg.matmul ins(%a, %b : tensor<8x6xf32>, tensor<6x24xf32>) outs(%c : tensor<8x24xf32>) -> tensor<8x24xf32>
  return %r : tensor<8x24xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %tile = transform.param.constant 0 : i64 -> !transform.param<i64>
    %0 = transform.structured.match ops{["linalg.matmul"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{a panel has at least one element}}
    transform.ansor.pack_operand %0[1] loop 1 tile %tile : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

func.func @wide(%a: tensor<8x6xf32>, %b: tensor<6x24xf32>, %c: tensor<8x24xf32>) -> tensor<8x24xf32> {
  // expected-note @below {{of this op}}
  %r = linalg.matmul ins(%a, %b : tensor<8x6xf32>, tensor<6x24xf32>) outs(%c : tensor<8x24xf32>) -> tensor<8x24xf32>
  return %r : tensor<8x24xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %tile = transform.param.constant 4611686018427387904 : i64 -> !transform.param<i64>
    %0 = transform.structured.match ops{["linalg.matmul"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{a panel is wider than its tensor}}
    transform.ansor.pack_operand %0[1] loop 1 tile %tile : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// A tensor that is computed inside of a loop.
func.func @inside(%a: tensor<8x6xf32>, %b: tensor<6x24xf32>, %c: tensor<8x24xf32>) -> tensor<8x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %c) -> (tensor<8x24xf32>) {
    %e = linalg.exp ins(%b : tensor<6x24xf32>) outs(%b : tensor<6x24xf32>) -> tensor<6x24xf32>
    // expected-note @below {{of this op}}
    %p = linalg.matmul ins(%a, %e : tensor<8x6xf32>, tensor<6x24xf32>) outs(%acc : tensor<8x24xf32>) -> tensor<8x24xf32>
    scf.yield %p : tensor<8x24xf32>
  }
  return %r : tensor<8x24xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %tile = transform.param.constant 24 : i64 -> !transform.param<i64>
    %0 = transform.structured.match ops{["linalg.matmul"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{its tensor is computed inside of loops}}
    transform.ansor.pack_operand %0[1] loop 1 tile %tile : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}
