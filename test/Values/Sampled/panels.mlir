// Operands that are read from panels, of every form that the rule takes, also
// where panels don't divide the operand: every candidate is compared with the
// unscheduled program.
// REQUIRES: ansor-tune, ansor-run
// RUN: %sample_and_check %s --samples=10 --target=host:l1=256
func.func @main(
    %a: tensor<19x37xf32>, %b: tensor<37x83xf32>, %bt: tensor<83x37xf32>,
    %as: tensor<3x8x16xf32>, %bs: tensor<3x16x48xf32>,
    %image: tensor<1x9x9x8xf32>, %filter: tensor<3x3x8x40xf32>,
    %groups: tensor<1x2x6x7x7xf32>, %grouped: tensor<2x32x6x3x3xf32>,
    %i8a: tensor<12x32xi8>, %i8b: tensor<32x48xi8>,
    %blocks: tensor<4x24x8x16xf32>)
    -> (tensor<19x83xf32>, tensor<19x83xf32>, tensor<3x8x48xf32>,
        tensor<1x7x7x40xf32>, tensor<1x2x32x5x5xf32>, tensor<12x48xi32>,
        tensor<19x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %izero = arith.constant 0 : i32
  // A product with an epilogue, and remainders of rows and columns.
  %e0 = tensor.empty() : tensor<19x83xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<19x83xf32>) -> tensor<19x83xf32>
  %p0 = linalg.matmul ins(%a, %b : tensor<19x37xf32>, tensor<37x83xf32>) outs(%f0 : tensor<19x83xf32>) -> tensor<19x83xf32>
  %r0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p0 : tensor<19x83xf32>) outs(%e0 : tensor<19x83xf32>) {
  ^bb0(%p: f32, %o: f32):
    %m = arith.maximumf %p, %zero : f32
    linalg.yield %m : f32
  } -> tensor<19x83xf32>
  // A * B^T: the transposition is packed away.
  %r1 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %bt : tensor<19x37xf32>, tensor<83x37xf32>) outs(%f0 : tensor<19x83xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<19x83xf32>
  // Products in a batch: its dimension stays outside of the panels.
  %e2 = tensor.empty() : tensor<3x8x48xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<3x8x48xf32>) -> tensor<3x8x48xf32>
  %r2 = linalg.batch_matmul ins(%as, %bs : tensor<3x8x16xf32>, tensor<3x16x48xf32>) outs(%f2 : tensor<3x8x48xf32>) -> tensor<3x8x48xf32>
  // Filters of convolutions, and of groups.
  %e3 = tensor.empty() : tensor<1x7x7x40xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<1x7x7x40xf32>) -> tensor<1x7x7x40xf32>
  %r3 = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x9x9x8xf32>, tensor<3x3x8x40xf32>) outs(%f3 : tensor<1x7x7x40xf32>) -> tensor<1x7x7x40xf32>
  %e4 = tensor.empty() : tensor<1x2x32x5x5xf32>
  %f4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<1x2x32x5x5xf32>) -> tensor<1x2x32x5x5xf32>
  %r4 = linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%groups, %grouped : tensor<1x2x6x7x7xf32>, tensor<2x32x6x3x3xf32>) outs(%f4 : tensor<1x2x32x5x5xf32>) -> tensor<1x2x32x5x5xf32>
  // Narrow factors, which dot instructions may take.
  %e5 = tensor.empty() : tensor<12x48xi32>
  %f5 = linalg.fill ins(%izero : i32) outs(%e5 : tensor<12x48xi32>) -> tensor<12x48xi32>
  %r5 = linalg.matmul ins(%i8a, %i8b : tensor<12x32xi8>, tensor<32x48xi8>) outs(%f5 : tensor<12x48xi32>) -> tensor<12x48xi32>
  // Vectors along a dimension that is neither first nor last, two reductions,
  // and their loops in another order than their dimensions.
  %e6 = tensor.empty() : tensor<19x64xf32>
  %f6 = linalg.fill ins(%zero : f32) outs(%e6 : tensor<19x64xf32>) -> tensor<19x64xf32>
  %slice = tensor.extract_slice %blocks[0, 0, 0, 0] [4, 8, 8, 16] [1, 1, 1, 1] : tensor<4x24x8x16xf32> to tensor<4x8x8x16xf32>
  %wide = tensor.collapse_shape %slice [[0], [1, 2], [3]] : tensor<4x8x8x16xf32> into tensor<4x64x16xf32>
  %rows = tensor.extract_slice %a[0, 0] [19, 16] [1, 1] : tensor<19x37xf32> to tensor<19x16xf32>
  %r6 = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, k)>, affine_map<(i, j, k, l) -> (l, j, k)>, affine_map<(i, j, k, l) -> (i, j)>],
                        iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%rows, %wide : tensor<19x16xf32>, tensor<4x64x16xf32>) outs(%f6 : tensor<19x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<19x64xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6 : tensor<19x83xf32>, tensor<19x83xf32>, tensor<3x8x48xf32>, tensor<1x7x7x40xf32>, tensor<1x2x32x5x5xf32>, tensor<12x48xi32>, tensor<19x64xf32>
}
