// A product in front of a softmax: the operand that all rows read is transposed
// once for a parallel tile, the rest is computed a few rows at a time.
// RUN: ansor-opt %s --ansor-extract-tasks --ansor-generate-sketches="target=x86-64-v4:cores=2" > %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ansor-opt %t.mlir --ansor-apply-decisions="seed=1 fold=true" | mlir-opt --transform-interpreter --cse | FileCheck %s --check-prefix=NEST

// CHECK: ansor.derivation = ["row-wise(s8)", "rows(pieces)",
// CHECK-NOT: rows(whole)

// NEST: scf.forall
// NEST: scf.for
// NEST: ansor.stage = 0 : i64, ansor.vectorize
// NEST: scf.for
// NEST-NOT: ansor.stage = 0
// NEST: ansor.stage = 2 : i64, ansor.vectorize
// NEST: math.exp
// NEST: ansor.stage = 8 : i64, ansor.vectorize
// NEST: ansor.parallel
func.func @main(%q: tensor<64x8xf32>, %k: tensor<32x8xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %ek = tensor.empty() : tensor<8x32xf32>
  %kt = linalg.transpose ins(%k : tensor<32x8xf32>) outs(%ek : tensor<8x32xf32>) permutation = [1, 0]
  %s = linalg.matmul ins(%q, %kt : tensor<64x8xf32>, tensor<8x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
  %r = linalg.softmax dimension(1) ins(%s : tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}
