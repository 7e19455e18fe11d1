// RUN: not ansor-opt %s --ansor-extract-tasks --ansor-prepack 2>&1 | FileCheck %s
// RUN: not ansor-opt %s --ansor-mark-weights="arguments=0" 2>&1 | FileCheck %s --check-prefix=SEVERAL

// SEVERAL: error: weights '0' are those of the only public function, but the module has 2: mark the arguments by {ansor.weight} instead

// CHECK: prepack-invalid.mlir:[[#@LINE+1]]:1: error: the weights of @f can't be packed by a function of its own: the name @f_prepack is taken
func.func @f(%x: tensor<64xf32>, %w: tensor<64xf32> {ansor.weight}) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %t = linalg.exp ins(%w : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = tensor.insert_slice %t into %x[0] [64] [1] : tensor<64xf32> into tensor<64xf32>
  return %s : tensor<64xf32>
}

func.func @f_prepack() {
  return
}
