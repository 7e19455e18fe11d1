// RUN: ansor-opt %s --ansor-fold-layouts | FileCheck %s

// A slice of the permuted tensor becomes one of the tensor itself.
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @slices
// CHECK-NOT: linalg.generic
// CHECK: scf.for %[[K:[a-z0-9]+]] =
// CHECK: %[[PART:.*]] = tensor.extract_slice %arg0[0, %[[K]]] [16, 4] [1, 1]
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[READ]], #{{.*}}]{{.*}} ins(%{{.*}}, %[[PART]] :
#read = affine_map<(k, j) -> (j, k)>
#write = affine_map<(k, j) -> (k, j)>
func.func @slices(%b: tensor<16x64xf32>, %a: tensor<8x64xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %e = tensor.empty() : tensor<64x16xf32>
  %t = linalg.generic {indexing_maps = [#read, #write], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<16x64xf32>) outs(%e : tensor<64x16xf32>) attrs = {ansor.read_through} {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<64x16xf32>
  %r = scf.for %k = %c0 to %c64 step %c4 iter_args(%acc = %c) -> tensor<8x16xf32> {
    %x = tensor.extract_slice %a[0, %k] [8, 4] [1, 1] : tensor<8x64xf32> to tensor<8x4xf32>
    %y = tensor.extract_slice %t[%k, 0] [4, 16] [1, 1] : tensor<64x16xf32> to tensor<4x16xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<8x4xf32>, tensor<4x16xf32>) outs(%acc : tensor<8x16xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %n = arith.addf %o, %m : f32
      linalg.yield %n : f32
    } -> tensor<8x16xf32>
    scf.yield %s : tensor<8x16xf32>
  }
  return %r : tensor<8x16xf32>
}

// What is needed as a whole stays.
// CHECK-LABEL: func.func @returned
// CHECK: linalg.generic
func.func @returned(%b: tensor<16x64xf32>) -> tensor<64x16xf32> {
  %e = tensor.empty() : tensor<64x16xf32>
  %t = linalg.generic {indexing_maps = [#read, #write], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<16x64xf32>) outs(%e : tensor<64x16xf32>) attrs = {ansor.read_through} {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<64x16xf32>
  return %t : tensor<64x16xf32>
}
