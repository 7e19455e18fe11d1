// RUN: ansor-opt %s --split-input-file --ansor-result-destinations | FileCheck %s
// RUN: ansor-opt %s --split-input-file --ansor-result-destinations --ansor-packed-entry | FileCheck %s --check-prefix=PACKED

// The buffer that is returned in another shape is the caller's from the start;
// an argument that is returned is copied; a scalar is returned as before.

// CHECK-LABEL: func.func @f(
// CHECK-SAME: -> (memref<4x2xf32>, f32, memref<8xf32>) attributes {ansor.into = @f_into}
// CHECK: %[[A:.*]] = memref.alloc() {{.*}} : memref<4x2xf32>
// CHECK: %[[B:.*]] = memref.alloc() {{.*}} : memref<8xf32>
// CHECK: %[[S:.*]] = call @f_into(%arg0, %[[A]], %[[B]])
// CHECK: return %[[A]], %[[S]], %[[B]]
// CHECK-LABEL: func.func private @f_into(
// CHECK-SAME: %[[ARG:.*]]: memref<8xf32>, %[[TO:.*]]: memref<4x2xf32>, %[[COPY:.*]]: memref<8xf32>) -> f32
// CHECK-NOT: memref.alloc
// CHECK: %[[FLAT:.*]] = memref.reinterpret_cast %[[TO]] to offset: [0], sizes: [8], strides: [1]
// CHECK: linalg.fill {{.*}} outs(%[[FLAT]]
// CHECK: memref.copy %[[ARG]], %[[COPY]]
// CHECK: return %{{.*}} : f32

// The entry allocates only what the caller doesn't give.
// PACKED-LABEL: func.func @f_packed(
// PACKED: %[[NULL:.*]] = llvm.mlir.zero
// PACKED: %[[NONE:.*]] = llvm.icmp "eq" %{{.*}}, %[[NULL]]
// PACKED: scf.if %[[NONE]]
// PACKED: memref.alloc
// PACKED: } else {
// PACKED-NOT: memref.alloc
// PACKED: }
// PACKED: call @f_into(
// PACKED-COUNT-3: llvm.store
func.func @f(%a: memref<8xf32>) -> (memref<4x2xf32>, f32, memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%b : memref<8xf32>)
  %c = memref.expand_shape %b [[0, 1]] output_shape [4, 2] : memref<8xf32> into memref<4x2xf32>
  return %c, %zero, %a : memref<4x2xf32>, f32, memref<8xf32>
}

// -----

// One buffer twice: the second is a copy.

// CHECK-LABEL: func.func private @twice_into(
// CHECK-SAME: %[[FIRST:.*]]: memref<8xf32>, %[[SECOND:.*]]: memref<8xf32>)
// CHECK: linalg.fill {{.*}} outs(%[[FIRST]]
// CHECK: memref.copy %[[FIRST]], %[[SECOND]]
func.func @twice() -> (memref<8xf32>, memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%b : memref<8xf32>)
  return %b, %b : memref<8xf32>, memref<8xf32>
}

// -----

// Of dynamic size: the caller can't know what to give.

// CHECK-LABEL: func.func @dynamic(
// CHECK-NEXT: memref.alloc(%arg0)
// CHECK-NOT: @dynamic_into
func.func @dynamic(%n: index) -> memref<?xf32> {
  %b = memref.alloc(%n) : memref<?xf32>
  return %b : memref<?xf32>
}
