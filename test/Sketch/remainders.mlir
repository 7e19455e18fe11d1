// Loops whose divisors make no good tiles are cut with a remainder.
// RUN: ansor-opt %s --split-input-file --ansor-generate-sketches="target=x86-64-v4" | FileCheck %s
// RUN: ansor-opt %s --split-input-file --ansor-generate-sketches="target=x86-64-v4 space=ansor" | FileCheck %s --check-prefix=ANSOR

#id = affine_map<(d0) -> (d0)>

// A prime length: whole vectors, and inner tiles that divide the outer ones.
// CHECK-LABEL: func.func private @prime
// CHECK: tune.knob<"s0.d0.l0"> options = {extent = 10007 : i64, kind = "tile", level = 0 : i64, levels = 2 : i64, loop = 0 : i64, multiple_of = 16 : i64, policy = "remainder"
// CHECK: tune.knob<"s0.d0.l1"> options = {{.*}}multiple_of = 16 : i64, policy = "divisor"
// The paper's space has divisors only.
// ANSOR-LABEL: func.func private @prime
// ANSOR-NOT: "remainder"
// ANSOR: return
func.func private @prime(%x: tensor<10007xf32>, %o: tensor<10007xf32>) -> tensor<10007xf32> attributes {ansor.task = "a1-01"} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<10007xf32>) outs(%o : tensor<10007xf32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<10007xf32>
  return %0 : tensor<10007xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Divisors in plenty.
// CHECK-LABEL: func.func private @divides
// CHECK-NOT: "remainder"
// CHECK: return
func.func private @divides(%x: tensor<4096xf32>, %o: tensor<4096xf32>) -> tensor<4096xf32> attributes {ansor.task = "a1-02"} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4096xf32>) outs(%o : tensor<4096xf32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// -----

#in = affine_map<(d0) -> (d0)>
#out = affine_map<(d0) -> ()>

// A reduction to one number.
// CHECK-LABEL: func.func private @sum
// CHECK: tune.knob<"s0.d0.l0"> options = {extent = 1000003 : i64, {{.*}}policy = "remainder"
func.func private @sum(%x: tensor<1000003xf32>, %o: tensor<f32>) -> tensor<f32> attributes {ansor.task = "a1-03"} {
  %0 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]} ins(%x : tensor<1000003xf32>) outs(%o : tensor<f32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
