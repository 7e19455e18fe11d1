// Transpositions of weights are left to the callers of tasks.

// RUN: ansor-opt %s --split-input-file --ansor-extract-tasks | FileCheck %s
// RUN: ansor-opt %s --split-input-file --ansor-extract-tasks="prepack=false" \
// RUN: | FileCheck %s --check-prefix=INSIDE
// RUN: ansor-opt %s --split-input-file --ansor-extract-tasks --ansor-prepack \
// RUN: | FileCheck %s --check-prefix=PACK

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @marked(
// CHECK-SAME: %[[X:[^:]*]]: tensor<64x96xf32>, %[[W:[^:]*]]: tensor<32x96xf32> {ansor.weight}
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[W]] : {{.*}} attrs = {ansor.prepack}
// CHECK: call @task_0(%[[X]], %[[T]],
// CHECK: func.func private @task_0(%{{.*}}: tensor<64x96xf32>, %{{.*}}: tensor<96x32xf32> {ansor.weight},
// The task is that of a product whose factor lies as its vectors do.
// CHECK-NOT: ansor.stage = 2

// INSIDE-LABEL: func.func @marked(
// INSIDE-NOT: ansor.prepack
// INSIDE: func.func private @task_0(%{{.*}}: tensor<64x96xf32>, %{{.*}}: tensor<32x96xf32>,
// INSIDE: ansor.stage = 2

// PACK: func.func @marked(%[[X:[^:]*]]: tensor<64x96xf32>, %[[W:[^:]*]]: tensor<32x96xf32> {ansor.weight})
// PACK-SAME: attributes {ansor.prepack = [@marked_prepack, @marked_prepacked]}
// PACK-NEXT: %[[P:.*]] = call @marked_prepack(%[[W]])
// PACK-NEXT: %[[R:.*]] = call @marked_prepacked(%[[X]], %[[P]])
// PACK-NEXT: return %[[R]]
// PACK: func.func @marked_prepack(%[[V:[^:]*]]: tensor<32x96xf32> {ansor.weight, bufferization.writable = false}) -> tensor<96x32xf32>
// PACK: linalg.generic {{.*}} ins(%[[V]] :
// PACK: func.func @marked_prepacked(
// PACK-SAME: tensor<64x96xf32>, %[[Q:[^:]*]]: tensor<96x32xf32> {ansor.weight, bufferization.writable = false})
// PACK-NOT: linalg.generic
// PACK: call @task_0(%{{.*}}, %[[Q]],
func.func @marked(%x: tensor<64x96xf32>, %w: tensor<32x96xf32> {ansor.weight})
    -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %c = linalg.generic {indexing_maps = [#mk, #nk, #mn],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x96xf32>, tensor<32x96xf32>)
      outs(%f : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x32xf32>
  return %c : tensor<64x32xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Without a mark an argument is none, nor is one of a private function.

// CHECK-LABEL: func.func @unmarked(
// CHECK-NOT: ansor.prepack
// CHECK: ansor.stage = 2
// PACK-LABEL: func.func @unmarked(
// PACK-NOT: unmarked_prepack
func.func @unmarked(%x: tensor<64x96xf32>, %w: tensor<32x96xf32>)
    -> tensor<64x32xf32> {
  %r = call @inner(%x, %w) : (tensor<64x96xf32>, tensor<32x96xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

func.func private @inner(%x: tensor<64x96xf32>, %w: tensor<32x96xf32> {ansor.weight})
    -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %c = linalg.generic {indexing_maps = [#mk, #nk, #mn],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x96xf32>, tensor<32x96xf32>)
      outs(%f : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x32xf32>
  return %c : tensor<64x32xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// What is computed from weights is one: here the sum of two. It moves, too.

// CHECK-LABEL: func.func @computed(
// CHECK: %[[SUM:.*]] = call @task_0(
// CHECK: %[[SHAPED:.*]] = tensor.expand_shape %[[SUM]]
// CHECK: linalg.generic {{.*}} ins(%[[SHAPED]] : {{.*}} attrs = {ansor.prepack}
// PACK-LABEL: func.func @computed_prepack(
// PACK: %[[SUM:.*]] = call @task_0(
// PACK: %[[SHAPED:.*]] = tensor.expand_shape %[[SUM]]
// PACK: linalg.generic {{.*}} ins(%[[SHAPED]] :
// PACK-LABEL: func.func @computed_prepacked(
// PACK-NOT: call @task_0
// PACK: call @task_1
func.func @computed(%v: tensor<32x96xf32> {ansor.weight},
    %x: tensor<64x96xf32>, %w: tensor<32x96xf32> {ansor.weight})
    -> (tensor<64x32xf32>, tensor<32x96xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %d = tensor.empty() : tensor<32x96xf32>
  %vw = linalg.add ins(%v, %w : tensor<32x96xf32>, tensor<32x96xf32>)
      outs(%d : tensor<32x96xf32>) -> tensor<32x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %c = linalg.generic {indexing_maps = [#mk, #nk, #mn],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %vw : tensor<64x96xf32>, tensor<32x96xf32>)
      outs(%f : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x32xf32>
  return %c, %vw : tensor<64x32xf32>, tensor<32x96xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// Small stages that read weights only: the roots of variances.

// CHECK-LABEL: func.func @normalized(
// CHECK-SAME: %[[V:[^:]*]]: tensor<64xf32> {ansor.weight})
// CHECK: %[[ROOTS:.*]] = linalg.generic {{.*}} ins(%[[V]] : {{.*}} attrs = {ansor.prepack}
// CHECK: math.rsqrt
// CHECK: call @task_0({{.*}}%[[ROOTS]]
// CHECK: func.func private @task_0
// CHECK-NOT: math.rsqrt
// PACK-LABEL: func.func @normalized_prepack(
// PACK: math.rsqrt
// PACK-LABEL: func.func @normalized_prepacked(
// PACK-NOT: math.rsqrt
func.func @normalized(%x: tensor<64x96xf32>, %w: tensor<96x128xf32>,
    %v: tensor<64xf32> {ansor.weight}) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %d = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %c = linalg.generic {indexing_maps = [#mk, #kn, #mn],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x96xf32>, tensor<96x128xf32>)
      outs(%f : tensor<64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x128xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%v : tensor<64xf32>) outs(%d : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.addf %a, %epsilon : f32
    %s = math.rsqrt %p : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%c, %r : tensor<64x128xf32>, tensor<64xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<64x128xf32>
  return %y : tensor<64x128xf32>
}
