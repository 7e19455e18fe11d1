// Padded images whose borders are parts of their own: strides, dilations, padding
// that is not zero and differs by side, three dimensions, a consumer.
// REQUIRES: ansor-tune, ansor-run
// RUN: %sample_and_check %s --threads=2

#x = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 2 + d3 * 2, d1 + d4, d2)>
#w = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
#o = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
func.func @main(%x: tensor<21x19x24xf32>, %w: tensor<5x3x24xf32>, %y: tensor<9x11x13x8xf32>, %w3: tensor<3x3x3x8xf32>) -> (tensor<10x18x24xf32>, tensor<9x11x13x8xf32>) {
  %c0 = arith.constant 0.5 : f32
  %p = tensor.pad %x low[3, 1, 0] high[4, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c0 : f32
  } : tensor<21x19x24xf32> to tensor<28x20x24xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<10x18x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<10x18x24xf32>) -> tensor<10x18x24xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %w : tensor<28x20x24xf32>, tensor<5x3x24xf32>) outs(%f : tensor<10x18x24xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<10x18x24xf32>
  %p3 = tensor.pad %y low[1, 1, 1, 0] high[1, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z : f32
  } : tensor<9x11x13x8xf32> to tensor<11x13x15x8xf32>
  %e3 = tensor.empty() : tensor<9x11x13x8xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<9x11x13x8xf32>) -> tensor<9x11x13x8xf32>
  %c3 = linalg.generic {indexing_maps = [affine_map<(a,b,c,d,e,f,g) -> (a+e,b+f,c+g,d)>, affine_map<(a,b,c,d,e,f,g) -> (e,f,g,d)>, affine_map<(a,b,c,d,e,f,g) -> (a,b,c,d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p3, %w3 : tensor<11x13x15x8xf32>, tensor<3x3x3x8xf32>) outs(%f3 : tensor<9x11x13x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<9x11x13x8xf32>
  %e4 = tensor.empty() : tensor<9x11x13x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a,b,c,d) -> (a,b,c,d)>, affine_map<(a,b,c,d) -> (a,b,c,d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c3 : tensor<9x11x13x8xf32>) outs(%e4 : tensor<9x11x13x8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.maximumf %a, %z : f32
    linalg.yield %t : f32
  } -> tensor<9x11x13x8xf32>
  return %c, %r : tensor<10x18x24xf32>, tensor<9x11x13x8xf32>
}
