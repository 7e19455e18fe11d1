// Operands and results that lie along other loops than the vectors: every
// candidate is compared with the unscheduled program.
// REQUIRES: ansor-tune, ansor-run
// RUN: %sample_and_check %s --samples=6
func.func @main(
    %image: tensor<1x5x15x15xf32>, %filter: tensor<32x5x3x3xf32>,
    %bias: tensor<32xf32>, %a: tensor<20x37xf32>, %b: tensor<35x37xf32>,
    %narrow: tensor<37x4xf32>, %groups: tensor<1x2x6x7x7xf32>,
    %grouped: tensor<2x18x6x3x3xf32>)
    -> (tensor<1x32x7x7xf32>, tensor<20x35xf32>, tensor<20x4xf32>,
        tensor<1x2x18x5x5xf32>) {
  %zero = arith.constant 0.0 : f32
  // A convolution by channels, with stride and an epilogue.
  %e0 = tensor.empty() : tensor<1x32x7x7xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x32x7x7xf32>) -> tensor<1x32x7x7xf32>
  %conv = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x5x15x15xf32>, tensor<32x5x3x3xf32>) outs(%f0 : tensor<1x32x7x7xf32>) -> tensor<1x32x7x7xf32>
  %r0 = linalg.generic {indexing_maps = [affine_map<(n, f, y, x) -> (n, f, y, x)>, affine_map<(n, f, y, x) -> (f)>, affine_map<(n, f, y, x) -> (n, f, y, x)>],
                        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv, %bias : tensor<1x32x7x7xf32>, tensor<32xf32>) outs(%e0 : tensor<1x32x7x7xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x32x7x7xf32>
  // A * B^T.
  %e1 = tensor.empty() : tensor<20x35xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<20x35xf32>) -> tensor<20x35xf32>
  %r1 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x37xf32>, tensor<35x37xf32>) outs(%f1 : tensor<20x35xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<20x35xf32>
  // Rows of four elements.
  %e2 = tensor.empty() : tensor<20x4xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<20x4xf32>) -> tensor<20x4xf32>
  %r2 = linalg.matmul ins(%a, %narrow : tensor<20x37xf32>, tensor<37x4xf32>) outs(%f2 : tensor<20x4xf32>) -> tensor<20x4xf32>
  // Groups.
  %e3 = tensor.empty() : tensor<1x2x18x5x5xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<1x2x18x5x5xf32>) -> tensor<1x2x18x5x5xf32>
  %r3 = linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%groups, %grouped : tensor<1x2x6x7x7xf32>, tensor<2x18x6x3x3xf32>) outs(%f3 : tensor<1x2x18x5x5xf32>) -> tensor<1x2x18x5x5xf32>
  return %r0, %r1, %r2, %r3 : tensor<1x32x7x7xf32>, tensor<20x35xf32>, tensor<20x4xf32>, tensor<1x2x18x5x5xf32>
}
