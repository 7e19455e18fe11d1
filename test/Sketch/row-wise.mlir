// Reductions over the rows of one tensor and what reads them back: computed row
// by row in one nest, whole rows in registers or each stage in pieces of them.
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:cores=2" > %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:cores=2 sketch=0" --ansor-apply-decisions="seed=2 fold=true" | mlir-opt --transform-interpreter --cse | FileCheck %s --check-prefix=WHOLE
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:cores=2 sketch=1" --ansor-apply-decisions="seed=3 fold=true" | mlir-opt --transform-interpreter --cse | FileCheck %s --check-prefix=PIECES

// With more cores than rows it may pay to go stage by stage.
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:cores=64" | FileCheck %s --check-prefix=STAGES

// CHECK: ansor.constraints = [{max = 64 : i64, name = "row-registers", reason = "{{.*}}", terms = [{coefficient = 3 : i64, knobs = ["s5.d0.l1"]}]
// CHECK-SAME: ansor.derivation = ["row-wise(s5)", "rows(whole)", "initialize(s3)", "initialize(s0)"]
// CHECK: tune.knob<"s5.d0.l0">
// CHECK: tune.knob<"s5.d0.l1">
// CHECK-NOT: tune.knob
// CHECK: transform.apply_cse
// CHECK: transform.foreach
// CHECK: ansor.derivation = ["row-wise(s5)", "rows(pieces)", "initialize(s3)", "initialize(s0)"]
// CHECK-NOT: ansor.derivation

// STAGES: ansor.derivation = ["row-wise(s5)", "rows(whole)",
// STAGES: ansor.derivation = ["row-wise(s5)", "rows(pieces)",
// STAGES: ansor.derivation = ["tile-elementwise(s5)", "tile-reduction(s4)", "initialize(s3)", "inline(s2)", "tile-reduction(s1)", "initialize(s0)"]

// One parallel loop over rows holds all stages, each once.
// WHOLE: scf.forall
// WHOLE-COUNT-6: ansor.stage = {{[0-9]}} : i64, ansor.vectorize
// WHOLE: ansor.parallel
// WHOLE-NOT: scf.forall (
// PIECES: scf.forall
// PIECES-COUNT-6: ansor.stage = {{[0-9]}} : i64, ansor.vectorize
// PIECES: ansor.parallel
// PIECES-NOT: scf.forall (

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func private @task_0(%x: tensor<24x48xf32>, %out: tensor<24x48xf32>) -> tensor<24x48xf32> attributes {ansor.task = "a1-00"} {
  %ninf = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0.0 : f32
  %ev = tensor.empty() : tensor<24xf32>
  %e = tensor.empty() : tensor<24x48xf32>
  %f0 = linalg.fill {ansor.stage = 0 : i64} ins(%ninf : f32) outs(%ev : tensor<24xf32>) -> tensor<24xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<24x48xf32>) outs(%f0 : tensor<24xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.maximumf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<24xf32>
  %ex = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<24x48xf32>, tensor<24xf32>) outs(%e : tensor<24x48xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.subf %a, %b : f32
    %t = math.exp %s : f32
    linalg.yield %t : f32
  } -> tensor<24x48xf32>
  %f1 = linalg.fill {ansor.stage = 3 : i64} ins(%c0 : f32) outs(%ev : tensor<24xf32>) -> tensor<24xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%ex : tensor<24x48xf32>) outs(%f1 : tensor<24xf32>) attrs = {ansor.stage = 4 : i64} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<24xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%ex, %sum : tensor<24x48xf32>, tensor<24xf32>) outs(%out : tensor<24x48xf32>) attrs = {ansor.stage = 5 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<24x48xf32>
  return %r : tensor<24x48xf32>
}
