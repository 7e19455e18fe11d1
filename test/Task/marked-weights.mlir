// The inputs of tasks that are weights in the calls are marked, and the marks
// are a part of the key.

// RUN: ansor-opt %s --split-input-file --ansor-extract-tasks | FileCheck %s
// RUN: ansor-opt %s --split-input-file --ansor-extract-tasks="prepack=false" \
// RUN: | FileCheck %s --check-prefix=UNMARKED

// One product, called with two weights (one of them a constant) and with data:
// two tasks.

// CHECK-LABEL: func.func @mixed(
// CHECK: %[[A:.*]] = call @[[WEIGHTS:task_[0-9]+]](
// CHECK: %[[B:.*]] = call @[[WEIGHTS]](%[[A]],
// CHECK: call @[[DATA:task_[0-9]+]](%[[A]], %[[B]],
// CHECK: func.func private @[[WEIGHTS]](%{{[^:]*}}: tensor<2x2xf32>, %{{[^:]*}}: tensor<2x2xf32> {ansor.weight}, %{{[^:]*}}: tensor<2x2xf32>) ->
// CHECK-SAME: ansor.weight = 2 : i64
// CHECK: func.func private @[[DATA]](%{{[^:]*}}: tensor<2x2xf32>, %{{[^:]*}}: tensor<2x2xf32>, %{{[^:]*}}: tensor<2x2xf32>) ->
// CHECK-SAME: ansor.weight = 1 : i64

// UNMARKED-LABEL: func.func @mixed(
// UNMARKED: func.func private @task_0
// UNMARKED-SAME: ansor.weight = 3 : i64
// UNMARKED-NOT: func.func private @task_1
// UNMARKED-LABEL: func.func @computed(
func.func @mixed(%x: tensor<2x2xf32>, %w: tensor<2x2xf32> {ansor.weight}) -> tensor<2x2xf32> {
  %v = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %a = linalg.matmul ins(%x, %w : tensor<2x2xf32>, tensor<2x2xf32>)
      outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = linalg.matmul ins(%a, %v : tensor<2x2xf32>, tensor<2x2xf32>)
      outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = linalg.matmul ins(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>)
      outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %c : tensor<2x2xf32>
}

// -----

// What is computed from weights is one, a scalar is none, and neither is what a
// task writes: the sum starts from a weight, and so does its init.

// CHECK-LABEL: func.func @computed(
// CHECK: call @task_1(
// CHECK: func.func private @task_0(%{{[^:]*}}: tensor<8xf32> {ansor.weight}, %{{[^:]*}}: tensor<8xf32>)
// CHECK: func.func private @task_1(%{{[^:]*}}: tensor<4x8xf32>, %{{[^:]*}}: tensor<8xf32> {ansor.weight}, %{{[^:]*}}: f32, %{{[^:]*}}: tensor<4x8xf32>)
// CHECK: func.func private @task_2(%{{[^:]*}}: tensor<4x8xf32>, %{{[^:]*}}: tensor<4xf32>)
func.func @computed(%x: tensor<4x8xf32>, %w: tensor<8xf32> {ansor.weight},
    %old: tensor<4xf32> {ansor.weight}, %s: f32) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>) {
  %ew = tensor.empty() : tensor<8xf32>
  %ex = tensor.empty() : tensor<4x8xf32>
  %e = linalg.exp ins(%w : tensor<8xf32>) outs(%ew : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %e, %s : tensor<4x8xf32>, tensor<8xf32>, f32) outs(%ex : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %c : f32
    linalg.yield %q : f32
  } -> tensor<4x8xf32>
  %t = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%r : tensor<4x8xf32>) outs(%old : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.addf %a, %o : f32
    linalg.yield %p : f32
  } -> tensor<4xf32>
  return %r, %t, %e : tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>
}
