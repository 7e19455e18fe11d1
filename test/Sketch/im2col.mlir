// Windows of tiled ops in a buffer, in a stock mlir-opt.
// RUN: mlir-opt %s --split-input-file --verify-diagnostics --load-dialect-plugin=%plugin --load-pass-plugin=%plugin --transform-interpreter --canonicalize --cse | FileCheck %s

// Rows of windows are copied as they lie, three channels of three pixels at a
// time. Attributes stay.
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 * 2 + d2, d1 * 6 + d3)>
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @strided(
// CHECK-SAME: %[[X:.*]]: tensor<9x9x3xf32>, %[[K:.*]]: tensor<3x3x3x8xf32>, %[[O:.*]]: tensor<4x4x8xf32>
// CHECK: %[[M:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2]] : tensor<9x9x3xf32> into tensor<9x27xf32>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x4x3x9xf32>
// CHECK: %[[COPY:.*]] = linalg.generic {indexing_maps = [#[[READ]], #{{.*}}], {{.*}} ins(%[[M]] : tensor<9x27xf32>) outs(%[[E]] : tensor<4x4x3x9xf32>) attrs =  {copy}
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[COPY]] {{\[\[}}0], [1], [2, 3]] : tensor<4x4x3x9xf32> into tensor<4x4x27xf32>
// CHECK: %[[W:.*]] = tensor.collapse_shape %[[K]] {{\[\[}}0, 1, 2], [3]] : tensor<3x3x3x8xf32> into tensor<27x8xf32>
// CHECK: linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[ROWS]], %[[W]] : {{.*}}) outs(%[[O]] : {{.*}}) attrs =  {ansor.stage = 1 : i64, product}
func.func @strided(%x: tensor<9x9x3xf32>, %k: tensor<3x3x3x8xf32>, %o: tensor<4x4x8xf32>) -> tensor<4x4x8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(h, w, f, i, j, c) -> (h * 2 + i, w * 2 + j, c)>,
                                        affine_map<(h, w, f, i, j, c) -> (i, j, c, f)>,
                                        affine_map<(h, w, f, i, j, c) -> (h, w, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %k : tensor<9x9x3xf32>, tensor<3x3x3x8xf32>) outs(%o : tensor<4x4x8xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x4x8xf32>
  return %r : tensor<4x4x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.generic"]} in %m : (!transform.any_op) -> !transform.any_op
    %1, %2 = transform.ansor.im2col %0[0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.annotate %1 "product" : !transform.any_op
    transform.annotate %2 "copy" : !transform.any_op
    transform.yield
  }
}

// -----

// Zeros fill the last group: of the buffer, and of the other input.
// CHECK-LABEL: func.func @groups(
// CHECK: %[[E:.*]] = tensor.empty() : tensor<1x4x4x28xi8>
// CHECK: %[[TAIL:.*]] = tensor.extract_slice %[[E]][0, 0, 0, 27] [1, 4, 4, 1] [1, 1, 1, 1]
// CHECK: %[[F:.*]] = linalg.fill ins(%c0_i8 : i8) outs(%[[TAIL]] :
// CHECK: %[[BUFFER:.*]] = tensor.insert_slice %[[F]] into %[[E]][0, 0, 0, 27] [1, 4, 4, 1]
// CHECK: %[[S:.*]] = tensor.extract_slice %[[BUFFER]][0, 0, 0, 0] [1, 4, 4, 27]
// CHECK: %[[D:.*]] = tensor.expand_shape %[[S]] {{\[\[}}0], [1], [2], [3, 4]] output_shape [1, 4, 4, 3, 9]
// CHECK: %[[COPY:.*]] = linalg.generic {{.*}} outs(%[[D]] :
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[COPY]]
// CHECK: %[[A:.*]] = tensor.insert_slice %[[ROWS]] into %[[BUFFER]][0, 0, 0, 0] [1, 4, 4, 27]
// CHECK: %[[B:.*]] = tensor.pad %{{.*}} low[0, 0] high[1, 0]
// CHECK: tensor<27x8xi8> to tensor<28x8xi8>
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<1x4x4x28xi8>, tensor<28x8xi8>) outs(%{{.*}} : tensor<1x4x4x8xi32>) {
func.func @groups(%x: tensor<1x6x6x3xi8>, %k: tensor<3x3x3x8xi8>, %o: tensor<1x4x4x8xi32>) -> tensor<1x4x4x8xi32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x6x6x3xi8>, tensor<3x3x3x8xi8>) outs(%o : tensor<1x4x4x8xi32>) -> tensor<1x4x4x8xi32>
  return %r : tensor<1x4x4x8xi32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.conv_2d_nhwc_hwcf"]} in %m : (!transform.any_op) -> !transform.any_op
    %1, %2 = transform.ansor.im2col %0[0] group 4 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// With a parallel loop innermost, in the order of the filter.
