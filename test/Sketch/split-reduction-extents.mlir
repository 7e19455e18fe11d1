// Extents of results that neither vectors nor the tiles of the sum divide.
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:cores=4" | FileCheck %s
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:cores=4 sketch=0" --ansor-apply-decisions="seed=1 fold=true" | ansor-opt --transform-interpreter | FileCheck %s --check-prefix=APPLIED
// CHECK: ansor.derivation = ["split-reduction(s1)"
// APPLIED: linalg.generic
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (k, j)>
#o = affine_map<(i, j, k) -> (i, j)>
func.func private @task_0(%x: tensor<8x1568xf32>, %w: tensor<1568x10xf32>, %out: tensor<8x10xf32>) -> tensor<8x10xf32> attributes {ansor.task = "a1-1"} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%zero : f32) outs(%out : tensor<8x10xf32>) -> tensor<8x10xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x1568xf32>, tensor<1568x10xf32>) outs(%f : tensor<8x10xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %m = arith.mulf %p, %q : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<8x10xf32>
  return %r : tensor<8x10xf32>
}
