// RUN: ansor-opt %s --split-input-file --verify-diagnostics --ansor-print-features

// expected-error @below {{features need a function of one block; run this on tensor-level IR, before loops are lowered to branches}}
func.func @branches(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  cf.cond_br %c, ^a, ^b
^a:
  return %x : tensor<4xf32>
^b:
  return %y : tensor<4xf32>
}

// -----

// Nothing to print is no error.
module {}