// CHECK-DAG: #[[READ_LANE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1 + d3, d5 * 2 + d4)>
// CHECK-DAG: #[[A_LANE:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d4, d3)>
// CHECK-DAG: #[[B_LANE:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d4)>
// CHECK-LABEL: func.func @lane(
// CHECK-SAME: %[[X:.*]]: tensor<2x5x6x10xf32>
// CHECK: %[[COPY:.*]] = linalg.generic {indexing_maps = [#[[READ_LANE]], {{.*}} ins(%[[X]] : {{.*}}) outs(%{{.*}} : tensor<2x4x5x3x2x4xf32>)
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[COPY]] {{\[\[}}0], [1], [2, 3, 4], [5]] : tensor<2x4x5x3x2x4xf32> into tensor<2x4x30x4xf32>
// CHECK: linalg.generic {indexing_maps = [#[[A_LANE]], #[[B_LANE]], #{{.*}}]{{.*}} ins(%[[ROWS]], %{{.*}} : tensor<2x4x30x4xf32>, tensor<7x30xf32>)
func.func @lane(%x: tensor<2x5x6x10xf32>, %k: tensor<7x5x3x2xf32>, %o: tensor<2x7x4x4xf32>) -> tensor<2x7x4x4xf32> {
  %r = linalg.conv_2d_nchw_fchw {strides = dense<[1, 2]> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %k : tensor<2x5x6x10xf32>, tensor<7x5x3x2xf32>) outs(%o : tensor<2x7x4x4xf32>) -> tensor<2x7x4x4xf32>
  return %r : tensor<2x7x4x4xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.conv_2d_nchw_fchw"]} in %m : (!transform.any_op) -> !transform.any_op
    %1, %2 = transform.ansor.im2col %0[0] lane 3 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// The filter of a grouped, dilated convolution holds its reductions apart: two
// loops stay, and the copy is made channel by channel.
// CHECK-DAG: #[[READ_RUNS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0 + d2, d3 * 2, d1, d4)>
// CHECK-DAG: #[[A_RUNS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
// CHECK-DAG: #[[B_RUNS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d1, d4, d2)>
// CHECK-LABEL: func.func @runs(
// CHECK: linalg.generic {indexing_maps = [#[[READ_RUNS]], {{.*}} outs(%{{.*}} : tensor<4x2x3x3x5xf32>)
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3], [4]] : tensor<4x2x3x3x5xf32> into tensor<4x2x9x5xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2], [3], [4]] : tensor<3x3x2x5x8xf32> into tensor<9x2x5x8xf32>
// CHECK: linalg.generic {indexing_maps = [#[[A_RUNS]], #[[B_RUNS]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
func.func @runs(%x: tensor<6x5x2x5xf32>, %k: tensor<3x3x2x5x8xf32>, %o: tensor<4x2x8xf32>) -> tensor<4x2x8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(h, g, f, i, j, c) -> (h + i, j * 2, g, c)>,
                                        affine_map<(h, g, f, i, j, c) -> (i, j, g, c, f)>,
                                        affine_map<(h, g, f, i, j, c) -> (h, g, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %k : tensor<6x5x2x5xf32>, tensor<3x3x2x5x8xf32>) outs(%o : tensor<4x2x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x2x8xf32>
  return %r : tensor<4x2x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.generic"]} in %m : (!transform.any_op) -> !transform.any_op
    %1, %2 = transform.ansor.im2col %0[0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A pooling adds no products, so nothing is known to add nothing; and without
// reduction there are no windows.
func.func @pooling(%x: tensor<9xf32>, %w: tensor<3xf32>, %o: tensor<7xf32>) -> tensor<7xf32> {
  // expected-note @below {{of this op}}
  %r = linalg.generic {indexing_maps = [affine_map<(h, i) -> (h + i)>, affine_map<(h, i) -> (i)>, affine_map<(h, i) -> (h)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<9xf32>, tensor<3xf32>) outs(%o : tensor<7xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.maximumf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.generic"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{can't copy the windows of operand 0: what is added at the end of its rows isn't known to be nothing}}
    %1, %2 = transform.ansor.im2col %0[0] group 4 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @parallel(%x: tensor<9xf32>, %o: tensor<9xf32>) -> tensor<9xf32> {
  // expected-note @below {{of this op}}
  %r = linalg.exp ins(%x : tensor<9xf32>) outs(%o : tensor<9xf32>) -> tensor<9xf32>
  return %r : tensor<9xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.exp"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{it depends on no reduction loop}}
    %1, %2 = transform.ansor.im2col %0[0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @reduction_lane(%a: tensor<8x6xf32>, %b: tensor<6x24xf32>, %c: tensor<8x24xf32>) -> tensor<8x24xf32> {
  // expected-note @below {{of this op}}
  %r = linalg.matmul ins(%a, %b : tensor<8x6xf32>, tensor<6x24xf32>) outs(%c : tensor<8x24xf32>) -> tensor<8x24xf32>
  return %r : tensor<8x24xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{the lane is no parallel loop that it depends on}}
    %1, %2 = transform.ansor.im2col %0[0] lane 2 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @init(%a: tensor<8x6xf32>, %b: tensor<6x24xf32>, %c: tensor<8x24xf32>) -> tensor<8x24xf32> {
  // expected-note @below {{of this op}}
  %r = linalg.matmul ins(%a, %b : tensor<8x6xf32>, tensor<6x24xf32>) outs(%c : tensor<8x24xf32>) -> tensor<8x24xf32>
  return %r : tensor<8x24xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{it is no input of an op on tensors}}
    %1, %2 = transform.ansor.im2col %0[2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @dynamic(%x: tensor<?xf32>, %k: tensor<3xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  // expected-note @below {{of this op}}
  %r = linalg.conv_1d ins(%x, %k : tensor<?xf32>, tensor<3xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.conv_1d"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{the op has dynamic extents}}
    %1, %2 = transform.ansor.im2col %0[0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// The other input is read through windows, too.
func.func @both(%x: tensor<7x3xf32>, %y: tensor<9xf32>, %o: tensor<7xf32>) -> tensor<7xf32> {
  // expected-note @below {{of this op}}
  %r = linalg.generic {indexing_maps = [affine_map<(h, i) -> (h, i)>, affine_map<(h, i) -> (h + i)>, affine_map<(h, i) -> (h)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<7x3xf32>, tensor<9xf32>) outs(%o : tensor<7xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.generic"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{another input isn't read element by element along its reductions}}
    %1, %2 = transform.ansor.im2col %0[0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @place(%x: tensor<9xf32>, %y: tensor<3xf32>, %o: tensor<7xf32>) -> tensor<7xf32> {
  // expected-note @below {{of this op}}
  %r = linalg.generic {indexing_maps = [affine_map<(h, i) -> (h + i)>, affine_map<(h, i) -> (i)>, affine_map<(h, i) -> (h)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<9xf32>, tensor<3xf32>) outs(%o : tensor<7xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %n = linalg.index 1 : index
    %i = arith.index_cast %n : index to i32
    %p = arith.sitofp %i : i32 to f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.generic"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{the op knows its place}}
    %1, %2 = transform.ansor.im2col %0[0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @scalar(%x: tensor<9xf32>, %f: f32, %o: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{of this op}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>],
                       iterator_types = ["reduction"]}
      ins(%x, %f : tensor<9xf32>, f32) outs(%o : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.generic"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{it is no tensor}}
    %1, %2 = transform.ansor.im2col %0[1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @no_linalg(%x: tensor<9xf32>) -> tensor<9xf32> {
  // expected-note @below {{of this op}}
  %r = arith.addf %x, %x : tensor<9xf32>
  return %r : tensor<9xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["arith.addf"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{it isn't a linalg op}}
    %1, %2 = transform.ansor.im2col %0[0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
