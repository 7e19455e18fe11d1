// Reductions without reuse: rows in parallel and the reduction tile by tile, or
// (few results, many terms) parts of the reduction in parallel.
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:cores=4" > %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ansor-opt %t.mlir --ansor-apply-decisions="seed=1 fold=true" | mlir-opt --transform-interpreter --cse | FileCheck %s --check-prefix=PARTS
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:cores=4 sketch=2" --ansor-apply-decisions="seed=1 fold=true" | mlir-opt --transform-interpreter --cse | FileCheck %s --check-prefix=ROWS
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:cores=4 sketch=1" --ansor-apply-decisions="seed=1 fold=true" | mlir-opt --transform-interpreter --cse | FileCheck %s --check-prefix=VECTORS
// With more results than 16 a core the rows are enough.
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:cores=1" | FileCheck %s --check-prefix=FEW

// CHECK: ansor.constraints = [{{.*}}name = "parts"{{.*}}ansor.derivation = ["rfactor(s1)", "outer", "initialize(s0)"]
// CHECK: tune.knob<"s1.d1.l0"> options = {extent = 960 : i64, kind = "tile", level = 0 : i64, levels = 2 : i64, loop = 1 : i64, max = 480 : i64
// CHECK: transform.structured.tile_reduction_using_forall {{.*}} by num_threads = [0, 2] {ansor.bind = {num_threads = [0, {extent = 960 : i64, knob = "s1.d1.l0"}]}}
// CHECK: ansor.derivation = ["rfactor(s1)", "inner", "initialize(s0)"]
// CHECK: tune.knob<"s1.rfactor"> options = {kind = "choice", stage = 1 : i64, values = [16, 32, 64]}
// CHECK: transform.structured.tile_reduction_using_for {{.*}} reduction_dims = [1] by tile_sizes = [0, 16] {ansor.bind = {tile_sizes = [0, "s1.rfactor"]}}
// CHECK: ansor.derivation = ["tile-reduction(s1)", "initialize(s0)"]
// CHECK: tune.knob<"s1.d1.l0"> options = {extent = 960 : i64, {{.*}}levels = 1 : i64, {{.*}}multiple_of = 16 : i64

// PARTS: linalg.fill
// PARTS: scf.forall {{.*}} -> (tensor<24x{{[0-9]+}}xf32>)
// PARTS: ansor.stage = 1 : i64, ansor.vectorize
// PARTS: ansor.parallel
// PARTS: linalg.reduce {{.*}}ansor.vectorize
// VECTORS: linalg.fill {{.*}} -> tensor<24x[[V:16|32|64]]xf32>
// VECTORS: scf.for {{.*}} -> (tensor<24x[[V]]xf32>)
// VECTORS: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]{{.*}}ansor.vectorize
// VECTORS: linalg.reduce {{.*}}tensor<24x[[V]]xf32>
// ROWS: scf.forall
// ROWS: linalg.fill {ansor.stage = 0 : i64, ansor.vectorize}
// ROWS: ansor.stage = 1 : i64, ansor.vectorize
// ROWS-NOT: linalg.reduce
// FEW-NOT: rfactor

#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>
func.func private @task_0(%x: tensor<24x960xf32>, %o: tensor<24xf32>) -> tensor<24xf32> attributes {ansor.task = "a1-00"} {
  %c0 = arith.constant 0.0 : f32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%c0 : f32) outs(%o : tensor<24xf32>) -> tensor<24xf32>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<24x960xf32>) outs(%f : tensor<24xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<24xf32>
  return %r : tensor<24xf32>
}
