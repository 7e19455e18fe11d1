// A pooling of a padded image: the iterations that read padding become parts of
// their own, and the rest reads the image as it is. With channels first vectors
// lie across a border: what is left of a row is one tile, which no knob cuts,
// unless it is long.
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4" | FileCheck %s
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4 space=ansor" | FileCheck %s --check-prefix=ANSOR
// RUN: ansor-opt %s --ansor-print-features="compare=200 target=x86-64-v4" -o /dev/null | FileCheck %s --check-prefix=FEATURES

// CHECK: ansor.derivation = ["tile-reduction(s2)", "initialize(s1)", "pad(s0)", "whole"]
// CHECK: ansor.derivation = ["tile-reduction(s2)", "initialize(s1)", "pad(s0)", "in-tile"]
// CHECK: ansor.derivation = ["tile-reduction(s2)", "border(s2.d0 1 0)", "border(s2.d1 1 0)", "initialize(s1)", "pad(s0)", "in-tile"]
// CHECK: transform.structured.split %{{.*}} after 1 {dimension = 0
// CHECK: transform.structured.split %{{.*}} after 1 {dimension = 1
// CHECK-COUNT-3: use_forall
// CHECK: transform.apply_patterns.ansor.fold_pads
// CHECK: ansor.derivation = ["tile-reduction(s2)", "border(s2.d1 1 0)", "border(s2.d2 1 0)", "initialize(s1)", "pad(s0)", "in-tile"]
// CHECK-NOT: "s2.d2.l0"
// CHECK: "s2.d3.l0"
// CHECK: ansor.derivation = ["tile-reduction(s2)", "initialize(s1)", "pad(s0)", "whole"]
// CHECK-NOT: border(
// ANSOR-NOT: border(
// FEATURES-COUNT-8: "qualifies":true{{.*}}"interpreted":0,"compared":200,"different":0}

#last = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 2 + d3, d1 * 2 + d4, d2)>
#first = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d3, d2 * 2 + d4)>
#window = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>
#result = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
func.func private @last(%x: tensor<32x48x64xf32>, %w: tensor<3x3xf32>, %o: tensor<16x24x64xf32>) -> tensor<16x24x64xf32> attributes {ansor.task = "a1-00"} {
  %low = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[1, 1, 0] high[1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %low : f32
  } {ansor.stage = 0 : i64} : tensor<32x48x64xf32> to tensor<34x50x64xf32>
  %f = linalg.fill {ansor.stage = 1 : i64} ins(%low : f32) outs(%o : tensor<16x24x64xf32>) -> tensor<16x24x64xf32>
  %r = linalg.generic {indexing_maps = [#last, #window, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%p, %w : tensor<34x50x64xf32>, tensor<3x3xf32>) outs(%f : tensor<16x24x64xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.maximumf %s, %a : f32
    linalg.yield %m : f32
  } -> tensor<16x24x64xf32>
  return %r : tensor<16x24x64xf32>
}
func.func private @first(%x: tensor<64x32x48xf32>, %w: tensor<3x3xf32>, %o: tensor<64x16x24xf32>) -> tensor<64x16x24xf32> attributes {ansor.task = "a1-01"} {
  %low = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %low : f32
  } {ansor.stage = 0 : i64} : tensor<64x32x48xf32> to tensor<64x34x50xf32>
  %f = linalg.fill {ansor.stage = 1 : i64} ins(%low : f32) outs(%o : tensor<64x16x24xf32>) -> tensor<64x16x24xf32>
  %r = linalg.generic {indexing_maps = [#first, #window, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%p, %w : tensor<64x34x50xf32>, tensor<3x3xf32>) outs(%f : tensor<64x16x24xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.maximumf %s, %a : f32
    linalg.yield %m : f32
  } -> tensor<64x16x24xf32>
  return %r : tensor<64x16x24xf32>
}
func.func private @long(%x: tensor<8x32x480xf32>, %w: tensor<3x3xf32>, %o: tensor<8x16x240xf32>) -> tensor<8x16x240xf32> attributes {ansor.task = "a1-02"} {
  %low = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %low : f32
  } {ansor.stage = 0 : i64} : tensor<8x32x480xf32> to tensor<8x34x482xf32>
  %f = linalg.fill {ansor.stage = 1 : i64} ins(%low : f32) outs(%o : tensor<8x16x240xf32>) -> tensor<8x16x240xf32>
  %r = linalg.generic {indexing_maps = [#first, #window, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%p, %w : tensor<8x34x482xf32>, tensor<3x3xf32>) outs(%f : tensor<8x16x240xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.maximumf %s, %a : f32
    linalg.yield %m : f32
  } -> tensor<8x16x240xf32>
  return %r : tensor<8x16x240xf32>
}
