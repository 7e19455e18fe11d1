// RUN: ansor-opt %s --ansor-extract-tasks | FileCheck %s
// RUN: ansor-opt %s --ansor-extract-tasks --ansor-inline-tasks | FileCheck %s --check-prefix=INLINE

// A named matmul, a broadcast bias and a maximum with a filled tensor are one
// task of three stages, with the bias read through its map and the zero in the
// body.

// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[BIAS:.*]] = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @matmul_bias_relu
// CHECK-SAME: (%[[A:.*]]: tensor<32x16xf32>, %[[B:.*]]: tensor<16x8xf32>, %[[C:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<32x8xf32>
// CHECK-NEXT: %[[R:.*]] = call @task_0(%[[A]], %[[B]], %[[C]], %[[E]])
// CHECK-NEXT: return %[[R]]

// CHECK-LABEL: func.func private @task_0
// CHECK-SAME: (%[[A:.*]]: tensor<32x16xf32>, %[[B:.*]]: tensor<16x8xf32>, %[[C:.*]]: tensor<8xf32>, %[[INIT:.*]]: tensor<32x8xf32>) -> tensor<32x8xf32>
// CHECK-SAME: ansor.task = "a1-{{[0-9a-f]+}}"
// CHECK-SAME: ansor.weight = 1 : i64
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[E:.*]] = tensor.empty()
// CHECK: %[[F:.*]] = linalg.fill {ansor.stage = 0 : i64} ins(%[[ZERO]] : f32) outs(%[[E]]
// CHECK: %[[M:.*]] = linalg.generic
// CHECK-SAME: indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]], iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME: ins(%[[A]], %[[B]] : {{.*}}) outs(%[[F]] : {{.*}}) attrs = {ansor.stage = 1 : i64}
// CHECK: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %[[ACC:.*]]: f32):
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[X]], %[[Y]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[ACC]], %[[P]]
// CHECK-NEXT: linalg.yield %[[S]]
// CHECK: %[[R:.*]] = linalg.generic
// CHECK-SAME: indexing_maps = [#[[ID]], #[[BIAS]], #[[ID]]], iterator_types = ["parallel", "parallel"]
// CHECK-SAME: ins(%[[M]], %[[C]] : {{.*}}) outs(%[[INIT]] : {{.*}}) attrs = {ansor.stage = 2 : i64}
// CHECK: arith.addf
// CHECK-NEXT: arith.maximumf %{{.*}}, %[[ZERO]]
// CHECK: return %[[R]]

// INLINE-LABEL: func.func @matmul_bias_relu
// INLINE-NOT: call
// INLINE-NOT: ansor.
// INLINE: linalg.fill
// INLINE: linalg.generic
// INLINE: linalg.generic
// INLINE: return
// INLINE-NOT: func.func

func.func @matmul_bias_relu(%a: tensor<32x16xf32>, %b: tensor<16x8xf32>, %bias: tensor<8xf32>) -> tensor<32x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x8xf32>) -> tensor<32x8xf32>
  %m = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x8xf32>) outs(%f : tensor<32x8xf32>) -> tensor<32x8xf32>
  %bb = linalg.broadcast ins(%bias : tensor<8xf32>) outs(%e : tensor<32x8xf32>) dimensions = [0]
  %s = linalg.add ins(%m, %bb : tensor<32x8xf32>, tensor<32x8xf32>) outs(%e : tensor<32x8xf32>) -> tensor<32x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x8xf32>) -> tensor<32x8xf32>
  %r = linalg.max ins(%s, %z : tensor<32x8xf32>, tensor<32x8xf32>) outs(%e : tensor<32x8xf32>) -> tensor<32x8xf32>
  return %r : tensor<32x8xf32>
}
