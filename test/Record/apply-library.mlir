// The pass and stock mlir-opt replay the same library with the same result.

// RUN: ansor-opt %s --ansor-extract-tasks -o %t.extracted.mlir
// RUN: sed -n 's/.*ansor.task = "\([^"]*\)".*/s,@KEY@,\1,/p' %t.extracted.mlir > %t.sed
// RUN: sed -f %t.sed %S/Inputs/library.mlir > %t.library.mlir
// RUN: ansor-opt %t.extracted.mlir --ansor-apply-library=library=%t.library.mlir -o %t.pass.mlir
// RUN: FileCheck %s < %t.pass.mlir
// RUN: mlir-opt %t.extracted.mlir --transform-preload-library=transform-library-paths=%t.library.mlir --transform-interpreter -o %t.stock.mlir
// RUN: diff %t.pass.mlir %t.stock.mlir

// Tasks are extracted first where that wasn't done.
// RUN: ansor-opt %s --ansor-apply-library=library=%t.library.mlir | FileCheck %s

// A task that the library lacks is left, with a remark.
// RUN: sed "s/@KEY@/a1-0000000000000000/" %S/Inputs/library.mlir > %t.other.mlir
// RUN: ansor-opt %t.extracted.mlir --ansor-apply-library=library=%t.other.mlir -o %t.left.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: diff %t.left.mlir %t.extracted.mlir

// CHECK: func.func private @task_0
// CHECK-SAME: ansor.task = "a1-
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK-SAME: tensor<4x8xf32>

// MISSING: remark: the library has no schedule of task 'a1-{{[0-9a-f]+}}' (@task_0)

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%arg: tensor<16x8xf32>, %scale: tensor<16xf32>) -> tensor<16x8xf32> {
  %0 = tensor.empty() : tensor<16x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%arg, %scale : tensor<16x8xf32>, tensor<16xf32>) outs(%0 : tensor<16x8xf32>) {
  ^bb0(%x: f32, %s: f32, %y: f32):
    %e = math.exp %x : f32
    %m = arith.mulf %e, %s : f32
    linalg.yield %m : f32
  } -> tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}
