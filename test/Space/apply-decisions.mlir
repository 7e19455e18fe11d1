// Decisions on a hand-written sketch of matmul + bias + relu.

// RUN: ansor-opt %s --ansor-apply-decisions='decisions={"s2.d0":[128,8],"s2.d1":[256,64],"s1.d2":[1],"order":1,"last":1}' \
// RUN:   | FileCheck %s --check-prefix=APPLY
// RUN: ansor-opt %s --ansor-apply-decisions='decisions={"s2.d0":[128,8],"s2.d1":[256,64],"s1.d2":[1],"order":1,"last":1} fold=true' \
// RUN:   | FileCheck %s --check-prefix=FOLD

// The result is for a stock mlir-opt.
// RUN: ansor-opt %s --ansor-apply-decisions='decisions={"s2.d0":[128,8],"s2.d1":[256,64],"s1.d2":[1],"order":1,"last":1} fold=true' \
// RUN:   | mlir-opt -transform-interpreter | FileCheck %s --check-prefix=INTERP
// RUN: ansor-opt %s --ansor-apply-decisions='decisions={"s2.d0":[128,8],"s2.d1":[256,64],"s1.d2":[1],"order":1,"last":1}' \
// RUN:   | mlir-opt -transform-interpreter | FileCheck %s --check-prefix=INTERP

// The nested form says which sketch.
// RUN: ansor-opt %s --ansor-apply-decisions='decisions={"a1_s0":{"s2.d0":[128,8],"s2.d1":[256,64],"s1.d2":[1],"order":1,"last":1}}' \
// RUN:   | FileCheck %s --check-prefix=APPLY

// One seed, one sample; another seed, another one.
// RUN: ansor-opt %s --ansor-apply-decisions=seed=1 > %t.1
// RUN: ansor-opt %s --ansor-apply-decisions=seed=1 > %t.2
// RUN: ansor-opt %s --ansor-apply-decisions=seed=2 > %t.3
// RUN: cmp %t.1 %t.2
// RUN: not cmp %t.1 %t.3
// RUN: mlir-opt %t.1 -transform-interpreter | FileCheck %s --check-prefix=SAMPLE

