// A convolution of a padded image without consumer: tiling, a buffer of its own
// for the accumulators, and the two places of the padding.
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v3" > %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ansor-opt %t.mlir --ansor-apply-decisions="seed=1 fold=true" | mlir-opt --transform-interpreter --cse | FileCheck %s --check-prefix=WHOLE
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v3 sketch=1" --ansor-apply-decisions="seed=1 fold=true" | mlir-opt --transform-interpreter --cse | FileCheck %s --check-prefix=INTILE
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v3 sketch=2" --ansor-apply-decisions="seed=1 fold=true" | mlir-opt --transform-interpreter --cse | FileCheck %s --check-prefix=WRITE

// CHECK: ansor.derivation = ["tile(s2)", "initialize(s1)", "pad(s0)", "whole"]
// CHECK: ansor.derivation = ["tile(s2)", "initialize(s1)", "pad(s0)", "in-tile"]
// CHECK: ansor.derivation = ["tile(s2)", "cache-write(s2)", "initialize(s1)", "pad(s0)", "whole"]

// The padded image is made by a fill and a copy, in parallel, before the tiles.
// WHOLE-NOT: tensor.pad
// WHOLE: scf.forall
// WHOLE: linalg.fill
// WHOLE: ansor.parallel
// WHOLE: scf.forall
// WHOLE: linalg.copy
// WHOLE: ansor.parallel
// WHOLE: scf.forall
// WHOLE: linalg.fill {ansor.stage = 1 : i64, ansor.vectorize}
// WHOLE: linalg.generic
// WHOLE-SAME: ansor.stage = 2 : i64, ansor.vectorize
// INTILE: scf.forall
// INTILE: tensor.pad
// INTILE: linalg.generic
// INTILE: ansor.parallel
// WRITE: scf.forall
// WRITE: bufferization.alloc_tensor
// WRITE: linalg.fill
// WRITE: linalg.generic

#x = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 + d3, d1 + d4, d5)>
#w = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5, d2)>
#o = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>
func.func private @task_0(%x: tensor<10x10x4xf32>, %w: tensor<3x3x4x16xf32>, %out: tensor<10x10x16xf32>) -> tensor<10x10x16xf32>
    attributes {ansor.task = "a1-00", ansor.weight = 1 : i64} {
  %c0 = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 1, 0] high[1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c0 : f32
  } {ansor.stage = 0 : i64} : tensor<10x10x4xf32> to tensor<12x12x4xf32>
  %f = linalg.fill {ansor.stage = 1 : i64} ins(%c0 : f32) outs(%out : tensor<10x10x16xf32>) -> tensor<10x10x16xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %w : tensor<12x12x4xf32>, tensor<3x3x4x16xf32>) outs(%f : tensor<10x10x16xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<10x10x16xf32>
  return %r : tensor<10x10x16xf32>
}
