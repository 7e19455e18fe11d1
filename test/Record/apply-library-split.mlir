// A schedule that splits a reduction gives stages to ops that it makes, which
// have other loops than those that the task began with.
// RUN: split-file %s %t
// RUN: ansor-opt %t/task.mlir --ansor-apply-library=library=%t/library.mlir | FileCheck %s
// CHECK: linalg.fill {ansor.stage = 0 : i64, ansor.vectorize} ins({{.*}}) outs({{.*}} : tensor<1x3x40xf32>)

//--- task.mlir
func.func private @task_0(%a: tensor<3x2304xf32>, %b: tensor<2304x40xf32>, %init: tensor<3x40xf32>) -> tensor<3x40xf32>
    attributes {ansor.task = "a1-00", ansor.weight = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%z : f32) outs(%init : tensor<3x40xf32>) -> tensor<3x40xf32>
  %m = linalg.matmul {ansor.stage = 1 : i64} ins(%a, %b : tensor<3x2304xf32>, tensor<2304x40xf32>) outs(%f : tensor<3x40xf32>) -> tensor<3x40xf32>
  return %m : tensor<3x40xf32>
}

//--- library.mlir
module attributes {ansor.library = 1 : i64, transform.with_named_sequence} {
  transform.named_sequence @schedule(%arg0: !transform.any_op {transform.readonly}) attributes {ansor.median_ms = 0.5 : f64, ansor.sketch = "s0", ansor.speedup = 4.0 : f64, ansor.target = "test", ansor.task = "a1-00", ansor.trials = 8 : i64} {
    %0 = transform.param.constant 3 : i64 -> !transform.param<i64>
    %1 = transform.param.constant 3 : i64 -> !transform.param<i64>
    %2 = transform.param.constant 3 : i64 -> !transform.param<i64>
    %3 = transform.param.constant 40 : i64 -> !transform.param<i64>
    %4 = transform.param.constant 40 : i64 -> !transform.param<i64>
    %5 = transform.param.constant 40 : i64 -> !transform.param<i64>
    %6 = transform.param.constant 1152 : i64 -> !transform.param<i64>
    %7 = transform.param.constant 12 : i64 -> !transform.param<i64>
    %8 = transform.param.constant 6 : i64 -> !transform.param<i64>
    %9 = transform.param.constant 4 : i64 -> !transform.param<i64>
    %10 = transform.structured.match attributes {ansor.stage = 1 : i64} in %arg0 : (!transform.any_op) -> !transform.any_op
    %init_or_alloc_op, %fill_op, %split_linalg_op, %combining_linalg_op = transform.structured.split_reduction %10 {split_factor = 2 : i64} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    %11 = transform.param.constant 1 : i64 -> !transform.param<i64>
    transform.annotate %combining_linalg_op "ansor.stage" = %11 : !transform.any_op, !transform.param<i64>
    %12 = transform.param.constant 0 : i64 -> !transform.param<i64>
    transform.annotate %fill_op "ansor.stage" = %12 : !transform.any_op, !transform.param<i64>
    %transformed, %loops = transform.structured.fuse %split_linalg_op tile_sizes [1, %0, %3, 0] {use_forall} : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.annotate %loops "ansor.parallel" : !transform.any_op
    %transformed_0, %loops_1:2 = transform.structured.fuse %transformed tile_sizes [0, %1, %4, 0] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %tiled_linalg_op, %loops_2 = transform.structured.tile_using_for %transformed_0 tile_sizes [0, 0, 0, %7] : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    %tiled_linalg_op_3, %loops_4:3 = transform.structured.tile_using_for %tiled_linalg_op tile_sizes [0, %2, %5, %8] interchange = [0, 1, 2, 3] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.annotate %tiled_linalg_op_3 "ansor.vectorize" : !transform.any_op
    transform.annotate %loops_4#2 "ansor.unroll" = %9 : !transform.any_op, !transform.param<i64>
    %13 = transform.structured.match attributes {ansor.stage = 0 : i64} in %loops_1#1 : (!transform.any_op) -> !transform.any_op
    %tiled_linalg_op_5, %loops_6:2 = transform.structured.tile_using_for %13 tile_sizes [0, %2, %5] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.annotate %tiled_linalg_op_5 "ansor.vectorize" : !transform.any_op
    %14 = transform.structured.match attributes {ansor.stage = 1 : i64} in %arg0 : (!transform.any_op) -> !transform.any_op
    %transformed_7, %loops_8:2 = transform.structured.fuse %14 tile_sizes [0, 1, 40] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.annotate %transformed_7 "ansor.vectorize" : !transform.any_op
    %15 = transform.structured.match attributes {ansor.stage = 0 : i64} in %loops_8#1 : (!transform.any_op) -> !transform.any_op
    %tiled_linalg_op_9, %loops_10:2 = transform.structured.tile_using_for %15 tile_sizes [1, 40] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
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
