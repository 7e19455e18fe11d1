// A task that reads its init but computes its result in a buffer of its own:
// the result must not be copied over what the caller passed.
// RUN: ansor-opt %s --ansor-lower-to-cpu --mlir-print-ir-after=ansor-drop-task-results 2>&1 | FileCheck %s

// CHECK-LABEL: func.func @twice
// CHECK: %[[C:.*]] = memref.get_global
// CHECK: %[[A:.*]] = memref.alloc()
// CHECK: memref.copy %[[C]], %[[A]]
// CHECK: call @task_0(%arg0, %[[A]])
// CHECK: %[[B:.*]] = memref.alloc()
// CHECK: memref.copy %[[C]], %[[B]]
// CHECK: call @task_0(%arg1, %[[B]])
// CHECK: return %[[A]], %[[B]]
#id = affine_map<(d0) -> (d0)>
func.func @twice(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %e = arith.constant dense<1.0> : tensor<64xf32>
  %0 = call @task_0(%x, %e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = call @task_0(%y, %e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}
func.func private @task_0(%x: tensor<64xf32>, %o: tensor<64xf32>) -> tensor<64xf32> attributes {ansor.task = "a1-00", ansor.weight = 2 : i64} {
  %dead = tensor.extract_slice %o[0] [64] [1] : tensor<64xf32> to tensor<64xf32>
  %a = bufferization.alloc_tensor() copy(%dead) : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%a : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
