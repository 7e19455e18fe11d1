// RUN: ansor-opt %s --ansor-inline-tasks --split-input-file -verify-diagnostics | FileCheck %s

// Annotations of a schedule survive; numbers of stages, which mean something in
// their task only, don't. Functions that are no tasks stay.

// CHECK-LABEL: func.func @main
// CHECK: linalg.exp {ansor.vectorize} ins(%arg0 : tensor<8xf32>) outs(%arg1
// CHECK: call @helper
// CHECK: linalg.exp
// CHECK-NOT: call @task
// CHECK-NOT: ansor.stage
// CHECK: func.func private @helper
// CHECK-NOT: func.func
func.func @main(%a: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %r = call @task_0(%a, %o) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %s = call @helper(%r) : (tensor<8xf32>) -> tensor<8xf32>
  %t = call @task_0(%s, %o) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %t : tensor<8xf32>
}
func.func private @task_0(%a: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> attributes {ansor.task = "a1-0", ansor.weight = 2 : i64} {
  %r = linalg.exp {ansor.stage = 0 : i64, ansor.vectorize} ins(%a : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func private @helper(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// -----

// A public task is somebody's entry: it is inlined, and stays.

// CHECK-LABEL: func.func @caller
// CHECK-NOT: call
// CHECK: func.func @entry
func.func @caller(%a: tensor<8xf32>) -> tensor<8xf32> {
  %r = call @entry(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @entry(%a: tensor<8xf32>) -> tensor<8xf32> attributes {ansor.task = "a1-0", ansor.weight = 1 : i64} {
  return %a : tensor<8xf32>
}

// -----

// expected-error @below {{the task has more than one block and can't be inlined; inline tasks before they are lowered to branches}}
func.func private @branches(%a: tensor<8xf32>) -> tensor<8xf32> attributes {ansor.task = "a1-0", ansor.weight = 1 : i64} {
  cf.br ^bb1
^bb1:
  return %a : tensor<8xf32>
}
