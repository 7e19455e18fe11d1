// Reductions over the same rows, with what is between them, are one task.
// RUN: ansor-opt %s --ansor-extract-tasks --split-input-file | FileCheck %s

// The named form and its parts are the same task.

// CHECK-LABEL: func.func @named
// CHECK: call @task_0(%arg0,
// CHECK-NOT: call
// CHECK-LABEL: func.func @parts
// CHECK: call @task_0(%arg0,
// CHECK-NOT: call
// CHECK: func.func private @task_0
// CHECK-SAME: ansor.weight = 2
// CHECK: 0xFF800000
// CHECK: arith.maxnumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK-NOT: func.func
func.func @named(%x: tensor<24x31xf32>) -> tensor<24x31xf32> {
  %e = tensor.empty() : tensor<24x31xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<24x31xf32>) outs(%e : tensor<24x31xf32>) -> tensor<24x31xf32>
  return %r : tensor<24x31xf32>
}
func.func @parts(%x: tensor<24x31xf32>) -> tensor<24x31xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<24x31xf32>
  %e1 = tensor.empty() : tensor<24xf32>
  %f0 = linalg.fill ins(%lowest : f32) outs(%e1 : tensor<24xf32>) -> tensor<24xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<24xf32>) -> tensor<24xf32>
  %m = linalg.reduce { arith.maxnumf } ins(%x : tensor<24x31xf32>) outs(%f0 : tensor<24xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%m : tensor<24xf32>) outs(%e : tensor<24x31xf32>) dimensions = [1]
  %d = linalg.sub ins(%x, %b : tensor<24x31xf32>, tensor<24x31xf32>) outs(%e : tensor<24x31xf32>) -> tensor<24x31xf32>
  %p = linalg.exp ins(%d : tensor<24x31xf32>) outs(%e : tensor<24x31xf32>) -> tensor<24x31xf32>
  %s = linalg.reduce { arith.addf } ins(%p : tensor<24x31xf32>) outs(%f1 : tensor<24xf32>) dimensions = [1]
  %t = linalg.broadcast ins(%s : tensor<24xf32>) outs(%e : tensor<24x31xf32>) dimensions = [1]
  %r = linalg.div ins(%p, %t : tensor<24x31xf32>, tensor<24x31xf32>) outs(%e : tensor<24x31xf32>) -> tensor<24x31xf32>
  return %r : tensor<24x31xf32>
}

// -----

// Few rows are little to do in parallel: a task for each reduction.

// CHECK-LABEL: func.func @few_rows
// CHECK: call @task_0
// CHECK: call @task_3
func.func @few_rows(%x: tensor<4x31xf32>) -> tensor<4x31xf32> {
  %e = tensor.empty() : tensor<4x31xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<4x31xf32>) outs(%e : tensor<4x31xf32>) -> tensor<4x31xf32>
  return %r : tensor<4x31xf32>
}

// -----

// Products around a softmax join it, as long as a row of them reads little. What
// the second one reads besides is needed by all rows, and computed before.

