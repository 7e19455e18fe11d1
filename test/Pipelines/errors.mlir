// What single steps of the code generation refuse, each with its reason.
// RUN: split-file %s %t
// RUN: not ansor-opt %t/inner-tiles.mlir --ansor-decompose 2>&1 | FileCheck %s --check-prefix=INNER
// RUN: not ansor-opt %t/tensors.mlir --ansor-packed-entry 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: not ansor-opt %t/result.mlir --ansor-packed-entry 2>&1 | FileCheck %s --check-prefix=RESULT
// RUN: not ansor-opt %t/packed.mlir --ansor-packed-entry 2>&1 | FileCheck %s --check-prefix=PACKED
// RUN: not ansor-opt %t/forall.mlir --ansor-lower-forall 2>&1 | FileCheck %s --check-prefix=FORALL
// RUN: not ansor-opt %t/forall.mlir --ansor-lower-forall=parallel=false 2>&1 | FileCheck %s --check-prefix=FORALL
// RUN: not ansor-opt %t/no-init.mlir --ansor-task-destinations 2>&1 | FileCheck %s --check-prefix=NOINIT

// INNER: inner-tiles.mlir:2:8: error: 'linalg.pack' op can't be lowered: only static inner tiles are supported
// ARGUMENT: tensors.mlir:1:1: error: 'func.func' op argument 0 of type 'tensor<4xf32>' can't be passed by pointer
// RESULT: result.mlir:1:1: error: 'func.func' op result 0 of type 'tensor<4xf32>' can't be passed by pointer
// PACKED: packed.mlir:1:1: error: 'func.func' op has a packed entry already: @f_packed
// FORALL: forall.mlir:2:8: error: 'scf.forall' op can't be lowered: it still yields tensors
// NOINIT: no-init.mlir:1:1: error: 'func.func' op is a task with 1 results but only 0 arguments: it needs one init argument a result

//--- inner-tiles.mlir
func.func @f(%a: tensor<128x128xf32>, %d: tensor<16x8x?x16xf32>, %t: index) -> tensor<16x8x?x16xf32> {
  %p = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [%t, 16] into %d : tensor<128x128xf32> -> tensor<16x8x?x16xf32>
  return %p : tensor<16x8x?x16xf32>
}
//--- tensors.mlir
func.func @f(%a: tensor<4xf32>) {
  return
}
//--- result.mlir
func.func @f(%a: f32) -> tensor<4xf32> {
  %c = arith.constant dense<0.0> : tensor<4xf32>
  return %c : tensor<4xf32>
}
//--- packed.mlir
func.func @f(%a: memref<4xf32>) {
  return
}
func.func private @f_packed()
//--- forall.mlir
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.forall (%i) in (4) shared_outs(%o = %a) -> tensor<4xf32> {
    %s = tensor.extract_slice %a[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %r : tensor<4xf32>
}
//--- no-init.mlir
func.func private @f() -> tensor<4xf32> attributes {ansor.task = "a1-0"} {
  %c = arith.constant dense<0.0> : tensor<4xf32>
  return %c : tensor<4xf32>
}
