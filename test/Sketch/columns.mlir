// Products of 8-bit integers whose channels are no whole groups of a dot
// instruction: parallel tiles copy the windows of the image, whose rows are.
// RUN: ansor-opt %s --ansor-generate-sketches="target=sapphirerapids" > %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ansor-opt %s --ansor-generate-sketches="target=sapphirerapids sketch=99" --ansor-apply-decisions="seed=1 fold=true" | mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin --transform-interpreter --cse | FileCheck %s --check-prefix=APPLIED
// Candidates are what their features are computed for.
// RUN: ansor-opt %s --ansor-generate-sketches="target=sapphirerapids sketch=99" --ansor-print-features="compare=100 target=sapphirerapids" -o /dev/null | FileCheck %s --check-prefix=FEATURES
// Without dot instructions, and in the paper's space, there is nothing of it.
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4" | FileCheck %s --check-prefix=NONE
// RUN: ansor-opt %s --ansor-generate-sketches="target=sapphirerapids space=ansor" | FileCheck %s --check-prefix=NONE
// NONE-NOT: columns

// FEATURES-COUNT-2: "qualifies":true{{.*}}"interpreted":0,"compared":100,"different":0}

// The consumer's tiles hold all; 147 steps are padded to groups of four. The
// rows are one reduction loop, and nothing else is split.
// CHECK: ansor.constraints = [{{.*}}{max = 2097152 : i64, name = "columns", {{.*}}terms = [{coefficient = 148 : i64, knobs = ["s2.d0.l0", "s2.d1.l0"]}]}], ansor.derivation = ["tile-and-fuse(s3)", "level(2)", "columns(s2.0)", "initialize(s1)", "pad(s0)", "whole"]
// CHECK: knob<"s2.d3.l0"> options = {extent = 148 : i64, {{.*}}multiple_of = 4
// CHECK-NOT: knob<"s2.d4
// CHECK: %[[ROOT:.*]], %[[FORALL:.*]] = transform.structured.fuse %{{.*}} {use_forall}
// CHECK: %[[ANCHOR:.*]] = transform.structured.match attributes {ansor.stage = 2 : i64} in %[[FORALL]]
// CHECK: %[[PRODUCT:.*]], %[[COPY:.*]] = transform.ansor.im2col %[[ANCHOR]][0] group 4 :
// CHECK: transform.annotate %[[PRODUCT]] "ansor.stage"
// CHECK: transform.structured.tile_using_for %[[COPY]] tile_sizes [1, 1]
// CHECK: transform.structured.fuse %[[ROOT]]
// CHECK: ansor.derivation = ["tile-and-fuse(s3)", "level(2)", "columns(s2.0)", "initialize(s1)", "pad(s0)", "in-tile"]

// Vectors lie along a loop of the image: it is innermost in the copy.
// CHECK: ansor.derivation = ["tile(s1)", "columns(s1.0)", "initialize(s0)"]
// CHECK: transform.ansor.im2col %{{.*}}[0] group 4 lane 2 :

// APPLIED-LABEL: func.func private @task_0
// APPLIED: scf.forall
// APPLIED: tensor.pad
// APPLIED: scf.for
// APPLIED: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel"]{{.*}}ansor.vectorize
// APPLIED: scf.for
// APPLIED: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]{{.*}}ansor.stage = 2 : i64, ansor.vectorize
// APPLIED: linalg.generic {{.*}}ansor.stage = 3 : i64, ansor.vectorize
// APPLIED: ansor.parallel

#x = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 * 2 + d3, d1 * 2 + d4, d5)>
#w = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5, d2)>
#o = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#bias = affine_map<(d0, d1, d2) -> (d2)>
func.func private @task_0(%x: tensor<224x224x3xi8>, %w: tensor<7x7x3x64xi8>, %b: tensor<64xi32>, %out: tensor<112x112x64xi32>) -> tensor<112x112x64xi32> attributes {ansor.task = "a1-00"} {
  %z8 = arith.constant 0 : i8
  %z = arith.constant 0 : i32
  %p = tensor.pad %x low[3, 3, 0] high[3, 3, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %z8 : i8
  } {ansor.stage = 0 : i64} : tensor<224x224x3xi8> to tensor<230x230x3xi8>
  %e = tensor.empty() : tensor<112x112x64xi32>
  %f = linalg.fill {ansor.stage = 1 : i64} ins(%z : i32) outs(%e : tensor<112x112x64xi32>) -> tensor<112x112x64xi32>
  %c = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%p, %w : tensor<230x230x3xi8>, tensor<7x7x3x64xi8>) outs(%f : tensor<112x112x64xi32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<112x112x64xi32>
  %r = linalg.generic {indexing_maps = [#id, #bias, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c, %b : tensor<112x112x64xi32>, tensor<64xi32>) outs(%out : tensor<112x112x64xi32>) attrs = {ansor.stage = 3 : i64} {
  ^bb0(%a: i32, %k: i32, %s: i32):
    %t = arith.addi %a, %k : i32
    linalg.yield %t : i32
  } -> tensor<112x112x64xi32>
  return %r : tensor<112x112x64xi32>
}

#nx = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d1 + d4, d2 + d5)>
#nw = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d4, d5)>
func.func private @task_1(%x: tensor<64x30x34xi8>, %w: tensor<48x64x3x3xi8>, %out: tensor<48x28x32xi32>) -> tensor<48x28x32xi32> attributes {ansor.task = "a1-01"} {
  %z = arith.constant 0 : i32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%z : i32) outs(%out : tensor<48x28x32xi32>) -> tensor<48x28x32xi32>
  %c = linalg.generic {indexing_maps = [#nx, #nw, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<64x30x34xi8>, tensor<48x64x3x3xi8>) outs(%f : tensor<48x28x32xi32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extui %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<48x28x32xi32>
  return %c : tensor<48x28x32xi32>
}
