// Windows that are copied first (the last sketches of each task) give the same
// values, with padding as a whole and in the tiles; dot instructions or not, as
// the host has them. Then the whole way: tuned with random candidates, and run
// with the best of them.
// REQUIRES: ansor-tune, ansor-run
// RUN: %check_values %s > %t.values
// RUN: echo reference > %t.expected
// RUN: cat %t.values >> %t.expected
// RUN: ansor-opt %s --ansor-extract-tasks --ansor-generate-sketches="target=sapphirerapids sketch=99" > %t.sketches
// RUN: FileCheck %s --input-file=%t.sketches
// RUN: ansor-opt %t.sketches --ansor-apply-decisions="seed=1" --transform-interpreter > %t.1.mlir
// RUN: %check_values %t.1.mlir %t.expected --ansor --function=main
// RUN: ansor-opt %t.sketches --ansor-apply-decisions="seed=2" --transform-interpreter > %t.2.mlir
// RUN: %check_values %t.2.mlir %t.expected --ansor --function=main
// RUN: ansor-opt %t.sketches --ansor-apply-decisions="seed=3" --transform-interpreter > %t.3.mlir
// RUN: %check_values %t.3.mlir %t.expected --ansor --function=main
// RUN: %sample_and_check %s

// Of each task.
// CHECK-COUNT-10: columns(

