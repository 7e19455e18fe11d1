// Dot instructions of the target, by its features.
// RUN: ansor-opt %s --ansor-attach-target="target=znver4" --ansor-vectorize | FileCheck %s
// RUN: ansor-opt %s --ansor-attach-target="target=znver4" --ansor-vectorize=strict-fp | FileCheck %s --check-prefix=STRICT
// RUN: ansor-opt %s --ansor-attach-target="target=x86-64-v3" --ansor-vectorize | FileCheck %s --check-prefix=PLAIN
// RUN: ansor-opt %s --ansor-attach-target="target=host:triple=aarch64-linux-gnu,cpu=cortex-a76" --ansor-vectorize | FileCheck %s --check-prefix=ARM

// PLAIN-NOT: llvm.call_intrinsic

// The rows of the second factor by turns, four elements of the first repeated;
// the two steps that are left one by one.
// CHECK-LABEL: func.func @unsigned_signed
// CHECK: vector.shuffle
// CHECK: %[[WORD:.*]] = vector.bitcast %{{.*}} : vector<4xi8> to vector<1xi32>
// CHECK: %[[A:.*]] = vector.bitcast %{{.*}} : vector<16xi32> to vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[A]], %{{.*}})
// CHECK-NOT: llvm.call_intrinsic
// CHECK-COUNT-2: arith.muli
// CHECK-NOT: arith.muli
// ARM-LABEL: func.func @unsigned_signed
// ARM-NOT: llvm.call_intrinsic
func.func @unsigned_signed(%a: memref<1x6xi8>, %b: memref<6x16xi8>, %c: memref<1x16xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1x6xi8>, memref<6x16xi8>) outs(%c : memref<1x16xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %p = arith.extui %x : i8 to i32
    %q = arith.extsi %y : i8 to i32
    %s = arith.muli %p, %q : i32
    %t = arith.addi %o, %s : i32
    linalg.yield %t : i32
  }
  return
}

// The instruction's unsigned factor is the one along the lanes.
// CHECK-LABEL: func.func @signed_unsigned
// CHECK: %[[A:.*]] = vector.bitcast %{{.*}} : vector<16xi32> to vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %{{.*}}, %[[A]])
func.func @signed_unsigned(%a: memref<1x4xi8>, %b: memref<4x16xi8>, %c: memref<1x16xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1x4xi8>, memref<4x16xi8>) outs(%c : memref<1x16xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %p = arith.extsi %x : i8 to i32
    %q = arith.extui %y : i8 to i32
    %s = arith.muli %p, %q : i32
    %t = arith.addi %o, %s : i32
    linalg.yield %t : i32
  }
  return
}

// 128 is added to the signed factor, and its part of the sums taken off, once
// for both rows.
// CHECK-LABEL: func.func @signed_signed
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK-NOT: llvm.call_intrinsic
// CHECK-COUNT-2: arith.subi
// ARM-LABEL: func.func @signed_signed
// ARM: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
func.func @signed_signed(%a: memref<2x4xi8>, %b: memref<4x16xi8>, %c: memref<2x16xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<2x4xi8>, memref<4x16xi8>) outs(%c : memref<2x16xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %p = arith.extsi %x : i8 to i32
    %q = arith.extsi %y : i8 to i32
    %s = arith.muli %p, %q : i32
    %t = arith.addi %o, %s : i32
    linalg.yield %t : i32
  }
  return
}

// No such instruction.
// CHECK-LABEL: func.func @unsigned_unsigned
// CHECK-NOT: llvm.call_intrinsic
// ARM-LABEL: func.func @unsigned_unsigned
// ARM: llvm.call_intrinsic "llvm.aarch64.neon.udot.v4i32.v16i8"
func.func @unsigned_unsigned(%a: memref<1x4xi8>, %b: memref<4x16xi8>, %c: memref<1x16xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1x4xi8>, memref<4x16xi8>) outs(%c : memref<1x16xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %p = arith.extui %x : i8 to i32
    %q = arith.extui %y : i8 to i32
    %s = arith.muli %p, %q : i32
    %t = arith.addi %o, %s : i32
    linalg.yield %t : i32
  }
  return
}

// CHECK-LABEL: func.func @halves
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// Pairs are rounded at once: not if the order of sums counts.
// STRICT-LABEL: func.func @halves
// STRICT-NOT: llvm.call_intrinsic
func.func @halves(%a: memref<1x2xbf16>, %b: memref<2x16xbf16>, %c: memref<1x16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1x2xbf16>, memref<2x16xbf16>) outs(%c : memref<1x16xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %p = arith.extf %x : bf16 to f32
    %q = arith.extf %y : bf16 to f32
    %s = arith.mulf %p, %q : f32
    %t = arith.addf %o, %s : f32
    linalg.yield %t : f32
  }
  return
}
