// RUN: ansor-opt %s --ansor-extract-tasks --split-input-file -verify-diagnostics --allow-unregistered-dialect | FileCheck %s

// What no task can hold stays as it is, and one remark a kind says why.

#csr = #sparse_tensor.encoding<{map = (d0, d1) -> (d0 : dense, d1 : compressed)}>

// CHECK-LABEL: func.func @sparse
// CHECK-NEXT: linalg.matvec
// CHECK-NEXT: linalg.matvec
// CHECK-NEXT: return
// CHECK-NOT: func.func
func.func @sparse(%a: tensor<8x8xf32, #csr>, %x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-remark @below {{not part of a task: a tensor has an encoding; lower sparse tensors first}}
  %r = linalg.matvec ins(%a, %x : tensor<8x8xf32, #csr>, tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.matvec ins(%a, %r : tensor<8x8xf32, #csr>, tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @memrefs
// CHECK-NEXT: linalg.matmul
// CHECK-NEXT: return
func.func @memrefs(%a: memref<8x8xf32>, %b: memref<8x8xf32>, %c: memref<8x8xf32>) {
  // expected-remark @below {{it works on memrefs; tasks are made of linalg ops on tensors}}
  linalg.matmul ins(%a, %b : memref<8x8xf32>, memref<8x8xf32>) outs(%c : memref<8x8xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @side_effect
// CHECK: linalg.generic
// CHECK: cf.assert
func.func @side_effect(%a: tensor<8xi64>, %n: i64) -> tensor<8xi64> {
  %e = tensor.empty() : tensor<8xi64>
  // expected-remark @below {{its body has side effects}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<8xi64>) outs(%e : tensor<8xi64>) {
  ^bb0(%x: i64, %z: i64):
    %ok = arith.cmpi slt, %x, %n : i64
    cf.assert %ok, "too large"
    linalg.yield %x : i64
  } -> tensor<8xi64>
  return %r : tensor<8xi64>
}

// -----

// CHECK-LABEL: func.func @no_rows
// CHECK: linalg.matmul
// CHECK-LABEL: func.func @no_terms
// CHECK: linalg.matmul
func.func @no_rows(%a: tensor<0x8xf32>, %b: tensor<8x8xf32>, %c: tensor<0x8xf32>) -> tensor<0x8xf32> {
  // expected-remark @below {{a loop has extent 0, there is nothing to compute}}
  %r = linalg.matmul ins(%a, %b : tensor<0x8xf32>, tensor<8x8xf32>) outs(%c : tensor<0x8xf32>) -> tensor<0x8xf32>
  return %r : tensor<0x8xf32>
}
func.func @no_terms(%a: tensor<8x0xf32>, %b: tensor<0x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-remark @below {{a loop has extent 0, there is nothing to compute}}
  %r = linalg.matmul ins(%a, %b : tensor<8x0xf32>, tensor<0x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

// Unknown ops, and their neighbours, are unharmed.

// CHECK-LABEL: func.func @unknown
// CHECK: %[[U:.*]] = "foreign.op"(%arg0)
// CHECK: %[[R:.*]] = call @task_0(%[[U]],
// CHECK: "foreign.op"(%[[R]])
func.func @unknown(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-remark @below {{the op is not linalg on tensors; lower it to linalg first}}
  %u = "foreign.op"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%u : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v = "foreign.op"(%r) : (tensor<8xf32>) -> tensor<8xf32>
  return %v : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @unpack
// CHECK: linalg.unpack
// CHECK: call @task_0
func.func @unpack(%a: tensor<2x2x4x4xf32>) -> tensor<7x7xf32> {
  %e = tensor.empty() : tensor<7x7xf32>
  // expected-remark @below {{this linalg op has no loop nest form; lower it first}}
  %u = linalg.unpack %a inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %e : tensor<2x2x4x4xf32> -> tensor<7x7xf32>
  %r = linalg.exp ins(%u : tensor<7x7xf32>) outs(%e : tensor<7x7xf32>) -> tensor<7x7xf32>
  return %r : tensor<7x7xf32>
}

// -----

// Nothing to do.

// CHECK-LABEL: func.func private @declared
// CHECK-LABEL: func.func @identity
// CHECK-NEXT: return %arg0, %arg0
// CHECK-NOT: func.func
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
func.func @identity(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %a, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// A single point of elementwise work isn't worth a call; a reduction is kept.

// CHECK-LABEL: func.func @scalars
// CHECK: %[[S:.*]] = call @task_0(%arg0,
// CHECK: linalg.generic
// CHECK: math.exp
func.func @scalars(%a: tensor<100xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<100xf32>) outs(%f : tensor<f32>) dimensions = [0]
  %r = linalg.exp ins(%s : tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  return %s, %r : tensor<f32>, tensor<f32>
}

// -----

// Complex, boolean and index elements; constants of them are in the body.

// CHECK-LABEL: func.func @types
// CHECK: %[[C:.*]] = tensor.collapse_shape %arg0
// CHECK: call @task_0(%[[C]],
// CHECK: call @task_1(%arg1, %arg2,
// CHECK: call @task_2(%arg3,
// CHECK: func.func private @task_0
// CHECK: complex.mul
// CHECK: func.func private @task_1
// CHECK: arith.constant false
// CHECK: arith.ori
// CHECK: func.func private @task_2
// CHECK-SAME: index
// CHECK: linalg.index
func.func @types(%c: tensor<8x8xcomplex<f32>>, %p: tensor<8x4xi1>, %q: tensor<4x8xi1>, %n: index) -> (tensor<8x8xcomplex<f32>>, tensor<8x8xi1>, tensor<6xindex>) {
  %e0 = tensor.empty() : tensor<8x8xcomplex<f32>>
  %r0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<8x8xcomplex<f32>>) outs(%e0 : tensor<8x8xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %z: complex<f32>):
    %m = complex.mul %x, %x : complex<f32>
    linalg.yield %m : complex<f32>
  } -> tensor<8x8xcomplex<f32>>
  %false = arith.constant false
  %e1 = tensor.empty() : tensor<8x8xi1>
  %f1 = linalg.fill ins(%false : i1) outs(%e1 : tensor<8x8xi1>) -> tensor<8x8xi1>
  %r1 = linalg.matmul ins(%p, %q : tensor<8x4xi1>, tensor<4x8xi1>) outs(%f1 : tensor<8x8xi1>) -> tensor<8x8xi1>
  %e2 = tensor.empty() : tensor<6xindex>
  %r2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e2 : tensor<6xindex>) {
  ^bb0(%z: index):
    %i = linalg.index 0 : index
    %m = arith.muli %i, %n : index
    linalg.yield %m : index
  } -> tensor<6xindex>
  return %r0, %r1, %r2 : tensor<8x8xcomplex<f32>>, tensor<8x8xi1>, tensor<6xindex>
}

// -----

// expected-remark @below {{a module in a module isn't searched for tasks; move its functions to the outer one}}
module {
  func.func @inner(%a: tensor<8xf32>) -> tensor<8xf32> {
    %r = linalg.exp ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}
func.func @parallel(%a: tensor<8xf32>) -> tensor<8xf32> {
  %q = scf.forall (%i) in (8) shared_outs(%o = %a) -> tensor<8xf32> {
    %s = tensor.extract_slice %a[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    // expected-remark @below {{not part of a task: it is inside of an op that isn't searched}}
    %r = linalg.exp ins(%s : tensor<1xf32>) outs(%s : tensor<1xf32>) -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %r into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %q : tensor<8xf32>
}

// -----

// This one does nothing, and goes.
// CHECK-LABEL: func.func @no_result
// CHECK-NEXT: return
func.func @no_result(%a: tensor<8xf32>) {
  // expected-remark @below {{not part of a task: it has no result}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) {
  ^bb0(%x: f32):
    linalg.yield
  }
  return
}
