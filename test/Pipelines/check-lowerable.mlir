// RUN: ansor-opt %s --split-input-file --ansor-check-lowerable --verify-diagnostics

// expected-error @below {{no arithmetic on such a float type in LLVM: widen it to f16 or f32 first}}
func.func @small_float(%a: tensor<4xf8E4M3FN>) {
  return
}

// -----

// expected-error @below {{tensor<1099511627776x1099511627776xf32>': larger than any memory}}
func.func @huge(%a: tensor<1099511627776x1099511627776xf32>) {
  return
}

// -----

func.func @huge_inside() {
  // expected-error @below {{larger than any memory}}
  %0 = tensor.empty() : tensor<9223372036854775807x2xi8>
  return
}

// -----

// expected-error @below {{larger than any memory}}
func.func @huge_empty(%a: tensor<0x9223372036854775807x4xf32>) {
  return
}

// -----

// As large as is possible, and of a dynamic size.
func.func @large(%a: tensor<1048576x33554432xf32>, %b: memref<?x1048576xf64>) {
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
// expected-error @below {{tensor type with an encoding: the code generation knows dense tensors only}}
func.func @sparse(%a: tensor<4x4xf32, #csr>) {
  return
}

// -----

// expected-error @below {{unranked tensor: give the tensor a rank first}}
func.func @unranked(%a: tensor<*xf32>) {
  return
}

// -----

func.func @elided() -> tensor<4xf32> {
  // expected-error @below {{the data of its constant was elided from the text}}
  %c = arith.constant dense_resource<__elided__> : tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

func.func @fine(%a: tensor<4x?xbf16>, %b: tensor<i1>) -> tensor<2xcomplex<f32>> {
  %c = arith.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>
  return %c : tensor<2xcomplex<f32>>
}

// -----

// expected-error @below {{it is a module in a module; move its functions to the outer one}}
module {
  func.func @inner() {
    return
  }
}
func.func @outer() {
  return
}

// -----

// expected-error @below {{names that begin with 'llvm.' are LLVM's own; rename it}}
func.func @llvm.memcpy(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
