// Borders of a padded image are parts of their own: what is left reads the image
// as it is.
// RUN: split-file %s %t
// RUN: ansor-opt %t/depthwise.mlir --ansor-generate-sketches="target=x86-64-v3 sketch=2" > %t/sketches.mlir
// RUN: FileCheck %t/depthwise.mlir --input-file=%t/sketches.mlir
// RUN: ansor-opt %t/sketches.mlir --ansor-apply-decisions='decisions={"s2.d0":[5,5,1],"s2.d1":[5,5,5],"s2.d2":[16,16,16],"s2.d3":[3,1],"s2.d4":[3,1],"s2.unroll":[0]}' \
// RUN:   --transform-interpreter --canonicalize | FileCheck %t/depthwise.mlir --check-prefix=APPLIED
// RUN: ansor-opt %t/depthwise.mlir --ansor-sample="target=x86-64-v3 count=20 seed=1 check" -o %t/out.mlir | FileCheck %t/depthwise.mlir --check-prefix=SAMPLE
// RUN: ansor-opt %t/depthwise.mlir --ansor-print-features="target=x86-64-v3 compare=20" -o %t/out.mlir | FileCheck %t/depthwise.mlir --check-prefix=FEATURES

// A consumer is split with it, and the stride leaves one border.
// RUN: ansor-opt %t/strided.mlir --ansor-generate-sketches="target=x86-64-v3" | FileCheck %t/strided.mlir

// Not where the padding doesn't matter, where nothing is left, or in the
// paper's space.
// RUN: ansor-opt %t/channels.mlir --ansor-generate-sketches="target=x86-64-v3" | FileCheck %t/small.mlir --check-prefix=NONE
// RUN: ansor-opt %t/small.mlir --ansor-generate-sketches="target=x86-64-v3" | FileCheck %t/small.mlir --check-prefix=NONE
// RUN: ansor-opt %t/depthwise.mlir --ansor-generate-sketches="target=x86-64-v3 space=ansor" | FileCheck %t/small.mlir --check-prefix=NONE

//--- depthwise.mlir
// CHECK: ansor.derivation = ["tile(s2)", "border(s2.d0 1 1)", "border(s2.d1 1 1)", "initialize(s1)", "pad(s0)", "in-tile"]
// CHECK: extent = 10 : i64, kind = "tile", level = 0 : i64, levels = 3 : i64, loop = 0 : i64
// CHECK: transform.structured.split %{{.*}} after 1 {dimension = 0
// CHECK: transform.structured.split %{{.*}} after 10 {dimension = 0
// CHECK: transform.structured.split %{{.*}} after 1 {dimension = 1
// CHECK: transform.structured.split %{{.*}} after 10 {dimension = 1
// CHECK: transform.apply_patterns.ansor.split_initial_values
// CHECK-COUNT-5: use_forall
// CHECK: transform.apply_patterns.ansor.fold_pads

// The first row, left column, middle, right column and last row; no fill of
// the whole result.
// APPLIED: func.func private @task_0
// APPLIED-NOT: linalg.fill{{.*}}tensor<12x12x16xf32>
// APPLIED: tensor.pad
// APPLIED: linalg.generic
// APPLIED: scf.forall
// APPLIED: tensor.pad
// APPLIED: linalg.generic
// APPLIED: scf.forall
// APPLIED-NOT: tensor.pad
// APPLIED: tensor.extract_slice %arg0[%{{.*}}, %{{.*}}, 0] [7, 7, 16]
// APPLIED-NOT: tensor.pad
// APPLIED: linalg.fill
// APPLIED: linalg.generic
// APPLIED: scf.forall
// APPLIED: tensor.pad
// APPLIED: linalg.generic
// APPLIED: tensor.pad
// APPLIED: linalg.generic
// APPLIED-NOT: tensor.pad
// SAMPLE: "sketch":"s2"
// FEATURES: "sketch":"s2","qualifies":true,{{.*}}"compared":20,"different":0

