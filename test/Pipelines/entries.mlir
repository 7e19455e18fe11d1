// RUN: ansor-opt %s --ansor-lower-to-cpu=parallel=false | FileCheck %s

// A task writes its last argument; nothing is returned.
// CHECK-LABEL: llvm.func @task(
// CHECK-NOT: -> !llvm
// CHECK: llvm.return{{$}}
// CHECK: llvm.func @task_packed(%{{.*}}: !llvm.ptr)
func.func @task(%a: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32>
    attributes {ansor.task = "a1-0000000000000000"} {
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%init : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// The result comes first among the pointers: it is written where that points
// to, or else into a new buffer.
// CHECK-LABEL: llvm.func @plain(
// CHECK: llvm.func @plain_packed(%[[ARGS:.*]]: !llvm.ptr)
// CHECK: llvm.getelementptr %[[ARGS]][1]
// CHECK: llvm.icmp "eq"
// CHECK: llvm.call @malloc
// CHECK: llvm.call @plain_into(
// CHECK: llvm.store %{{.*}} : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
func.func @plain(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// CHECK-NOT: @hidden_packed
func.func private @hidden(%a: f32) -> f32 {
  return %a : f32
}

// A name of the C library's is another function's: `math.erf` must not call it.
// CHECK: llvm.func @ansor_erf(
// CHECK: llvm.call @erf(
// CHECK: llvm.func @erf_packed(
// CHECK: llvm.call @ansor_erf(
func.func @erf(%a: f64) -> f64 {
  %0 = math.erf %a : f64
  return %0 : f64
}
