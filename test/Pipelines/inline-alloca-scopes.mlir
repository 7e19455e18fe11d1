// RUN: ansor-opt %s --ansor-inline-alloca-scopes | FileCheck %s

// CHECK-LABEL: func.func @nothing_on_the_stack
// CHECK-NOT: alloca_scope
// CHECK-NOT: stacksave
// CHECK: %[[V:.*]] = arith.addf
// CHECK-NEXT: return %[[V]]
func.func @nothing_on_the_stack(%a: f32) -> f32 {
  %r = memref.alloca_scope -> (f32) {
    %0 = arith.addf %a, %a : f32
    memref.alloca_scope.return %0 : f32
  }
  return %r : f32
}

// CHECK-LABEL: func.func @stack
// CHECK: scf.for
// CHECK: %[[S:.*]] = llvm.intr.stacksave
// CHECK-NEXT: memref.alloca
// CHECK: llvm.intr.stackrestore %[[S]]
func.func @stack(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    memref.alloca_scope {
      %b = memref.alloca() : memref<4xf32>
      memref.store %x, %b[%c0] : memref<4xf32>
    }
  }
  return
}