#m0 = affine_map<(d0, d1, d2) -> (d0, d2)>
#m1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#m2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#bias = affine_map<(d0, d1) -> (d1)>
module attributes {transform.with_named_sequence} {
  // APPLY-LABEL: func.func private @task_0
  // APPLY-SAME: ansor.task = "a1-00"
  // FOLD-LABEL: func.func private @task_0
  // FOLD-SAME: ansor.task = "a1-00"
  // FOLD: ansor.stage = 2
  // INTERP-LABEL: func.func private @task_0
  // INTERP: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (512, 512) step (128, 256)
  // INTERP: scf.for {{.*}} step %c8
  // INTERP: scf.for {{.*}} step %c64
  // INTERP: linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "parallel"]
  // INTERP: } {ansor.order = "second", ansor.parallel}
  // SAMPLE: scf.forall
  // SAMPLE: } {ansor.order = "{{first|second}}", ansor.parallel}
  func.func private @task_0(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %bias: tensor<512xf32>, %out: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {ansor.task = "a1-00", ansor.weight = 1 : i64} {
    %c0 = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x512xf32>
    %f = linalg.fill {ansor.stage = 0 : i64} ins(%c0 : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %mm = linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f : tensor<512x512xf32>) attrs = {ansor.stage = 1 : i64} {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<512x512xf32>
    %r = linalg.generic {indexing_maps = [#id, #bias, #id], iterator_types = ["parallel", "parallel"]} ins(%mm, %bias : tensor<512x512xf32>, tensor<512xf32>) outs(%out : tensor<512x512xf32>) attrs = {ansor.stage = 2 : i64} {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.addf %x, %y : f32
      %s = arith.maximumf %p, %c0 : f32
      linalg.yield %s : f32
    } -> tensor<512x512xf32>
    return %r : tensor<512x512xf32>
  }

  // APPLY-LABEL: transform.named_sequence @a1_s0
  // APPLY-SAME: ansor.sketch = "s0"
  // APPLY: transform.tune.knob<"s2.d0.l0"> = 128 : i64 from
  // APPLY: transform.tune.knob<"s2.d1.l0"> = 256 : i64 from
  // APPLY: transform.tune.knob<"s2.d0.l1"> = 8 : i64 from
  // APPLY: transform.tune.knob<"s2.d1.l1"> = 64 : i64 from
  // APPLY: transform.tune.knob<"s1.d2.l0"> = 1 : i64 from
  // APPLY: transform.structured.interchange {{.*}} iterator_interchange = [2, 0, 1]
  // APPLY: transform.tune.alternatives<"order"> selected_region = 1

  // FOLD-LABEL: transform.named_sequence @a1_s0
  // FOLD-NOT: ansor.sketch
  // FOLD-NOT: tune
  // FOLD: transform.param.constant 128 : i64
  // FOLD: transform.param.constant 256 : i64
  // FOLD: transform.param.constant 8 : i64
  // FOLD: transform.param.constant 64 : i64
  // FOLD: transform.param.constant 1 : i64
  // FOLD-NOT: ansor.bind
  // FOLD: iterator_interchange = [2, 0, 1]
  // FOLD-NOT: "first"
  // FOLD: transform.param.constant "second"
  // FOLD-NOT: tune
  // FOLD: transform.structured.match ops{["func.func"]} attributes {ansor.task = "a1-00"}
  transform.named_sequence @a1_s0(%func: !transform.any_op {transform.readonly}) attributes {
      ansor.sketch = "s0", ansor.derivation = ["tile(s2)"],
      ansor.constraints = [
        {name = "registers", max = 512 : i64,
         terms = [{knobs = ["s2.d0.l1", "s2.d1.l1"]}]}]} {
    %t00 = transform.tune.knob<"s2.d0.l0"> options = {kind = "tile", stage = 2 : i64, loop = 0 : i64, level = 0 : i64, levels = 2 : i64, extent = 512 : i64} -> !transform.param<i64>
    %t01 = transform.tune.knob<"s2.d1.l0"> options = {kind = "tile", stage = 2 : i64, loop = 1 : i64, level = 0 : i64, levels = 2 : i64, extent = 512 : i64} -> !transform.param<i64>
    %t10 = transform.tune.knob<"s2.d0.l1"> options = {kind = "tile", stage = 2 : i64, loop = 0 : i64, level = 1 : i64, levels = 2 : i64, extent = 512 : i64} -> !transform.param<i64>
    %t11 = transform.tune.knob<"s2.d1.l1"> options = {kind = "tile", stage = 2 : i64, loop = 1 : i64, level = 1 : i64, levels = 2 : i64, extent = 512 : i64} -> !transform.param<i64>
    %k0 = transform.tune.knob<"s1.d2.l0"> options = {kind = "tile", stage = 1 : i64, loop = 2 : i64, level = 0 : i64, levels = 1 : i64, extent = 512 : i64, policy = "divisor"} -> !transform.param<i64>
    %last = transform.tune.knob<"last"> options = {kind = "choice", stage = 1 : i64, values = [1]} -> !transform.param<i64>
    %root = transform.structured.match attributes {ansor.stage = 2 : i64} in %func : (!transform.any_op) -> !transform.any_op
    %r1, %fa = transform.structured.fuse %root tile_sizes [%t00, %t01] {use_forall} : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.annotate %fa "ansor.parallel" : !transform.any_op
    %r2, %l:2 = transform.structured.fuse %r1 tile_sizes [%t10, %t11] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %mm = transform.structured.match attributes {ansor.stage = 1 : i64} in %l#1 : (!transform.any_op) -> !transform.any_op
    %mm1 = transform.structured.interchange %mm iterator_interchange = [0, 1, 2] {ansor.bind = {iterator_interchange = [2, 0, "last"]}} : (!transform.any_op) -> !transform.any_op
    %order = transform.tune.alternatives<"order"> -> !transform.any_param {
      %p = transform.param.constant "first" -> !transform.any_param
      transform.yield %p : !transform.any_param
    }, {
      %p = transform.param.constant "second" -> !transform.any_param
      transform.yield %p : !transform.any_param
    }
    transform.annotate %fa "ansor.order" = %order : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %fs = transform.structured.match ops{["func.func"]} attributes {ansor.task = "a1-00"} in %module : (!transform.any_op) -> !transform.any_op
    transform.foreach %fs : !transform.any_op {
    ^bb0(%f: !transform.any_op):
      transform.include @a1_s0 failures(propagate) (%f) : (!transform.any_op) -> ()
    }
    transform.yield
  }
}
