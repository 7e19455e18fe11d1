// RUN: ansor-opt %s --ansor-convert-layouts --split-input-file | FileCheck %s
// RUN: ansor-opt %s --ansor-convert-layouts=layout=keep --split-input-file | FileCheck %s --check-prefix=KEEP
// RUN: not ansor-opt %s --ansor-convert-layouts=layout=nhwc 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// KEEP-NOT: ansor.layout
// KEEP-NOT: linalg.transpose {{.*}}tensor<3x3x
// UNKNOWN: error: unknown layout 'nhwc': use "keep" or "channels-last"

// Values of every structure: test/Values/channels-last.mlir. Here is what is
// converted, and what isn't.

// The image and the result are transposed, the marked filter once; the channels
// of the result are the last dimension of each loop nest.
// CHECK: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>
// CHECK: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>
// CHECK: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK: module attributes {ansor.layout = "channels-last"}
// CHECK-LABEL: func.func @marked(
// CHECK-DAG: %[[W:.*]] = linalg.transpose ins(%arg1 : tensor<128x64x3x3xf32>) outs(%{{.*}} : tensor<3x3x64x128xf32>) permutation = [2, 3, 1, 0] {ansor.prepack}
// CHECK-DAG: %[[X:.*]] = linalg.transpose ins(%arg0 : tensor<1x64x16x16xf32>) outs(%{{.*}} : tensor<1x16x16x64xf32>) permutation = [0, 2, 3, 1]{{ *$}}
// CHECK: %[[P:.*]] = tensor.pad %[[X]] low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK: %[[F:.*]] = linalg.fill {{.*}} -> tensor<1x16x16x128xf32>
// CHECK: %[[C:.*]] = linalg.generic {indexing_maps = [#[[IMAGE]], #[[FILTER]], #[[OUT]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%[[P]], %[[W]] : {{.*}}) outs(%[[F]] :
// CHECK: %[[R:.*]] = linalg.transpose ins(%[[C]] : {{.*}}) outs(%{{.*}} : tensor<1x128x16x16xf32>) permutation = [0, 3, 1, 2]
// CHECK: return %[[R]]
func.func @marked(%x: tensor<1x64x16x16xf32>, %w: tensor<128x64x3x3xf32> {ansor.weight}) -> tensor<1x128x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x64x16x16xf32> to tensor<1x64x18x18xf32>
  %e = tensor.empty() : tensor<1x128x16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x128x16x16xf32>) -> tensor<1x128x16x16xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<1x64x18x18xf32>, tensor<128x64x3x3xf32>) outs(%f : tensor<1x128x16x16xf32>) -> tensor<1x128x16x16xf32>
  return %c : tensor<1x128x16x16xf32>
}

// -----

// A filter that may differ in every call costs too much here.
// CHECK-LABEL: func.func @unmarked(
// CHECK-NOT: linalg.transpose
// CHECK: linalg.conv_2d_nchw_fchw
func.func @unmarked(%x: tensor<1x64x10x10xf32>, %w: tensor<128x64x3x3xf32>) -> tensor<1x128x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x128x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x128x8x8xf32>) -> tensor<1x128x8x8xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x10x10xf32>, tensor<128x64x3x3xf32>) outs(%f : tensor<1x128x8x8xf32>) -> tensor<1x128x8x8xf32>
  return %c : tensor<1x128x8x8xf32>
}

// -----

// Little work for each element that would be transposed.
// CHECK-LABEL: func.func @depthwise_alone(
// CHECK-NOT: linalg.transpose
// CHECK: linalg.depthwise_conv_2d_nchw_chw
func.func @depthwise_alone(%x: tensor<1x64x18x18xf32>, %w: tensor<64x3x3xf32> {ansor.weight}) -> tensor<1x64x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64x16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x16x16xf32>) -> tensor<1x64x16x16xf32>
  %c = linalg.depthwise_conv_2d_nchw_chw ins(%x, %w : tensor<1x64x18x18xf32>, tensor<64x3x3xf32>) outs(%f : tensor<1x64x16x16xf32>) -> tensor<1x64x16x16xf32>
  return %c : tensor<1x64x16x16xf32>
}

// -----

