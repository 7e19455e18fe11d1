// RUN: ansor-opt %s --split-input-file --ansor-task-destinations --verify-diagnostics | FileCheck %s
// RUN: ansor-opt %s --split-input-file --ansor-task-destinations --verify-diagnostics | FileCheck %s --check-prefix=SIG

// CHECK-LABEL: func.func private @task
// CHECK-SAME: %[[A:.*]]: tensor<4xf32> {bufferization.writable = false}, %[[INIT:.*]]: tensor<4xf32>)
// CHECK: %[[R:.*]] = bufferization.materialize_in_destination %[[A]] in %[[INIT]]
// CHECK: return %[[R]]
func.func private @task(%a: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32>
    attributes {ansor.task = "a1-0000000000000000"} {
  return %a : tensor<4xf32>
}

// Private functions are seen whole by the analysis.
// SIG: func.func private @helper(%{{.*}}: tensor<4xf32>) ->
func.func private @helper(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error @below {{has an init argument of type 'tensor<5xf32>': both have to be the same tensor type}}
func.func private @mismatch(%a: tensor<5xf32>) -> tensor<4xf32>
    attributes {ansor.task = "a1-0000000000000000"} {
  %r = tensor.empty() : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// expected-error @below {{it needs one init argument a result}}
func.func private @no_init() -> tensor<4xf32>
    attributes {ansor.task = "a1-0000000000000000"} {
  %r = tensor.empty() : tensor<4xf32>
  return %r : tensor<4xf32>
}
