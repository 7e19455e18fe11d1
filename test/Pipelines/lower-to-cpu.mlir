// RUN: ansor-opt %s --ansor-lower-to-cpu=parallel=false \
// RUN:   | mlir-runner -e run -entry-point-result=void \
// RUN:       -shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: ansor-opt %s --ansor-lower-to-cpu="parallel=false vectorize=false" \
// RUN:   | mlir-runner -e run -entry-point-result=void \
// RUN:       -shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: ansor-opt %s --ansor-lower-to-cpu="parallel=false strict-fp" \
// RUN:   | mlir-runner -e run -entry-point-result=void \
// RUN:       -shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s

// Sizes that nothing divides.
func.func @matmul(%a: tensor<5x7xf32>, %b: tensor<7x19xf32>) -> tensor<5x19xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x19xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x19xf32>) -> tensor<5x19xf32>
  %r = linalg.matmul ins(%a, %b : tensor<5x7xf32>, tensor<7x19xf32>) outs(%f : tensor<5x19xf32>) -> tensor<5x19xf32>
  return %r : tensor<5x19xf32>
}

func.func @run() {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c18 = arith.constant 18 : index
  %a = tensor.generate {
  ^bb0(%i: index, %j: index):
    %s = arith.subi %i, %j : index
    %n = arith.index_cast %s : index to i32
    %v = arith.sitofp %n : i32 to f32
    tensor.yield %v : f32
  } : tensor<5x7xf32>
  %b = tensor.generate {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    %n = arith.index_cast %s : index to i32
    %v = arith.sitofp %n : i32 to f32
    tensor.yield %v : f32
  } : tensor<7x19xf32>
  %r = call @matmul(%a, %b) : (tensor<5x7xf32>, tensor<7x19xf32>) -> tensor<5x19xf32>
  // CHECK: -91
  %first = tensor.extract %r[%c0, %c0] : tensor<5x19xf32>
  vector.print %first : f32
  // CHECK: 119
  %last = tensor.extract %r[%c4, %c18] : tensor<5x19xf32>
  vector.print %last : f32
  return
}
