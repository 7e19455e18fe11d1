// What tasks pack of their weights is left to the callers, and leaves the
// network.

// RUN: ansor-opt %s --split-input-file --ansor-prepack | FileCheck %s

// One task, called with two weights, and twice with a third one that is packed
// once. It packs two of its arguments in three ways, one of these twice; the
// last argument is used as it is, too.

// CHECK-LABEL: func.func @f(
// CHECK-LABEL: func.func @f_prepack(
// CHECK-SAME: %[[V:[^:]*]]: tensor<4x6xf32> {{[^%]*}}%[[W:[^:]*]]: tensor<4x6xf32> {{[^%]*}}%[[U:[^:]*]]: tensor<5xf32>
// CHECK: %[[V0:.*]] = linalg.pack %[[V]] inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %{{.*}} {ansor.prepack} : tensor<4x6xf32> -> tensor<2x2x2x3xf32>
// CHECK: %[[V1:.*]] = linalg.pack %[[V]] outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [2]
// CHECK: %[[C:.*]] = arith.constant 1.5
// CHECK: %[[U0:.*]] = linalg.pack %[[U]] padding_value(%[[C]] : f32) inner_dims_pos = [0] inner_tiles = [2] into %{{.*}} {ansor.prepack} : tensor<5xf32> -> tensor<3x2xf32>
// CHECK: %[[W0:.*]] = linalg.pack %[[W]] inner_dims_pos = [0, 1] inner_tiles = [2, 3]
// CHECK-LABEL: func.func @f_prepacked(
// CHECK-NOT: linalg.pack
// CHECK: %[[R:.*]] = call @task(%{{[^,]*}}, %[[U1:[^,]*]], %{{[^,]*}}, %{{[^,]*}}, %[[U2:[^,]*]], %{{.*}}) :
// CHECK-SAME: (tensor<8xf32>, tensor<5xf32>, tensor<2x2x2x3xf32>, tensor<3x4x2xf32>, tensor<3x2xf32>, tensor<8xf32>)
// CHECK: call @task(%[[R]], %[[U1]], %{{[^,]*}}, %{{[^,]*}}, %[[U2]],