func.func @main(
    %x0: tensor<1x15x17x3xi8>, %w0: tensor<3x3x3x32xi8>, %b0: tensor<32xi32>,
    %x1: tensor<1x15x17x3xi8>, %w1: tensor<3x3x3x32xi8>,
    %x2: tensor<1x12x12x2x3xi8>, %w2: tensor<3x3x2x3x16xi8>, %b2: tensor<16xi32>,
    %x3: tensor<1x5x10x16xi8>, %w3: tensor<8x5x3x3xi8>, %b3: tensor<8xi32>,
    %x4: tensor<2x3x13x33xi8>, %w4: tensor<8x3x3x3xi8>,
    %x5: tensor<2x2x3x8x16xi8>, %w5: tensor<2x4x3x3x3xi8>,
    %x6: tensor<2x61x5xi8>, %w6: tensor<7x5x32xi8>, %b6: tensor<32xi32>,
    %x7: tensor<2x3x61xi8>, %w7: tensor<16x3x5xi8>,
    %x8: tensor<1x5x9x9x3xi8>, %w8: tensor<3x3x3x3x16xi8>, %b8: tensor<16xi32>,
    %x9: tensor<2x14x14x6xi8>, %w9: tensor<3x3x6x17xi8>, %b9: tensor<17xi32>)
    -> (tensor<1x8x9x32xi32>,
        tensor<1x15x15x32xi32>,
        tensor<1x12x12x2x16xi32>,
        tensor<1x8x10x16xi32>,
        tensor<2x8x7x17xi32>,
        tensor<2x2x4x8x16xi32>,
        tensor<2x31x32xi32>,
        tensor<2x16x57xi32>,
        tensor<1x5x5x5x16xi32>,
        tensor<2x12x12x17xi32>) {
  %z8 = arith.constant 0 : i8
  %z = arith.constant 0 : i32

  // Strided, padded, with a consumer.
  %p0 = tensor.pad %x0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a0: index, %a1: index, %a2: index, %a3: index):
    tensor.yield %z8 : i8
  } : tensor<1x15x17x3xi8> to tensor<1x17x19x3xi8>
  %e0 = tensor.empty() : tensor<1x8x9x32xi32>
  %f0 = linalg.fill ins(%z : i32) outs(%e0 : tensor<1x8x9x32xi32>) -> tensor<1x8x9x32xi32>
  %c0 = linalg.generic {indexing_maps = [affine_map<(n, y, x, f, i, j, c) -> (n, y * 2 + i, x * 2 + j, c)>,
                                        affine_map<(n, y, x, f, i, j, c) -> (i, j, c, f)>,
                                        affine_map<(n, y, x, f, i, j, c) -> (n, y, x, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p0, %w0 : tensor<1x17x19x3xi8>, tensor<3x3x3x32xi8>) outs(%f0 : tensor<1x8x9x32xi32>) {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<1x8x9x32xi32>
  %q0 = linalg.generic {indexing_maps = [affine_map<(n, y, x, f) -> (n, y, x, f)>, affine_map<(n, y, x, f) -> (f)>, affine_map<(n, y, x, f) -> (n, y, x, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c0, %b0 : tensor<1x8x9x32xi32>, tensor<32xi32>) outs(%e0 : tensor<1x8x9x32xi32>) {
  ^bb0(%a: i32, %k: i32, %s: i32):
    %u = arith.addi %a, %k : i32
    %t = arith.maxsi %u, %z : i32
    linalg.yield %t : i32
  } -> tensor<1x8x9x32xi32>

  // Dilated, so that no row of the copy is longer than the channels.
  %p1 = tensor.pad %x1 low[0, 2, 2, 0] high[0, 2, 2, 0] {
  ^bb0(%a0: index, %a1: index, %a2: index, %a3: index):
    tensor.yield %z8 : i8
  } : tensor<1x15x17x3xi8> to tensor<1x19x21x3xi8>
  %e1 = tensor.empty() : tensor<1x15x15x32xi32>
  %f1 = linalg.fill ins(%z : i32) outs(%e1 : tensor<1x15x15x32xi32>) -> tensor<1x15x15x32xi32>
  %c1 = linalg.generic {indexing_maps = [affine_map<(n, y, x, f, i, j, c) -> (n, y + i * 2, x + j * 3, c)>,
                                        affine_map<(n, y, x, f, i, j, c) -> (i, j, c, f)>,
                                        affine_map<(n, y, x, f, i, j, c) -> (n, y, x, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p1, %w1 : tensor<1x19x21x3xi8>, tensor<3x3x3x32xi8>) outs(%f1 : tensor<1x15x15x32xi32>) {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extui %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<1x15x15x32xi32>

  // In groups, whose filter holds the reductions apart.
  %p2 = tensor.pad %x2 low[0, 1, 1, 0, 0] high[0, 1, 1, 0, 0] {
  ^bb0(%a0: index, %a1: index, %a2: index, %a3: index, %a4: index):
    tensor.yield %z8 : i8
  } : tensor<1x12x12x2x3xi8> to tensor<1x14x14x2x3xi8>
  %e2 = tensor.empty() : tensor<1x12x12x2x16xi32>
  %f2 = linalg.fill ins(%z : i32) outs(%e2 : tensor<1x12x12x2x16xi32>) -> tensor<1x12x12x2x16xi32>
  %c2 = linalg.generic {indexing_maps = [affine_map<(n, y, x, g, f, i, j, c) -> (n, y + i, x + j, g, c)>,
                                        affine_map<(n, y, x, g, f, i, j, c) -> (i, j, g, c, f)>,
                                        affine_map<(n, y, x, g, f, i, j, c) -> (n, y, x, g, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p2, %w2 : tensor<1x14x14x2x3xi8>, tensor<3x3x2x3x16xi8>) outs(%f2 : tensor<1x12x12x2x16xi32>) {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<1x12x12x2x16xi32>
  %q2 = linalg.generic {indexing_maps = [affine_map<(n, y, x, g, f) -> (n, y, x, g, f)>, affine_map<(n, y, x, g, f) -> (f)>, affine_map<(n, y, x, g, f) -> (n, y, x, g, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%c2, %b2 : tensor<1x12x12x2x16xi32>, tensor<16xi32>) outs(%e2 : tensor<1x12x12x2x16xi32>) {
  ^bb0(%a: i32, %k: i32, %s: i32):
    %u = arith.addi %a, %k : i32
    %t = arith.maxsi %u, %z : i32
    linalg.yield %t : i32
  } -> tensor<1x12x12x2x16xi32>

  // Channels first: vectors lie along the image.
  %p3 = tensor.pad %x3 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a0: index, %a1: index, %a2: index, %a3: index):
    tensor.yield %z8 : i8
  } : tensor<1x5x10x16xi8> to tensor<1x5x12x18xi8>
  %e3 = tensor.empty() : tensor<1x8x10x16xi32>
  %f3 = linalg.fill ins(%z : i32) outs(%e3 : tensor<1x8x10x16xi32>) -> tensor<1x8x10x16xi32>
  %c3 = linalg.generic {indexing_maps = [affine_map<(n, f, y, x, i, j, c) -> (n, c, y + i, x + j)>,
                                        affine_map<(n, f, y, x, i, j, c) -> (f, c, i, j)>,
                                        affine_map<(n, f, y, x, i, j, c) -> (n, f, y, x)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p3, %w3 : tensor<1x5x12x18xi8>, tensor<8x5x3x3xi8>) outs(%f3 : tensor<1x8x10x16xi32>) {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<1x8x10x16xi32>
  %q3 = linalg.generic {indexing_maps = [affine_map<(n, f, y, x) -> (n, f, y, x)>, affine_map<(n, f, y, x) -> (f)>, affine_map<(n, f, y, x) -> (n, f, y, x)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c3, %b3 : tensor<1x8x10x16xi32>, tensor<8xi32>) outs(%e3 : tensor<1x8x10x16xi32>) {
  ^bb0(%a: i32, %k: i32, %s: i32):
    %u = arith.addi %a, %k : i32
    %t = arith.maxsi %u, %z : i32
    linalg.yield %t : i32
  } -> tensor<1x8x10x16xi32>

  // The same in steps of two, and two images.
  %p4 = tensor.pad %x4 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a0: index, %a1: index, %a2: index, %a3: index):
    tensor.yield %z8 : i8
  } : tensor<2x3x13x33xi8> to tensor<2x3x15x35xi8>
  %e4 = tensor.empty() : tensor<2x8x7x17xi32>
  %f4 = linalg.fill ins(%z : i32) outs(%e4 : tensor<2x8x7x17xi32>) -> tensor<2x8x7x17xi32>
  %c4 = linalg.generic {indexing_maps = [affine_map<(n, f, y, x, i, j, c) -> (n, c, y * 2 + i, x * 2 + j)>,
                                        affine_map<(n, f, y, x, i, j, c) -> (f, c, i, j)>,
                                        affine_map<(n, f, y, x, i, j, c) -> (n, f, y, x)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p4, %w4 : tensor<2x3x15x35xi8>, tensor<8x3x3x3xi8>) outs(%f4 : tensor<2x8x7x17xi32>) {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<2x8x7x17xi32>

  // And in groups.
  %p5 = tensor.pad %x5 low[0, 0, 0, 1, 1] high[0, 0, 0, 1, 1] {
  ^bb0(%a0: index, %a1: index, %a2: index, %a3: index, %a4: index):
    tensor.yield %z8 : i8
  } : tensor<2x2x3x8x16xi8> to tensor<2x2x3x10x18xi8>
  %e5 = tensor.empty() : tensor<2x2x4x8x16xi32>
  %f5 = linalg.fill ins(%z : i32) outs(%e5 : tensor<2x2x4x8x16xi32>) -> tensor<2x2x4x8x16xi32>
  %c5 = linalg.generic {indexing_maps = [affine_map<(n, g, f, y, x, i, j, c) -> (n, g, c, y + i, x + j)>,
                                        affine_map<(n, g, f, y, x, i, j, c) -> (g, f, c, i, j)>,
                                        affine_map<(n, g, f, y, x, i, j, c) -> (n, g, f, y, x)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p5, %w5 : tensor<2x2x3x10x18xi8>, tensor<2x4x3x3x3xi8>) outs(%f5 : tensor<2x2x4x8x16xi32>) {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<2x2x4x8x16xi32>

  // One dimension, two rows.
  %p6 = tensor.pad %x6 low[0, 3, 0] high[0, 3, 0] {
  ^bb0(%a0: index, %a1: index, %a2: index):
    tensor.yield %z8 : i8
  } : tensor<2x61x5xi8> to tensor<2x67x5xi8>
  %e6 = tensor.empty() : tensor<2x31x32xi32>
  %f6 = linalg.fill ins(%z : i32) outs(%e6 : tensor<2x31x32xi32>) -> tensor<2x31x32xi32>
  %c6 = linalg.generic {indexing_maps = [affine_map<(n, x, f, j, c) -> (n, x * 2 + j, c)>,
                                        affine_map<(n, x, f, j, c) -> (j, c, f)>,
                                        affine_map<(n, x, f, j, c) -> (n, x, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p6, %w6 : tensor<2x67x5xi8>, tensor<7x5x32xi8>) outs(%f6 : tensor<2x31x32xi32>) {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<2x31x32xi32>
  %q6 = linalg.generic {indexing_maps = [affine_map<(n, x, f) -> (n, x, f)>, affine_map<(n, x, f) -> (f)>, affine_map<(n, x, f) -> (n, x, f)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c6, %b6 : tensor<2x31x32xi32>, tensor<32xi32>) outs(%e6 : tensor<2x31x32xi32>) {
  ^bb0(%a: i32, %k: i32, %s: i32):
    %u = arith.addi %a, %k : i32
    %t = arith.maxsi %u, %z : i32
    linalg.yield %t : i32
  } -> tensor<2x31x32xi32>

  // Channels first, dilated.
  %p7 = tensor.pad %x7 low[0, 0, 2] high[0, 0, 2] {
  ^bb0(%a0: index, %a1: index, %a2: index):
    tensor.yield %z8 : i8
  } : tensor<2x3x61xi8> to tensor<2x3x65xi8>
  %e7 = tensor.empty() : tensor<2x16x57xi32>
  %f7 = linalg.fill ins(%z : i32) outs(%e7 : tensor<2x16x57xi32>) -> tensor<2x16x57xi32>
  %c7 = linalg.generic {indexing_maps = [affine_map<(n, f, x, j, c) -> (n, c, x + j * 2)>,
                                        affine_map<(n, f, x, j, c) -> (f, c, j)>,
                                        affine_map<(n, f, x, j, c) -> (n, f, x)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p7, %w7 : tensor<2x3x65xi8>, tensor<16x3x5xi8>) outs(%f7 : tensor<2x16x57xi32>) {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extui %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<2x16x57xi32>

  // Three dimensions.
  %p8 = tensor.pad %x8 low[0, 1, 1, 1, 0] high[0, 1, 1, 1, 0] {
  ^bb0(%a0: index, %a1: index, %a2: index, %a3: index, %a4: index):
    tensor.yield %z8 : i8
  } : tensor<1x5x9x9x3xi8> to tensor<1x7x11x11x3xi8>
  %e8 = tensor.empty() : tensor<1x5x5x5x16xi32>
  %f8 = linalg.fill ins(%z : i32) outs(%e8 : tensor<1x5x5x5x16xi32>) -> tensor<1x5x5x5x16xi32>
  %c8 = linalg.generic {indexing_maps = [affine_map<(n, z, y, x, f, h, i, j, c) -> (n, z + h, y * 2 + i, x * 2 + j, c)>,
                                        affine_map<(n, z, y, x, f, h, i, j, c) -> (h, i, j, c, f)>,
                                        affine_map<(n, z, y, x, f, h, i, j, c) -> (n, z, y, x, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%p8, %w8 : tensor<1x7x11x11x3xi8>, tensor<3x3x3x3x16xi8>) outs(%f8 : tensor<1x5x5x5x16xi32>) {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<1x5x5x5x16xi32>
  %q8 = linalg.generic {indexing_maps = [affine_map<(n, z, y, x, f) -> (n, z, y, x, f)>, affine_map<(n, z, y, x, f) -> (f)>, affine_map<(n, z, y, x, f) -> (n, z, y, x, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%c8, %b8 : tensor<1x5x5x5x16xi32>, tensor<16xi32>) outs(%e8 : tensor<1x5x5x5x16xi32>) {
  ^bb0(%a: i32, %k: i32, %s: i32):
    %u = arith.addi %a, %k : i32
    %t = arith.maxsi %u, %z : i32
    linalg.yield %t : i32
  } -> tensor<1x5x5x5x16xi32>

  // Two images; results that fill no vectors.
  %e9 = tensor.empty() : tensor<2x12x12x17xi32>
  %f9 = linalg.fill ins(%z : i32) outs(%e9 : tensor<2x12x12x17xi32>) -> tensor<2x12x12x17xi32>
  %c9 = linalg.generic {indexing_maps = [affine_map<(n, y, x, f, i, j, c) -> (n, y + i, x + j, c)>,
                                        affine_map<(n, y, x, f, i, j, c) -> (i, j, c, f)>,
                                        affine_map<(n, y, x, f, i, j, c) -> (n, y, x, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x9, %w9 : tensor<2x14x14x6xi8>, tensor<3x3x6x17xi8>) outs(%f9 : tensor<2x12x12x17xi32>) {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<2x12x12x17xi32>
  %q9 = linalg.generic {indexing_maps = [affine_map<(n, y, x, f) -> (n, y, x, f)>, affine_map<(n, y, x, f) -> (f)>, affine_map<(n, y, x, f) -> (n, y, x, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c9, %b9 : tensor<2x12x12x17xi32>, tensor<17xi32>) outs(%e9 : tensor<2x12x12x17xi32>) {
  ^bb0(%a: i32, %k: i32, %s: i32):
    %u = arith.addi %a, %k : i32
    %t = arith.maxsi %u, %z : i32
    linalg.yield %t : i32
  } -> tensor<2x12x12x17xi32>

  return %q0, %c1, %q2, %q3, %c4, %c5, %q6, %c7, %q8, %q9
      : tensor<1x8x9x32xi32>,
        tensor<1x15x15x32xi32>,
        tensor<1x12x12x2x16xi32>,
        tensor<1x8x10x16xi32>,
        tensor<2x8x7x17xi32>,
        tensor<2x2x4x8x16xi32>,
        tensor<2x31x32xi32>,
        tensor<2x16x57xi32>,
        tensor<1x5x5x5x16xi32>,
        tensor<2x12x12x17xi32>
}
