// Weights are packed once, by a function of their own; the function itself
// still takes them as they are.

// REQUIRES: ansor-run
// RUN: ansor-run %s --entry=conv --weights=1- --check | FileCheck %s
// RUN: ansor-run %s --entry=dense --check --profile | FileCheck %s --check-prefixes=CHECK,PROFILE
// RUN: ansor-run %s --entry=dense --check --threads=2 --json | FileCheck %s --check-prefix=JSON
// RUN: not ansor-run %s --entry=conv --weights=3 2>&1 | FileCheck %s --check-prefix=RANGE

// The function that calls both, and constants.
// RUN: ansor-opt %s --ansor-extract-tasks --ansor-prepack \
// RUN: | sed 's/ansor.prepack = [^]]*]//; s/{ansor.weight}//' >%t.mlir
// RUN: ansor-run %t.mlir --reference=%s --entry=dense --check | FileCheck %s --check-prefix=WHOLE
// RUN: ansor-run %s --entry=constant --profile --check | FileCheck %s --check-prefix=CONSTANT

// CHECK: weights are packed once, in {{.*}} ms
// CHECK: check: ok
// What packs them isn't timed.
// PROFILE: share
// PROFILE-NEXT: task_{{[0-9]+}} a1-
// PROFILE-NEXT: in all, 0.000 between tasks

// JSON: "ok":true,"prepack_ms":{{[0-9.e-]+}},

// RANGE: error: weights '3': '3' is not within the 3 arguments of @conv

// WHOLE-NOT: packed once
// WHOLE: check: ok

// CONSTANT-NOT: packed once
// CONSTANT: check: ok
// CONSTANT: in all, 0.000 between tasks

func.func @conv(%x: tensor<1x32x16x16xf32>, %w: tensor<32x32x3x3xf32>,
                %b: tensor<32xf32>) -> tensor<1x32x14x14xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32x14x14xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
  %c = linalg.conv_2d_nchw_fchw
      ins(%x, %w : tensor<1x32x16x16xf32>, tensor<32x32x3x3xf32>)
      outs(%f : tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(n, f, h, w) -> (n, f, h, w)>,
                       affine_map<(n, f, h, w) -> (f)>,
                       affine_map<(n, f, h, w) -> (n, f, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %b : tensor<1x32x14x14xf32>, tensor<32xf32>)
      outs(%e : tensor<1x32x14x14xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.addf %i, %j : f32
    linalg.yield %s : f32
  } -> tensor<1x32x14x14xf32>
  return %r : tensor<1x32x14x14xf32>
}

func.func @dense(%w: tensor<48x64xf32> {ansor.weight}, %x: tensor<32x64xf32>)
    -> tensor<32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x48xf32>) -> tensor<32x48xf32>
  %t = tensor.empty() : tensor<64x48xf32>
  %wt = linalg.transpose ins(%w : tensor<48x64xf32>)
      outs(%t : tensor<64x48xf32>) permutation = [1, 0]
  %c = linalg.matmul ins(%x, %wt : tensor<32x64xf32>, tensor<64x48xf32>)
      outs(%f : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %c : tensor<32x48xf32>
}

func.func @constant(%x: tensor<32x2xf32>) -> tensor<32x16xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0],
    [9.0, -2.0], [-3.0, 4.5], [5.0, 6.5], [-7.0, 8.0], [1.0, 2.5], [3.5, -4.0],
    [-5.0, 6.0], [7.0, 8.5], [0.5, 2.0], [3.0, 4.0], [5.0, -6.0], [7.0, 0.0]]> : tensor<16x2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
  %t = tensor.empty() : tensor<2x16xf32>
  %wt = linalg.transpose ins(%w : tensor<16x2xf32>)
      outs(%t : tensor<2x16xf32>) permutation = [1, 0]
  %c = linalg.matmul ins(%x, %wt : tensor<32x2xf32>, tensor<2x16xf32>)
      outs(%f : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %c : tensor<32x16xf32>
}
