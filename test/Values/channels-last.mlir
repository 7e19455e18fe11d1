// Convolutions of every structure, with what is between them, give the same
// values with the channels last: as they are, and in tasks.
// RUN: %check_values %s > %t.values
// RUN: echo reference > %t.expected
// RUN: cat %t.values >> %t.expected
// RUN: %check_values %s %t.expected --first="--ansor-convert-layouts=always=true" --samples=0
// RUN: ansor-opt %s --ansor-convert-layouts=always=true | FileCheck %s

// None is left as it was.
// CHECK-NOT: linalg.conv
// CHECK-NOT: linalg.depthwise
// CHECK-NOT: linalg.pooling

#id4 = affine_map<(n, c, y, x) -> (n, c, y, x)>
#channel = affine_map<(n, c, y, x) -> (c)>
func.func @main(
    %x: tensor<2x6x12x12xf32>, %w0: tensor<8x6x3x3xf32>, %b0: tensor<8xf32>,
    %dw: tensor<8x3x3xf32>, %dwm: tensor<8x2x3x3xf32>,
    %g: tensor<2x4x8x3x3xf32>, %dil: tensor<10x8x3x3xf32>,
    %up: tensor<5x18x2x2xf32>, %one: tensor<7x8xf32>,
    %fc: tensor<8x9xf32>, %line: tensor<2x4x20xf32>, %lw: tensor<6x4x3xf32>,
    %vol: tensor<1x3x5x6x7xf32>, %vw: tensor<4x3x2x3x3xf32>,
    %narrow: tensor<8x8x1x3xi8> {ansor.weight})
    -> (tensor<2x8x12x12xf32>, tensor<2x16x4x4xf32>, tensor<2x8x4x4xf32>,
        tensor<2x5x12x12xf32>, tensor<2x6x6x7xf32>, tensor<2x9xf32>,
        tensor<2x6x6xi32>, tensor<2x6x9xf32>, tensor<1x4x4x4x5xf32>,
        tensor<2x8x6x4xf32>, tensor<2x8x6x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0e30 : f32
  %c0 = arith.constant 0 : i32

  // Padding, a bias in the init, an activation that knows its place.
  %p0 = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x6x12x12xf32> to tensor<2x6x14x14xf32>
  %e0 = tensor.empty() : tensor<2x8x12x12xf32>
  %i0 = linalg.broadcast ins(%b0 : tensor<8xf32>) outs(%e0 : tensor<2x8x12x12xf32>) dimensions = [0, 2, 3]
  %conv = linalg.conv_2d_nchw_fchw ins(%p0, %w0 : tensor<2x6x14x14xf32>, tensor<8x6x3x3xf32>) outs(%i0 : tensor<2x8x12x12xf32>) -> tensor<2x8x12x12xf32>
  %a = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv : tensor<2x8x12x12xf32>) outs(%e0 : tensor<2x8x12x12xf32>) {
  ^bb0(%v: f32, %o: f32):
    %c = linalg.index 1 : index
    %y = linalg.index 2 : index
    %s = arith.subi %c, %y : index
    %n = arith.index_cast %s : index to i32
    %f = arith.sitofp %n : i32 to f32
    %m = arith.maximumf %v, %f : f32
    linalg.yield %m : f32
  } -> tensor<2x8x12x12xf32>

  // Pooling.
  %win = tensor.empty() : tensor<2x2xf32>
  %e1 = tensor.empty() : tensor<2x8x6x6xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32>
  %pool = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%a, %win : tensor<2x8x12x12xf32>, tensor<2x2xf32>) outs(%f1 : tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32>

  // Depthwise, with one and two results a channel.
  %p1 = tensor.pad %pool low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x8x6x6xf32> to tensor<2x8x8x8xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw ins(%p1, %dw : tensor<2x8x8x8xf32>, tensor<8x3x3xf32>) outs(%z1 : tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32>
  %e2 = tensor.empty() : tensor<2x8x2x4x4xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x8x2x4x4xf32>) -> tensor<2x8x2x4x4xf32>
  %d2 = linalg.generic {indexing_maps = [affine_map<(n, c, m, y, x, i, j) -> (n, c, y + i, x + j)>,
                                         affine_map<(n, c, m, y, x, i, j) -> (c, m, i, j)>,
                                         affine_map<(n, c, m, y, x, i, j) -> (n, c, m, y, x)>],
                        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%d, %dwm : tensor<2x8x6x6xf32>, tensor<8x2x3x3xf32>) outs(%f2 : tensor<2x8x2x4x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x8x2x4x4xf32>
  %r1 = tensor.collapse_shape %d2 [[0], [1, 2], [3], [4]] : tensor<2x8x2x4x4xf32> into tensor<2x16x4x4xf32>

  // Groups.
  %xg = tensor.concat dim(1) %pool, %d : (tensor<2x8x6x6xf32>, tensor<2x8x6x6xf32>) -> tensor<2x16x6x6xf32>
  %eg = tensor.expand_shape %xg [[0], [1, 2], [3], [4]] output_shape [2, 2, 8, 6, 6] : tensor<2x16x6x6xf32> into tensor<2x2x8x6x6xf32>
  %e3 = tensor.empty() : tensor<2x2x4x4x4xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<2x2x4x4x4xf32>) -> tensor<2x2x4x4x4xf32>
  %grouped = linalg.conv_2d_ngchw_gfchw ins(%eg, %g : tensor<2x2x8x6x6xf32>, tensor<2x4x8x3x3xf32>) outs(%f3 : tensor<2x2x4x4x4xf32>) -> tensor<2x2x4x4x4xf32>
  %r2 = tensor.collapse_shape %grouped [[0], [1, 2], [3], [4]] : tensor<2x2x4x4x4xf32> into tensor<2x8x4x4xf32>

  // A residual of a slice, a dilated convolution, one of a widened image.
  %e4 = tensor.empty() : tensor<2x10x8x8xf32>
  %f4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<2x10x8x8xf32>) -> tensor<2x10x8x8xf32>
  %dilated = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<2> : tensor<2xi64>}
      ins(%a, %dil : tensor<2x8x12x12xf32>, tensor<10x8x3x3xf32>) outs(%f4 : tensor<2x10x8x8xf32>) -> tensor<2x10x8x8xf32>
  %slice = tensor.extract_slice %dilated[0, 1, 2, 1] [2, 8, 6, 6] [1, 1, 1, 1] : tensor<2x10x8x8xf32> to tensor<2x8x6x6xf32>
  %sum = linalg.add ins(%slice, %d : tensor<2x8x6x6xf32>, tensor<2x8x6x6xf32>) outs(%e1 : tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32>
  %both = tensor.concat dim(1) %dilated, %dilated : (tensor<2x10x8x8xf32>, tensor<2x10x8x8xf32>) -> tensor<2x20x8x8xf32>
  %part = tensor.extract_slice %both[0, 1, 0, 1] [2, 18, 7, 7] [1, 1, 1, 1] : tensor<2x20x8x8xf32> to tensor<2x18x7x7xf32>
  %e5 = tensor.empty() : tensor<2x18x13x13xf32>
  %f5 = linalg.fill ins(%zero : f32) outs(%e5 : tensor<2x18x13x13xf32>) -> tensor<2x18x13x13xf32>
  %wide = tensor.insert_slice %part into %f5[0, 0, 0, 0] [2, 18, 7, 7] [1, 1, 2, 2] : tensor<2x18x7x7xf32> into tensor<2x18x13x13xf32>
  %e6 = tensor.empty() : tensor<2x5x12x12xf32>
  %f6 = linalg.fill ins(%zero : f32) outs(%e6 : tensor<2x5x12x12xf32>) -> tensor<2x5x12x12xf32>
  %r3 = linalg.conv_2d_nchw_fchw ins(%wide, %up : tensor<2x18x13x13xf32>, tensor<5x18x2x2xf32>) outs(%f6 : tensor<2x5x12x12xf32>) -> tensor<2x5x12x12xf32>

  // A 1x1 convolution as a contraction, and the front end's own transposition.
  %e7 = tensor.empty() : tensor<2x7x6x6xf32>
  %f7 = linalg.fill ins(%zero : f32) outs(%e7 : tensor<2x7x6x6xf32>) -> tensor<2x7x6x6xf32>
  %point = linalg.generic {indexing_maps = [affine_map<(n, f, y, x, c) -> (f, c)>,
                                            affine_map<(n, f, y, x, c) -> (n, c, y, x)>,
                                            affine_map<(n, f, y, x, c) -> (n, f, y, x)>],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%one, %sum : tensor<7x8xf32>, tensor<2x8x6x6xf32>) outs(%f7 : tensor<2x7x6x6xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x7x6x6xf32>
  %e8 = tensor.empty() : tensor<2x6x6x7xf32>
  %r4 = linalg.transpose ins(%point : tensor<2x7x6x6xf32>) outs(%e8 : tensor<2x6x6x7xf32>) permutation = [0, 2, 3, 1]

  // Means over pixels, and a layer of them; a normalisation by channel.
  %e9 = tensor.empty() : tensor<2x8x1x1xf32>
  %f9 = linalg.fill ins(%zero : f32) outs(%e9 : tensor<2x8x1x1xf32>) -> tensor<2x8x1x1xf32>
  %mean = linalg.generic {indexing_maps = [#id4, affine_map<(n, c, y, x) -> (n, c, 0, 0)>],
                          iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%sum : tensor<2x8x6x6xf32>) outs(%f9 : tensor<2x8x1x1xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x8x1x1xf32>
  %normal = linalg.generic {indexing_maps = [#id4, affine_map<(n, c, y, x) -> (n, c, 0, 0)>, #channel, #id4],
                            iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sum, %mean, %b0 : tensor<2x8x6x6xf32>, tensor<2x8x1x1xf32>, tensor<8xf32>) outs(%e1 : tensor<2x8x6x6xf32>) {
  ^bb0(%p: f32, %q: f32, %b: f32, %o: f32):
    %s = arith.subf %p, %q : f32
    %t = arith.mulf %s, %b : f32
    linalg.yield %t : f32
  } -> tensor<2x8x6x6xf32>
  %flat = tensor.collapse_shape %mean [[0], [1, 2, 3]] : tensor<2x8x1x1xf32> into tensor<2x8xf32>
  %e10 = tensor.empty() : tensor<2x9xf32>
  %f10 = linalg.fill ins(%zero : f32) outs(%e10 : tensor<2x9xf32>) -> tensor<2x9xf32>
  %r5 = linalg.matmul ins(%flat, %fc : tensor<2x8xf32>, tensor<8x9xf32>) outs(%f10 : tensor<2x9xf32>) -> tensor<2x9xf32>

  // The best channel of each pixel.
  %e11 = tensor.empty() : tensor<2x6x6xf32>
  %f11 = linalg.fill ins(%low : f32) outs(%e11 : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %e12 = tensor.empty() : tensor<2x6x6xi32>
  %f12 = linalg.fill ins(%c0 : i32) outs(%e12 : tensor<2x6x6xi32>) -> tensor<2x6x6xi32>
  %best:2 = linalg.generic {indexing_maps = [#id4, affine_map<(n, c, y, x) -> (n, y, x)>, affine_map<(n, c, y, x) -> (n, y, x)>],
                            iterator_types = ["parallel", "reduction", "parallel", "parallel"]}
      ins(%normal : tensor<2x8x6x6xf32>) outs(%f11, %f12 : tensor<2x6x6xf32>, tensor<2x6x6xi32>) {
  ^bb0(%p: f32, %m: f32, %k: i32):
    %c = linalg.index 1 : index
    %ci = arith.index_cast %c : index to i32
    %more = arith.cmpf ogt, %p, %m : f32
    %v = arith.select %more, %p, %m : f32
    %n = arith.select %more, %ci, %k : i32
    linalg.yield %v, %n : f32, i32
  } -> (tensor<2x6x6xf32>, tensor<2x6x6xi32>)

  // One and three dimensions.
  %e13 = tensor.empty() : tensor<2x6x9xf32>
  %f13 = linalg.fill ins(%zero : f32) outs(%e13 : tensor<2x6x9xf32>) -> tensor<2x6x9xf32>
  %r7 = linalg.conv_1d_ncw_fcw {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
      ins(%line, %lw : tensor<2x4x20xf32>, tensor<6x4x3xf32>) outs(%f13 : tensor<2x6x9xf32>) -> tensor<2x6x9xf32>
  %e14 = tensor.empty() : tensor<1x4x4x4x5xf32>
  %f14 = linalg.fill ins(%zero : f32) outs(%e14 : tensor<1x4x4x4x5xf32>) -> tensor<1x4x4x4x5xf32>
  %r8 = linalg.conv_3d_ncdhw_fcdhw ins(%vol, %vw : tensor<1x3x5x6x7xf32>, tensor<4x3x2x3x3xf32>) outs(%f14 : tensor<1x4x4x4x5xf32>) -> tensor<1x4x4x4x5xf32>

  // A filter of narrow numbers; a loop around a convolution.
  %e15 = tensor.empty() : tensor<8x8x1x3xf32>
  %filter = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%narrow : tensor<8x8x1x3xi8>) outs(%e15 : tensor<8x8x1x3xf32>) {
  ^bb0(%p: i8, %o: f32):
    %f = arith.sitofp %p : i8 to f32
    linalg.yield %f : f32
  } -> tensor<8x8x1x3xf32>
  %e16 = tensor.empty() : tensor<2x8x6x4xf32>
  %f16 = linalg.fill ins(%zero : f32) outs(%e16 : tensor<2x8x6x4xf32>) -> tensor<2x8x6x4xf32>
  %r9 = linalg.conv_2d_nchw_fchw ins(%pool, %filter : tensor<2x8x6x6xf32>, tensor<8x8x1x3xf32>) outs(%f16 : tensor<2x8x6x4xf32>) -> tensor<2x8x6x4xf32>
  %l0 = arith.constant 0 : index
  %l1 = arith.constant 1 : index
  %l3 = arith.constant 3 : index
  %r10 = scf.for %i = %l0 to %l3 step %l1 iter_args(%it = %sum) -> (tensor<2x8x6x6xf32>) {
    %pad = tensor.pad %it low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%q: index, %j: index, %k: index, %l: index):
      tensor.yield %zero : f32
    } : tensor<2x8x6x6xf32> to tensor<2x8x8x8xf32>
    %next = linalg.depthwise_conv_2d_nchw_chw ins(%pad, %dw : tensor<2x8x8x8xf32>, tensor<8x3x3xf32>) outs(%z1 : tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32>
    scf.yield %next : tensor<2x8x6x6xf32>
  }
  return %a, %r1, %r2, %r3, %r4, %r5, %best#1, %r7, %r8, %r9, %r10
      : tensor<2x8x12x12xf32>, tensor<2x16x4x4xf32>, tensor<2x8x4x4xf32>,
        tensor<2x5x12x12xf32>, tensor<2x6x6x7xf32>, tensor<2x9xf32>,
        tensor<2x6x6xi32>, tensor<2x6x9xf32>, tensor<1x4x4x4x5xf32>,
        tensor<2x8x6x4xf32>, tensor<2x8x6x6xf32>
}
