// The check of a network of narrow floats, whose results lose most of their
// bits to rounding: right programs pass in another order of evaluation, one
// that leaves a piece out doesn't.

// RUN: split-file %s %t
// RUN: ansor-run %t/right.mlir --check --repeats=1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: check: ok

// One bias of three is dropped.
// RUN: sed -e "s/%%s2, %%b2)/%%s2, %%none)/" %t/right.mlir > %t/bias.mlir
// RUN: not ansor-run %t/bias.mlir --reference=%t/right.mlir --check --repeats=1 2>&1 | FileCheck %s --check-prefix=WRONG
// A tile of the second layer, 8 rows, stays zero.
// RUN: sed -e "s/ins(%%h2, %%w3 :/ins(%%t2, %%w3 :/; s/^  \/\/ TILE//" %t/right.mlir > %t/tile.mlir
// RUN: not ansor-run %t/tile.mlir --reference=%t/right.mlir --check --repeats=1 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG-DAG: check: FAILED
// WRONG-DAG: error: wrong result

//--- right.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func private @bias(%x: tensor<16x64xf16>, %b: tensor<64xf16>) -> tensor<16x64xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<16x64xf16>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<16x64xf16>, tensor<64xf16>) outs(%e : tensor<16x64xf16>) {
  ^bb0(%p: f16, %q: f16, %o: f16):
    %s = arith.addf %p, %q : f16
    %t = arith.maximumf %s, %zero : f16
    linalg.yield %t : f16
  } -> tensor<16x64xf16>
  return %r : tensor<16x64xf16>
}
func.func @main(%x: tensor<16x64xf16>, %w1: tensor<64x64xf16>, %b1: tensor<64xf16>, %w2: tensor<64x64xf16>, %b2: tensor<64xf16>, %w3: tensor<64x64xf16>, %b3: tensor<64xf16>, %w4: tensor<64x64xf16>, %b4: tensor<64xf16>) -> tensor<16x64xf16> {
  %zero = arith.constant 0.0 : f16
  %none = arith.constant dense<0.0> : tensor<64xf16>
  %e = tensor.empty() : tensor<16x64xf16>
  %i1 = linalg.fill ins(%zero : f16) outs(%e : tensor<16x64xf16>) -> tensor<16x64xf16>
  %s1 = linalg.matmul ins(%x, %w1 : tensor<16x64xf16>, tensor<64x64xf16>) outs(%i1 : tensor<16x64xf16>) -> tensor<16x64xf16>
  %h1 = call @bias(%s1, %b1) : (tensor<16x64xf16>, tensor<64xf16>) -> tensor<16x64xf16>
  %i2 = linalg.fill ins(%zero : f16) outs(%e : tensor<16x64xf16>) -> tensor<16x64xf16>
  %s2 = linalg.matmul ins(%h1, %w2 : tensor<16x64xf16>, tensor<64x64xf16>) outs(%i2 : tensor<16x64xf16>) -> tensor<16x64xf16>
  %h2 = call @bias(%s2, %b2) : (tensor<16x64xf16>, tensor<64xf16>) -> tensor<16x64xf16>
  // TILE %z2 = arith.constant dense<0.0> : tensor<8x64xf16>
  // TILE %t2 = tensor.insert_slice %z2 into %h2[8, 0] [8, 64] [1, 1] : tensor<8x64xf16> into tensor<16x64xf16>
  %i3 = linalg.fill ins(%zero : f16) outs(%e : tensor<16x64xf16>) -> tensor<16x64xf16>
  %s3 = linalg.matmul ins(%h2, %w3 : tensor<16x64xf16>, tensor<64x64xf16>) outs(%i3 : tensor<16x64xf16>) -> tensor<16x64xf16>
  %h3 = call @bias(%s3, %b3) : (tensor<16x64xf16>, tensor<64xf16>) -> tensor<16x64xf16>
  %i4 = linalg.fill ins(%zero : f16) outs(%e : tensor<16x64xf16>) -> tensor<16x64xf16>
  %s4 = linalg.matmul ins(%h3, %w4 : tensor<16x64xf16>, tensor<64x64xf16>) outs(%i4 : tensor<16x64xf16>) -> tensor<16x64xf16>
  %h4 = call @bias(%s4, %b4) : (tensor<16x64xf16>, tensor<64xf16>) -> tensor<16x64xf16>
  return %h4 : tensor<16x64xf16>
}
