// Products with few results and a long reduction: parts of the reduction are
// computed in parallel (split-reduction), in tiles of their own; the consumer
// follows the sum of the parts.
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:cores=4" | FileCheck %s
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:cores=4 sketch=0" --ansor-apply-decisions="seed=1 fold=true" | mlir-opt --transform-interpreter --cse | FileCheck %s --check-prefix=APPLIED
// The paper's space has rfactor instead, and for fewer results.
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:cores=4 space=ansor" | FileCheck %s --check-prefix=ANSOR
// Candidates are what their features are computed for.
// RUN: ansor-opt %s --ansor-print-features="compare=200 target=x86-64-v4:cores=4" -o /dev/null | FileCheck %s --check-prefix=FEATURES

// CHECK: ansor.constraints = [{{.*}}name = "parts"{{.*}}ansor.derivation = ["split-reduction(s2)", "initialize(s0)"]
// CHECK: tune.knob<"s1.d1.l0"> options = {extent = 4096 : i64, kind = "tile", level = 0 : i64, levels = 3 : i64, loop = 1 : i64, max = 2048 : i64
// CHECK: transform.structured.split_reduction %{{.*}} {ansor.bind = {split_factor = {extent = 4096 : i64, knob = "s1.d1.l0"}}, split_factor = 2 : i64}
// CHECK: ansor.derivation = ["tile-and-fuse(s2)", "level(2)"
// ANSOR-NOT: split-reduction

// APPLIED: scf.forall {{.*}} -> (tensor<[[P:[0-9]+]]x1000xf32>)
// APPLIED: linalg.fill {ansor.stage = 0 : i64, ansor.vectorize}
// APPLIED: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]{{.*}}ansor.vectorize
// APPLIED: ansor.parallel
// APPLIED: scf.for
// APPLIED: linalg.fill {ansor.stage = 0 : i64, ansor.vectorize}
// APPLIED: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]{{.*}}ansor.stage = 1 : i64, ansor.vectorize
// APPLIED: linalg.generic {{.*}} iterator_types = ["parallel"]{{.*}}ansor.stage = 2 : i64, ansor.vectorize

// FEATURES: "sketch":"s0","qualifies":true{{.*}}"interpreted":0,"compared":200,"different":0}

#a = affine_map<(d0, d1) -> (d1)>
#b = affine_map<(d0, d1) -> (d1, d0)>
#c = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0) -> (d0)>
func.func private @task_0(%a: tensor<4096xf32>, %b: tensor<4096x1000xf32>, %bias: tensor<1000xf32>, %o: tensor<1000xf32>) -> tensor<1000xf32> attributes {ansor.task = "a1-00"} {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1000xf32>
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%c0 : f32) outs(%e : tensor<1000xf32>) -> tensor<1000xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction"]} ins(%a, %b : tensor<4096xf32>, tensor<4096x1000xf32>) outs(%f : tensor<1000xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<1000xf32>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%r, %bias : tensor<1000xf32>, tensor<1000xf32>) outs(%o : tensor<1000xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %t = arith.addf %x, %y : f32
    linalg.yield %t : f32
  } -> tensor<1000xf32>
  return %q : tensor<1000xf32>
}
