// Casts to 16 bits from 64 need no function of the compiler's library.
// REQUIRES: ansor-run
// RUN: ansor-run %s --entry=bf16 --check | FileCheck %s
// RUN: ansor-run %s --entry=f16 --check | FileCheck %s
// CHECK: check: ok

func.func @bf16(%a: tensor<8x19xf64>) -> tensor<8x19xbf16> {
  %o = tensor.empty() : tensor<8x19xbf16>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x19xf64>) outs(%o : tensor<8x19xbf16>) {
  ^bb0(%x: f64, %y: bf16):
    %t = arith.truncf %x : f64 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x19xbf16>
  return %r : tensor<8x19xbf16>
}

func.func @f16(%a: tensor<8x19xf64>) -> tensor<8x19xf16> {
  %o = tensor.empty() : tensor<8x19xf16>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x19xf64>) outs(%o : tensor<8x19xf16>) {
  ^bb0(%x: f64, %y: f16):
    %t = arith.truncf %x : f64 to f16
    linalg.yield %t : f16
  } -> tensor<8x19xf16>
  return %r : tensor<8x19xf16>
}
