// RUN: ansor-opt %s --ansor-lower-forall | FileCheck %s
// RUN: ansor-opt %s --ansor-lower-forall=parallel=false | FileCheck %s --check-prefix=SEQ

// Only the outermost one is parallel.
// CHECK-LABEL: func.func @nested
// CHECK: scf.parallel
// CHECK-NOT: scf.parallel
// CHECK: scf.for
// SEQ-LABEL: func.func @nested
// SEQ-NOT: scf.parallel
// SEQ-COUNT-2: scf.for
func.func @nested(%m: memref<4x4xf32>, %v: f32) {
  scf.forall (%i) in (4) {
    scf.forall (%j) in (4) {
      memref.store %v, %m[%i, %j] : memref<4x4xf32>
    }
  }
  return
}

// A loop that no schedule made stays sequential.
// CHECK-LABEL: func.func @other
// CHECK: scf.for
func.func @other(%m: memref<4xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    memref.store %v, %m[%i] : memref<4xf32>
  }
  return
}
