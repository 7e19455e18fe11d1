// The rest of a row is one masked vector where that costs nothing more.
// RUN: ansor-opt %s --ansor-attach-target=target=x86-64-v4 --ansor-vectorize --ansor-forward-buffers | FileCheck %s
// RUN: ansor-opt %s --ansor-attach-target=target=x86-64-v3 --ansor-vectorize --ansor-forward-buffers | FileCheck %s --check-prefix=PLAIN
// RUN: ansor-opt %s --ansor-attach-target=target=x86-64-v4 --ansor-lower-to-cpu=parallel=false | FileCheck %s --check-prefix=LOW

// 22 elements: a full vector and 6 of one of 8. What the first op stores, the
// second one needs not load.
// CHECK-LABEL: func.func @rest
// CHECK: vector.transfer_read %arg0[%{{.*}}], %{{.*}} : memref<22xf32>, vector<16xf32>
// CHECK: %[[MASK:.*]] = arith.constant dense<[true, true, true, true, true, true, false, false]> : vector<8xi1>
// CHECK: %[[X:.*]] = vector.transfer_read %arg0[%{{.*}}], %{{.*}}, %[[MASK]] {{.*}}, vector<8xf32>
// CHECK-NOT: vector.transfer_read %arg1
// CHECK: vector.transfer_write %{{.*}}, %arg2[%{{.*}}], %{{.*}} {{.*}} vector<8xf32>
// PLAIN-LABEL: func.func @rest
// PLAIN-NOT: dense<[true
// PLAIN: return
// LOW-LABEL: llvm.func @rest
// LOW: llvm.intr.masked.load
// LOW: llvm.intr.masked.store
func.func @rest(%a: memref<22xf32>, %b: memref<22xf32>, %c: memref<22xf32>) {
  linalg.exp ins(%a : memref<22xf32>) outs(%b : memref<22xf32>)
  linalg.exp ins(%b : memref<22xf32>) outs(%c : memref<22xf32>)
  return
}

// 20 elements need no mask; a division might trap in lanes that hold nothing;
// 16 bits aren't masked.
// CHECK-LABEL: func.func @none
// CHECK-NOT: dense<[true
// CHECK: return
func.func @none(%a: memref<20xf32>, %b: memref<20xf32>, %c: memref<22xi32>, %d: memref<22xi32>, %e: memref<22xf16>, %f: memref<22xf16>) {
  linalg.exp ins(%a : memref<20xf32>) outs(%b : memref<20xf32>)
  linalg.div ins(%c, %c : memref<22xi32>, memref<22xi32>) outs(%d : memref<22xi32>)
  linalg.abs ins(%e : memref<22xf16>) outs(%f : memref<22xf16>)
  return
}
