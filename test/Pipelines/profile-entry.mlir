// RUN: ansor-opt %s --ansor-profile-entry | FileCheck %s

// A lap after each call of a task, also in a loop, and one after the work that
// is between two calls. Views and allocations are no work.

// CHECK: module attributes {ansor.profile = ["task_0", "memref.copy at profile-entry.mlir:[[@LINE+23]]"]}
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[BEGIN:.*]] = arith.constant -1
// CHECK-NEXT: call @ansor_profile_lap(%[[BEGIN]])
// CHECK: memref.alloc
// CHECK-NEXT: call @task_0
// CHECK-NEXT: %[[TASK:.*]] = arith.constant 0
// CHECK-NEXT: call @ansor_profile_lap(%[[TASK]])
// CHECK: memref.copy
// CHECK-NEXT: memref.subview
// CHECK-NEXT: %[[COPY:.*]] = arith.constant 1
// CHECK-NEXT: call @ansor_profile_lap(%[[COPY]])
// CHECK: scf.for
// CHECK: func.call @task_0
// CHECK-NEXT: arith.constant 0
// CHECK-NEXT: func.call @ansor_profile_lap
// CHECK: func.func private @ansor_profile_lap(i64)
func.func @main(%a: memref<8xf32>, %b: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = memref.alloc() : memref<8xf32>
  call @task_0(%a, %t) : (memref<8xf32>, memref<8xf32>) -> ()
  memref.copy %t, %b : memref<8xf32> to memref<8xf32>
  %s = memref.subview %b[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  scf.for %i = %c0 to %c8 step %c1 {
    func.call @task_0(%b, %t) : (memref<8xf32>, memref<8xf32>) -> ()
  }
  memref.dealloc %t : memref<8xf32>
  return
}
func.func private @task_0(memref<8xf32>, memref<8xf32>)
    attributes {ansor.task = "a1-0000000000000000"}
