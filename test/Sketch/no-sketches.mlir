// Modules that get no sketches, and are left usable.

// RUN: split-file %s %t

// Without a task there is an entry point that does nothing.
// RUN: ansor-opt %t/nothing.mlir --ansor-extract-tasks --ansor-generate-sketches 2> %t/err | FileCheck %s --check-prefix=NOTHING
// RUN: FileCheck %s --check-prefix=NOTHING-ERR < %t/err
// RUN: ansor-opt %t/nothing.mlir --ansor-extract-tasks --ansor-generate-sketches 2> %t/err | mlir-opt -transform-interpreter | FileCheck %s --check-prefix=NOTHING
// NOTHING: module attributes {transform.with_named_sequence}
// NOTHING: transform.named_sequence @__transform_main(%{{.*}}: !transform.any_op {transform.readonly}) {
// NOTHING-NEXT: transform.yield
// NOTHING-ERR: remark: no function has ansor.task

// Recursive functions, direct and in a cycle, are named; the module is as it was.
// RUN: ansor-opt %t/recursive.mlir --ansor-extract-tasks --ansor-generate-sketches 2> %t/err | FileCheck %s --check-prefix=RECURSIVE
// RUN: FileCheck %s --check-prefix=RECURSIVE-ERR < %t/err
// RECURSIVE-NOT: with_named_sequence
// RECURSIVE: func.func @fact
// RECURSIVE: func.func private @ping
// RECURSIVE: func.func private @task_0
// RECURSIVE-NOT: transform.
// RECURSIVE-ERR: recursive.mlir:1:1: remark: calls itself, and a module with a recursive function can't hold transform scripts
// RECURSIVE-ERR-NOT: @plain
// RECURSIVE-ERR: recursive.mlir:{{[0-9]+}}:1: remark: calls itself
// RECURSIVE-ERR: recursive.mlir:{{[0-9]+}}:1: remark: calls itself
// RECURSIVE-ERR-NOT: remark: calls itself

// It is sampled, run and tuned like another one.
// RUN: ansor-run %t/recursive.mlir --entry=fact --check --repeats=1 | FileCheck %s --check-prefix=CHECKED
// RUN: ansor-tune %t/recursive.mlir --trials=2 --records=%t/r.jsonl --library=%t/lib.mlir
// RUN: ansor-opt %t/recursive.mlir --ansor-extract-tasks --ansor-apply-library=library=%t/lib.mlir -o /dev/null
// RUN: ansor-run %t/recursive.mlir --entry=fact --library=%t/lib.mlir --check --repeats=1 | FileCheck %s --check-prefix=CHECKED
// CHECKED: check: ok

//--- nothing.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

//--- recursive.mlir
func.func @fact(%n: i1, %x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %false = arith.constant false
  %r = scf.if %n -> (tensor<16x16xf32>) {
    %i = tensor.empty() : tensor<16x16xf32>
    %e = linalg.exp ins(%x : tensor<16x16xf32>) outs(%i : tensor<16x16xf32>) -> tensor<16x16xf32>
    %s = func.call @fact(%false, %e) : (i1, tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %s : tensor<16x16xf32>
  } else {
    scf.yield %x : tensor<16x16xf32>
  }
  return %r : tensor<16x16xf32>
}
func.func private @ping(%n: i1) -> i1 {
  %r = call @pong(%n) : (i1) -> i1
  return %r : i1
}
func.func private @pong(%n: i1) -> i1 {
  %r = call @ping(%n) : (i1) -> i1
  return %r : i1
}
func.func private @plain(%n: i1) -> i1 {
  return %n : i1
}
