// Packing in panels: copies panel by panel in parallel, without a test in them;
// the last panel is padded behind the loop. Then rows of vectors.
// RUN: ansor-opt %s --ansor-decompose --split-input-file | FileCheck %s
// RUN: ansor-opt %s --split-input-file --pass-pipeline='builtin.module(ansor-attach-target{target=x86-64-v4},ansor-decompose,one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},ansor-vectorize)' | FileCheck %s --check-prefix=VECTORS

// CHECK-DAG: #[[AT:.*]] = affine_map<(d0) -> (d0 * 32)>
// CHECK-LABEL: func.func @padded(
// CHECK-SAME: %[[B:.*]]: tensor<256x200xf32>, %[[OUT:.*]]: tensor<7x256x32xf32>
// CHECK-NOT: tensor.pad
// CHECK: %[[FULL:.*]] = scf.forall (%[[P:.*]]) in (6) shared_outs(%[[O:.*]] = %[[OUT]])
// CHECK: %[[J:.*]] = affine.apply #[[AT]](%[[P]])
// CHECK: tensor.extract_slice %[[B]][0, %[[J]]] [256, 32]
// CHECK: tensor.extract_slice %[[O]][%[[P]], 0, 0] [1, 256, 32]
// CHECK: linalg.generic
// CHECK: tensor.parallel_insert_slice
// CHECK: ansor.parallel
// CHECK: tensor.extract_slice %[[FULL]][6, 0, 0] [1, 256, 32]
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : f32)
// CHECK: %[[REST:.*]] = tensor.extract_slice %[[B]][0, 192] [256, 8]
// CHECK: linalg.generic {{.*}} ins(%[[REST]] :

// VECTORS-LABEL: func.func @padded(
// VECTORS: scf.forall
// VECTORS: scf.for
// VECTORS: vector.transfer_read {{.*}}vector<16xf32>
// VECTORS: vector.transfer_write {{.*}}vector<16xf32>
// VECTORS-NOT: memref.load
// VECTORS: return
func.func @padded(%b: tensor<256x200xf32>, %e: tensor<7x256x32xf32>) -> tensor<7x256x32xf32> {
  %z = arith.constant 0.0 : f32
  %pack = linalg.pack %b padding_value(%z : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [32] into %e : tensor<256x200xf32> -> tensor<7x256x32xf32>
  return %pack : tensor<7x256x32xf32>
}

// -----

// A batch, in order, and rows that are transposed: in parallel over both.
// CHECK-DAG: #[[FROM:.*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-LABEL: func.func @transposed(
// CHECK: scf.forall (%[[I:.*]], %[[P:.*]]) in (3, 4)
// CHECK: tensor.extract_slice %{{.*}}[%[[I]], %{{.*}}, 0] [1, 16, 64]
// CHECK: tensor.extract_slice %{{.*}}[%[[I]], %[[P]], 0, 0] [1, 1, 64, 16] [1, 1, 1, 1] : tensor<3x4x64x16xf32> to tensor<1x64x16xf32>
// CHECK: linalg.generic {indexing_maps = [#[[FROM]], #{{.*}}]
// VECTORS-LABEL: func.func @transposed(
// VECTORS: vector.shuffle
// VECTORS-NOT: memref.load
// VECTORS: return
func.func @transposed(%b: tensor<3x64x64xf32>, %e: tensor<3x4x64x16xf32>) -> tensor<3x4x64x16xf32> {
  %pack = linalg.pack %b inner_dims_pos = [1] inner_tiles = [16] into %e : tensor<3x64x64xf32> -> tensor<3x4x64x16xf32>
  return %pack : tensor<3x4x64x16xf32>
}

// -----

// Less than a panel, and packs of another kind: what upstream makes of them.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: scf.forall
// CHECK: linalg.generic
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<8x5xf32>)
// CHECK: tensor.expand_shape
func.func @others(%b: tensor<8x5xf32>, %e: tensor<1x8x6xf32>, %c: tensor<8x16xf32>, %d: tensor<2x4x4x4xf32>) -> (tensor<1x8x6xf32>, tensor<2x4x4x4xf32>) {
  %z = arith.constant 0.0 : f32
  %p = linalg.pack %b padding_value(%z : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [6] into %e : tensor<8x5xf32> -> tensor<1x8x6xf32>
  %q = linalg.pack %c inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %d : tensor<8x16xf32> -> tensor<2x4x4x4xf32>
  return %p, %q : tensor<1x8x6xf32>, tensor<2x4x4x4xf32>
}