// No convolution: pooling, and a contraction over channels.
// CHECK-LABEL: func.func @no_convolution(
// CHECK-NOT: linalg.transpose
// CHECK: linalg.pooling_nchw_sum
func.func @no_convolution(%x: tensor<1x64x16x16xf32>, %w: tensor<512x64xf32> {ansor.weight}) -> tensor<1x512x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %win = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<1x64x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x8x8xf32>) -> tensor<1x64x8x8xf32>
  %p = linalg.pooling_nchw_sum {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %win : tensor<1x64x16x16xf32>, tensor<2x2xf32>) outs(%f : tensor<1x64x8x8xf32>) -> tensor<1x64x8x8xf32>
  %e1 = tensor.empty() : tensor<1x512x8x8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x512x8x8xf32>) -> tensor<1x512x8x8xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(n, f, y, x, c) -> (n, c, y, x)>, affine_map<(n, f, y, x, c) -> (f, c)>, affine_map<(n, f, y, x, c) -> (n, f, y, x)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %w : tensor<1x64x8x8xf32>, tensor<512x64xf32>) outs(%f1 : tensor<1x512x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x512x8x8xf32>
  return %c : tensor<1x512x8x8xf32>
}

// -----

// Channels are last already, whatever the order of the filter.
// CHECK-LABEL: func.func @already(
// CHECK-NOT: linalg.transpose
// CHECK: linalg.conv_2d_nhwc_fhwc
func.func @already(%x: tensor<1x18x18x64xf32>, %w: tensor<128x3x3x64xf32> {ansor.weight}) -> tensor<1x16x16x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x16x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x16x128xf32>) -> tensor<1x16x16x128xf32>
  %c = linalg.conv_2d_nhwc_fhwc ins(%x, %w : tensor<1x18x18x64xf32>, tensor<128x3x3x64xf32>) outs(%f : tensor<1x16x16x128xf32>) -> tensor<1x16x16x128xf32>
  return %c : tensor<1x16x16x128xf32>
}

// -----

// The front end's transpositions around a convolution cancel.
// CHECK-LABEL: func.func @cancels(
// CHECK-SAME: %[[X:.*]]: tensor<1x18x18x64xf32>,
// CHECK: linalg.transpose {{.*}}{ansor.prepack}
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {{.*}} ins(%[[X]], %{{.*}} : tensor<1x18x18x64xf32>, tensor<3x3x64x128xf32>)
// CHECK-NOT: linalg.transpose
func.func @cancels(%x: tensor<1x18x18x64xf32>, %w: tensor<128x64x3x3xf32> {ansor.weight}) -> tensor<1x16x16x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x64x18x18xf32>
  %t0 = linalg.transpose ins(%x : tensor<1x18x18x64xf32>) outs(%e0 : tensor<1x64x18x18xf32>) permutation = [0, 3, 1, 2]
  %e = tensor.empty() : tensor<1x128x16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x128x16x16xf32>) -> tensor<1x128x16x16xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%t0, %w : tensor<1x64x18x18xf32>, tensor<128x64x3x3xf32>) outs(%f : tensor<1x128x16x16xf32>) -> tensor<1x128x16x16xf32>
  %e1 = tensor.empty() : tensor<1x16x16x128xf32>
  %t1 = linalg.transpose ins(%c : tensor<1x128x16x16xf32>) outs(%e1 : tensor<1x16x16x128xf32>) permutation = [0, 2, 3, 1]
  return %t1 : tensor<1x16x16x128xf32>
}

// -----

// An image becomes a sequence (the patches of a transformer): nothing is
// transposed any more, and what comes behind stays as it is.
// CHECK-LABEL: func.func @patches(
// CHECK: linalg.transpose {{.*}}permutation = [2, 3, 1, 0] {ansor.prepack}
// CHECK: linalg.transpose {{.*}}permutation = [0, 2, 3, 1]
// CHECK-NOT: linalg.transpose
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0], [1, 2], [3]] : tensor<1x4x4x256xf32> into tensor<1x16x256xf32>
// CHECK-NOT: linalg.transpose
// CHECK: linalg.batch_matmul
func.func @patches(%x: tensor<1x3x64x64xf32>, %w: tensor<256x3x16x16xf32> {ansor.weight}, %q: tensor<1x256x16xf32>) -> tensor<1x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x256x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x256x4x4xf32>) -> tensor<1x256x4x4xf32>
  %c = linalg.conv_2d_nchw_fchw {strides = dense<16> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x3x64x64xf32>, tensor<256x3x16x16xf32>) outs(%f : tensor<1x256x4x4xf32>) -> tensor<1x256x4x4xf32>
  %s = tensor.collapse_shape %c [[0], [1], [2, 3]] : tensor<1x256x4x4xf32> into tensor<1x256x16xf32>
  %e1 = tensor.empty() : tensor<1x16x256xf32>
  %t = linalg.transpose ins(%s : tensor<1x256x16xf32>) outs(%e1 : tensor<1x16x256xf32>) permutation = [0, 2, 1]
  %e2 = tensor.empty() : tensor<1x16x16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
  %m = linalg.batch_matmul ins(%t, %q : tensor<1x16x256xf32>, tensor<1x256x16xf32>) outs(%f2 : tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
  return %m : tensor<1x16x16xf32>
}

