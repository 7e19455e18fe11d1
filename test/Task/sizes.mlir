// RUN: ansor-opt %s --ansor-specialize-sizes="sizes=d0=1,8;?=64" | FileCheck %s
// RUN: ansor-opt %s --ansor-specialize-sizes="sizes=d0=1,8;?=64" --ansor-extract-tasks | FileCheck %s --check-prefix=TASKS
// RUN: ansor-opt %s --ansor-specialize-sizes="sizes=?=16" | FileCheck %s --check-prefix=ALL
// RUN: not ansor-opt %s --ansor-specialize-sizes="sizes=?=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not ansor-opt %s --ansor-specialize-sizes="sizes=n=4" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not ansor-opt %s --ansor-specialize-sizes="sizes=?=4;?=5" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not ansor-opt %s --ansor-specialize-sizes="sizes=d7=4" 2>&1 | FileCheck %s --check-prefix=EXTENT
// RUN: not ansor-opt %s --ansor-specialize-sizes 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: ansor-opt %s --ansor-specialize-sizes="sizes=d1=4" 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: ansor-opt %s --ansor-specialize-sizes="sizes=d0=1,2,3,4,5,6,7,8,9;d1=1,2,3,4,5,6,7,8,9;d2=1,2,3,4,5,6,7,8,9" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MANY

// The rows of %a and %c are one extent, the columns of %b and %c another, the
// terms a third: each place is compared with the size.
// CHECK: module attributes {ansor.dynamic_sizes = "d0=1,8;?=64"}
// CHECK-LABEL: func.func @product(
// CHECK-DAG: %[[AM:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[CM:.*]] = tensor.dim %arg2, %c0
// CHECK: arith.cmpi eq, %{{.*}}, %c1
// CHECK: scf.if
// CHECK: call @product_1x64x64({{.*}}) : (tensor<1x64xf32>, tensor<64x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
// CHECK: else
// CHECK: scf.if
// CHECK: call @product_8x64x64(
// CHECK: else
// CHECK: call @product_general(%arg0, %arg1, %arg2) : (tensor<?x?xf32>
// CHECK: func.func private @product_general
// CHECK: linalg.matmul ins(%{{.*}} : tensor<?x?xf32>
// CHECK: func.func private @product_8x64x64
// CHECK: linalg.matmul ins(%{{.*}} : tensor<8x64xf32>
// CHECK-NOT: tensor.cast
// CHECK: return {{.*}} : tensor<8x64xf32>

// Copies have tasks of their own.
// TASKS-DAG: func.func private @task_{{.*}}tensor<?x?xf32>
// TASKS-DAG: func.func private @task_{{.*}}tensor<8x64xf32>

// ALL: call @product_16x16x16(
// ALL: call @rows_16(

// ZERO: error: dynamic sizes "?=0": '0' is no size
// NAME: error: dynamic sizes "n=4": 'n=4' begins neither with '?=' nor with 'd0='
// TWICE: error: dynamic sizes "?=4;?=5": a second list for '?'
// EXTENT: error: dynamic sizes "d7=4": there is no extent d7; the public functions have at most 3
// NONE: error: no sizes
// MANY: remark: only the first 64 of 729 combinations of sizes are used
// OPEN: remark: dynamic sizes "d1=4" leave an extent of @product open

func.func @product(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// A size that is computed, and a reshape by a tensor of sizes.
// ALL: func.func private @rows_16(%arg0: tensor<16x4xf32>) -> tensor<64xf32>
// ALL-NOT: tensor.reshape
// ALL: tensor.collapse_shape
func.func @rows(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %m = arith.muli %n, %c4 : index
  %shape = tensor.from_elements %m : tensor<1xindex>
  %r = tensor.reshape %y(%shape) : (tensor<?x4xf32>, tensor<1xindex>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// Nothing dynamic: it stays.
// CHECK-LABEL: func.func @static
// CHECK-NOT: scf.if
func.func @static(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
