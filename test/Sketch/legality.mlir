// What must not be tiled is not; what can't be is left to the code generator.
// RUN: ansor-opt %s --split-input-file --ansor-generate-sketches="target=x86-64-v4" --verify-diagnostics | FileCheck %s

// Tiles of a floordiv map hold whole groups, also where a consumer tiles.
// CHECK-LABEL: func.func private @upsample
// CHECK: tune.knob<"s1.d0.l0"> options = {extent = 14 : i64, {{.*}}multiple_of = 6 : i64
// CHECK: tune.knob<"s0.d0.l0"> options = {extent = 14 : i64, {{.*}}multiple_of = 2 : i64
#half = affine_map<(d0) -> (d0 floordiv 2)>
#third = affine_map<(d0) -> (d0 floordiv 3)>
#id = affine_map<(d0) -> (d0)>
func.func private @upsample(%x: tensor<7xf32>, %y: tensor<5xf32>, %out: tensor<14xf32>) -> tensor<14xf32> attributes {ansor.task = "a1-01"} {
  %e = tensor.empty() : tensor<14xf32>
  %0 = linalg.generic {indexing_maps = [#half, #id], iterator_types = ["parallel"]} ins(%x : tensor<7xf32>) outs(%e : tensor<14xf32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<14xf32>
  %1 = linalg.generic {indexing_maps = [#id, #third, #id], iterator_types = ["parallel"]} ins(%0, %y : tensor<14xf32>, tensor<5xf32>) outs(%out : tensor<14xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: f32, %c: f32, %b: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<14xf32>
  return %1 : tensor<14xf32>
}

// -----

// A reversed subscript: tiling would read the wrong slice. No consumer may
// compute it in its tiles either, so that it gets an allocation of its own.
// CHECK-LABEL: func.func private @reverse
// CHECK: ansor.derivation = ["tile-elementwise(s1)", "skip(s0)"]
// CHECK-NOT: tune.knob<"s0
// CHECK: transform.structured.promote_tensor
#rev = affine_map<(d0) -> (15 - d0)>
#id = affine_map<(d0) -> (d0)>
func.func private @reverse(%x: tensor<16xf32>, %out: tensor<16xf32>) -> tensor<16xf32> attributes {ansor.task = "a1-02"} {
  %e = tensor.empty() : tensor<16xf32>
  %0 = linalg.generic {indexing_maps = [#rev, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<16xf32>) outs(%out : tensor<16xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %1 : tensor<16xf32>
}

// -----

// A combiner without neutral element: rows in parallel. A single reduction loop
// may be cut, since its iterations keep their order.
// CHECK-LABEL: func.func private @subtract
// CHECK: ansor.derivation = ["tile-reduction(s1)", "initialize(s0)"]
// CHECK: tune.knob<"s1.d0.l0">
// CHECK: tune.knob<"s1.d1.l0">
#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>
func.func private @subtract(%x: tensor<8x32xf32>, %o: tensor<8xf32>) -> tensor<8xf32> attributes {ansor.task = "a1-03"} {
  %c0 = arith.constant 0.0 : f32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%c0 : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x32xf32>) outs(%f : tensor<8xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Two such loops would change places with each other: they stay whole.
// CHECK-LABEL: func.func private @subtract_twice
// CHECK: tune.knob<"s1.d0.l0">
// CHECK-NOT: tune.knob<"s1.d1
// CHECK-NOT: tune.knob<"s1.d2
#in = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0)>
func.func private @subtract_twice(%x: tensor<8x32x4xf32>, %o: tensor<8xf32>) -> tensor<8xf32> attributes {ansor.task = "a1-05"} {
  %c0 = arith.constant 0.0 : f32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%c0 : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : tensor<8x32x4xf32>) outs(%f : tensor<8xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A producer that is a result as well is not computed in its consumer.
// CHECK-LABEL: func.func private @both
// CHECK: ansor.derivation = ["tile-elementwise(s1)", "tile-elementwise(s0)"]
#id = affine_map<(d0) -> (d0)>
func.func private @both(%x: tensor<64xf32>, %o0: tensor<64xf32>, %o1: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) attributes {ansor.task = "a1-04"} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%o0 : tensor<64xf32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<64xf32>) outs(%o1 : tensor<64xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}

// -----

// CHECK-LABEL: func.func private @dynamic
// CHECK: ansor.derivation = ["leave-alone"]
// CHECK-NOT: tune.knob
#id = affine_map<(d0) -> (d0)>
// expected-remark @below {{left to the code generator: stage 0 (linalg.generic) can't be tiled: its extents are not known}}
func.func private @dynamic(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> attributes {ansor.task = "a1-05"} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-remark @below {{stage 0 (linalg.generic) can't be tiled: one of its extents is zero}}
func.func private @empty(%x: tensor<0xf32>, %o: tensor<0xf32>) -> tensor<0xf32> attributes {ansor.task = "a1-06"} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<0xf32>) outs(%o : tensor<0xf32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<0xf32>
  return %0 : tensor<0xf32>
}

// -----

#s = affine_map<() -> ()>
// expected-remark @below {{can't be tiled: it has no loops}}
func.func private @scalar(%x: tensor<f32>, %o: tensor<f32>) -> tensor<f32> attributes {ansor.task = "a1-07"} {
  %0 = linalg.generic {indexing_maps = [#s, #s], iterator_types = []} ins(%x : tensor<f32>) outs(%o : tensor<f32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-remark @below {{left to the code generator: no loop can be tiled}}
func.func private @one(%x: tensor<1xf32>, %o: tensor<1xf32>) -> tensor<1xf32> attributes {ansor.task = "a1-08"} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<1xf32>) outs(%o : tensor<1xf32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

// The second result doesn't depend on the second loop, whose tiles would all
// write the same slice of it: that loop can't be distributed.

// CHECK-LABEL: func.func private @narrow_result
// CHECK: tune.knob<"s0.d0.l0">
// CHECK-NOT: tune.knob<"s0.d1
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func private @narrow_result(%x: tensor<8x16xf32>, %y: tensor<8xf32>, %o: tensor<8x16xf32>, %p: tensor<8xf32>) -> (tensor<8x16xf32>, tensor<8xf32>) attributes {ansor.task = "a1-09"} {
  %0:2 = linalg.generic {indexing_maps = [#id, #row, #id, #row], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<8x16xf32>, tensor<8xf32>) outs(%o, %p : tensor<8x16xf32>, tensor<8xf32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s, %b : f32, f32
  } -> (tensor<8x16xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8x16xf32>, tensor<8xf32>
}

// -----

// Tiles of what the loops write would leave the rest of the initial value out.

// CHECK-LABEL: func.func private @rows
// CHECK-NOT: tune.knob<"s1
#id = affine_map<(d0, d1) -> (d0, d1)>
#odd = affine_map<(d0, d1) -> (d0 * 2 + 1)>
func.func private @rows(%x: tensor<8x16xf32>, %o: tensor<16xf32>) -> tensor<16xf32> attributes {ansor.task = "a1-10"} {
  %c = arith.constant 0.5 : f32
  %i = linalg.fill {ansor.stage = 0 : i64} ins(%c : f32) outs(%o : tensor<16xf32>) -> tensor<16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #odd], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x16xf32>) outs(%i : tensor<16xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
