// Poolings of padded images: the largest of a window, by 2 in both dimensions;
// the mean of a window that pads one side alone, with a consumer; channels first,
// and a depthwise convolution so.
// REQUIRES: ansor-tune, ansor-run
// RUN: %sample_and_check %s --threads=2

#max = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 2 + d3, d1 * 2 + d4, d2)>
#sum = affine_map<(d0, d1, d2, d3, d4) -> (d0 + d3, d1 * 2 + d4 * 2, d2)>
#window = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>
#result = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#first = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d3, d2 * 2 + d4)>
#depth = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4)>
func.func @main(%x: tensor<18x23x20xf32>, %filter: tensor<18x3x3xf32>) -> (tensor<9x12x20xf32>, tensor<19x11x20xf32>, tensor<18x12x10xf32>, tensor<18x12x10xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %z = arith.constant 0.0 : f32
  %c = arith.constant 0.125 : f32
  %p = tensor.pad %x low[1, 1, 0] high[1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %low : f32
  } : tensor<18x23x20xf32> to tensor<20x25x20xf32>
  %w = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<9x12x20xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<9x12x20xf32>) -> tensor<9x12x20xf32>
  %r = linalg.generic {indexing_maps = [#max, #window, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%p, %w : tensor<20x25x20xf32>, tensor<3x3xf32>) outs(%f : tensor<9x12x20xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.maximumf %s, %a : f32
    linalg.yield %m : f32
  } -> tensor<9x12x20xf32>
  %q = tensor.pad %x low[3, 0, 0] high[0, 2, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %z : f32
  } : tensor<18x23x20xf32> to tensor<21x25x20xf32>
  %v = tensor.empty() : tensor<3x3xf32>
  %g = tensor.empty() : tensor<19x11x20xf32>
  %h = linalg.fill ins(%z : f32) outs(%g : tensor<19x11x20xf32>) -> tensor<19x11x20xf32>
  %s = linalg.generic {indexing_maps = [#sum, #window, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%q, %v : tensor<21x25x20xf32>, tensor<3x3xf32>) outs(%h : tensor<19x11x20xf32>) {
  ^bb0(%a: f32, %b: f32, %t: f32):
    %m = arith.addf %t, %a : f32
    linalg.yield %m : f32
  } -> tensor<19x11x20xf32>
  %mean = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<19x11x20xf32>) outs(%g : tensor<19x11x20xf32>) {
  ^bb0(%a: f32, %t: f32):
    %m = arith.mulf %a, %c : f32
    linalg.yield %m : f32
  } -> tensor<19x11x20xf32>
  %pf = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %low : f32
  } : tensor<18x23x20xf32> to tensor<18x25x22xf32>
  %ef = tensor.empty() : tensor<18x12x10xf32>
  %ff = linalg.fill ins(%low : f32) outs(%ef : tensor<18x12x10xf32>) -> tensor<18x12x10xf32>
  %rf = linalg.generic {indexing_maps = [#first, #window, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%pf, %w : tensor<18x25x22xf32>, tensor<3x3xf32>) outs(%ff : tensor<18x12x10xf32>) {
  ^bb0(%a: f32, %b: f32, %t: f32):
    %m = arith.maximumf %t, %a : f32
    linalg.yield %m : f32
  } -> tensor<18x12x10xf32>
  %pd = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %z : f32
  } : tensor<18x23x20xf32> to tensor<18x25x22xf32>
  %fd = linalg.fill ins(%z : f32) outs(%ef : tensor<18x12x10xf32>) -> tensor<18x12x10xf32>
  %rd = linalg.generic {indexing_maps = [#first, #depth, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%pd, %filter : tensor<18x25x22xf32>, tensor<18x3x3xf32>) outs(%fd : tensor<18x12x10xf32>) {
  ^bb0(%a: f32, %b: f32, %t: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %t, %m : f32
    linalg.yield %n : f32
  } -> tensor<18x12x10xf32>
  return %r, %mean, %rf, %rd : tensor<9x12x20xf32>, tensor<19x11x20xf32>, tensor<18x12x10xf32>, tensor<18x12x10xf32>
}
