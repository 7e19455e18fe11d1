// RUN: ansor-opt %s --ansor-vectorize | FileCheck %s
// RUN: ansor-opt %s --ansor-vectorize=strict-fp | FileCheck %s --check-prefix=STRICT

// The accumulator is carried by the reduction loop, which is unrolled.
// CHECK-LABEL: func.func @carried
// CHECK: %[[INIT:.*]] = vector.transfer_read %arg2
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[INIT]]) -> (vector<[[L:[0-9]+]]xf32>)
// CHECK-COUNT-4: arith.addf {{.*}} : vector<[[L]]xf32>
// CHECK-NOT: arith.addf
// CHECK: scf.yield
// CHECK: vector.transfer_write %[[SUM]], %arg2
func.func @carried(%a: memref<64xf32>, %b: memref<64x4xf32>, %c: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %k = %c0 to %c64 step %c1 {
    %x = memref.subview %a[%k] [1] [1] : memref<64xf32> to memref<1xf32, strided<[1], offset: ?>>
    %y = memref.subview %b[%k, 0] [1, 4] [1, 1] : memref<64x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(j, k) -> (k)>, affine_map<(j, k) -> (k, j)>, affine_map<(j, k) -> (j)>],
                    iterator_types = ["parallel", "reduction"]}
        ins(%x, %y : memref<1xf32, strided<[1], offset: ?>>, memref<1x4xf32, strided<[4, 1], offset: ?>>)
        outs(%c : memref<4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    }
  }
  return
}

// A row sum: lanes along the reduction, unless the order is fixed.
// CHECK-LABEL: func.func @row_sum
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7] : vector<16xf32>
// CHECK: vector.shuffle {{.*}} [8, 9, 10, 11, 12, 13, 14, 15] : vector<16xf32>
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: arith.addf {{.*}} : vector<1xf32>
// STRICT-LABEL: func.func @row_sum
// STRICT-NOT: vector.shuffle
// STRICT: return
func.func @row_sum(%a: memref<256xf32>, %c: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<256xf32>) outs(%c : memref<f32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Subtraction does not commute: no lanes along it.
// CHECK-LABEL: func.func @row_difference
// CHECK-NOT: vector
// CHECK: return
func.func @row_difference(%a: memref<256xf32>, %c: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<256xf32>) outs(%c : memref<f32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.subf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Bits are not stored as vectors of bits are.
// CHECK-LABEL: func.func @bits
// CHECK-NOT: vector
// CHECK: memref.store
func.func @bits(%a: memref<64xi1>, %c: memref<64xi1>) {
  linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>], iterator_types = ["parallel"]}
      ins(%a : memref<64xi1>) outs(%c : memref<64xi1>) {
  ^bb0(%p: i1, %o: i1):
    linalg.yield %p : i1
  }
  return
}

// A dynamic size: vectors, then single elements.
// CHECK-LABEL: func.func @dynamic
// CHECK: scf.for
// CHECK: vector.transfer_write
// CHECK: scf.for
// CHECK: vector<1xf32>
func.func @dynamic(%a: memref<?xf32>, %c: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>], iterator_types = ["parallel"]}
      ins(%a : memref<?xf32>) outs(%c : memref<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// A map with division is computed, whatever it is.
// CHECK-LABEL: func.func @floordiv
// CHECK: memref.load %arg0
// CHECK: vector.transfer_write
func.func @floordiv(%a: memref<8xf32>, %c: memref<16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(k) -> (k floordiv 2)>, affine_map<(k) -> (k)>], iterator_types = ["parallel"]}
      ins(%a : memref<8xf32>) outs(%c : memref<16xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// A result at no place of its own is left to plain loops.
// CHECK-LABEL: func.func @no_plan
// CHECK: linalg.generic
func.func @no_plan(%a: memref<8x4xf32>, %c: memref<8x1xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, 0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x4xf32>) outs(%c : memref<8x1xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// A maximum that passes over NaNs and starts from a number: it never is one.
// CHECK-LABEL: func.func @row_max
// CHECK: arith.constant dense<0xFF800000> : vector<16xf32>
// CHECK-NOT: arith.maxnumf
// CHECK: %[[X:.*]] = vector.transfer_read
// CHECK: %[[GREATER:.*]] = arith.cmpf ogt, %[[X]], %[[ACC:.*]] : vector<16xf32>
// CHECK: arith.select %[[GREATER]], %[[X]], %[[ACC]]
// CHECK-NOT: arith.maxnumf
// CHECK: return
func.func @row_max(%a: memref<256xf32>, %c: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<256xf32>) outs(%c : memref<f32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.maxnumf %o, %p {ansor.starts_from_number} : f32
    linalg.yield %s : f32
  }
  return
}

// A transposition: blocks are loaded along the rows and transposed in
// registers.
// CHECK-LABEL: func.func @transpose
// CHECK-NOT: memref.load
// CHECK: vector.shuffle
// CHECK-NOT: memref.load
// CHECK: return
func.func @transpose(%a: memref<64x96xf32>, %c: memref<96x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<64x96xf32>) outs(%c : memref<96x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// Every second element: two vectors and a shuffle, and no read behind the last.
// CHECK-LABEL: func.func @every_second
// CHECK: vector.transfer_read %arg0[%{{.*}}]
// CHECK: vector.transfer_read %arg0[%{{.*}}]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 2,
// CHECK-NOT: memref.load
// CHECK: return
func.func @every_second(%a: memref<127xf32>, %c: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i * 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<127xf32>) outs(%c : memref<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// Rows too short for vectors: these lie along the columns, and the results are
// transposed when they are stored.
// CHECK-LABEL: func.func @short_rows
// CHECK: vector.transfer_read %arg0
// CHECK: arith.mulf %{{.*}} : vector<[[L:[0-9]+]]xf32>
// CHECK: vector.shuffle
// CHECK: vector.transfer_write %{{.*}}, %arg2{{.*}} : vector<2xf32>
// CHECK: return
func.func @short_rows(%a: memref<4x16xf32>, %b: memref<4x2xf32>, %c: memref<16x2xf32>) {
  linalg.generic {indexing_maps = [affine_map<(f, x, k) -> (k, f)>, affine_map<(f, x, k) -> (k, x)>, affine_map<(f, x, k) -> (f, x)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<4x16xf32>, memref<4x2xf32>) outs(%c : memref<16x2xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  }
  return
}
