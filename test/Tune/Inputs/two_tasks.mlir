// The product of matmul.mlir three times, and a row sum.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @main(%a: tensor<24x32xf32>, %b: tensor<32x16xf32>, %bias: tensor<16xf32>) -> tensor<24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x16xf32>
  %l = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %e) -> tensor<24x16xf32> {
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x16xf32>) -> tensor<24x16xf32>
    %m = linalg.matmul ins(%a, %b : tensor<24x32xf32>, tensor<32x16xf32>) outs(%f : tensor<24x16xf32>) -> tensor<24x16xf32>
    %r = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
        ins(%m, %bias : tensor<24x16xf32>, tensor<16xf32>) outs(%e : tensor<24x16xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %0 = arith.addf %x, %y : f32
      %1 = arith.maximumf %0, %zero : f32
      linalg.yield %1 : f32
    } -> tensor<24x16xf32>
    scf.yield %r : tensor<24x16xf32>
  }
  %e1 = tensor.empty() : tensor<24xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<24xf32>) -> tensor<24xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%l : tensor<24x16xf32>) outs(%f1 : tensor<24xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<24xf32>
  return %s : tensor<24xf32>
}
