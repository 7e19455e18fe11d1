// RUN: ansor-opt %s --ansor-extract-tasks | FileCheck %s
// RUN: ansor-opt %s --ansor-extract-tasks=strict-fp | FileCheck %s --check-prefix=STRICT

// Inputs with inserted zeros are read without these: the remainder of an output
// by the stride is a loop (d1), and a dimension of the kernel and of the result.

// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0 + d3 + d1, d4)>
// CHECK-DAG: #[[KERNEL:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d1, d4, d2)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
// With the other offset of stride 2, the remainder runs backwards in the kernel.
// CHECK-DAG: #[[BACK:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, -d1 + 1, d4, d2)>

// Strict floats keep the products with zeros.
// STRICT-LABEL: func.func @even_offset(
// STRICT: tensor.insert_slice
// STRICT-LABEL: func.func @odd_offset(
// STRICT: tensor.insert_slice

// CHECK-LABEL: func.func @even_offset(
// CHECK-NOT: tensor.insert_slice
// CHECK: call @task_0
func.func @even_offset(%x: tensor<8x32xf32>, %w: tensor<4x32x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<19x32xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<19x32xf32>) -> tensor<19x32xf32>
  %2 = tensor.insert_slice %x into %1[2, 0] [8, 32] [2, 1] : tensor<8x32xf32> into tensor<19x32xf32>
  %3 = tensor.empty() : tensor<16x16xf32>
  %4 = linalg.fill ins(%zero : f32) outs(%3 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(o, f, k, c) -> (o + k, c)>, affine_map<(o, f, k, c) -> (k, c, f)>, affine_map<(o, f, k, c) -> (o, f)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%2, %w : tensor<19x32xf32>, tensor<4x32x16xf32>) outs(%4 : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<16x16xf32>
  return %5 : tensor<16x16xf32>
}

// CHECK-LABEL: func.func @odd_offset(
// CHECK-NOT: tensor.insert_slice
// CHECK: call @task_1
func.func @odd_offset(%x: tensor<8x32xf32>, %w: tensor<4x32x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<19x32xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<19x32xf32>) -> tensor<19x32xf32>
  %2 = tensor.insert_slice %x into %1[3, 0] [8, 32] [2, 1] : tensor<8x32xf32> into tensor<19x32xf32>
  %3 = tensor.empty() : tensor<16x16xf32>
  %4 = linalg.fill ins(%zero : f32) outs(%3 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(o, f, k, c) -> (o + k, c)>, affine_map<(o, f, k, c) -> (k, c, f)>, affine_map<(o, f, k, c) -> (o, f)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%2, %w : tensor<19x32xf32>, tensor<4x32x16xf32>) outs(%4 : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<16x16xf32>
  return %5 : tensor<16x16xf32>
}

// Ones are inserted: they add to the result, and stay.
// CHECK-LABEL: func.func @ones(
// CHECK: tensor.insert_slice
func.func @ones(%x: tensor<8x32xf32>, %w: tensor<4x32x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = tensor.empty() : tensor<19x32xf32>
  %1 = linalg.fill ins(%one : f32) outs(%0 : tensor<19x32xf32>) -> tensor<19x32xf32>
  %2 = tensor.insert_slice %x into %1[2, 0] [8, 32] [2, 1] : tensor<8x32xf32> into tensor<19x32xf32>
  %3 = tensor.empty() : tensor<16x16xf32>
  %4 = linalg.fill ins(%zero : f32) outs(%3 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(o, f, k, c) -> (o + k, c)>, affine_map<(o, f, k, c) -> (k, c, f)>, affine_map<(o, f, k, c) -> (o, f)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%2, %w : tensor<19x32xf32>, tensor<4x32x16xf32>) outs(%4 : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<16x16xf32>
  return %5 : tensor<16x16xf32>
}

// A zero that isn't a factor counts: the largest of elements and zeros.
// CHECK-LABEL: func.func @pooling(
// CHECK: tensor.insert_slice
func.func @pooling(%x: tensor<8x32xf32>, %w: tensor<4xf32>) -> tensor<16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<19x32xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<19x32xf32>) -> tensor<19x32xf32>
  %2 = tensor.insert_slice %x into %1[2, 0] [8, 32] [2, 1] : tensor<8x32xf32> into tensor<19x32xf32>
  %3 = tensor.empty() : tensor<16x32xf32>
  %4 = linalg.fill ins(%zero : f32) outs(%3 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(o, c, k) -> (o + k, c)>, affine_map<(o, c, k) -> (k)>, affine_map<(o, c, k) -> (o, c)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%2, %w : tensor<19x32xf32>, tensor<4xf32>) outs(%4 : tensor<16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.maximumf %a, %s : f32
    linalg.yield %m : f32
  } -> tensor<16x32xf32>
  return %5 : tensor<16x32xf32>
}

// CHECK: func.func private @task_0(%{{.*}}: tensor<8x32xf32>, %{{.*}}: tensor<2x2x{{.*}}xf32>, %{{.*}}: tensor<8x2x16xf32>)
// CHECK: tensor.pad %{{.*}} low[1, 0] high[1, 0]
// CHECK: linalg.generic {indexing_maps = [#[[IN]], #[[KERNEL]], #[[OUT]]]
// CHECK: func.func private @task_1
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[BACK]], #[[OUT]]]
