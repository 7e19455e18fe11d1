// RUN: ansor-opt %s --ansor-extract-tasks --split-input-file -verify-diagnostics | FileCheck %s
// RUN: ansor-opt %s --ansor-extract-tasks=strict-fp --split-input-file | FileCheck %s --check-prefix=STRICT

// An accumulation into an argument: the init argument carries the old value.

// CHECK-LABEL: func.func @accumulate
// CHECK-NEXT: call @task_0(%arg0, %arg1, %arg2)
// CHECK: func.func private @task_0
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<4x8xf32>)
// CHECK-NOT: linalg.fill
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[C]] : tensor<4x8xf32>) attrs = {ansor.stage = 0 : i64}
func.func @accumulate(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = linalg.matmul ins(%a, %b : tensor<4x16xf32>, tensor<16x8xf32>) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %m : tensor<4x8xf32>
}

// -----

// With an epilogue the sum starts from zero and the old value is added behind
// it, as an input; the order of floating-point sums keeps them apart.

// CHECK-LABEL: func.func @accumulate_relu
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: call @task_0
// CHECK-NEXT: return
// CHECK: func.func private @task_0
// CHECK-SAME: (%{{.*}}: tensor<4x16xf32>, %{{.*}}: tensor<16x8xf32>, %[[OLD:.*]]: tensor<4x8xf32>, %[[INIT:.*]]: tensor<4x8xf32>)
// CHECK: linalg.fill {ansor.stage = 0 : i64}
// CHECK: %[[M:.*]] = linalg.generic
// CHECK-SAME: reduction
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[M]], %[[OLD]] : {{.*}}) outs(%[[INIT]]
// CHECK: arith.addf
// CHECK: arith.maximumf

// STRICT-LABEL: func.func @accumulate_relu
// STRICT-NEXT: call @task_0(%arg0, %arg1, %arg2)
// STRICT: call @task_1
func.func @accumulate_relu(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %m = linalg.matmul ins(%a, %b : tensor<4x16xf32>, tensor<16x8xf32>) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%m : tensor<4x8xf32>) {
  ^bb0(%x: f32):
    %q = arith.maximumf %x, %zero : f32
    linalg.yield %q : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// Narrow floats round at each step: their sums keep the order.

// CHECK-LABEL: func.func @narrow_bias
// CHECK: func.func private @task_0
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<4x8xbf16>)
// CHECK-NOT: linalg.fill
// CHECK: linalg.generic
// CHECK-SAME: reduction
// CHECK-SAME: outs(%[[C]] :
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @narrow_bias(%a: tensor<4x16xbf16>, %b: tensor<16x8xbf16>, %c: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %zero = arith.constant 0.0 : bf16
  %m = linalg.matmul ins(%a, %b : tensor<4x16xbf16>, tensor<16x8xbf16>) outs(%c : tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%m : tensor<4x8xbf16>) {
  ^bb0(%x: bf16):
    %q = arith.maximumf %x, %zero : bf16
    linalg.yield %q : bf16
  } -> tensor<4x8xbf16>
  return %r : tensor<4x8xbf16>
}

// -----

// Integer sums may be reordered in any case.

// STRICT-LABEL: func.func @integer_bias
// STRICT: call @task_0
// STRICT-NEXT: return
func.func @integer_bias(%a: tensor<4x16xi32>, %b: tensor<16x8xi32>, %c: tensor<8xi32>) -> tensor<4x8xi32> {
  %e = tensor.empty() : tensor<4x8xi32>
  %bb = linalg.broadcast ins(%c : tensor<8xi32>) outs(%e : tensor<4x8xi32>) dimensions = [0]
  %m = linalg.matmul ins(%a, %b : tensor<4x16xi32>, tensor<16x8xi32>) outs(%bb : tensor<4x8xi32>) -> tensor<4x8xi32>
  return %m : tensor<4x8xi32>
}

// -----

// A maximum that starts from real values has no such form: it stays alone.

// CHECK-LABEL: func.func @running_max
// CHECK-NEXT: %[[M:.*]] = call @task_0(%arg0, %arg1)
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: call @task_1(%[[M]],
func.func @running_max(%a: tensor<4x16xf32>, %old: tensor<4xf32>) -> tensor<4xf32> {
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x16xf32>) outs(%old : tensor<4xf32>) {
  ^bb0(%x: f32, %z: f32):
    %q = arith.maximumf %x, %z : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%m : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A subtraction isn't an addition, even if its accumulator is.

// CHECK-LABEL: func.func @subtract
// CHECK-NEXT: call @task_0(%arg0, %arg1)
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: call @task_1
func.func @subtract(%a: tensor<4x16xf32>, %old: tensor<4xf32>) -> tensor<4xf32> {
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x16xf32>) outs(%old : tensor<4xf32>) {
  ^bb0(%x: f32, %z: f32):
    %q = arith.subf %z, %x : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%m : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @uninitialised
// CHECK: call @task_0
func.func @uninitialised(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  // expected-remark @below {{accumulates into an uninitialised tensor; its values are undefined}}
  %m = linalg.matmul ins(%a, %b : tensor<4x16xf32>, tensor<16x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %m : tensor<4x8xf32>
}

// -----

// A caller's argument is never written: a result that overwrites it is an
// uninitialised tensor, which becomes the caller's buffer of the result, and
// the argument isn't copied.

// CHECK-LABEL: func.func @overwrite_public(
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK-NEXT: call @task_0(%arg0, %arg1, %[[E]])
// CHECK-LABEL: func.func private @overwrite_private(
// CHECK-NEXT: call @task_0(%arg0, %arg1, %arg2)
// CHECK-LABEL: func.func @overwrite_writable(
// CHECK-NEXT: call @task_0(%arg0, %arg1, %arg2)
// CHECK-LABEL: func.func @overwrite_in_loop(
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %arg2)
// CHECK: call @task_0(%arg0, %arg1, %[[ACC]])
func.func @overwrite_public(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %out: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4x16xf32>, tensor<16x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
func.func private @overwrite_private(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %out: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4x16xf32>, tensor<16x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
func.func @overwrite_writable(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %out: tensor<4x8xf32> {bufferization.writable = true}) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4x16xf32>, tensor<16x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
func.func @overwrite_in_loop(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %out: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %out) -> (tensor<4x8xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%acc : tensor<4x8xf32>) -> tensor<4x8xf32>
    %m = linalg.matmul ins(%a, %b : tensor<4x16xf32>, tensor<16x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
    scf.yield %m : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}
