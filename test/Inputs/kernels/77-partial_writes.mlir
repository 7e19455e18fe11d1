// Results of which the loops write a part: a diagonal, every third row and odd
// columns, one row. Other elements keep the init's values.
#id2 = affine_map<(i, j) -> (i, j)>
func.func @partial_writes(%d: tensor<9xf32>, %c: tensor<9x9xf32>,
    %a: tensor<12x16xf32>, %b: tensor<16x10xf32>)
    -> (tensor<9x9xf32>, tensor<36x22xf32>, tensor<4x12xf32>) {
  %diagonal = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]}
      ins(%d : tensor<9xf32>) outs(%c : tensor<9x9xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<9x9xf32>

  %half = arith.constant dense<0.5> : tensor<36x22xf32>
  %spread = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i * 3, j * 2 + 1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<12x16xf32>, tensor<16x10xf32>) outs(%half : tensor<36x22xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<36x22xf32>
  %e = tensor.empty() : tensor<36x22xf32>
  %exp = linalg.exp ins(%spread : tensor<36x22xf32>) outs(%e : tensor<36x22xf32>) -> tensor<36x22xf32>

  %quarter = arith.constant dense<0.25> : tensor<4x12xf32>
  %row = linalg.generic {indexing_maps = [#id2, affine_map<(i, j) -> (0, i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<12x16xf32>) outs(%quarter : tensor<4x12xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x12xf32>
  return %diagonal, %exp, %row : tensor<9x9xf32>, tensor<36x22xf32>, tensor<4x12xf32>
}
