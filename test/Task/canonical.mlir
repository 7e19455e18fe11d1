// RUN: ansor-opt %s --ansor-extract-tasks --split-input-file | FileCheck %s

// Loops follow the output, then the inputs; an index goes along with its loop.

// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK: func.func private @task_0
// CHECK: linalg.generic {indexing_maps = [#[[IN]], #[[OUT]], #[[OUT]]], iterator_types = ["parallel", "reduction"]}
// CHECK-NOT: affine.apply
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK-NEXT: arith.index_cast %[[I]]
func.func @argmax_columns(%x: tensor<9x5xf32>) -> (tensor<5xf32>, tensor<5xi64>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %e0 = tensor.empty() : tensor<5xf32>
  %e1 = tensor.empty() : tensor<5xi64>
  %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<5xf32>) -> tensor<5xf32>
  %f1 = linalg.fill ins(%zero : i64) outs(%e1 : tensor<5xi64>) -> tensor<5xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<9x5xf32>) outs(%f0, %f1 : tensor<5xf32>, tensor<5xi64>) {
  ^bb0(%a: f32, %v: f32, %k: i64):
    %j = linalg.index 0 : index
    %jj = arith.index_cast %j : index to i64
    %c = arith.cmpf ogt, %a, %v : f32
    %m = arith.select %c, %a, %v : f32
    %b = arith.select %c, %jj, %k : i64
    linalg.yield %m, %b : f32, i64
  } -> (tensor<5xf32>, tensor<5xi64>)
  return %r#0, %r#1 : tensor<5xf32>, tensor<5xi64>
}

// -----

// A result that nothing reads goes, with what computes it alone.

// CHECK-LABEL: func.func @max_only
// CHECK: call @task_0(%arg0, %{{.*}}) : (tensor<5x9xf32>, tensor<5xf32>) -> tensor<5xf32>
// CHECK-NOT: linalg.index
func.func @max_only(%x: tensor<5x9xf32>) -> tensor<5xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %e0 = tensor.empty() : tensor<5xf32>
  %e1 = tensor.empty() : tensor<5xi64>
  %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<5xf32>) -> tensor<5xf32>
  %f1 = linalg.fill ins(%zero : i64) outs(%e1 : tensor<5xi64>) -> tensor<5xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x9xf32>) outs(%f0, %f1 : tensor<5xf32>, tensor<5xi64>) {
  ^bb0(%a: f32, %v: f32, %k: i64):
    %j = linalg.index 1 : index
    %jj = arith.index_cast %j : index to i64
    %c = arith.cmpf ogt, %a, %v : f32
    %m = arith.maximumf %a, %v : f32
    %b = arith.select %c, %jj, %k : i64
    linalg.yield %m, %b : f32, i64
  } -> (tensor<5xf32>, tensor<5xi64>)
  return %r#0 : tensor<5xf32>
}

// -----

// Sums with and without kept dimensions are one task.

// CHECK-LABEL: func.func @keep_dims
// CHECK: %[[A:.*]] = call @task_0(%arg0,
// CHECK: %[[B:.*]] = call @task_0(%arg0,
// CHECK: tensor.expand_shape %[[B]]
// CHECK-NOT: call
func.func @keep_dims(%x: tensor<5x9xf32>) -> (tensor<5xf32>, tensor<5x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<5x9xf32>) outs(%f : tensor<5xf32>) dimensions = [1]
  %e1 = tensor.empty() : tensor<5x1xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<5x1xf32>) -> tensor<5x1xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x9xf32>) outs(%f1 : tensor<5x1xf32>) {
  ^bb0(%a: f32, %v: f32):
    %m = arith.addf %v, %a : f32
    linalg.yield %m : f32
  } -> tensor<5x1xf32>
  return %s, %t : tensor<5xf32>, tensor<5x1xf32>
}

// -----

// A splat is a constant of the body, real data is an argument, so that layers
// of one shape are one task.

// CHECK-LABEL: func.func @constants
// CHECK-DAG: %[[W0:.*]] = arith.constant dense<[1.0
// CHECK-DAG: %[[W1:.*]] = arith.constant dense_resource<w1>
// CHECK: call @task_0(%arg0, %[[W0]],
// CHECK: call @task_0(%{{.*}}, %[[W1]],
// CHECK: func.func private @task_0
// CHECK: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: arith.mulf %{{.*}}, %[[HALF]]
func.func @constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w0 = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %w1 = arith.constant dense_resource<w1> : tensor<4xf32>
  %half = arith.constant dense<0.5> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.add ins(%x, %w0 : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.mul ins(%half, %a : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  // A reader besides, so that the two halves stay apart.
  %r = tensor.insert_slice %b into %b[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
  %c = linalg.add ins(%r, %w1 : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %d = linalg.mul ins(%c, %half : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// Dynamic sizes: the init gives the sizes of what is between.

// CHECK-LABEL: func.func @dynamic
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?x8xf32>
// CHECK: call @task_0(%arg0, %arg1, %[[E]])
// CHECK: func.func private @task_0
// CHECK-SAME: %[[INIT:[a-z0-9]+]]: tensor<?x8xf32>)
// CHECK: %[[D:.*]] = tensor.dim %[[INIT]]
// CHECK: %[[M:.*]] = tensor.empty(%[[D]])
// CHECK: linalg.fill {ansor.stage = 0 : i64} ins(%{{.*}}) outs(%[[M]]
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[INIT]]
func.func @dynamic(%a: tensor<?x16xf32>, %b: tensor<16x8xf32>) -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %m = linalg.matmul ins(%a, %b : tensor<?x16xf32>, tensor<16x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = linalg.exp ins(%m : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// A weight that is transposed before a window: its copy is not a result of the
// task, though only the weight tells the extents of the window.

// CHECK-LABEL: func.func @transposed_window
// CHECK: func.func private @task_0
// CHECK-NOT: :2 = linalg.generic
// CHECK: %{{[0-9]+}} = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<{{.*}}>, tensor<{{.*}}>) outs(%{{[a-z0-9]+}} : tensor<14x14x8xf32>)
func.func @transposed_window(%x: tensor<1x16x16x3xf32>, %w: tensor<8x3x3x3xf32>) -> tensor<1x14x14x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3x3x8xf32>
  %t = linalg.transpose ins(%w : tensor<8x3x3x3xf32>) outs(%e : tensor<3x3x3x8xf32>) permutation = [1, 2, 3, 0]
  %e1 = tensor.empty() : tensor<1x14x14x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x14x14x8xf32>) -> tensor<1x14x14x8xf32>
  %c = linalg.conv_2d_nhwc_hwcf ins(%x, %t : tensor<1x16x16x3xf32>, tensor<3x3x3x8xf32>) outs(%f : tensor<1x14x14x8xf32>) -> tensor<1x14x14x8xf32>
  return %c : tensor<1x14x14x8xf32>
}
