// Convolution NHWC 1x56x56x64 by HWCF 3x3x64x64, stride 1, same padding, with
// bias and relu, f32, into a destination.
#bias = affine_map<(d0, d1, d2, d3) -> (d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @conv(%image: tensor<1x56x56x64xf32>, %filter: tensor<3x3x64x64xf32>,
                %bias: tensor<64xf32>, %out: tensor<1x56x56x64xf32>)
    -> tensor<1x56x56x64xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %zero : f32
  } : tensor<1x56x56x64xf32> to tensor<1x58x58x64xf32>
  %empty = tensor.empty() : tensor<1x56x56x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x56x56x64xf32>)
      -> tensor<1x56x56x64xf32>
  %conv = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>,
                                    strides = dense<1> : vector<2xi64>}
      ins(%padded, %filter : tensor<1x58x58x64xf32>, tensor<3x3x64x64xf32>)
      outs(%fill : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
  %relu = linalg.generic {
      indexing_maps = [#id, #bias, #id],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv, %bias : tensor<1x56x56x64xf32>, tensor<64xf32>)
      outs(%out : tensor<1x56x56x64xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %s = arith.addf %x, %y : f32
      %r = arith.maximumf %s, %zero : f32
      linalg.yield %r : f32
  } -> tensor<1x56x56x64xf32>
  return %relu : tensor<1x56x56x64xf32>
}
