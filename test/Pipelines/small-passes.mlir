// RUN: ansor-opt %s --ansor-fast-math | FileCheck %s --check-prefix=FAST
// RUN: ansor-opt %s --ansor-lower-copies | FileCheck %s --check-prefix=COPY
// RUN: ansor-opt %s --ansor-place-buffers | FileCheck %s --check-prefix=PLACE
// RUN: ansor-opt %s --ansor-polynomial-math | FileCheck %s --check-prefix=POLY
// RUN: ansor-opt %s --ansor-polynomial-math=strict-fp | FileCheck %s --check-prefix=EXACT
// RUN: ansor-opt %s --ansor-attach-target=target=znver4 --ansor-expand-truncations | FileCheck %s --check-prefix=TRUNC
// RUN: ansor-opt %s --ansor-attach-target=target=x86-64-v3 --ansor-expand-truncations | FileCheck %s --check-prefix=NOBF16
// RUN: ansor-opt %s --ansor-attach-target=target=cortex-a72 --ansor-expand-truncations | FileCheck %s --check-prefix=NOBF16

// FAST-LABEL: func.func @flags
// FAST: arith.mulf {{.*}} fastmath<contract>
// FAST: arith.addf {{.*}} fastmath<reassoc,nsz,contract>
// FAST: arith.divf %{{[^ ]*}}, %{{[^ ]*}} : f32
// FAST: arith.addf {{.*}} fastmath<contract>
// FAST-NOT: nnan
func.func @flags(%a: tensor<8xf32>, %s: tensor<f32>) -> (tensor<f32>, tensor<8xf32>) {
  %r = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%a : tensor<8xf32>) outs(%s : tensor<f32>) {
  ^bb0(%p: f32, %o: f32):
    %m = arith.mulf %p, %p : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %e = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>], iterator_types = ["parallel"]}
      outs(%a : tensor<8xf32>) {
  ^bb0(%o: f32):
    %d = arith.divf %o, %o : f32
    %t = arith.addf %o, %d : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %r, %e : tensor<f32>, tensor<8xf32>
}

// A maximum that passes over NaNs is marked if it starts from a number, with the
// accumulator in front; not if it starts from a NaN, or from an unknown value.
// FAST-LABEL: func.func @numbers
// FAST: ^bb0(%[[P:.*]]: f32, %[[O:.*]]: f32):
// FAST-NEXT: arith.maxnumf %[[O]], %[[P]] fastmath<reassoc,nsz> {ansor.starts_from_number}
// FAST: arith.maxnumf %{{[^ ]*}}, %{{[^ ]*}} fastmath<reassoc,nsz> : f32
// FAST: arith.maxnumf %{{[^ ]*}}, %{{[^ ]*}} fastmath<reassoc,nsz> : f32
func.func @numbers(%a: tensor<8xf32>, %s: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %lowest = arith.constant 0xFF800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%lowest : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %g = linalg.fill ins(%nan : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %q = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%a : tensor<8xf32>) outs(%f : tensor<f32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.maxnumf %p, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%a : tensor<8xf32>) outs(%g : tensor<f32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.maxnumf %p, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %u = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%a : tensor<8xf32>) outs(%s : tensor<f32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.maxnumf %p, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %q, %r, %u : tensor<f32>, tensor<f32>, tensor<f32>
}

// COPY-LABEL: func.func @copies
// COPY: memref.copy
// COPY-NOT: memref.copy
// COPY: linalg.generic
func.func @copies(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %c: memref<4x4xf32, strided<[8, 1]>>) {
  memref.copy %a, %b : memref<4x4xf32> to memref<4x4xf32>
  memref.copy %a, %c : memref<4x4xf32> to memref<4x4xf32, strided<[8, 1]>>
  return
}

// The small one goes to the stack; the large and the returned one stay.
// PLACE-LABEL: func.func @place
// PLACE: memref.alloca() : memref<16xf32>
// PLACE: memref.alloc() : memref<1024xf32>
// PLACE: memref.alloc() : memref<2xf32>
func.func @place(%v: f32) -> memref<2xf32> {
  %c0 = arith.constant 0 : index
  %s = memref.alloc() : memref<16xf32>
  %l = memref.alloc() : memref<1024xf32>
  %r = memref.alloc() : memref<2xf32>
  memref.store %v, %s[%c0] : memref<16xf32>
  memref.store %v, %l[%c0] : memref<1024xf32>
  return %r : memref<2xf32>
}

// Each iteration of a parallel loop has a stack of its own.
// PLACE-LABEL: func.func @parallel
// PLACE: scf.parallel
// PLACE: memref.alloca() : memref<1024xf32>
// PLACE: memref.alloc() : memref<65536xf32>
func.func @parallel(%v: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %s = memref.alloc() : memref<1024xf32>
    %l = memref.alloc() : memref<65536xf32>
    memref.store %v, %s[%i] : memref<1024xf32>
    memref.store %v, %l[%i] : memref<65536xf32>
  }
  return
}

