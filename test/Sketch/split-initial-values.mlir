// Each part of a split gets its own fill if the parts are all of the result;
// else the whole fill stays.
// RUN: mlir-opt %s --split-input-file --load-dialect-plugin=%plugin --load-pass-plugin=%plugin --transform-interpreter --canonicalize | FileCheck %s

module attributes {transform.with_named_sequence} {
  // CHECK-LABEL: func @parts(
  // CHECK-NOT: tensor<8xf32>) -> tensor<8xf32>{{$}}
  // CHECK: %[[A:.*]] = tensor.extract_slice %arg0[0] [3] [1]
  // CHECK: %[[FA:.*]] = linalg.fill {ansor.stage = 1 : i64} {{.*}} outs(%[[A]]
  // CHECK: %[[TA:.*]] = linalg.exp {{.*}} outs(%[[FA]]
  // CHECK: %[[I:.*]] = tensor.insert_slice %{{.*}} into %arg0[0] [3] [1]
  // CHECK: %[[B:.*]] = tensor.extract_slice %[[I]][3] [5] [1]
  // CHECK: %[[FB:.*]] = linalg.fill {ansor.stage = 1 : i64} {{.*}} outs(%[[B]]
  // CHECK: tensor.insert_slice %{{.*}} into %[[I]][3] [5] [1]
  func.func @parts(%out: tensor<8xf32>) -> tensor<8xf32> {
    %c0 = arith.constant 0.0 : f32
    %f = linalg.fill {ansor.stage = 1 : i64} ins(%c0 : f32) outs(%out : tensor<8xf32>) -> tensor<8xf32>
    %a = tensor.extract_slice %f[0] [3] [1] : tensor<8xf32> to tensor<3xf32>
    %ea = linalg.exp ins(%a : tensor<3xf32>) outs(%a : tensor<3xf32>) -> tensor<3xf32>
    %i = tensor.insert_slice %ea into %f[0] [3] [1] : tensor<3xf32> into tensor<8xf32>
    %b = tensor.extract_slice %i[3] [5] [1] : tensor<8xf32> to tensor<5xf32>
    %eb = linalg.exp ins(%b : tensor<5xf32>) outs(%b : tensor<5xf32>) -> tensor<5xf32>
    %j = tensor.insert_slice %eb into %i[3] [5] [1] : tensor<5xf32> into tensor<8xf32>
    return %j : tensor<8xf32>
  }

  // A hole: element 7 keeps the fill's value.
  // CHECK-LABEL: func @hole(
  // CHECK: %[[F:.*]] = linalg.fill {{.*}} outs(%arg0 : tensor<8xf32>)
  // CHECK: tensor.insert_slice %{{.*}} into %[[F]][0] [3] [1]
  func.func @hole(%out: tensor<8xf32>) -> tensor<8xf32> {
    %c0 = arith.constant 0.0 : f32
    %f = linalg.fill ins(%c0 : f32) outs(%out : tensor<8xf32>) -> tensor<8xf32>
    %a = tensor.extract_slice %f[0] [3] [1] : tensor<8xf32> to tensor<3xf32>
    %ea = linalg.exp ins(%a : tensor<3xf32>) outs(%a : tensor<3xf32>) -> tensor<3xf32>
    %i = tensor.insert_slice %ea into %f[0] [3] [1] : tensor<3xf32> into tensor<8xf32>
    %b = tensor.extract_slice %i[3] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %eb = linalg.exp ins(%b : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
    %j = tensor.insert_slice %eb into %i[3] [4] [1] : tensor<4xf32> into tensor<8xf32>
    return %j : tensor<8xf32>
  }

  // What overlaps an earlier part reads that.
  // CHECK-LABEL: func @overlap(
  // CHECK: %[[F:.*]] = linalg.fill {{.*}} outs(%arg0 : tensor<8xf32>)
  // CHECK: %[[I:.*]] = tensor.insert_slice %{{.*}} into %[[F]][0] [4] [1]
  // CHECK: %[[B:.*]] = tensor.extract_slice %[[I]][3] [5] [1]
  // CHECK-NEXT: linalg.exp ins(%[[B]]
  func.func @overlap(%out: tensor<8xf32>) -> tensor<8xf32> {
    %c0 = arith.constant 0.0 : f32
    %f = linalg.fill ins(%c0 : f32) outs(%out : tensor<8xf32>) -> tensor<8xf32>
    %a = tensor.extract_slice %f[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %ea = linalg.exp ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
    %i = tensor.insert_slice %ea into %f[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
    %b = tensor.extract_slice %i[3] [5] [1] : tensor<8xf32> to tensor<5xf32>
    %eb = linalg.exp ins(%b : tensor<5xf32>) outs(%b : tensor<5xf32>) -> tensor<5xf32>
    %j = tensor.insert_slice %eb into %i[3] [5] [1] : tensor<5xf32> into tensor<8xf32>
    return %j : tensor<8xf32>
  }

  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %funcs = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %funcs {
      transform.apply_patterns.ansor.split_initial_values
    } : !transform.any_op
    transform.yield
  }
}
