// Loops of branches are lifted to structured ones before buffers are placed.
// REQUIRES: ansor-run
// RUN: ansor-run --check %s | FileCheck %s
// CHECK: check: ok
func.func @powers(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<8x8xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  cf.br ^head(%a, %c0 : tensor<8x8xf32>, index)
^head(%x: tensor<8x8xf32>, %k: index):
  %more = arith.cmpi slt, %k, %c3 : index
  cf.cond_br %more, ^body, ^exit
^body:
  %r = linalg.matmul ins(%x, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%i : tensor<8x8xf32>) -> tensor<8x8xf32>
  %next = arith.addi %k, %c1 : index
  cf.br ^head(%r, %next : tensor<8x8xf32>, index)
^exit:
  return %x : tensor<8x8xf32>
}
