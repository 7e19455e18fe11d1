// Integers that index are drawn inside the table, results may be arguments,
// constants or scalars.
// RUN: ansor-run %s --check --json --seed=3 | FileCheck %s
// CHECK: "max_error":0,{{.*}}"ok":true
func.func @f(%t: tensor<11x16xf32>, %i: tensor<7xi32>, %n: i32) -> (tensor<7x16xf32>, tensor<7xi32>, tensor<4xf16>, i32) {
  %k = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf16>
  %e = tensor.empty() : tensor<7x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<7xi32>) outs(%e : tensor<7x16xf32>) {
  ^bb0(%x: i32, %o: f32):
    %a = arith.index_cast %x : i32 to index
    %c = linalg.index 1 : index
    %v = tensor.extract %t[%a, %c] : tensor<11x16xf32>
    linalg.yield %v : f32
  } -> tensor<7x16xf32>
  return %r, %i, %k, %n : tensor<7x16xf32>, tensor<7xi32>, tensor<4xf16>, i32
}
