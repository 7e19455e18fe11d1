// RUN: ansor-opt %s --ansor-forward-buffers | FileCheck %s

// What is read again is used; the buffer goes.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[V:[a-z0-9]+]]: vector<4xf32>,
// CHECK-NOT: memref
// CHECK-NOT: vector.transfer
// CHECK: return %[[V]]
func.func @forward(%v: vector<4xf32>, %w: vector<4xf32>) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %p = arith.constant 0.0 : f32
  %m = memref.alloc() : memref<8xf32>
  vector.transfer_write %v, %m[%c0] {in_bounds = [true]} : vector<4xf32>, memref<8xf32>
  vector.transfer_write %w, %m[%c4] {in_bounds = [true]} : vector<4xf32>, memref<8xf32>
  %r = vector.transfer_read %m[%c0], %p {in_bounds = [true]} : memref<8xf32>, vector<4xf32>
  memref.dealloc %m : memref<8xf32>
  return %r : vector<4xf32>
}

// An overlapping write in between: read from memory.
// CHECK-LABEL: func.func @overlap
// CHECK: vector.transfer_write
// CHECK: vector.transfer_write
// CHECK: %[[R:.*]] = vector.transfer_read
// CHECK: return %[[R]]
func.func @overlap(%m: memref<8xf32>, %v: vector<4xf32>, %w: vector<4xf32>) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %p = arith.constant 0.0 : f32
  vector.transfer_write %v, %m[%c0] {in_bounds = [true]} : vector<4xf32>, memref<8xf32>
  vector.transfer_write %w, %m[%c2] {in_bounds = [true]} : vector<4xf32>, memref<8xf32>
  %r = vector.transfer_read %m[%c0], %p {in_bounds = [true]} : memref<8xf32>, vector<4xf32>
  return %r : vector<4xf32>
}

// A store that a structured op reads stays, one that is written over goes.
// CHECK-LABEL: func.func @dead
// CHECK-NOT: memref.store %arg1
// CHECK: memref.store %arg2
// CHECK: linalg.generic
func.func @dead(%m: memref<f32>, %a: f32, %b: f32, %x: memref<4xf32>) {
  memref.store %a, %m[] : memref<f32>
  memref.store %b, %m[] : memref<f32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<4xf32>) outs(%m : memref<f32>) {
  ^bb0(%e: f32, %o: f32):
    %s = arith.addf %o, %e : f32
    linalg.yield %s : f32
  }
  memref.store %a, %m[] : memref<f32>
  return
}

// A call may write anything.
// CHECK-LABEL: func.func @call
// CHECK: memref.store
// CHECK: call @g
// CHECK: memref.load
func.func private @g(memref<f32>)
func.func @call(%m: memref<f32>, %a: f32) -> f32 {
  memref.store %a, %m[] : memref<f32>
  call @g(%m) : (memref<f32>) -> ()
  %r = memref.load %m[] : memref<f32>
  return %r : f32
}

// An element of a vector that was written, and what a copy brings along.
// CHECK-LABEL: func.func @element
// CHECK-SAME: (%[[V:[a-z0-9]+]]: vector<4xf32>)
// CHECK-NOT: memref
// CHECK: %[[E:.*]] = vector.extract %[[V]][2]
// CHECK-NOT: memref
// CHECK: return %[[E]], %[[V]]
func.func @element(%v: vector<4xf32>) -> (f32, vector<4xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %p = arith.constant 0.0 : f32
  %m = memref.alloca() : memref<4xf32>
  %n = memref.alloca() : memref<4xf32>
  vector.transfer_write %v, %m[%c0] {in_bounds = [true]} : vector<4xf32>, memref<4xf32>
  %e = memref.load %m[%c2] : memref<4xf32>
  memref.copy %m, %n : memref<4xf32> to memref<4xf32>
  %r = vector.transfer_read %n[%c0], %p {in_bounds = [true]} : memref<4xf32>, vector<4xf32>
  return %e, %r : f32, vector<4xf32>
}

// A copy overwrites its target, and has what its source had then.
// CHECK-LABEL: func.func @copied
// CHECK-SAME: (%[[A:[a-z0-9]+]]: f32, %[[B:[a-z0-9]+]]: f32
// CHECK: return %[[A]], %[[B]]
func.func @copied(%a: f32, %b: f32, %m: memref<1xf32>, %n: memref<1xf32>) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  memref.store %a, %m[%c0] : memref<1xf32>
  memref.store %b, %n[%c0] : memref<1xf32>
  memref.copy %m, %n : memref<1xf32> to memref<1xf32>
  memref.store %b, %m[%c0] : memref<1xf32>
  %x = memref.load %n[%c0] : memref<1xf32>
  %y = memref.load %m[%c0] : memref<1xf32>
  return %x, %y : f32, f32
}

// Under a mask, what is read is padding in the other lanes, whatever was
// written from.
// CHECK-LABEL: func.func @masked(
// CHECK-SAME: %[[V:.*]]: vector<4xf32>
// CHECK-DAG: %[[MASK:.*]] = arith.constant dense<[true, true, true, false]>
// CHECK-DAG: %[[PADDING:.*]] = vector.broadcast %{{.*}} : f32 to vector<4xf32>
// CHECK: %[[READ:.*]] = arith.select %[[MASK]], %[[V]], %[[PADDING]]
// CHECK-NEXT: vector.reduction <add>, %[[READ]]
func.func @masked(%v: vector<4xf32>, %m: memref<4xf32>) -> f32 {
  %mask = arith.constant dense<[true, true, true, false]> : vector<4xi1>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  vector.transfer_write %v, %m[%c0], %mask {in_bounds = [true]} : vector<4xf32>, memref<4xf32>
  %r = vector.transfer_read %m[%c0], %zero, %mask {in_bounds = [true]} : memref<4xf32>, vector<4xf32>
  %s = vector.reduction <add>, %r : vector<4xf32> into f32
  return %s : f32
}
