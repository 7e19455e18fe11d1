// A task that computes its result in a buffer of its own and has only a dead
// use of its init: two calls must not share one init, though it looks unused.
// RUN: ansor-opt %s --ansor-lower-to-cpu --mlir-print-ir-after=ansor-drop-task-results 2>&1 | FileCheck %s

// CHECK-LABEL: func.func @twice
// CHECK: call @task_0(%arg0, %[[A:[a-z0-9_]+]])
// CHECK-NOT: call @task_0(%arg1, %[[A]])
// CHECK: call @task_0(%arg1, %[[B:[a-z0-9_]+]])
// CHECK: return %[[A]], %[[B]]
#id = affine_map<(d0) -> (d0)>
func.func @twice(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %0 = call @task_0(%x, %e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %f = tensor.empty() : tensor<64xf32>
  %1 = call @task_0(%y, %f) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}
func.func private @task_0(%x: tensor<64xf32>, %o: tensor<64xf32>) -> tensor<64xf32> attributes {ansor.task = "a1-00", ansor.weight = 2 : i64} {
  %dead = tensor.extract_slice %o[0] [64] [1] : tensor<64xf32> to tensor<64xf32>
  %a = bufferization.alloc_tensor() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%a : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
