// RUN: ansor-opt %s --ansor-extract-tasks --split-input-file | FileCheck %s

// The second factor of A * B^T is contiguous along the terms: its transposition
// is a stage.
// CHECK-LABEL: func.func private @task_0(
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<48x64xf32>) outs(%{{.*}} : tensor<64x48xf32>) {{.*}}ansor.stage = 0
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[B]] : tensor<32x64xf32>, tensor<64x48xf32>)
func.func @transposed(%a: tensor<32x64xf32>, %b: tensor<48x64xf32>, %c: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<32x48xf32>) -> tensor<32x48xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<32x64xf32>, tensor<48x64xf32>) outs(%f : tensor<32x48xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  return %r : tensor<32x48xf32>
}

// -----

// Rows of 14 pixels: the filters go last, so that vectors may lie along them.
// CHECK-LABEL: func.func private @task_0(
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<32x8x3x3xf32>) outs(%{{.*}} : tensor<8x3x3x32xf32>)
// CHECK-NOT: linalg.generic {{.*}} ins(%arg0 : tensor
func.func @short_rows(%image: tensor<1x8x16x16xf32>, %filter: tensor<32x8x3x3xf32>, %out: tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%image, %filter : tensor<1x8x16x16xf32>, tensor<32x8x3x3xf32>) outs(%f : tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
  return %r : tensor<1x32x14x14xf32>
}

// -----

// Long rows: nothing to gain. Nor where each element is used a few times.
// CHECK-LABEL: func.func private @task_0(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK-LABEL: func.func private @task_1(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @as_it_is(%a: tensor<32x64xf32>, %b: tensor<64x128xf32>, %c: tensor<32x128xf32>,
                    %d: tensor<4x64xf32>, %e: tensor<128x64xf32>, %g: tensor<4x128xf32>) -> (tensor<32x128xf32>, tensor<4x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<32x128xf32>) -> tensor<32x128xf32>
  %r = linalg.matmul ins(%a, %b : tensor<32x64xf32>, tensor<64x128xf32>) outs(%f : tensor<32x128xf32>) -> tensor<32x128xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<4x128xf32>) -> tensor<4x128xf32>
  %s = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%d, %e : tensor<4x64xf32>, tensor<128x64xf32>) outs(%h : tensor<4x128xf32>) -> tensor<4x128xf32>
  return %r, %s : tensor<32x128xf32>, tensor<4x128xf32>
}
