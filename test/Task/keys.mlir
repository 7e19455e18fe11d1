// RUN: ansor-opt %s --ansor-extract-tasks | FileCheck %s

// One computation, written as a named op, as generic ops with their loops and
// operands in other orders, and with a bias that the sum starts from: one task.

// CHECK-LABEL: func.func @named
// CHECK: call @[[TASK:task_0]](%arg0, %arg1, %arg2, %{{.*}})
// CHECK-LABEL: func.func @generic
// CHECK: call @[[TASK]](%arg0, %arg1, %arg2, %{{.*}})
// CHECK-LABEL: func.func @permuted
// CHECK: call @[[TASK]](%arg0, %arg1, %arg2, %{{.*}})
// CHECK-LABEL: func.func @bias_as_init
// CHECK: call @[[TASK]](%arg0, %arg1, %arg2, %{{.*}})
// CHECK-LABEL: func.func @in_place
// CHECK: call @[[TASK]](%arg0, %arg1, %arg2, %{{.*}})
// CHECK-LABEL: func.func @transposed_twice
// CHECK: call @[[TASK]](%arg0, %arg1, %arg2, %{{.*}})

// Another constant is another task, and so are other flags.
// CHECK-LABEL: func.func @other_constant
// CHECK: call @task_1(
// CHECK-LABEL: func.func @other_flags
// CHECK: call @task_2(

// CHECK: func.func private @task_0
// CHECK-SAME: ansor.task = "[[KEY0:a1-[0-9a-f]+]]", ansor.weight = 6 : i64
// CHECK: func.func private @task_1
// CHECK-NOT: [[KEY0]]
// CHECK-SAME: ansor.task = "[[KEY1:a1-[0-9a-f]+]]", ansor.weight = 1 : i64
// CHECK: func.func private @task_2
// CHECK-NOT: [[KEY0]]
// CHECK-NOT: [[KEY1]]
// CHECK-SAME: ansor.weight = 1 : i64
// CHECK-NOT: func.func

func.func @named(%a: tensor<32x16xf32>, %b: tensor<16x8xf32>, %c: tensor<8xf32>) -> tensor<32x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x8xf32>) -> tensor<32x8xf32>
  %m = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x8xf32>) outs(%f : tensor<32x8xf32>) -> tensor<32x8xf32>
  %bb = linalg.broadcast ins(%c : tensor<8xf32>) outs(%e : tensor<32x8xf32>) dimensions = [0]
  %s = linalg.add ins(%bb, %m : tensor<32x8xf32>, tensor<32x8xf32>) outs(%e : tensor<32x8xf32>) -> tensor<32x8xf32>
  return %s : tensor<32x8xf32>
}

func.func @generic(%a: tensor<32x16xf32>, %b: tensor<16x8xf32>, %c: tensor<8xf32>) -> tensor<32x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<32x8xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<32x16xf32>, tensor<16x8xf32>) outs(%zeros : tensor<32x8xf32>) attrs = {front.end = "x"} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %y, %x : f32
    %q = arith.addf %p, %z : f32
    linalg.yield %q : f32
  } -> tensor<32x8xf32>
  %e = tensor.empty() : tensor<32x8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%c, %m : tensor<8xf32>, tensor<32x8xf32>) outs(%e : tensor<32x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %q = arith.addf %x, %y : f32
    linalg.yield %q : f32
  } -> tensor<32x8xf32>
  return %s : tensor<32x8xf32>
}

