// A fully connected layer: relu(A * B + bias).
#rows_columns = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>

func.func @main(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>,
                %bias: tensor<512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512x512xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x512xf32>) -> tensor<512x512xf32>
  %product = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>)
      outs(%fill : tensor<512x512xf32>) -> tensor<512x512xf32>
  %result = linalg.generic {
      indexing_maps = [#rows_columns, #columns, #rows_columns],
      iterator_types = ["parallel", "parallel"]}
      ins(%product, %bias : tensor<512x512xf32>, tensor<512xf32>)
      outs(%empty : tensor<512x512xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %sum = arith.addf %x, %y : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<512x512xf32>
  return %result : tensor<512x512xf32>
}
