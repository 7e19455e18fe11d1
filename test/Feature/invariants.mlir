// A schedule changes where and in which order things are computed, not how
// much: whatever is decided (tiles divide here), the multiply-adds of the
// update, the iterations of the epilogue and the bytes of the arguments that
// they touch are those of the unscheduled task.

// RUN: ansor-opt %s --ansor-extract-tasks --ansor-generate-sketches="target=x86-64-v3" -o %t.mlir
// RUN: ansor-opt %t.mlir --ansor-print-features -o /dev/null | FileCheck %s
// RUN: ansor-opt %t.mlir --ansor-apply-decisions="seed=1" --transform-interpreter --ansor-print-features -o /dev/null | FileCheck %s
// RUN: ansor-opt %t.mlir --ansor-apply-decisions="seed=2" --transform-interpreter --ansor-print-features -o /dev/null | FileCheck %s
// RUN: ansor-opt %s --ansor-extract-tasks --ansor-generate-sketches="target=x86-64-v3 sketch=1" -o %t.mlir
// RUN: ansor-opt %t.mlir --ansor-apply-decisions="seed=3" --transform-interpreter --ansor-print-features -o /dev/null | FileCheck %s

// The schedules do tile: there is more than the loops of the op.
// RUN: ansor-opt %t.mlir --ansor-apply-decisions="seed=3" --transform-interpreter --ansor-print-features=nests -o /dev/null | FileCheck %s --check-prefix=TILED
// TILED:      "statement":"s1","loops":[
// TILED-SAME: "annotation":"parallel"
// TILED-SAME: "kind":"reduction"
// TILED-SAME: "annotation":"vectorized"

// 96 * 64 * 128 = 786432 multiply-adds; log2 of one more is 19.58. One
// argument, of 64 x 128 floats, has 32768 bytes: 15.00004.
// CHECK: "statement":"s0"
// CHECK: "statement":"s1",{{.*}}"float_mad":19.58496{{[0-9]*}},
// CHECK-SAME: .unique_bytes":15.0000
// CHECK-SAME: "outer_prod":19.58496
// 96 * 64 = 6144 elements: 12.585.
// CHECK: "statement":"s2",{{.*}}"float_addsub":12.5851{{[0-9]*}},"float_cmp":12.5851
// CHECK-SAME: "outer_prod":12.5851
// CHECK-NOT: {{nan|inf}}

func.func @main(%a: tensor<96x128xf32>, %b: tensor<128x64xf32>, %bias: tensor<64xf32>) -> tensor<96x64xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x64xf32>
  %f = linalg.fill ins(%c0 : f32) outs(%e : tensor<96x64xf32>) -> tensor<96x64xf32>
  %mm = linalg.matmul ins(%a, %b : tensor<96x128xf32>, tensor<128x64xf32>) outs(%f : tensor<96x64xf32>) -> tensor<96x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%mm, %bias : tensor<96x64xf32>, tensor<64xf32>) outs(%e : tensor<96x64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    %m = arith.maximumf %s, %c0 : f32
    linalg.yield %m : f32
  } -> tensor<96x64xf32>
  return %r : tensor<96x64xf32>
}
