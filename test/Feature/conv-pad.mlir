// RUN: mlir-opt %s -transform-interpreter | ansor-opt --ansor-print-features=nests -o /dev/null | FileCheck %s

// A strided convolution of a padded image, tiled by output rows and, inside,
// by input channels.

// The padding is a statement of its own: a temporary of 1x18x18x8 floats.
// CHECK:      {"task":"conv","statement":"tensor.pad","loops":[
// CHECK-SAME: "extent":18,{{[^}]*}}},{{[^}]*}}"extent":18,{{[^}]*}}},{{[^}]*}}"extent":8,{{[^}]*}}}],
// CHECK-SAME: {"buffer":[[PAD:[0-9]+]],"access":"write",{{.*}}"shape":[1,18,18,8],
// CHECK-SAME: "access":"read",{{.*}}"shape":[1,16,16,8],
// CHECK-SAME: "ops":{"select_op":1},"allocation_bytes":10368,"allocation_depth":0}
// CHECK-NEXT: {"task":"conv","statement":"linalg.fill"

// Input rows move by 2 * 4 an iteration of the outer loop; the extent of a
// tile along the input is that of its window.
// CHECK-NEXT: {"task":"conv","statement":"linalg.conv_2d_nhwc_hwcf","loops":[
// CHECK-SAME: "extent":2,"kind":"spatial"},{{[^}]*}}"extent":4,"kind":"reduction"},
// CHECK-SAME: "extent":4,"kind":"spatial"},{{[^}]*}}"extent":8,"kind":"spatial"},{{[^}]*}}"extent":16,"kind":"spatial"},
// CHECK-SAME: "extent":3,"kind":"reduction"},{{[^}]*}}"extent":3,"kind":"reduction"},{{[^}]*}}"extent":2,"kind":"reduction"}],
// CHECK-SAME: "access":"read_write",{{.*}}"shape":[1,8,8,16],
// CHECK-SAME: {"buffer":[[PAD]],"access":"read",{{.*}}"shape":[1,18,18,8],
// CHECK-SAME: "coefficients":{{\[\[}}0,0,0,0,0,0,0,0],[8,0,2,0,0,1,0,0],[0,0,0,2,0,0,1,0],[0,2,0,0,0,0,0,1]]},
// CHECK-SAME: "ops":{"float_mad":1}
// CHECK-NOT: task

module attributes {transform.with_named_sequence} {
  func.func @conv(%x: tensor<1x16x16x8xf32>, %w: tensor<3x3x8x16xf32>, %out: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> {
    %c0 = arith.constant 0.0 : f32
    %pad = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%n: index, %h: index, %v: index, %c: index):
      tensor.yield %c0 : f32
    } : tensor<1x16x16x8xf32> to tensor<1x18x18x8xf32>
    %f = linalg.fill ins(%c0 : f32) outs(%out : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
        ins(%pad, %w : tensor<1x18x18x8xf32>, tensor<3x3x8x16xf32>) outs(%f : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    return %0 : tensor<1x8x8x16xf32>
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.conv_2d_nhwc_hwcf"]} in %m : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %op tile_sizes [0, 4, 0, 0, 0, 0, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
