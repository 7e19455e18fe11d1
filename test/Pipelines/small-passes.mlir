// RUN: ansor-opt %s --ansor-fast-math | FileCheck %s --check-prefix=FAST
// RUN: ansor-opt %s --ansor-lower-copies | FileCheck %s --check-prefix=COPY
// RUN: ansor-opt %s --ansor-place-buffers | FileCheck %s --check-prefix=PLACE
// RUN: ansor-opt %s --ansor-polynomial-math | FileCheck %s --check-prefix=POLY

// FAST-LABEL: func.func @flags
// FAST: arith.mulf {{.*}} fastmath<contract>
// FAST: arith.addf {{.*}} fastmath<reassoc,contract>
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

// POLY-LABEL: func.func @math
// POLY-NOT: math.exp
// POLY: math.sin
func.func @math(%a: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>) {
  %e = math.exp %a : vector<4xf32>
  %s = math.sin %a : vector<4xf32>
  return %e, %s : vector<4xf32>, vector<4xf32>
}
