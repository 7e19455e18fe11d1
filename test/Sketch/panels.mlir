// An operand that each row uses again, read from panels as wide as the register
// tile.
// RUN: split-file %s %t
// RUN: ansor-opt %t/product.mlir --ansor-generate-sketches="target=x86-64-v4:l1=1024" > %t/sketches.mlir
// RUN: FileCheck %t/product.mlir --input-file=%t/sketches.mlir
// RUN: ansor-opt %t/product.mlir --ansor-generate-sketches="target=x86-64-v4:l1=1024 sketch=6" > %t/split.mlir

// A stock mlir-opt applies it, with the plugin for one op. The parts of a split
// share the panels; what is left of the columns reads the operand.
// RUN: ansor-opt %t/split.mlir --ansor-apply-decisions='decisions={"s1.d0":[12,12,12],"s1.d1":[16,16,16],"s1.d2":[16,4],"s1.unroll":[0]} fold=true' | \
// RUN:   mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin --transform-interpreter --canonicalize --cse | FileCheck %t/product.mlir --check-prefix=APPLIED

// Every candidate verifies, and has the features that arithmetic gives.
// RUN: ansor-opt %t/product.mlir --ansor-sample="target=x86-64-v4:l1=1024 count=70 seed=1 check" -o %t/out.mlir | FileCheck %t/product.mlir --check-prefix=SAMPLE
// RUN: ansor-opt %t/product.mlir --ansor-print-features="target=x86-64-v4:l1=1024 compare=200" -o %t/out.mlir | FileCheck %t/product.mlir --check-prefix=FEATURES
// RUN: ansor-opt %t/batch.mlir --ansor-print-features="target=x86-64-v4:l1=1024 compare=200" -o %t/out.mlir | FileCheck %t/batch.mlir --check-prefix=FEATURES

// A transposition is packed away.
// RUN: ansor-opt %t/transposed.mlir --ansor-generate-sketches="target=x86-64-v4:l1=1048576" > %t/transposed.sketches.mlir
// RUN: FileCheck %t/transposed.mlir --input-file=%t/transposed.sketches.mlir
// RUN: ansor-opt %t/transposed.mlir --ansor-generate-sketches="target=x86-64-v4:l1=1048576 sketch=3" | ansor-opt --ansor-apply-decisions='decisions={"s2.d0":[4,4,4],"s2.d1":[48,48,48],"s2.d2":[8,2],"s2.unroll":[0]}' --transform-interpreter --canonicalize | FileCheck %t/transposed.mlir --check-prefix=APPLIED

// The dimension of a batch is outside of the panels.
// RUN: ansor-opt %t/batch.mlir --ansor-generate-sketches="target=x86-64-v4:l1=1024 sketch=3" | ansor-opt --ansor-apply-decisions="seed=1" --transform-interpreter | FileCheck %t/batch.mlir

// Packing is a statement of its own, unless a weight is packed once elsewhere.
// RUN: ansor-opt %t/batch.mlir --ansor-generate-sketches="target=x86-64-v4:l1=1024 sketch=3" | ansor-opt --ansor-apply-decisions="seed=1" --transform-interpreter --ansor-print-features -o %t/out.mlir | FileCheck %t/batch.mlir --check-prefix=DATA
// RUN: sed -e 's/%b: tensor<2x16x48xf32>,/%b: tensor<2x16x48xf32> {ansor.weight},/' %t/batch.mlir | ansor-opt --ansor-generate-sketches="target=x86-64-v4:l1=1024 sketch=3" | ansor-opt --ansor-apply-decisions="seed=1" --transform-interpreter --ansor-print-features -o %t/out.mlir | FileCheck %t/batch.mlir --check-prefix=WEIGHT

// Not what stays in the first cache or what a stage computes, and not in the
// paper's space.
// RUN: ansor-opt %t/product.mlir --ansor-generate-sketches="target=x86-64-v4:l1=1048576" | FileCheck %t/computed.mlir --check-prefix=NONE
// RUN: ansor-opt %t/computed.mlir --ansor-generate-sketches="target=x86-64-v4:l1=1024" | FileCheck %t/computed.mlir --check-prefix=NONE
// RUN: ansor-opt %t/product.mlir --ansor-generate-sketches="target=x86-64-v4:l1=1024 space=ansor" | FileCheck %t/computed.mlir --check-prefix=NONE

//--- product.mlir
// CHECK: ansor.derivation = ["tile-and-fuse(s2)", "level(2)", "pack(s1.1)", "initialize(s0)"], ansor.sketch = "s5"
// CHECK: %[[TILE:.*]] = transform.tune.knob<"s1.d1.l2">
// CHECK: %[[BODY:.*]], %{{.*}} = transform.structured.tile_using_for
// CHECK: transform.annotate %[[BODY2:.*]] "ansor.vectorize"
// CHECK: transform.ansor.pack_operand %[[BODY2]][1] loop 1 tile %[[TILE]]
// CHECK: ansor.derivation = ["tile-and-fuse(s2)", "level(2)", "pack(s1.1)", "split(s1.d0 at 36)", "split(s1.d1 at 32)", "initialize(s0)"], ansor.sketch = "s6"
// CHECK-COUNT-2: transform.ansor.pack_operand
// CHECK-NOT: transform.ansor.pack_operand

