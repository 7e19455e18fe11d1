// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:l1=4194304" | FileCheck %s
// Sketches without panels parse in a stock mlir-opt, and decided ones run there.
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:l1=4194304 sketch=1" | mlir-opt | FileCheck %s
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:l1=4194304" > %t.mlir
// RUN: sed -E -e 's/(knob<"s1.d0.l0">)/\1 = 128 : i64 from/; s/(knob<"s1.d1.l0">)/\1 = 256 : i64 from/' \
// RUN:   -e 's/(knob<"s1.d0.l1">)/\1 = 8 : i64 from/; s/(knob<"s1.d1.l1">)/\1 = 64 : i64 from/' \
// RUN:   -e 's/(knob<"s1.d0.l2">)/\1 = 4 : i64 from/; s/(knob<"s1.d1.l2">)/\1 = 32 : i64 from/' \
// RUN:   -e 's/(knob<"s1.d2.l0">)/\1 = 512 : i64 from/; s/(knob<"s1.d2.l1">)/\1 = 2 : i64 from/' \
// RUN:   -e 's/(knob<"s1.unroll">)/\1 = 4 : i64 from/' %t.mlir \
// RUN:   | mlir-opt --transform-interpreter --canonicalize --cse | FileCheck %s --check-prefix=NEST

// The consumer is computed at the second level (first sketch) or the first.
// CHECK-LABEL: transform.named_sequence @a1_00_s0
// CHECK-SAME: ansor.constraints = [{max = {{[0-9]+}} : i64, name = "vector-registers", reason = "the accumulators of the innermost tile fit in the registers"
// CHECK-SAME: ansor.derivation = ["tile-and-fuse(s2)", "level(2)", "initialize(s0)"]
// CHECK-SAME: ansor.sketch = "s0"
// CHECK: knob<"s1.d0.l0"> options = {extent = 512 : i64, kind = "tile", level = 0 : i64, levels = 3 : i64
// CHECK: knob<"s1.d1.l2"> options = {{.*}}multiple_of = 16 : i64
// CHECK: knob<"s1.d2.l1"> options = {{.*}}level = 1 : i64, levels = 2 : i64
// CHECK: %[[ROOT:.+]] = transform.structured.match attributes {ansor.stage = 2 : i64} in %arg0
// CHECK: %[[R1:.+]], %[[PAR:.+]] = transform.structured.fuse %[[ROOT]] tile_sizes {{.*}} {use_forall}
// CHECK: transform.annotate %[[PAR]] "ansor.parallel"
// CHECK: transform.structured.fuse %[[R1]]
// CHECK: transform.structured.match attributes {ansor.stage = 1 : i64}
// CHECK: transform.structured.tile_using_for {{.*}} tile_sizes [0, 0, %{{.*}}]
// CHECK: transform.named_sequence @a1_00_s1
// CHECK: %[[ROOT:.+]] = transform.structured.match attributes {ansor.stage = 2 : i64} in %arg0
// CHECK: %{{.+}}, %[[PAR:.+]] = transform.structured.fuse %[[ROOT]] tile_sizes {{.*}} {use_forall}
// CHECK: %[[ANCHOR:.+]] = transform.structured.match attributes {ansor.stage = 1 : i64} in %[[PAR]]
// CHECK: transform.structured.fuse %[[ANCHOR]]

// NEST: scf.forall ({{.*}}) step (128, 256)
// NEST: scf.for {{.*}} step %c8
// NEST: scf.for {{.*}} step %c64
// The initial value, in register tiles of the second-level tile.
// NEST: scf.for {{.*}} step %c4
// NEST: scf.for {{.*}} step %c32
// NEST: linalg.fill {ansor.stage = 0 : i64, ansor.vectorize}
// NEST-SAME: tensor<4x32xf32>
// NEST: scf.for {{.*}} step %c4
// NEST: scf.for {{.*}} step %c32
// NEST: scf.for {{.*}} step %c2
// NEST: linalg.generic {{.*}} ins({{.*}} : tensor<4x2xf32>, tensor<2x32xf32>) outs({{.*}} : tensor<4x32xf32>) attrs = {ansor.stage = 1 : i64, ansor.vectorize}
// NEST: {ansor.unroll = 4 : i64}
// NEST: linalg.generic {{.*}} attrs = {ansor.stage = 2 : i64, ansor.vectorize}
// NEST: {ansor.parallel}

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func private @task_0(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %bias: tensor<512xf32>, %out: tensor<512x512xf32>) -> tensor<512x512xf32>
    attributes {ansor.task = "a1-00", ansor.weight = 1 : i64} {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%c0 : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %mm = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f : tensor<512x512xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<512x512xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%mm, %bias : tensor<512x512xf32>, tensor<512xf32>) outs(%out : tensor<512x512xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.addf %x, %y : f32
    %s = arith.maximumf %p, %c0 : f32
    linalg.yield %s : f32
  } -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}