#x = affine_map<(d0, d1, d2, d3, d4) -> (d0 + d3, d1 + d4, d2)>
#w = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
#o = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
func.func private @task_0(%x: tensor<12x12x16xf32>, %w: tensor<3x3x16xf32>, %out: tensor<12x12x16xf32>) -> tensor<12x12x16xf32>
    attributes {ansor.task = "a1-00", ansor.weight = 1 : i64} {
  %c0 = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 1, 0] high[1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c0 : f32
  } {ansor.stage = 0 : i64} : tensor<12x12x16xf32> to tensor<14x14x16xf32>
  %f = linalg.fill {ansor.stage = 1 : i64} ins(%c0 : f32) outs(%out : tensor<12x12x16xf32>) -> tensor<12x12x16xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %w : tensor<14x14x16xf32>, tensor<3x3x16xf32>) outs(%f : tensor<12x12x16xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<12x12x16xf32>
  return %c : tensor<12x12x16xf32>
}

//--- strided.mlir
// CHECK: ansor.derivation = ["tile-and-fuse(s3)", "level(2)", "border(s2.d0 1 0)", "border(s2.d1 1 0)", "initialize(s1)", "pad(s0)", "in-tile"]
// CHECK-NOT: split_initial_values
// CHECK: transform.structured.split %{{.*}} after 1 {dimension = 0
// CHECK-NOT: dimension = 0
// CHECK: transform.structured.split %{{.*}} after 1 {dimension = 1

#x = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 2 + d3, d1 * 2 + d4, d2)>
#w = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
#o = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d2)>
func.func private @task_0(%x: tensor<12x12x16xf32>, %w: tensor<3x3x16xf32>, %bias: tensor<16xf32>, %out: tensor<6x6x16xf32>) -> tensor<6x6x16xf32>
    attributes {ansor.task = "a1-00", ansor.weight = 1 : i64} {
  %c0 = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 1, 0] high[1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c0 : f32
  } {ansor.stage = 0 : i64} : tensor<12x12x16xf32> to tensor<14x14x16xf32>
  %e = tensor.empty() : tensor<6x6x16xf32>
  %f = linalg.fill {ansor.stage = 1 : i64} ins(%c0 : f32) outs(%e : tensor<6x6x16xf32>) -> tensor<6x6x16xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %w : tensor<14x14x16xf32>, tensor<3x3x16xf32>) outs(%f : tensor<6x6x16xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<6x6x16xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c, %bias : tensor<6x6x16xf32>, tensor<16xf32>) outs(%out : tensor<6x6x16xf32>) attrs = {ansor.stage = 3 : i64} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<6x6x16xf32>
  return %r : tensor<6x6x16xf32>
}

//--- channels.mlir
#x = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 + d3, d1 + d4, d5)>
#w = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5, d2)>
#o = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>
func.func private @task_0(%x: tensor<10x10x4xf32>, %w: tensor<3x3x4x16xf32>, %out: tensor<10x10x16xf32>) -> tensor<10x10x16xf32>
    attributes {ansor.task = "a1-00", ansor.weight = 1 : i64} {
  %c0 = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 1, 0] high[1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c0 : f32
  } {ansor.stage = 0 : i64} : tensor<10x10x4xf32> to tensor<12x12x4xf32>
  %f = linalg.fill {ansor.stage = 1 : i64} ins(%c0 : f32) outs(%out : tensor<10x10x16xf32>) -> tensor<10x10x16xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %w : tensor<12x12x4xf32>, tensor<3x3x4x16xf32>) outs(%f : tensor<10x10x16xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<10x10x16xf32>
  return %c : tensor<10x10x16xf32>
}

//--- small.mlir
// NONE: ansor.derivation
// NONE-NOT: border(
#x = affine_map<(d0, d1, d2, d3, d4) -> (d0 + d3, d1 + d4, d2)>
#w = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
#o = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
func.func private @task_0(%x: tensor<3x8x16xf32>, %w: tensor<3x3x16xf32>, %out: tensor<3x8x16xf32>) -> tensor<3x8x16xf32>
    attributes {ansor.task = "a1-00", ansor.weight = 1 : i64} {
  %c0 = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 1, 0] high[1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c0 : f32
  } {ansor.stage = 0 : i64} : tensor<3x8x16xf32> to tensor<5x10x16xf32>
  %f = linalg.fill {ansor.stage = 1 : i64} ins(%c0 : f32) outs(%out : tensor<3x8x16xf32>) -> tensor<3x8x16xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %w : tensor<5x10x16xf32>, tensor<3x3x16xf32>) outs(%f : tensor<3x8x16xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<3x8x16xf32>
  return %c : tensor<3x8x16xf32>
}