// APPLIED-LABEL: func.func private @task_0
// APPLIED: %[[PACK:.*]] = linalg.pack %arg1 padding_value(%{{.*}} : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %{{.*}} : tensor<16x41xf32> -> tensor<3x16x16xf32>
// APPLIED-NOT: linalg.pack
// APPLIED: scf.forall {{.*}} -> (tensor<36x32xf32>)
// APPLIED: tensor.extract_slice %[[PACK]][%{{.*}}, %{{.*}}, 0] [1, 4, 16]
// APPLIED: scf.forall {{.*}} -> (tensor<36x9xf32>)
// APPLIED-NOT: %[[PACK]]
// APPLIED: tensor.extract_slice %arg1[0, 32] [16, 9]
// APPLIED-NOT: %[[PACK]]
// APPLIED: scf.forall {{.*}} -> (tensor<1x32xf32>)
// APPLIED: tensor.extract_slice %[[PACK]][%{{.*}}, %{{.*}}, 0] [1, 4, 16]
// APPLIED-NOT: %[[PACK]]
// APPLIED: return
// SAMPLE-DAG: "sketch":"s5"
// SAMPLE-DAG: "sketch":"s6"
// FEATURES: "sketch":"s5","qualifies":true,{{.*}}"interpreted":0,"compared":{{[1-9][0-9]*}},"different":0
// FEATURES: "sketch":"s6","qualifies":true,{{.*}}"interpreted":0,"compared":{{[1-9][0-9]*}},"different":0

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

//--- transposed.mlir
// CHECK: ansor.derivation = ["tile(s2)", "pack(s2.1)", "initialize(s1)", "read-through(s0)"]
// APPLIED: linalg.pack %arg1 outer_dims_perm = [0, 1] inner_dims_pos = [0]
// APPLIED-NOT: ansor.stage = 0
// APPLIED: scf.forall
// APPLIED-NOT: ansor.stage = 0
// APPLIED: ansor.stage = 2
#t = affine_map<(k, j) -> (j, k)>
#id = affine_map<(k, j) -> (k, j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func private @task_0(%a: tensor<8x64xf32>, %b: tensor<48x64xf32>, %out: tensor<8x48xf32>) -> tensor<8x48xf32> attributes {ansor.task = "a1-1"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %t = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<48x64xf32>) outs(%e : tensor<64x48xf32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<64x48xf32>
  %f = linalg.fill {ansor.stage = 1 : i64} ins(%zero : f32) outs(%out : tensor<8x48xf32>) -> tensor<8x48xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %t : tensor<8x64xf32>, tensor<64x48xf32>) outs(%f : tensor<8x48xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x48xf32>
  return %r : tensor<8x48xf32>
}

//--- batch.mlir
// DATA: "statement":"linalg.pack",{{.*}}"vec_num":1,{{.*}}"parallel_num":1,
// DATA: "statement":"s1"
// WEIGHT-NOT: "statement":"linalg.pack"
// WEIGHT: "statement":"s1"
// CHECK: linalg.pack %arg1 outer_dims_perm = [2, 0, 1] inner_dims_pos = [2]
// FEATURES: "sketch":"s3","qualifies":true,{{.*}}"interpreted":0,"compared":{{[1-9][0-9]*}},"different":0
#a = affine_map<(b, i, j, k) -> (b, i, k)>
#b = affine_map<(b, i, j, k) -> (b, k, j)>
#c = affine_map<(b, i, j, k) -> (b, i, j)>
func.func private @task_0(%a: tensor<2x8x16xf32>, %b: tensor<2x16x48xf32>, %out: tensor<2x8x48xf32>) -> tensor<2x8x48xf32> attributes {ansor.task = "a1-2"} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%zero : f32) outs(%out : tensor<2x8x48xf32>) -> tensor<2x8x48xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x8x16xf32>, tensor<2x16x48xf32>) outs(%f : tensor<2x8x48xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x8x48xf32>
  return %r : tensor<2x8x48xf32>
}

//--- computed.mlir
// NONE: ansor.derivation
// NONE-NOT: pack(
#id = affine_map<(k, j) -> (k, j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func private @task_0(%a: tensor<8x64xf32>, %b: tensor<64x48xf32>, %out: tensor<8x48xf32>) -> tensor<8x48xf32> attributes {ansor.task = "a1-3"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%p: f32, %o: f32):
    %n = arith.negf %p : f32
    linalg.yield %n : f32
  } -> tensor<64x48xf32>
  %f = linalg.fill {ansor.stage = 1 : i64} ins(%zero : f32) outs(%out : tensor<8x48xf32>) -> tensor<8x48xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %t : tensor<8x64xf32>, tensor<64x48xf32>) outs(%f : tensor<8x48xf32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x48xf32>
  return %r : tensor<8x48xf32>
}
