// A program that differs from its reference by one constant: the exit code and
// the message say so.
// RUN: split-file %s %t
// RUN: not ansor-run %t/wrong.mlir --reference=%t/right.mlir --check --json 2>%t/err | FileCheck %s --check-prefix=JSON
// RUN: FileCheck %s --check-prefix=ERR < %t/err
// RUN: not ansor-run %t/wrong.mlir --reference=%t/other.mlir --check 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not ansor-run %t/two.mlir 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ansor-run %t/private.mlir 2>&1 | FileCheck %s --check-prefix=PRIVATE
// RUN: ansor-run %t/right.mlir --library=%t/foreign.mlir --repeats=1 2>&1 | FileCheck %s --check-prefix=FOREIGN
// RUN: not ansor-run %t/divide.mlir --check 2>&1 | FileCheck %s --check-prefix=NAN

// JSON: "max_error":1,"median_ms":null,{{.*}}"ok":false
// ERR: wrong.mlir:1:1: error: wrong result: result 0 at [0]: got {{-?[0-9]+}}, expected {{-?[0-9]+}} within 0
// TYPE: other.mlir:1:1: error: the reference has another type than @f of
// TWO: error: the module has several public functions: name one by --entry
// TWO: two.mlir:1:1: note: @g
// TWO: two.mlir:2:1: note: @h
// PRIVATE: private.mlir:{{.*}}: error: the module has no public function with a body
// FOREIGN: remark: the library has no schedule of task '
// FOREIGN: warning: the library '{{.*}}foreign.mlir' has no schedule for any task of this module
// NAN: divide.mlir:1:1: error: the unscheduled program failed: no inputs were found that give a finite reference

//--- private.mlir
func.func private @f(%a: tensor<8xi32>) -> tensor<8xi32> {
  return %a : tensor<8xi32>
}
//--- foreign.mlir
module attributes {ansor.library = 1 : i64, transform.with_named_sequence} {
  transform.named_sequence @other(%f: !transform.any_op {transform.readonly}) attributes {ansor.task = "a1-0000000000000000"} {
    transform.yield
  }
}
//--- right.mlir
func.func @f(%a: tensor<8xi32>) -> tensor<8xi32> {
  %c = arith.constant dense<5> : tensor<8xi32>
  %e = tensor.empty() : tensor<8xi32>
  %r = linalg.add ins(%a, %c : tensor<8xi32>, tensor<8xi32>) outs(%e : tensor<8xi32>) -> tensor<8xi32>
  return %r : tensor<8xi32>
}
//--- wrong.mlir
func.func @f(%a: tensor<8xi32>) -> tensor<8xi32> {
  %c = arith.constant dense<6> : tensor<8xi32>
  %e = tensor.empty() : tensor<8xi32>
  %r = linalg.add ins(%a, %c : tensor<8xi32>, tensor<8xi32>) outs(%e : tensor<8xi32>) -> tensor<8xi32>
  return %r : tensor<8xi32>
}
//--- other.mlir
func.func @f(%a: tensor<9xi32>) -> tensor<9xi32> {
  return %a : tensor<9xi32>
}
//--- two.mlir
func.func @g() { return }
func.func @h() { return }
//--- divide.mlir
func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %s = linalg.sub ins(%a, %a : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.div ins(%s, %s : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
