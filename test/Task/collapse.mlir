// Dimensions that all ops of a task run through together are one.
// RUN: ansor-opt %s --ansor-extract-tasks --split-input-file | FileCheck %s

// A 1x1 convolution is a matrix product over all pixels, and so is what
// follows; the reshapes between two of them cancel.

// CHECK-LABEL: func.func @pointwise
// CHECK: call @task_0({{.*}}, tensor<8x25xf32>) -> tensor<8x25xf32>
// CHECK-NOT: tensor.expand_shape
// CHECK: call @task_0({{.*}}, tensor<8x25xf32>) -> tensor<8x25xf32>
// CHECK: func.func private @task_0
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]
// CHECK: linalg.generic {{.*}}["parallel", "parallel"]
func.func @pointwise(%x: tensor<1x8x5x5xf32>, %w: tensor<8x8x1x1xf32>, %v: tensor<8x8x1x1xf32>) -> tensor<1x8x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x5x5xf32>) -> tensor<1x8x5x5xf32>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x8x5x5xf32>, tensor<8x8x1x1xf32>) outs(%f : tensor<1x8x5x5xf32>) -> tensor<1x8x5x5xf32>
  %b = linalg.exp ins(%a : tensor<1x8x5x5xf32>) outs(%e : tensor<1x8x5x5xf32>) -> tensor<1x8x5x5xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%b, %v : tensor<1x8x5x5xf32>, tensor<8x8x1x1xf32>) outs(%f : tensor<1x8x5x5xf32>) -> tensor<1x8x5x5xf32>
  %d = linalg.exp ins(%c : tensor<1x8x5x5xf32>) outs(%e : tensor<1x8x5x5xf32>) -> tensor<1x8x5x5xf32>
  return %d : tensor<1x8x5x5xf32>
}

// -----

// Strided pixels stay rows of their own, and so do those that are padded; the
// channels are not padded, but windows follow them.

// CHECK-LABEL: func.func @strided
// CHECK: func.func private @task_0
// CHECK: tensor.pad {{.*}} low[0, 1, 0] high[0, 1, 0]
// CHECK: tensor<4x6x24xf32> to tensor<4x8x24xf32>
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "parallel", "reduction"]
// CHECK: func.func private @task_1
// CHECK-SAME: tensor<4x8x8xf32>
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "parallel", "reduction"]
func.func @strided(%x: tensor<4x6x4x6xf32>, %y: tensor<1x4x8x8xf32>, %w: tensor<8x4x1x1xf32>) -> (tensor<4x6x4x6xf32>, tensor<1x8x4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 0, 0] high[0, 1, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<4x6x4x6xf32> to tensor<4x8x4x6xf32>
  %e = tensor.empty() : tensor<4x6x4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6x4x6xf32>) -> tensor<4x6x4x6xf32>
  %window = tensor.empty() : tensor<3xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, w, c, k) -> (b, h + k, w, c)>, affine_map<(b, h, w, c, k) -> (k)>, affine_map<(b, h, w, c, k) -> (b, h, w, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %window : tensor<4x8x4x6xf32>, tensor<3xf32>) outs(%f : tensor<4x6x4x6xf32>) {
  ^bb0(%a: f32, %q: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<4x6x4x6xf32>
  %e1 = tensor.empty() : tensor<1x8x4x4xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %t = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%y, %w : tensor<1x4x8x8xf32>, tensor<8x4x1x1xf32>) outs(%f1 : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return %s, %t : tensor<4x6x4x6xf32>, tensor<1x8x4x4xf32>
}

// -----

// Not where the body asks for the index, nor where one operand is read in
// another order, or is broadcast along one of the two; reductions as parallel
// loops, but no loop of one kind with one of the other.

// CHECK-LABEL: func.func @kept
// CHECK: func.func private @task_0
// CHECK-SAME: (%arg0: tensor<8x8xindex>)
// CHECK: func.func private @task_1
// CHECK: ["parallel", "parallel"]
// CHECK: func.func private @task_2
// CHECK: ["parallel", "parallel"]
// CHECK: func.func private @task_3
// CHECK-SAME: (%arg0: tensor<4x15xf32>, %arg1: tensor<4xf32>)
// CHECK: ["parallel", "reduction"]
func.func @kept(%x: tensor<8x8xf32>, %row: tensor<8xf32>, %y: tensor<4x3x5xf32>) -> (tensor<8x8xindex>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %ei = tensor.empty() : tensor<8x8xindex>
  %i = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%ei : tensor<8x8xindex>) {
  ^bb0(%o: index):
    %d = linalg.index 1 : index
    linalg.yield %d : index
  } -> tensor<8x8xindex>
  %e = tensor.empty() : tensor<8x8xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %row : tensor<8x8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.divf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %e1 = tensor.empty() : tensor<4xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.reduce { arith.addf } ins(%y : tensor<4x3x5xf32>) outs(%f1 : tensor<4xf32>) dimensions = [1, 2]
  return %i, %t, %b, %r : tensor<8x8xindex>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<4xf32>
}
