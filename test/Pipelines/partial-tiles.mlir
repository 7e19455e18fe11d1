// RUN: ansor-opt %s --ansor-partial-tiles --canonicalize | FileCheck %s

#min = affine_map<(i) -> (6, 20 - i)>

// 20 = 3 * 6 + 2: a loop over tiles of 6, then one of 2.
// CHECK-LABEL: func.func @rest
// CHECK: scf.for %[[I:.*]] = %c0 to %c18 step %c6
// CHECK: memref.subview %{{.*}}[%[[I]]] [6] [1]
// CHECK: }
// CHECK: memref.subview %{{.*}}[18] [2] [1]
func.func private @use(memref<?xf32, strided<[1], offset: ?>>)
func.func @rest(%m: memref<20xf32>) {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %c20 = arith.constant 20 : index
  scf.for %i = %c0 to %c20 step %c6 {
    %s = affine.min #min(%i)
    %v = memref.subview %m[%i] [%s] [1] : memref<20xf32> to memref<?xf32, strided<[1], offset: ?>>
    func.call @use(%v) : (memref<?xf32, strided<[1], offset: ?>>) -> ()
  }
  return
}

// Tiles in tiles: the size of the outer one bounds the inner loop.
#inner = affine_map<(i)[s] -> (4, s - i)>
// CHECK-LABEL: func.func @nested
// CHECK: scf.for
// CHECK: memref.subview %{{.*}}[%{{.*}}] [4] [1]
// CHECK: memref.subview %{{.*}}[%{{.*}}] [2] [1]
// CHECK: }
// CHECK: memref.subview %{{.*}} [2] [1]
// CHECK-NOT: affine.min
func.func @nested(%m: memref<20xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c20 = arith.constant 20 : index
  scf.for %i = %c0 to %c20 step %c6 {
    %s = affine.min #min(%i)
    scf.for %j = %c0 to %s step %c4 {
      %t = affine.min #inner(%j)[%s]
      %k = arith.addi %i, %j : index
      %v = memref.subview %m[%k] [%t] [1] : memref<20xf32> to memref<?xf32, strided<[1], offset: ?>>
      func.call @use(%v) : (memref<?xf32, strided<[1], offset: ?>>) -> ()
    }
  }
  return
}

// A parallel loop stays whole: its body is made for both sizes.
// CHECK-LABEL: func.func @parallel
// CHECK: scf.parallel
// CHECK: %[[FULL:.*]] = arith.cmpi eq
// CHECK: scf.if %[[FULL]]
// CHECK: memref.subview %{{.*}}[%{{.*}}] [6] [1]
// CHECK: else
// CHECK: memref.subview %{{.*}}[%{{.*}}] [2] [1]
func.func @parallel(%m: memref<20xf32>) {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %c20 = arith.constant 20 : index
  scf.parallel (%i) = (%c0) to (%c20) step (%c6) {
    %s = affine.min #min(%i)
    %v = memref.subview %m[%i] [%s] [1] : memref<20xf32> to memref<?xf32, strided<[1], offset: ?>>
    func.call @use(%v) : (memref<?xf32, strided<[1], offset: ?>>) -> ()
  }
  return
}

// Unknown bounds: left alone.
// CHECK-LABEL: func.func @dynamic
// CHECK-NOT: scf.if
// CHECK: return
func.func @dynamic(%m: memref<20xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %n step %c6 {
    %s = affine.min #min(%i)
    %v = memref.subview %m[%i] [%s] [1] : memref<20xf32> to memref<?xf32, strided<[1], offset: ?>>
    func.call @use(%v) : (memref<?xf32, strided<[1], offset: ?>>) -> ()
  }
  return
}

// Sizes that aren't alike in between, though they are at both ends: 0 4 0 4 …,
// and 1 2 3 4 5 5 4 3 2 1 0.
#remainder = affine_map<(i) -> (6, i mod 8)>
#hill = affine_map<(i) -> (i + 1, 10 - i)>
// CHECK-LABEL: func.func @not_alike
// CHECK: affine.min
// CHECK: affine.min
// CHECK: return
func.func @not_alike(%m: memref<80xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c11 = arith.constant 11 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c4 {
    %s = affine.min #remainder(%i)
    %v = memref.subview %m[%i] [%s] [1] : memref<80xf32> to memref<?xf32, strided<[1], offset: ?>>
    func.call @use(%v) : (memref<?xf32, strided<[1], offset: ?>>) -> ()
  }
  scf.for %i = %c0 to %c11 step %c1 {
    %s = affine.min #hill(%i)
    %v = memref.subview %m[%i] [%s] [1] : memref<80xf32> to memref<?xf32, strided<[1], offset: ?>>
    func.call @use(%v) : (memref<?xf32, strided<[1], offset: ?>>) -> ()
  }
  return
}
