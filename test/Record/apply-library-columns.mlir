// A schedule that copies windows tiles a product of fewer loops than the stage
// began with: what it knew of its extents is not held against the tiles.
// RUN: split-file %s %t
// RUN: ansor-opt %t/task.mlir --ansor-apply-library=library=%t/library.mlir --cse | FileCheck %s
// CHECK: scf.forall
// CHECK: linalg.generic {{.*}}ins(%{{.*}} : tensor<21xi8>) outs(%{{.*}} : tensor<1x21xi8>) {{.*}}ansor.vectorize
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]{{.*}}tensor<7x4xi8>, tensor<4x32xi8>{{.*}}ansor.stage = 1 : i64, ansor.vectorize
// CHECK: linalg.generic {{.*}}ansor.stage = 2 : i64, ansor.vectorize

//--- task.mlir
#x = affine_map<(d0, d1, d2, d3) -> (d0 * 2 + d2, d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>
#o = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
func.func private @task_0(%x: tensor<65x3xi8>, %w: tensor<7x3x32xi8>, %b: tensor<32xi32>, %out: tensor<28x32xi32>) -> tensor<28x32xi32>
    attributes {ansor.task = "a1-00", ansor.weight = 1 : i64} {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<28x32xi32>
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%z : i32) outs(%e : tensor<28x32xi32>) -> tensor<28x32xi32>
  %c = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : tensor<65x3xi8>, tensor<7x3x32xi8>) outs(%f : tensor<28x32xi32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<28x32xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%c, %b : tensor<28x32xi32>, tensor<32xi32>) outs(%out : tensor<28x32xi32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%a: i32, %k: i32, %s: i32):
    %t = arith.addi %a, %k : i32
    linalg.yield %t : i32
  } -> tensor<28x32xi32>
  return %r : tensor<28x32xi32>
}

//--- library.mlir
module attributes {ansor.library = 1 : i64, transform.with_named_sequence} {
  transform.named_sequence @schedule(%arg0: !transform.any_op {transform.readonly}) attributes {ansor.median_ms = 0.5 : f64, ansor.sketch = "s0", ansor.speedup = 4.0 : f64, ansor.target = "test", ansor.task = "a1-00", ansor.trials = 8 : i64} {
    %0 = transform.param.constant 14 : i64 -> !transform.param<i64>
    %1 = transform.param.constant 7 : i64 -> !transform.param<i64>
    %2 = transform.param.constant 7 : i64 -> !transform.param<i64>
    %3 = transform.param.constant 32 : i64 -> !transform.param<i64>
    %4 = transform.param.constant 32 : i64 -> !transform.param<i64>
    %5 = transform.param.constant 32 : i64 -> !transform.param<i64>
    %6 = transform.param.constant 24 : i64 -> !transform.param<i64>
    %7 = transform.param.constant 4 : i64 -> !transform.param<i64>
    %8 = transform.param.constant 2 : i64 -> !transform.param<i64>
    %9 = transform.structured.match attributes {ansor.stage = 2 : i64} in %arg0 : (!transform.any_op) -> !transform.any_op
    %transformed, %loops = transform.structured.fuse %9 tile_sizes [%0, %3] {use_forall} : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.annotate %loops "ansor.parallel" : !transform.any_op
    %10 = transform.structured.match attributes {ansor.stage = 1 : i64} in %loops : (!transform.any_op) -> !transform.any_op
    %product, %copy = transform.ansor.im2col %10[0] group 4 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %11 = transform.param.constant 1 : i64 -> !transform.param<i64>
    transform.annotate %product "ansor.stage" = %11 : !transform.any_op, !transform.param<i64>
    %tiled_linalg_op, %loops_0 = transform.structured.tile_using_for %copy tile_sizes [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.annotate %tiled_linalg_op "ansor.vectorize" : !transform.any_op
    %transformed_1, %loops_2:2 = transform.structured.fuse %transformed tile_sizes [%1, %4] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %12 = transform.structured.match attributes {ansor.stage = 1 : i64} in %loops_2#1 : (!transform.any_op) -> !transform.any_op
    %tiled_linalg_op_3, %loops_4 = transform.structured.tile_using_for %12 tile_sizes [0, 0, %6] : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    %tiled_linalg_op_5, %loops_6:3 = transform.structured.tile_using_for %tiled_linalg_op_3 tile_sizes [%2, %5, %7] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.annotate %tiled_linalg_op_5 "ansor.vectorize" : !transform.any_op
    transform.annotate %loops_6#2 "ansor.unroll" = %8 : !transform.any_op, !transform.param<i64>
    %tiled_linalg_op_7, %loops_8:2 = transform.structured.tile_using_for %transformed_1 tile_sizes [%2, %5] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.annotate %tiled_linalg_op_7 "ansor.vectorize" : !transform.any_op
    %13 = transform.structured.match attributes {ansor.stage = 0 : i64} in %loops_2#1 : (!transform.any_op) -> !transform.any_op
    %tiled_linalg_op_9, %loops_10:2 = transform.structured.tile_using_for %13 tile_sizes [%2, %5] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.annotate %tiled_linalg_op_9 "ansor.vectorize" : !transform.any_op
    transform.yield
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["func.func"]} attributes {ansor.task = "a1-00"} in %module : (!transform.any_op) -> !transform.any_op
    transform.foreach %f : !transform.any_op {
    ^bb0(%func: !transform.any_op):
      transform.include @schedule failures(propagate) (%func) : (!transform.any_op) -> ()
    }
    transform.yield
  }
}