// POLY-LABEL: func.func @math
// POLY-NOT: math.exp
// POLY: math.sin
func.func @math(%a: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>) {
  %e = math.exp %a : vector<4xf32>
  %s = math.sin %a : vector<4xf32>
  return %e, %s : vector<4xf32>, vector<4xf32>
}

// Vectors that one number divides are multiplied by its reciprocal. That of a
// subnormal number may be infinite: then they are divided.
// POLY-LABEL: func.func @divide
// POLY: %[[TINY:.*]] = arith.cmpf olt
// POLY: arith.divf %{{.*}} : f32
// POLY: scf.if %[[TINY]]
// POLY-COUNT-2: arith.divf {{.*}} : vector<4xf32>
// POLY: else
// POLY-COUNT-2: arith.mulf {{.*}} : vector<4xf32>
// POLY-NOT: arith.divf {{.*}} vector
// POLY: return
// EXACT-LABEL: func.func @divide
// EXACT-COUNT-2: arith.divf {{.*}} : vector<4xf32>
func.func @divide(%a: vector<4xf32>, %b: vector<4xf32>, %s: f32) -> (vector<4xf32>, vector<4xf32>) {
  %v = vector.broadcast %s : f32 to vector<4xf32>
  %x = arith.divf %a, %v : vector<4xf32>
  %y = arith.divf %b, %v : vector<4xf32>
  return %x, %y : vector<4xf32>, vector<4xf32>
}

// TRUNC-LABEL: func.func @f64_to_bf16
// TRUNC: %[[NEAR:.*]] = arith.truncf %[[X:.*]] : vector<8xf64> to vector<8xf32>
// TRUNC: %[[BACK:.*]] = arith.extf %[[NEAR]]
// TRUNC: %[[INEXACT:.*]] = arith.cmpf une, %[[X]], %[[BACK]]
// TRUNC: %[[ODD:.*]] = arith.ori
// TRUNC: %[[KEPT:.*]] = arith.select %[[INEXACT]], %[[ODD]], %{{.*}} : vector<8xi1>, vector<8xi32>
// TRUNC: %[[CAST:.*]] = arith.bitcast %[[KEPT]]
// TRUNC: arith.truncf %[[CAST]] : vector<8xf32> to vector<8xbf16>
// TRUNC: arith.truncf %{{.*}} : f32 to bf16
func.func @f64_to_bf16(%x: vector<8xf64>, %y: f32) -> (vector<8xbf16>, bf16) {
  %0 = arith.truncf %x : vector<8xf64> to vector<8xbf16>
  %1 = arith.truncf %y : f32 to bf16
  return %0, %1 : vector<8xbf16>, bf16
}

// Without an instruction for it, f32 becomes bf16 by integers.
// NOBF16-NOT: arith.truncf {{.*}}bf16
// NOBF16-NOT: arith.addf {{.*}} : bf16
// TRUNC-LABEL: func.func @single
// TRUNC: arith.truncf %{{.*}} : f32 to bf16
func.func @single(%x: f32, %v: vector<8xf32>) -> (bf16, vector<8xbf16>) {
  %t = arith.truncf %x : f32 to bf16
  %a = arith.addf %t, %t : bf16
  %b = arith.truncf %v : vector<8xf32> to vector<8xbf16>
  return %a, %b : bf16, vector<8xbf16>
}
