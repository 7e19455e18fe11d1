// Which tasks a library knows depends on what it was made for: before weights
// were packed, tasks transposed them.

// RUN: split-file %s %t
// RUN: ansor-opt %t/model.mlir --ansor-apply-library=library=%t/old.mlir | FileCheck %s --check-prefix=OLD
// RUN: ansor-opt %t/model.mlir --ansor-apply-library=library=%t/new.mlir | FileCheck %s --check-prefix=NEW

// OLD-NOT: ansor.prepack
// OLD: call @task_0(%{{.*}}) : (tensor<64x96xf32>, tensor<32x96xf32>,
// NEW: ansor.prepack
// NEW: call @task_0(%{{.*}}) : (tensor<64x96xf32>, tensor<96x32xf32>,

//--- old.mlir
module attributes {transform.with_named_sequence, ansor.library = 1 : i64} {
  transform.named_sequence @none(%func: !transform.any_op {transform.readonly})
      attributes {ansor.task = "a1-0000000000000000"} {
    transform.yield
  }
}

//--- new.mlir
module attributes {transform.with_named_sequence, ansor.library = 1 : i64, ansor.prepack} {
  transform.named_sequence @none(%func: !transform.any_op {transform.readonly})
      attributes {ansor.task = "a1-0000000000000000"} {
    transform.yield
  }
}

//--- model.mlir
func.func @f(%x: tensor<64x96xf32>, %w: tensor<32x96xf32> {ansor.weight}) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %t = tensor.empty() : tensor<96x32xf32>
  %wt = linalg.transpose ins(%w : tensor<32x96xf32>) outs(%t : tensor<96x32xf32>) permutation = [1, 0]
  %c = linalg.matmul ins(%x, %wt : tensor<64x96xf32>, tensor<96x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %c : tensor<64x32xf32>
}
