// An extent without a divisor of the right size is split, and the panel of an
// operand that is used for each row is copied.
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:l1=1024 sketch=4" > %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ansor-opt %t.mlir --ansor-apply-decisions="seed=1 fold=true" | mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin --transform-interpreter --cse | FileCheck %s --check-prefix=NEST
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:l1=1048576" | FileCheck %s --check-prefix=SMALL
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:l1=1024 space=ansor" | FileCheck %s --check-prefix=ANSOR

// CHECK: ansor.derivation = ["tile-and-fuse(s2)", "level(2)", "initialize(s0)"]
// CHECK: ansor.derivation = ["tile-and-fuse(s2)", "level(1)", "initialize(s0)"]
// CHECK: ansor.derivation = ["tile-and-fuse(s2)", "level(2)", "cache-read(s1.1)", "initialize(s0)"]
// CHECK: ansor.derivation = ["tile-and-fuse(s2)", "level(2)", "split(s1.d0 at 36)", "split(s1.d1 at 32)", "initialize(s0)"]
// CHECK: ansor.derivation = ["tile-and-fuse(s2)", "level(2)", "cache-read(s1.1)", "split(s1.d0 at 36)", "split(s1.d1 at 32)", "initialize(s0)"]
// CHECK: tune.knob<"s1.d0.l0"> options = {extent = 36 : i64
// CHECK: tune.knob<"s1.d1.l0"> options = {extent = 32 : i64
// CHECK: transform.structured.split %{{.*}} after 36 {dimension = 0 : i64}
// CHECK: transform.structured.split %{{.*}} after 32 {dimension = 1 : i64}
// CHECK: transform.structured.promote_tensor

// The four parts; only the first copies.
// NEST: scf.forall {{.*}} -> (tensor<36x32xf32>)
// NEST: bufferization.alloc_tensor
// NEST: bufferization.materialize_in_destination
// NEST: linalg.fill
// NEST: ansor.parallel
// NEST-NOT: materialize_in_destination
// NEST: scf.forall {{.*}} -> (tensor<36x9xf32>)
// NEST: scf.forall {{.*}} -> (tensor<1x32xf32>)
// NEST: scf.forall {{.*}} -> (tensor<1x9xf32>)

// SMALL-NOT: cache-read
// The paper's space has neither; its innermost tiles are at most 64.
// ANSOR-NOT: cache-read
// ANSOR-NOT: split(
// ANSOR: tune.knob<"s1.d1.l2"> options = {{{.*}}max = 64 : i64
// ANSOR: tune.knob<"s1.unroll"> options = {{{.*}}values = [0, 16, 64, 512]

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @task_0(%a: tensor<37x16xf32>, %b: tensor<16x41xf32>, %out: tensor<37x41xf32>) -> tensor<37x41xf32>
    attributes {ansor.task = "a1-00", ansor.weight = 1 : i64} {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x41xf32>
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%c0 : f32) outs(%e : tensor<37x41xf32>) -> tensor<37x41xf32>
  %mm = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<37x16xf32>, tensor<16x41xf32>) outs(%f : tensor<37x41xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<37x41xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%mm : tensor<37x41xf32>) outs(%out : tensor<37x41xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%x: f32, %z: f32):
    %s = arith.maximumf %x, %c0 : f32
    linalg.yield %s : f32
  } -> tensor<37x41xf32>
  return %r : tensor<37x41xf32>
}
