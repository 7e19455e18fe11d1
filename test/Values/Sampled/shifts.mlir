// Shifts by more bits than there are: poison, but alike in all code.
// REQUIRES: ansor-tune, ansor-run
// RUN: %sample_and_check %s
func.func @main(%x: tensor<33x20xi32>, %y: tensor<33x20xi32>) -> tensor<33x20xi32> {
  %e = tensor.empty() : tensor<33x20xi32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<33x20xi32>, tensor<33x20xi32>) outs(%e : tensor<33x20xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %l = arith.shli %a, %b : i32
    %s = arith.shrsi %a, %b : i32
    %u = arith.shrui %s, %b : i32
    %t = arith.addi %l, %u : i32
    linalg.yield %t : i32
  } -> tensor<33x20xi32>
  return %r : tensor<33x20xi32>
}