// -----

// What can't follow gets the old layout: padding that depends on the place, a
// reshape across channels, a normalisation that is no structured op.
// CHECK-LABEL: func.func @boundaries(
// CHECK: %[[C:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x16x16x128xf32>)
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[C]] : {{.*}}permutation = [0, 3, 1, 2]
// CHECK: tensor.pad %[[T]] low[0, 0, 1, 1]
// CHECK: tensor.collapse_shape %[[T]] {{\[}}[0], [1, 2], [3]]
// CHECK: linalg.softmax dimension(1) ins(%[[T]] :
func.func @boundaries(%x: tensor<1x64x18x18xf32>, %w: tensor<128x64x3x3xf32> {ansor.weight}) -> (tensor<1x128x18x18xf32>, tensor<1x2048x16xf32>, tensor<1x128x16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x128x16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x128x16x16xf32>) -> tensor<1x128x16x16xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x18x18xf32>, tensor<128x64x3x3xf32>) outs(%f : tensor<1x128x16x16xf32>) -> tensor<1x128x16x16xf32>
  %p = tensor.pad %c low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    %n = arith.index_cast %k : index to i32
    %v = arith.sitofp %n : i32 to f32
    tensor.yield %v : f32
  } : tensor<1x128x16x16xf32> to tensor<1x128x18x18xf32>
  %s = tensor.collapse_shape %c [[0], [1, 2], [3]] : tensor<1x128x16x16xf32> into tensor<1x2048x16xf32>
  %m = linalg.softmax dimension(1) ins(%c : tensor<1x128x16x16xf32>) outs(%e : tensor<1x128x16x16xf32>) -> tensor<1x128x16x16xf32>
  return %p, %s, %m : tensor<1x128x18x18xf32>, tensor<1x2048x16xf32>, tensor<1x128x16x16xf32>
}

// -----

// Scales by channel follow through the reshapes that front ends make of them;
// the transposition of weights of this kind is none. Sizes may be dynamic.
// CHECK-LABEL: func.func @scales(
// CHECK-COUNT-2: linalg.transpose
// CHECK-NOT: linalg.transpose
// CHECK: tensor.expand_shape %arg2 {{\[}}[0, 1, 2]] output_shape [1, 1, 128] : tensor<128xf32> into tensor<1x1x128xf32>
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x16x16x128xf32>, tensor<1x1x128xf32>)
// CHECK-NEXT: ^bb0
// CHECK: linalg.transpose {{.*}} outs(%{{.*}} : tensor<?x128x16x16xf32>)
// CHECK-NEXT: return
func.func @scales(%x: tensor<?x64x18x18xf32>, %w: tensor<128x64x3x3xf32> {ansor.weight}, %scale: tensor<128xf32> {ansor.weight}) -> tensor<?x128x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64x18x18xf32>
  %e = tensor.empty(%n) : tensor<?x128x16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x128x16x16xf32>) -> tensor<?x128x16x16xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<?x64x18x18xf32>, tensor<128x64x3x3xf32>) outs(%f : tensor<?x128x16x16xf32>) -> tensor<?x128x16x16xf32>
  %s = tensor.expand_shape %scale [[0, 1, 2]] output_shape [128, 1, 1] : tensor<128xf32> into tensor<128x1x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, y, x) -> (n, c, y, x)>, affine_map<(n, c, y, x) -> (c, 0, 0)>, affine_map<(n, c, y, x) -> (n, c, y, x)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %s : tensor<?x128x16x16xf32>, tensor<128x1x1xf32>) outs(%e : tensor<?x128x16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<?x128x16x16xf32>
  return %r : tensor<?x128x16x16xf32>
}
