// Matrix product 512 x 512 x 512 with bias and relu, f32, into a destination.
#bias = affine_map<(d0, d1) -> (d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @gemm(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>,
                %bias: tensor<512xf32>, %out: tensor<512x512xf32>)
    -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512x512xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x512xf32>)
      -> tensor<512x512xf32>
  %product = linalg.matmul
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>)
      outs(%fill : tensor<512x512xf32>) -> tensor<512x512xf32>
  %relu = linalg.generic {
      indexing_maps = [#id, #bias, #id], iterator_types = ["parallel", "parallel"]}
      ins(%product, %bias : tensor<512x512xf32>, tensor<512xf32>)
      outs(%out : tensor<512x512xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %s = arith.addf %x, %y : f32
      %r = arith.maximumf %s, %zero : f32
      linalg.yield %r : f32
  } -> tensor<512x512xf32>
  return %relu : tensor<512x512xf32>
}
