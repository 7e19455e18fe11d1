// The transposition of an operand: read through, or done tile by tile, and then
// vectors may lie along another loop than the rows of the result.
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4" > %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4 space=ansor" | FileCheck %s --check-prefix=ANSOR
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4 sketch=1" | ansor-opt --ansor-apply-decisions="seed=1 fold=true" | mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin --transform-interpreter --cse | FileCheck %s --check-prefix=NEST

// CHECK: ansor.derivation = ["tile(s2)", "initialize(s1)", "read-through(s0)"]
// CHECK: ansor.derivation = ["tile(s2)", "lanes(s2.d0)", "cache-read(s2.1)", "initialize(s1)"]
// CHECK: tune.knob<"s2.d0.l2"> options = {{.*}}multiple_of = 16
// CHECK: ansor.derivation = ["tile(s2)", "lanes(s2.d0)", "pack(s2.1)", "initialize(s1)", "read-through(s0)"]
// CHECK: transform.ansor.pack_operand %{{.*}}[1] loop 0

// ANSOR-NOT: lanes(
// ANSOR: "read-through(s0)"
// ANSOR-NOT: lanes(

// NEST: scf.forall
// NEST: scf.for
// NEST: linalg.generic {{.*}} ins(%{{.*}} : tensor<{{.*}}x{{.*}}xf32>) {{.*}}ansor.stage = 0
// NEST: scf.for
// NEST: linalg.generic {{.*}}ansor.stage = 2
func.func private @task_0(%a: tensor<32x64xf32>, %b: tensor<64x14xf32>, %c: tensor<32x14xf32>) -> tensor<32x14xf32> attributes {ansor.task = "a1-1"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(k, i) -> (i, k)>, affine_map<(k, i) -> (k, i)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<32x64xf32>) outs(%e : tensor<64x32xf32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<64x32xf32>
  %f = linalg.fill {ansor.stage = 1 : i64} ins(%zero : f32) outs(%c : tensor<32x14xf32>) -> tensor<32x14xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%b, %t : tensor<64x14xf32>, tensor<64x32xf32>) outs(%f : tensor<32x14xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<32x14xf32>
  return %r : tensor<32x14xf32>
}