// CHECK-LABEL: func.func @attention
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %arg2
// CHECK: %[[V:.*]] = call @task_0(%[[FLAT]],
// CHECK: %[[WIDE:.*]] = tensor.expand_shape %[[V]]
// CHECK: call @task_1(%arg0, %arg1, %[[WIDE]],
// CHECK-NOT: call
// CHECK: func.func private @task_0
// CHECK: math.tanh
// CHECK: func.func private @task_1
// CHECK-COUNT-2: arith.mulf
// CHECK: math.exp
// CHECK: arith.mulf
func.func @attention(%q: tensor<2x16x8xf32>, %k: tensor<2x16x8xf32>, %v: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<2x16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
  %ek = tensor.empty() : tensor<2x8x16xf32>
  %kt = linalg.transpose ins(%k : tensor<2x16x8xf32>) outs(%ek : tensor<2x8x16xf32>) permutation = [0, 2, 1]
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x16x8xf32>, tensor<2x8x16xf32>) outs(%f : tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
  %h = linalg.fill ins(%half : f32) outs(%e : tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
  %c = linalg.mul ins(%s, %h : tensor<2x16x16xf32>, tensor<2x16x16xf32>) outs(%e : tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
  %p = linalg.softmax dimension(2) ins(%c : tensor<2x16x16xf32>) outs(%e : tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
  %eo = tensor.empty() : tensor<2x16x8xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  %t = linalg.tanh ins(%v : tensor<2x16x8xf32>) outs(%eo : tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  %r = linalg.batch_matmul ins(%p, %t : tensor<2x16x16xf32>, tensor<2x16x8xf32>) outs(%fo : tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  return %r : tensor<2x16x8xf32>
}

// -----

// A product that reads much for each row keeps a task of its own, with the op
// that ends it.

// CHECK-LABEL: func.func @large_product
// CHECK: %[[M:.*]] = call @task_0(%arg0, %arg1,
// CHECK: call @task_1(%[[M]],
// CHECK-NOT: call
// CHECK: func.func private @task_0
// CHECK: math.tanh
// CHECK: func.func private @task_1
// CHECK: math.exp
func.func @large_product(%a: tensor<16x256xf32>, %b: tensor<256x512xf32>) -> tensor<16x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x512xf32>) -> tensor<16x512xf32>
  %m = linalg.matmul ins(%a, %b : tensor<16x256xf32>, tensor<256x512xf32>) outs(%f : tensor<16x512xf32>) -> tensor<16x512xf32>
  %t = linalg.tanh ins(%m : tensor<16x512xf32>) outs(%e : tensor<16x512xf32>) -> tensor<16x512xf32>
  %r = linalg.softmax dimension(1) ins(%t : tensor<16x512xf32>) outs(%e : tensor<16x512xf32>) -> tensor<16x512xf32>
  return %r : tensor<16x512xf32>
}

// -----

// A reduction that others read too is computed before the chain.

// CHECK-LABEL: func.func @read_outside
// CHECK: %[[M:.*]] = call @task_0(%arg0,
// CHECK: %[[R:.*]] = call @task_1(%arg0, %[[M]],
// CHECK-NOT: call
// CHECK: return %[[M]], %[[R]]
func.func @read_outside(%x: tensor<16x32xf32>) -> (tensor<16xf32>, tensor<16x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x32xf32>
  %e1 = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16xf32>) -> tensor<16xf32>
  %m = linalg.reduce { arith.addf } ins(%x : tensor<16x32xf32>) outs(%f : tensor<16xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%m : tensor<16xf32>) outs(%e : tensor<16x32xf32>) dimensions = [1]
  %d = linalg.sub ins(%x, %b : tensor<16x32xf32>, tensor<16x32xf32>) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
  %s = linalg.reduce { arith.maxnumf } ins(%d : tensor<16x32xf32>) outs(%f : tensor<16xf32>) dimensions = [1]
  %c = linalg.broadcast ins(%s : tensor<16xf32>) outs(%e : tensor<16x32xf32>) dimensions = [1]
  %r = linalg.mul ins(%d, %c : tensor<16x32xf32>, tensor<16x32xf32>) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %m, %r : tensor<16xf32>, tensor<16x32xf32>
}

// -----

// Elements that are read at two places of the rows belong to no row: computed
// for all rows before.

// CHECK-LABEL: func.func @crossed
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %arg0
// CHECK: %[[X:.*]] = call @task_0(%[[FLAT]],
// CHECK: %[[WIDE:.*]] = tensor.expand_shape %[[X]]
// CHECK: call @task_1(%[[WIDE]],
func.func @crossed(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %e1 = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16xf32>) -> tensor<16xf32>
  %t = linalg.tanh ins(%x : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %m = linalg.reduce { arith.addf } ins(%t : tensor<16x16xf32>) outs(%f : tensor<16xf32>) dimensions = [1]
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%t, %m : tensor<16x16xf32>, tensor<16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// -----

// What a product reads across its vectors, and again for each row, is transposed
// by a stage that serves all rows.

// CHECK-DAG: #[[ACROSS:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[PLAIN:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @across
// CHECK: func.func private @task_0
// CHECK: %[[T:.*]] = linalg.generic {indexing_maps = [#[[ACROSS]], #[[PLAIN]]], iterator_types = ["parallel", "parallel"]} ins(%[[K:.*]] : tensor<32x8xf32>)
// CHECK: linalg.generic {{.*}}"reduction"]} ins({{.*}}%[[T]]{{[,: ]}}
func.func @across(%q: tensor<64x8xf32>, %k: tensor<32x8xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %ek = tensor.empty() : tensor<8x32xf32>
  %kt = linalg.transpose ins(%k : tensor<32x8xf32>) outs(%ek : tensor<8x32xf32>) permutation = [1, 0]
  %s = linalg.matmul ins(%q, %kt : tensor<64x8xf32>, tensor<8x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
  %r = linalg.softmax dimension(1) ins(%s : tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}
