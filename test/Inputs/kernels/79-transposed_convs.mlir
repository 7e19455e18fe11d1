// Convolutions over inputs with zeros inserted between their elements, as
// front ends emit transposed convolutions: strides 2 and 3, kernels that the
// stride divides and not, both layouts, one to three dimensions; k4s3o3 and odd
// stay as they are.
func.func @transposed(%a0: tensor<1x4x5x8xf32>,
    %a1: tensor<4x4x8x16xf32>,
    %a2: tensor<16xf32>,
    %a3: tensor<1x8x10x16xf32>,
    %a4: tensor<1x6x4x4xf32>,
    %a5: tensor<16x6x3x3xf32>,
    %a6: tensor<1x3x6x4xf32>,
    %a7: tensor<2x2x4x16xf32>,
    %a8: tensor<1x6x12x16xf32>,
    %a9: tensor<1x4x8xf32>,
    %a10: tensor<3x8x16xf32>,
    %a11: tensor<1x4x8xf32>,
    %a12: tensor<4x8x16xf32>,
    %a13: tensor<1x4x8xf32>,
    %a14: tensor<4x8x16xf32>,
    %a15: tensor<1x4x8xf32>,
    %a16: tensor<3x8x16xf32>,
    %a17: tensor<1x4x3x4xf32>,
    %a18: tensor<8x4x4x3xf32>,
    %a19: tensor<1x2x2x3x4xf32>,
    %a20: tensor<4x4x4x4x8xf32>)
    -> (tensor<1x8x10x16xf32>,
        tensor<1x16x8x8xf32>,
        tensor<1x6x12x16xf32>,
        tensor<1x12x16xf32>,
        tensor<1x12x16xf32>,
        tensor<1x12x16xf32>,
        tensor<1x7x16xf32>,
        tensor<1x8x6x4xf32>,
        tensor<1x4x4x6x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %k4s2_e = tensor.empty() : tensor<1x11x13x8xf32>
  %k4s2_z = linalg.fill ins(%zero : f32) outs(%k4s2_e : tensor<1x11x13x8xf32>) -> tensor<1x11x13x8xf32>
  %k4s2_v = tensor.insert_slice %a0 into %k4s2_z[0, 2, 2, 0] [1, 4, 5, 8] [1, 2, 2, 1] : tensor<1x4x5x8xf32> into tensor<1x11x13x8xf32>
  %k4s2_o = tensor.empty() : tensor<1x8x10x16xf32>
  %k4s2_f = linalg.fill ins(%zero : f32) outs(%k4s2_o : tensor<1x8x10x16xf32>) -> tensor<1x8x10x16xf32>
  %k4s2 = linalg.generic {indexing_maps = [affine_map<(n, o0, o1, f, k0, k1, c) -> (n, o0 + k0, o1 + k1, c)>, affine_map<(n, o0, o1, f, k0, k1, c) -> (k0, k1, c, f)>, affine_map<(n, o0, o1, f, k0, k1, c) -> (n, o0, o1, f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%k4s2_v, %a1 : tensor<1x11x13x8xf32>, tensor<4x4x8x16xf32>) outs(%k4s2_f : tensor<1x8x10x16xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %m = arith.mulf %x, %w : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x8x10x16xf32>
  %k4s2_y = tensor.empty() : tensor<1x8x10x16xf32>
  %k4s2_r = linalg.generic {indexing_maps = [affine_map<(n, o0, o1, f) -> (n, o0, o1, f)>, affine_map<(n, o0, o1, f) -> (f)>, affine_map<(n, o0, o1, f) -> (n, o0, o1, f)>, affine_map<(n, o0, o1, f) -> (n, o0, o1, f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k4s2, %a2, %a3 : tensor<1x8x10x16xf32>, tensor<16xf32>, tensor<1x8x10x16xf32>) outs(%k4s2_y : tensor<1x8x10x16xf32>) {
  ^bb0(%x: f32, %b: f32, %r: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %t = arith.addf %s, %r : f32
    %m = arith.maximumf %t, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x8x10x16xf32>
  %k3s2_e = tensor.empty() : tensor<1x6x10x10xf32>
  %k3s2_z = linalg.fill ins(%zero : f32) outs(%k3s2_e : tensor<1x6x10x10xf32>) -> tensor<1x6x10x10xf32>
  %k3s2_v = tensor.insert_slice %a4 into %k3s2_z[0, 0, 1, 1] [1, 6, 4, 4] [1, 1, 2, 2] : tensor<1x6x4x4xf32> into tensor<1x6x10x10xf32>
  %k3s2_o = tensor.empty() : tensor<1x16x8x8xf32>
  %k3s2_f = linalg.fill ins(%zero : f32) outs(%k3s2_o : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %k3s2 = linalg.generic {indexing_maps = [affine_map<(n, o0, o1, f, k0, k1, c) -> (n, c, o0 + k0, o1 + k1)>, affine_map<(n, o0, o1, f, k0, k1, c) -> (f, c, k0, k1)>, affine_map<(n, o0, o1, f, k0, k1, c) -> (n, f, o0, o1)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%k3s2_v, %a5 : tensor<1x6x10x10xf32>, tensor<16x6x3x3xf32>) outs(%k3s2_f : tensor<1x16x8x8xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %m = arith.mulf %x, %w : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x16x8x8xf32>
  %k2s2_e = tensor.empty() : tensor<1x7x13x4xf32>
  %k2s2_z = linalg.fill ins(%zero : f32) outs(%k2s2_e : tensor<1x7x13x4xf32>) -> tensor<1x7x13x4xf32>
  %k2s2_v = tensor.insert_slice %a6 into %k2s2_z[0, 1, 1, 0] [1, 3, 6, 4] [1, 2, 2, 1] : tensor<1x3x6x4xf32> into tensor<1x7x13x4xf32>
  %k2s2 = linalg.generic {indexing_maps = [affine_map<(n, o0, o1, f, k0, k1, c) -> (n, o0 + k0, o1 + k1, c)>, affine_map<(n, o0, o1, f, k0, k1, c) -> (k0, k1, c, f)>, affine_map<(n, o0, o1, f, k0, k1, c) -> (n, o0, o1, f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%k2s2_v, %a7 : tensor<1x7x13x4xf32>, tensor<2x2x4x16xf32>) outs(%a8 : tensor<1x6x12x16xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %m = arith.mulf %x, %w : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x6x12x16xf32>
  %k3s3_e = tensor.empty() : tensor<1x14x8xf32>
  %k3s3_z = linalg.fill ins(%zero : f32) outs(%k3s3_e : tensor<1x14x8xf32>) -> tensor<1x14x8xf32>
  %k3s3_v = tensor.insert_slice %a9 into %k3s3_z[0, 2, 0] [1, 4, 8] [1, 3, 1] : tensor<1x4x8xf32> into tensor<1x14x8xf32>
  %k3s3_o = tensor.empty() : tensor<1x12x16xf32>
  %k3s3_f = linalg.fill ins(%zero : f32) outs(%k3s3_o : tensor<1x12x16xf32>) -> tensor<1x12x16xf32>
  %k3s3 = linalg.generic {indexing_maps = [affine_map<(n, o0, f, k0, c) -> (n, o0 + k0, c)>, affine_map<(n, o0, f, k0, c) -> (k0, c, f)>, affine_map<(n, o0, f, k0, c) -> (n, o0, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%k3s3_v, %a10 : tensor<1x14x8xf32>, tensor<3x8x16xf32>) outs(%k3s3_f : tensor<1x12x16xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %m = arith.mulf %x, %w : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x12x16xf32>
  %k4s3_e = tensor.empty() : tensor<1x15x8xf32>
  %k4s3_z = linalg.fill ins(%zero : f32) outs(%k4s3_e : tensor<1x15x8xf32>) -> tensor<1x15x8xf32>
  %k4s3_v = tensor.insert_slice %a11 into %k4s3_z[0, 2, 0] [1, 4, 8] [1, 3, 1] : tensor<1x4x8xf32> into tensor<1x15x8xf32>
  %k4s3_o = tensor.empty() : tensor<1x12x16xf32>
  %k4s3_f = linalg.fill ins(%zero : f32) outs(%k4s3_o : tensor<1x12x16xf32>) -> tensor<1x12x16xf32>
  %k4s3 = linalg.generic {indexing_maps = [affine_map<(n, o0, f, k0, c) -> (n, o0 + k0, c)>, affine_map<(n, o0, f, k0, c) -> (k0, c, f)>, affine_map<(n, o0, f, k0, c) -> (n, o0, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%k4s3_v, %a12 : tensor<1x15x8xf32>, tensor<4x8x16xf32>) outs(%k4s3_f : tensor<1x12x16xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %m = arith.mulf %x, %w : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x12x16xf32>
  %k4s3o3_e = tensor.empty() : tensor<1x15x8xf32>
  %k4s3o3_z = linalg.fill ins(%zero : f32) outs(%k4s3o3_e : tensor<1x15x8xf32>) -> tensor<1x15x8xf32>
  %k4s3o3_v = tensor.insert_slice %a13 into %k4s3o3_z[0, 3, 0] [1, 4, 8] [1, 3, 1] : tensor<1x4x8xf32> into tensor<1x15x8xf32>
  %k4s3o3_o = tensor.empty() : tensor<1x12x16xf32>
  %k4s3o3_f = linalg.fill ins(%zero : f32) outs(%k4s3o3_o : tensor<1x12x16xf32>) -> tensor<1x12x16xf32>
  %k4s3o3 = linalg.generic {indexing_maps = [affine_map<(n, o0, f, k0, c) -> (n, o0 + k0, c)>, affine_map<(n, o0, f, k0, c) -> (k0, c, f)>, affine_map<(n, o0, f, k0, c) -> (n, o0, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%k4s3o3_v, %a14 : tensor<1x15x8xf32>, tensor<4x8x16xf32>) outs(%k4s3o3_f : tensor<1x12x16xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %m = arith.mulf %x, %w : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x12x16xf32>
  %odd_e = tensor.empty() : tensor<1x9x8xf32>
  %odd_z = linalg.fill ins(%zero : f32) outs(%odd_e : tensor<1x9x8xf32>) -> tensor<1x9x8xf32>
  %odd_v = tensor.insert_slice %a15 into %odd_z[0, 1, 0] [1, 4, 8] [1, 2, 1] : tensor<1x4x8xf32> into tensor<1x9x8xf32>
  %odd_o = tensor.empty() : tensor<1x7x16xf32>
  %odd_f = linalg.fill ins(%zero : f32) outs(%odd_o : tensor<1x7x16xf32>) -> tensor<1x7x16xf32>
  %odd = linalg.generic {indexing_maps = [affine_map<(n, o0, f, k0, c) -> (n, o0 + k0, c)>, affine_map<(n, o0, f, k0, c) -> (k0, c, f)>, affine_map<(n, o0, f, k0, c) -> (n, o0, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%odd_v, %a16 : tensor<1x9x8xf32>, tensor<3x8x16xf32>) outs(%odd_f : tensor<1x7x16xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %m = arith.mulf %x, %w : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x7x16xf32>
  %s21_e = tensor.empty() : tensor<1x4x9x6xf32>
  %s21_z = linalg.fill ins(%zero : f32) outs(%s21_e : tensor<1x4x9x6xf32>) -> tensor<1x4x9x6xf32>
  %s21_v = tensor.insert_slice %a17 into %s21_z[0, 0, 2, 1] [1, 4, 3, 4] [1, 1, 2, 1] : tensor<1x4x3x4xf32> into tensor<1x4x9x6xf32>
  %s21_o = tensor.empty() : tensor<1x8x6x4xf32>
  %s21_f = linalg.fill ins(%zero : f32) outs(%s21_o : tensor<1x8x6x4xf32>) -> tensor<1x8x6x4xf32>
  %s21 = linalg.generic {indexing_maps = [affine_map<(n, o0, o1, f, k0, k1, c) -> (n, c, o0 + k0, o1 + k1)>, affine_map<(n, o0, o1, f, k0, k1, c) -> (f, c, k0, k1)>, affine_map<(n, o0, o1, f, k0, k1, c) -> (n, f, o0, o1)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%s21_v, %a18 : tensor<1x4x9x6xf32>, tensor<8x4x4x3xf32>) outs(%s21_f : tensor<1x8x6x4xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %m = arith.mulf %x, %w : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x8x6x4xf32>
  %d3_e = tensor.empty() : tensor<1x7x7x9x4xf32>
  %d3_z = linalg.fill ins(%zero : f32) outs(%d3_e : tensor<1x7x7x9x4xf32>) -> tensor<1x7x7x9x4xf32>
  %d3_v = tensor.insert_slice %a19 into %d3_z[0, 2, 2, 2, 0] [1, 2, 2, 3, 4] [1, 2, 2, 2, 1] : tensor<1x2x2x3x4xf32> into tensor<1x7x7x9x4xf32>
  %d3_o = tensor.empty() : tensor<1x4x4x6x8xf32>
  %d3_f = linalg.fill ins(%zero : f32) outs(%d3_o : tensor<1x4x4x6x8xf32>) -> tensor<1x4x4x6x8xf32>
  %d3 = linalg.generic {indexing_maps = [affine_map<(n, o0, o1, o2, f, k0, k1, k2, c) -> (n, o0 + k0, o1 + k1, o2 + k2, c)>, affine_map<(n, o0, o1, o2, f, k0, k1, k2, c) -> (k0, k1, k2, c, f)>, affine_map<(n, o0, o1, o2, f, k0, k1, k2, c) -> (n, o0, o1, o2, f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%d3_v, %a20 : tensor<1x7x7x9x4xf32>, tensor<4x4x4x4x8xf32>) outs(%d3_f : tensor<1x4x4x6x8xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %m = arith.mulf %x, %w : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x4x4x6x8xf32>
  return %k4s2_r, %k3s2, %k2s2, %k3s3, %k4s3, %k4s3o3, %odd, %s21, %d3 :
      tensor<1x8x10x16xf32>,
      tensor<1x16x8x8xf32>,
      tensor<1x6x12x16xf32>,
      tensor<1x12x16xf32>,
      tensor<1x12x16xf32>,
      tensor<1x12x16xf32>,
      tensor<1x7x16xf32>,
      tensor<1x8x6x4xf32>,
      tensor<1x4x4x6x8xf32>
}