func.func @permuted(%a: tensor<32x16xf32>, %b: tensor<16x8xf32>, %c: tensor<8xf32>) -> tensor<32x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x8xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<32x8xf32>) {
  ^bb0(%z: f32):
    linalg.yield %zero : f32
  } -> tensor<32x8xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(k, n, m) -> (k, n)>, affine_map<(k, n, m) -> (m, k)>, affine_map<(k, n, m) -> (m, n)>], iterator_types = ["reduction", "parallel", "parallel"]} ins(%b, %a : tensor<16x8xf32>, tensor<32x16xf32>) outs(%f : tensor<32x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %z, %p : f32
    linalg.yield %q : f32
  } -> tensor<32x8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, m) -> (m, n)>, affine_map<(n, m) -> (n)>, affine_map<(n, m) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%m, %c : tensor<32x8xf32>, tensor<8xf32>) outs(%e : tensor<32x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %q = arith.addf %y, %x : f32
    linalg.yield %q : f32
  } -> tensor<32x8xf32>
  return %s : tensor<32x8xf32>
}

func.func @bias_as_init(%a: tensor<32x16xf32>, %b: tensor<16x8xf32>, %c: tensor<8xf32>) -> tensor<32x8xf32> {
  %e = tensor.empty() : tensor<32x8xf32>
  %bb = linalg.broadcast ins(%c : tensor<8xf32>) outs(%e : tensor<32x8xf32>) dimensions = [0]
  %m = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x8xf32>) outs(%bb : tensor<32x8xf32>) -> tensor<32x8xf32>
  return %m : tensor<32x8xf32>
}

func.func @in_place(%a: tensor<32x16xf32>, %b: tensor<16x8xf32>, %c: tensor<8xf32>) -> tensor<32x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x8xf32>) -> tensor<32x8xf32>
  %m = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x8xf32>) outs(%f : tensor<32x8xf32>) -> tensor<32x8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<8xf32>) outs(%m : tensor<32x8xf32>) {
  ^bb0(%x: f32, %z: f32):
    %q = arith.addf %z, %x : f32
    linalg.yield %q : f32
  } -> tensor<32x8xf32>
  return %s : tensor<32x8xf32>
}

func.func @transposed_twice(%a: tensor<32x16xf32>, %b: tensor<16x8xf32>, %c: tensor<8xf32>) -> tensor<32x8xf32> {
  %zero = arith.constant 0.0 : f32
  %et = tensor.empty() : tensor<8x16xf32>
  %bt = linalg.transpose ins(%b : tensor<16x8xf32>) outs(%et : tensor<8x16xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<32x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x8xf32>) -> tensor<32x8xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %bt : tensor<32x16xf32>, tensor<8x16xf32>) outs(%f : tensor<32x8xf32>) -> tensor<32x8xf32>
  %bb = linalg.broadcast ins(%c : tensor<8xf32>) outs(%e : tensor<32x8xf32>) dimensions = [0]
  %s = linalg.add ins(%bb, %m : tensor<32x8xf32>, tensor<32x8xf32>) outs(%e : tensor<32x8xf32>) -> tensor<32x8xf32>
  return %s : tensor<32x8xf32>
}

func.func @other_constant(%a: tensor<32x16xf32>, %b: tensor<16x8xf32>, %c: tensor<8xf32>) -> tensor<32x8xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<32x8xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<32x8xf32>) -> tensor<32x8xf32>
  %m = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x8xf32>) outs(%f : tensor<32x8xf32>) -> tensor<32x8xf32>
  %bb = linalg.broadcast ins(%c : tensor<8xf32>) outs(%e : tensor<32x8xf32>) dimensions = [0]
  %s = linalg.add ins(%bb, %m : tensor<32x8xf32>, tensor<32x8xf32>) outs(%e : tensor<32x8xf32>) -> tensor<32x8xf32>
  return %s : tensor<32x8xf32>
}

func.func @other_flags(%a: tensor<32x16xf32>, %b: tensor<16x8xf32>, %c: tensor<8xf32>) -> tensor<32x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x8xf32>) -> tensor<32x8xf32>
  %m = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x8xf32>) outs(%f : tensor<32x8xf32>) -> tensor<32x8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%c, %m : tensor<8xf32>, tensor<32x8xf32>) outs(%e : tensor<32x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %q = arith.addf %x, %y fastmath<contract> : f32
    linalg.yield %q : f32
  } -> tensor<32x8xf32>
  return %s : tensor<32x8xf32>
}
