// RUN: ansor-opt %s --split-input-file --ansor-plan-memory | FileCheck %s
// RUN: ansor-opt %s --split-input-file --ansor-plan-memory="max-arena=1000 max-thread=1000" | FileCheck %s --check-prefix=SMALL

// Three buffers of 4000 bytes (4032 with alignment); the first and the third
// share memory. What a function needs that is called comes on top.

// CHECK-LABEL: func.func @chain(
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[FLAG:.*]] = memref.get_global @chain_arena_taken
// CHECK: %[[OLD:.*]] = memref.atomic_rmw assign %[[ONE]], %[[FLAG]][]
// CHECK: %[[FREE:.*]] = arith.cmpi eq, %[[OLD]]
// CHECK: %[[BASE:.*]] = scf.if %[[FREE]]
// CHECK:   func.call @chain_arena() : () -> memref<8576xi8>
// CHECK: } else {
// CHECK:   memref.alloc() {{.*}} : memref<8576xi8>
// CHECK-NOT: memref.alloc
// CHECK: %[[A:.*]] = memref.view %[[BASE]][%[[AT_A:.*]]][]
// CHECK: call @step(%arg0, %[[A]], %{{.*}}) : (memref<1000xf32>, memref<1000xf32>, memref<512xi8>)
// CHECK: %[[B:.*]] = memref.view %[[BASE]]
// CHECK: call @step(%[[A]], %[[B]], %{{.*}})
// CHECK: %[[C:.*]] = memref.view %[[BASE]][%[[AT_C:.*]]][]
// CHECK: call @step(%[[B]], %[[C]], %{{.*}})
// CHECK: memref.copy %[[C]], %arg1
// CHECK: scf.if %[[FREE]]
// CHECK:   memref.atomic_rmw assign
// CHECK: } else {
// CHECK:   memref.dealloc %[[BASE]]
// CHECK-LABEL: llvm.func @chain_workspace(
// CHECK-LABEL: func.func private @step(
// CHECK-SAME: %[[PART:[a-z0-9]+]]: memref<512xi8>)
// CHECK: memref.view %[[PART]]
// CHECK-NOT: memref.alloc
// CHECK: llvm.mlir.global internal @chain_arena_memory() {{.*}}alignment = 4096{{.*}} !llvm.array<8576 x i8>

// Without room all stays as it was, but for the small buffer.
// SMALL-LABEL: func.func @chain(
// SMALL-COUNT-3: memref.alloc() : memref<1000xf32>
// SMALL-LABEL: func.func private @step(
// SMALL-SAME: memref<512xi8>)
func.func @chain(%in: memref<1000xf32>, %out: memref<1000xf32>) {
  %a = memref.alloc() : memref<1000xf32>
  call @step(%in, %a) : (memref<1000xf32>, memref<1000xf32>) -> ()
  %b = memref.alloc() : memref<1000xf32>
  call @step(%a, %b) : (memref<1000xf32>, memref<1000xf32>) -> ()
  memref.dealloc %a : memref<1000xf32>
  %c = memref.alloc() : memref<1000xf32>
  call @step(%b, %c) : (memref<1000xf32>, memref<1000xf32>) -> ()
  memref.dealloc %b : memref<1000xf32>
  memref.copy %c, %out : memref<1000xf32> to memref<1000xf32>
  memref.dealloc %c : memref<1000xf32>
  return
}
func.func private @step(%in: memref<1000xf32>, %out: memref<1000xf32>) {
  %zero = arith.constant 0.0 : f32
  %at = arith.constant 0 : index
  %t = memref.alloc() : memref<128xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<128xf32>)
  linalg.fill ins(%zero : f32) outs(%out : memref<1000xf32>)
  %s = memref.load %t[%at] : memref<128xf32>
  memref.store %s, %out[%at] : memref<1000xf32>
  memref.dealloc %t : memref<128xf32>
  return
}

// -----

// The body of a parallel loop has memory of its thread: got by a call, which
// stays in the loop. The buffer outside is the arena's.

// CHECK-LABEL: func.func @threads(
// CHECK: func.call @threads_arena() : () -> memref<1024xi8>
// CHECK: scf.parallel
// CHECK-NEXT: %[[MINE:.*]] = func.call @ansor_thread() : () -> memref<4032xi8>
// CHECK: memref.view %[[MINE]]
// CHECK-NOT: memref.dealloc
// CHECK: scf.reduce
// CHECK: llvm.mlir.global internal thread_local @ansor_thread_memory() {{.*}}alignment = 64{{.*}} !llvm.array<4032 x i8>
// SMALL-LABEL: func.func @threads(
// SMALL: scf.parallel
// SMALL-NEXT: memref.alloc() : memref<1000xf32>
func.func @threads(%out: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %shared = memref.alloc() : memref<256xf32>
  linalg.fill ins(%zero : f32) outs(%shared : memref<256xf32>)
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    %t = memref.alloc() : memref<1000xf32>
    linalg.fill ins(%zero : f32) outs(%t : memref<1000xf32>)
    %a = memref.load %t[%i] : memref<1000xf32>
    %b = memref.load %shared[%i] : memref<256xf32>
    %s = arith.addf %a, %b : f32
    memref.store %s, %out[%i] : memref<16xf32>
    memref.dealloc %t : memref<1000xf32>
  }
  memref.dealloc %shared : memref<256xf32>
  return
}

// -----

// What has no place: a buffer that is returned, one of dynamic size, one that
// the next iteration gets, and those of a function that runs in parallel or
// calls itself.

// CHECK-LABEL: func.func @returned(
// CHECK-NEXT: memref.alloc
func.func @returned() -> memref<1000xf32> {
  %a = memref.alloc() : memref<1000xf32>
  return %a : memref<1000xf32>
}

// CHECK-LABEL: func.func @dynamic(
// CHECK: memref.alloc(%arg0)
func.func @dynamic(%n: index) -> f32 {
  %a = memref.alloc(%n) : memref<?xf32>
  %v = memref.load %a[%n] : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return %v : f32
}

// CHECK-LABEL: func.func @carried(
// CHECK: scf.for
// CHECK-NEXT: memref.alloc
func.func @carried(%first: memref<1000xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %first) -> (memref<1000xf32>) {
    %next = memref.alloc() : memref<1000xf32>
    memref.copy %x, %next : memref<1000xf32> to memref<1000xf32>
    scf.yield %next : memref<1000xf32>
  }
  %v = memref.load %r[%c0] : memref<1000xf32>
  return %v : f32
}

// CHECK-LABEL: func.func private @inner(
// CHECK: memref.alloc
func.func private @inner(%i: index) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<1000xf32>
  memref.store %zero, %a[%i] : memref<1000xf32>
  memref.dealloc %a : memref<1000xf32>
  return
}
func.func @outer(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    func.call @inner(%i) : (index) -> ()
  }
  return
}

// CHECK-LABEL: func.func private @again(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: i1) {
// CHECK: memref.alloc
func.func private @again(%i: index, %c: i1) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<1000xf32>
  memref.store %zero, %a[%i] : memref<1000xf32>
  scf.if %c {
    func.call @again(%i, %c) : (index, i1) -> ()
  }
  memref.dealloc %a : memref<1000xf32>
  return
}
func.func @start(%i: index, %c: i1) {
  call @again(%i, %c) : (index, i1) -> ()
  return
}