// CHECK: func.func private @task(
// CHECK-SAME: %{{[^:]*}}: tensor<8xf32>, %{{[^:]*}}: tensor<5xf32> {ansor.weight},
// CHECK-SAME: %[[A:[^:]*]]: tensor<2x2x2x3xf32> {ansor.weight}, %[[B:[^:]*]]: tensor<3x4x2xf32> {ansor.weight}, %[[D:[^:]*]]: tensor<3x2xf32> {ansor.weight},
// CHECK-SAME: %{{[^:]*}}: tensor<8xf32>) -> tensor<8xf32>
// CHECK-NOT: linalg.pack
// CHECK: extract %[[A]]
// CHECK: extract %[[A]]
// CHECK: extract %[[B]]
// CHECK: extract %[[D]]
func.func @f(%x: tensor<8xf32>, %v: tensor<4x6xf32> {ansor.weight},
    %w: tensor<4x6xf32> {ansor.weight}, %u: tensor<5xf32> {ansor.weight}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = call @task(%x, %v, %u, %e) : (tensor<8xf32>, tensor<4x6xf32>, tensor<5xf32>, tensor<8xf32>) -> tensor<8xf32>
  %b = call @task(%a, %w, %u, %e) : (tensor<8xf32>, tensor<4x6xf32>, tensor<5xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}
func.func private @task(%x: tensor<8xf32>, %w: tensor<4x6xf32> {ansor.weight},
    %u: tensor<5xf32> {ansor.weight}, %o: tensor<8xf32>) -> tensor<8xf32>
    attributes {ansor.task = "a1-00", ansor.weight = 2 : i64} {
  %i = arith.constant 0 : index
  %c = arith.constant 1.5 : f32
  %e0 = tensor.empty() : tensor<2x2x2x3xf32>
  %e1 = tensor.empty() : tensor<3x4x2xf32>
  %e2 = tensor.empty() : tensor<3x2xf32>
  %p0 = linalg.pack %w inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %e0 : tensor<4x6xf32> -> tensor<2x2x2x3xf32>
  %p1 = linalg.pack %w inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %e0 : tensor<4x6xf32> -> tensor<2x2x2x3xf32>
  %p2 = linalg.pack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [2] into %e1 : tensor<4x6xf32> -> tensor<3x4x2xf32>
  %p3 = linalg.pack %u padding_value(%c : f32) inner_dims_pos = [0] inner_tiles = [2] into %e2 : tensor<5xf32> -> tensor<3x2xf32>
  %s0 = tensor.extract %p0[%i, %i, %i, %i] : tensor<2x2x2x3xf32>
  %s1 = tensor.extract %p1[%i, %i, %i, %i] : tensor<2x2x2x3xf32>
  %s2 = tensor.extract %p2[%i, %i, %i] : tensor<3x4x2xf32>
  %s3 = tensor.extract %p3[%i, %i] : tensor<3x2xf32>
  %s4 = tensor.extract %u[%i] : tensor<5xf32>
  %t0 = arith.addf %s0, %s1 : f32
  %t1 = arith.addf %t0, %s2 : f32
  %t2 = arith.addf %t1, %s3 : f32
  %t3 = arith.addf %t2, %s4 : f32
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x, %t3 : tensor<8xf32>, f32) outs(%o : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32, %y: f32):
    %m = arith.mulf %p, %q : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// These stay: of data; of what is computed; into what the caller gives; of a
// size that isn't known; in a task that is no function of this module's alone.

// CHECK-LABEL: func.func @stay(
// CHECK-NOT: linalg.pack
// CHECK-LABEL: func.func private @stays(
// CHECK: linalg.pack %arg0
// CHECK: linalg.pack %{{.*}} inner_dims_pos = [0] inner_tiles = [2]
// CHECK: linalg.pack %arg1 inner_dims_pos = [0] inner_tiles = [%
// CHECK-LABEL: func.func @open(
// CHECK: linalg.pack %arg0
// CHECK-NOT: prepack
func.func @stay(%x: tensor<8xf32>, %w: tensor<8xf32> {ansor.weight}, %n: index) -> tensor<4x2xf32> {
  %e = tensor.empty() : tensor<4x2xf32>
  %a = call @stays(%x, %w, %n, %e) : (tensor<8xf32>, tensor<8xf32>, index, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %a : tensor<4x2xf32>
}
func.func private @stays(%x: tensor<8xf32>, %w: tensor<8xf32> {ansor.weight}, %n: index, %o: tensor<4x2xf32>) -> tensor<4x2xf32>
    attributes {ansor.task = "a1-01", ansor.weight = 1 : i64} {
  %e = tensor.empty() : tensor<4x2xf32>
  %e8 = tensor.empty() : tensor<8xf32>
  %m = arith.divui %n, %n : index
  %ed = tensor.empty(%n, %n) : tensor<?x?xf32>
  %p = linalg.pack %x inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<8xf32> -> tensor<4x2xf32>
  %v = linalg.exp ins(%w : tensor<8xf32>) outs(%e8 : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.pack %v inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<8xf32> -> tensor<4x2xf32>
  %d = linalg.pack %w inner_dims_pos = [0] inner_tiles = [%n] into %ed : tensor<8xf32> -> tensor<?x?xf32>
  %c = tensor.cast %d : tensor<?x?xf32> to tensor<4x2xf32>
  %s = linalg.add ins(%p, %q : tensor<4x2xf32>, tensor<4x2xf32>) outs(%o : tensor<4x2xf32>) -> tensor<4x2xf32>
  %t = linalg.add ins(%s, %c : tensor<4x2xf32>, tensor<4x2xf32>) outs(%o : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %t : tensor<4x2xf32>
}
func.func @open(%w: tensor<8xf32> {ansor.weight}, %o: tensor<4x2xf32>) -> tensor<4x2xf32>
    attributes {ansor.task = "a1-02", ansor.weight = 1 : i64} {
  %p = linalg.pack %w inner_dims_pos = [0] inner_tiles = [2] into %o : tensor<8xf32> -> tensor<4x2xf32>
  return %p : tensor<4x2xf32>
}

// -----

// Constants are packed at compile time.

// CHECK-LABEL: func.func @constant(
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00], [4.000000e+00, 5.000000e+00]], {{\[\[}}3.000000e+00, 9.000000e+00], [6.000000e+00, 9.000000e+00]]]> : tensor<2x2x2xf32>
// CHECK-NOT: linalg.pack
// CHECK: call @task(%arg0, %[[W]], %{{[^,]*}}) : (tensor<2x2x2xf32>, tensor<2x2x2xf32>,
func.func @constant(%x: tensor<2x2x2xf32>) -> tensor<2x2x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<2x2x2xf32>
  %a = call @task(%x, %w, %e) : (tensor<2x2x2xf32>, tensor<2x3xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return %a : tensor<2x2x2xf32>
}
func.func private @task(%x: tensor<2x2x2xf32>, %w: tensor<2x3xf32> {ansor.weight}, %o: tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
    attributes {ansor.task = "a1-03", ansor.weight = 1 : i64} {
  %c = arith.constant 9.0 : f32
  %e = tensor.empty() : tensor<2x2x2xf32>
  %p = linalg.pack %w padding_value(%c : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [2] into %e : tensor<2x3xf32> -> tensor<2x2x2xf32>
  %s = linalg.add ins(%x, %p : tensor<2x2x2xf32>, tensor<2x2x2xf32>) outs(%o : tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return %s : tensor<2x2x2xf32>
}

// -----

// A task that is called with data, marked or not: its caller packs each time.

// CHECK-LABEL: func.func @data(
// CHECK-NOT: prepack = [
// CHECK: %[[P:.*]] = linalg.pack %arg1
// CHECK: call @task(%arg0, %[[P]], %{{[^,]*}}) : (tensor<4x2xf32>, tensor<4x2xf32>,
// CHECK-NOT: @data_prepack
func.func @data(%x: tensor<4x2xf32>, %y: tensor<8xf32>) -> tensor<4x2xf32> {
  %e = tensor.empty() : tensor<4x2xf32>
  %a = call @task(%x, %y, %e) : (tensor<4x2xf32>, tensor<8xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %a : tensor<4x2xf32>
}
func.func private @task(%x: tensor<4x2xf32>, %w: tensor<8xf32> {ansor.weight}, %o: tensor<4x2xf32>) -> tensor<4x2xf32>
    attributes {ansor.task = "a1-04", ansor.weight = 1 : i64} {
  %e = tensor.empty() : tensor<4x2xf32>
  %p = linalg.pack %w inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<8xf32> -> tensor<4x2xf32>
  %s = linalg.add ins(%x, %p : tensor<4x2xf32>, tensor<4x2xf32>) outs(%o : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %s : tensor<4x2xf32>
}
