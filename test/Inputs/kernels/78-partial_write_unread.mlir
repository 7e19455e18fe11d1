// A frame around a copy, and rows of an argument: the body doesn't read the
// init, whose other elements stay. Upstream bufferization loses them.
#id2 = affine_map<(i, j) -> (i, j)>
func.func @partial_write_unread(%a: tensor<12x16xf32>, %c: tensor<24x16xf32>)
    -> (tensor<14x18xf32>, tensor<24x16xf32>) {
  %one = arith.constant dense<1.0> : tensor<14x18xf32>
  %frame = linalg.generic {indexing_maps = [#id2, affine_map<(i, j) -> (i + 1, j + 1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<12x16xf32>) outs(%one : tensor<14x18xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<14x18xf32>
  %rows = linalg.generic {indexing_maps = [#id2, affine_map<(i, j) -> (i * 2 + 1, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<12x16xf32>) outs(%c : tensor<24x16xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<24x16xf32>
  return %frame, %rows : tensor<14x18xf32>, tensor<24x16xf32>
}
