// RUN: ansor-opt %s --ansor-sample="count=6 seed=1 check=true target=x86-64-v4" \
// RUN:   -o /dev/null | FileCheck %s

// The same seed prints the same lines, another one others.
// RUN: ansor-opt %s --ansor-sample="count=20 seed=1 target=x86-64-v4" -o /dev/null > %t.1
// RUN: ansor-opt %s --ansor-sample="count=20 seed=1 target=x86-64-v4" -o /dev/null > %t.2
// RUN: ansor-opt %s --ansor-sample="count=20 seed=2 target=x86-64-v4" -o /dev/null > %t.3
// RUN: cmp %t.1 %t.2
// RUN: not cmp %t.1 %t.3
// RUN: grep -c '"decisions"' %t.1 | FileCheck %s --check-prefix=COUNT

// The target's registers bound the innermost tiles.
// RUN: ansor-opt %s --ansor-sample="count=20 seed=1 target=x86-64-v4:vector_registers=4" \
// RUN:   -o /dev/null | FileCheck %s --check-prefix=REJECT

// RUN: ansor-opt %s --ansor-sample="count=2 space=ansor check=true" -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=ANSOR

// Sketches take turns; each candidate is one line.
// CHECK: {"decisions":{{{.*}}"s1.d2":[{{[0-9,]+}}],{{.*}}},"sketch":"s0","task":"a1-00"}
// CHECK: "sketch":"s1","task":"a1-00"}
// CHECK: "sketch":"s{{[0-9]+}}","task":"a1-00"}
// CHECK: {"reasons":{{{.*}}},"rejections":{{{.*}}},"task":"a1-00"}
// COUNT: 20
// REJECT: {"reasons":{{{.*}}"vector-registers":"the accumulators of the innermost tile fit in the registers"{{.*}}},"rejections":{{{.*}}"vector-registers":{{[0-9]+}}
// ANSOR-COUNT-2: "sketch":"s
// ANSOR: "rejections"

func.func private @task_0(%a: tensor<64x96xf32>, %b: tensor<96x128xf32>, %out: tensor<64x128xf32>) -> tensor<64x128xf32> attributes {ansor.task = "a1-00", ansor.weight = 1 : i64} {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%c0 : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %mm = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x96xf32>, tensor<96x128xf32>) outs(%f : tensor<64x128xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x128xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%mm : tensor<64x128xf32>) outs(%out : tensor<64x128xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%x: f32, %y: f32):
    %s = arith.maximumf %x, %c0 : f32
    linalg.yield %s : f32
  } -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
