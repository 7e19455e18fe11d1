// RUN: ansor-opt %s --split-input-file --ansor-print-features=nests -o /dev/null | FileCheck %s
// RUN: ansor-opt %s --split-input-file --ansor-print-features -o /dev/null | FileCheck %s --check-prefix=ROWS

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// A vectorised op: its reductions come first, its innermost spatial iterator
// is the vector. The loop around it is unrolled by 8, of 16 iterations.
// CHECK:      "statement":"s3","loops":[
// CHECK-SAME: "extent":4,"kind":"spatial","annotation":"parallel"},
// CHECK-SAME: "extent":16,"kind":"reduction","annotation":"unrolled","copies":8},
// CHECK-SAME: "extent":4,"kind":"reduction"},
// CHECK-SAME: "extent":6,"kind":"spatial"},
// CHECK-SAME: "extent":32,"kind":"spatial","annotation":"vectorized"}],
// CHECK-SAME: "unroll_limit":8
// ROWS:      "statement":"s3",
// ROWS-SAME: "vec_len":5.04{{[0-9]*}},"vec_type.inner_spatial":1,
// ROWS-SAME: "unroll_num":1,"unroll_prod":3.16{{[0-9]*}},"unroll_len":3.16{{[0-9]*}},"unroll_type.outer_reduce":1,
// ROWS-SAME: "parallel_len":2.32{{[0-9]*}},"parallel_type.outer_spatial":1
func.func @cpu(%x: tensor<6x64xf32>, %y: tensor<64x128xf32>, %out: tensor<6x128xf32>) -> tensor<6x128xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %r = scf.forall (%j) = (0) to (128) step (32) shared_outs(%o = %out) -> (tensor<6x128xf32>) {
    %os = tensor.extract_slice %o[0, %j] [6, 32] [1, 1] : tensor<6x128xf32> to tensor<6x32xf32>
    %s = scf.for %k = %c0 to %c64 step %c4 iter_args(%acc = %os) -> (tensor<6x32xf32>) {
      %xs = tensor.extract_slice %x[0, %k] [6, 4] [1, 1] : tensor<6x64xf32> to tensor<6x4xf32>
      %ys = tensor.extract_slice %y[%k, %j] [4, 32] [1, 1] : tensor<64x128xf32> to tensor<4x32xf32>
      %t = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%xs, %ys : tensor<6x4xf32>, tensor<4x32xf32>) outs(%acc : tensor<6x32xf32>)
          attrs = {ansor.stage = 3 : i64, ansor.vectorize} {
      ^bb0(%p: f32, %q: f32, %z: f32):
        %0 = arith.mulf %p, %q : f32
        %1 = arith.addf %z, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<6x32xf32>
      scf.yield %t : tensor<6x32xf32>
    } {ansor.unroll = 8 : i64}
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[0, %j] [6, 32] [1, 1] : tensor<6x32xf32> into tensor<6x128xf32>
    }
  } {ansor.parallel}
  return %r : tensor<6x128xf32>
}

// -----

#id = affine_map<(m, n) -> (m, n)>

// Mappings of scf.forall make GPU loops, and nothing there is unrolled.
// CHECK:      "task":"gpu",{{.*}}"loops":[
// CHECK-SAME: "extent":8,"kind":"spatial","annotation":"block_y"},
// CHECK-SAME: "extent":4,"kind":"spatial","annotation":"block_x"},
// CHECK-SAME: "extent":32,"kind":"spatial","annotation":"thread_x"},
// CHECK-SAME: "extent":8,"kind":"spatial"}],
// ROWS:      "task":"gpu",
// ROWS-SAME: "is_gpu":1,"block_x":2.32{{[0-9]*}},"block_y":3.16{{[0-9]*}},"block_z":1,"thread_x":5.04{{[0-9]*}},"thread_y":1,"thread_z":1,"vthread":1
func.func @gpu(%x: tensor<64x128xf32>, %out: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %r = scf.forall (%i, %j) = (0, 0) to (64, 128) step (8, 32) shared_outs(%o = %out) -> (tensor<64x128xf32>) {
    %os = tensor.extract_slice %o[%i, %j] [8, 32] [1, 1] : tensor<64x128xf32> to tensor<8x32xf32>
    %s = scf.forall (%t) in (32) shared_outs(%p = %os) -> (tensor<8x32xf32>) {
      %n = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%t)[%j]
      %xs = tensor.extract_slice %x[%i, %n] [8, 1] [1, 1] : tensor<64x128xf32> to tensor<8x1xf32>
      %ps = tensor.extract_slice %p[0, %t] [8, 1] [1, 1] : tensor<8x32xf32> to tensor<8x1xf32>
      %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%xs : tensor<8x1xf32>) outs(%ps : tensor<8x1xf32>) {
      ^bb0(%a: f32, %b: f32):
        %e = math.exp %a : f32
        linalg.yield %e : f32
      } -> tensor<8x1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %y into %p[0, %t] [8, 1] [1, 1] : tensor<8x1xf32> into tensor<8x32xf32>
      }
    } {mapping = [#gpu.thread<x>]}
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, %j] [8, 32] [1, 1] : tensor<8x32xf32> into tensor<64x128xf32>
    }
  } {mapping = [#gpu.block<y>, #gpu.block<x>]}
  return %r : tensor<64x128xf32>
}

// -----

#id = affine_map<(m, n) -> (m, n)>

// A limit of 20 on an op: its innermost iterators, 8 and 2 of the next.
// CHECK:      "task":"unrolled_op",{{.*}}"loops":[
// CHECK-SAME: "extent":5,"kind":"spatial","annotation":"unrolled","copies":2},
// CHECK-SAME: "extent":8,"kind":"spatial","annotation":"unrolled","copies":8}],
// ROWS:       "task":"unrolled_op",{{.*}}"unroll_num":1.58{{[0-9]*}},"unroll_prod":4.08{{[0-9]*}},
func.func @unrolled_op(%x: tensor<5x8xf32>, %out: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x8xf32>) outs(%out : tensor<5x8xf32>) attrs = {ansor.unroll = 20 : i64} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}
