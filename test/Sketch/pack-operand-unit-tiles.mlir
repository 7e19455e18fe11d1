// Of several dimensions of one element in a slice of a panel, the same are
// dropped when offsets become known.
// RUN: ansor-opt %s --transform-interpreter --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @unit
// CHECK: linalg.pack %arg1 outer_dims_perm = [3, 0, 1, 2] inner_dims_pos = [3] inner_tiles = [16]
// CHECK: %[[TILE:.*]] = tensor.extract_slice %pack[%{{.*}}, %{{.*}}, 0, %{{.*}}, 0] [1, 1, 2, 1, 16] {{.*}} to tensor<1x2x1x16xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[TILE]] : tensor<1x2x1x1xf32>, tensor<1x2x1x16xf32>)
func.func @unit(%a: tensor<2x2x8x12xf32>, %b: tensor<2x2x12x32xf32>, %c: tensor<2x2x8x32xf32>) -> tensor<2x2x8x32xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(p, q, m, n, k) -> (p, q, m, k)>, affine_map<(p, q, m, n, k) -> (p, q, k, n)>, affine_map<(p, q, m, n, k) -> (p, q, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x2x8x12xf32>, tensor<2x2x12x32xf32>) outs(%c : tensor<2x2x8x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x2x8x32xf32>
  return %r : tensor<2x2x8x32xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %tile = transform.param.constant 16 : i64 -> !transform.param<i64>
    %op = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:5 = transform.structured.tile_using_for %op tile_sizes [1, 2, 1, 16, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.ansor.pack_operand %tiled[1] loop 3 tile %tile : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}
