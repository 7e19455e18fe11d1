// Every attribute of the dialect, as it should be: here and in a stock mlir-opt.

// RUN: ansor-opt %s | FileCheck %s
// RUN: ansor-opt %s | ansor-opt | FileCheck %s
// RUN: mlir-opt %s | FileCheck %s
// RUN: ansor-opt %s --mlir-print-op-generic | mlir-opt | FileCheck %s

// CHECK: module attributes {ansor.constraints = [
// CHECK-SAME: ansor.derivation = ["tile(s1)", "skip(s0)"]
// CHECK-SAME: ansor.sketch = "s0"
module attributes {
    transform.with_named_sequence, ansor.sketch = "s0",
    ansor.derivation = ["tile(s1)", "skip(s0)"],
    ansor.constraints = [
      {name = "area", max = 512 : i64, terms = [
        {coefficient = 4 : i64, knobs = ["s1.d0.l0", "u"]}, {knobs = []}]}]} {
  // CHECK: func.func private @task
  // CHECK-SAME: ansor.task = "a1-0123456789abcdef"
  // CHECK-SAME: ansor.weight = 3 : i64
  func.func private @task(%init: tensor<16xf32>) -> tensor<16xf32>
      attributes {ansor.task = "a1-0123456789abcdef", ansor.weight = 3 : i64} {
    %zero = arith.constant 0.0 : f32
    // CHECK: scf.forall
    %0 = scf.forall (%i) = (0) to (16) step (4)
        shared_outs(%out = %init) -> (tensor<16xf32>) {
      %slice = tensor.extract_slice %out[%i] [4] [1]
          : tensor<16xf32> to tensor<4xf32>
      // CHECK: linalg.fill {ansor.stage = 0 : i64, ansor.vectorize}
      %fill = linalg.fill {ansor.stage = 0 : i64, ansor.vectorize}
          ins(%zero : f32) outs(%slice : tensor<4xf32>) -> tensor<4xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %fill into %out[%i] [4] [1]
            : tensor<4xf32> into tensor<16xf32>
      }
    // CHECK: {ansor.parallel, ansor.unroll = 16 : i64}
    } {ansor.parallel, ansor.unroll = 16 : i64}
    return %0 : tensor<16xf32>
  }

  // CHECK: transform.named_sequence @task_s0
  // CHECK-SAME: ansor.sketch = "s0"
  transform.named_sequence @task_s0(%func: !transform.any_op)
      attributes {ansor.sketch = "s0"} {
    // CHECK: knob<"s1.d0.l0"> options = {extent = 16 : i64, kind = "tile"
    %0 = transform.tune.knob<"s1.d0.l0"> options = {kind = "tile",
      stage = 1 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64,
      extent = 16 : i64, policy = "remainder", multiple_of = 4 : i64,
      max = 8 : i64} -> !transform.param<i64>
    %1 = transform.tune.knob<"u"> = 16 : i64 from options = {kind = "unroll",
      stage = 1 : i64, values = [0, 16]} -> !transform.param<i64>
    %2 = transform.tune.knob<"p"> options = {kind = "parallel",
      stage = 1 : i64, values = [1, 2]} -> !transform.param<i64>
    %3 = transform.tune.knob<"l"> options = {kind = "location",
      stage = 0 : i64, values = array<i64: 0, 1>} -> !transform.param<i64>
    %4 = transform.tune.knob<"c"> options = {kind = "choice",
      stage = 0 : i64, values = [0, 1]} -> !transform.param<i64>
    // Knobs of others are left alone.
    %5 = transform.tune.knob<"o"> = 33 : i64 from options = {low = 1, high = 2}
      -> !transform.param<i64>
    %loop = transform.structured.match ops{["scf.for"]} in %func
      : (!transform.any_op) -> !transform.any_op
    // CHECK: transform.loop.unroll
    // CHECK-SAME: ansor.bind = {factor = "u"}
    transform.loop.unroll %loop {factor = 1 : i64,
      ansor.bind = {factor = "u"}} : !transform.any_op
    transform.yield
  }
}
