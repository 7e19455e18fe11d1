// RUN: ansor-opt %s --ansor-extract-tasks --split-input-file | FileCheck %s
// RUN: ansor-opt %s --ansor-extract-tasks=outline-rest=false --split-input-file | FileCheck %s --check-prefix=ANCHORS

// Padding, the convolution, the normalisation of its result and the residual
// are one task. What is computed once a channel is a stage of its own: in the
// last stage it would be computed once an element.

// The batch of one is no loop of the task.

// CHECK-LABEL: func.func @conv_norm_add
// CHECK-DAG: %[[X:.*]] = tensor.collapse_shape %arg0
// CHECK-DAG: %[[RES:.*]] = tensor.collapse_shape %arg3
// CHECK-DAG: %[[E:.*]] = tensor.empty() : tensor<8x8x16xf32>
// CHECK: %[[R:.*]] = call @task_0(%[[X]], %arg1, %arg2, %[[RES]], %[[E]])
// CHECK-NEXT: %[[EX:.*]] = tensor.expand_shape %[[R]]
// CHECK-NEXT: return %[[EX]]
// CHECK: func.func private @task_0
// CHECK: tensor.pad
// CHECK: ansor.stage = 0
// CHECK: linalg.fill {ansor.stage = 1
// CHECK: linalg.generic {{.*}} "reduction"{{.*}} attrs = {ansor.stage = 2
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]{{.*}} attrs = {ansor.stage = 3
// CHECK: math.rsqrt
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]{{.*}} attrs = {ansor.stage = 4
// CHECK-NOT: math.rsqrt
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @conv_norm_add(%x: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x16xf32>, %var: tensor<16xf32>, %res: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-5 : f64
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x8x8x4xf32> to tensor<1x10x10x4xf32>
  %e = tensor.empty() : tensor<1x8x8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %c = linalg.conv_2d_nhwc_hwcf ins(%p, %w : tensor<1x10x10x4xf32>, tensor<3x3x4x16xf32>) outs(%f : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %e1 = tensor.empty() : tensor<16xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%var : tensor<16xf32>) outs(%e1 : tensor<16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.truncf %eps : f64 to f32
    %q = arith.addf %v, %t : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %r = linalg.rsqrt ins(%s : tensor<16xf32>) outs(%e1 : tensor<16xf32>) -> tensor<16xf32>
  %rr = tensor.expand_shape %r [[0, 1]] output_shape [1, 16] : tensor<16xf32> into tensor<1x16xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (0, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c, %rr : tensor<1x8x8x16xf32>, tensor<1x16xf32>) outs(%e : tensor<1x8x8x16xf32>) {
  ^bb0(%v: f32, %u: f32, %o: f32):
    %q = arith.mulf %v, %u : f32
    linalg.yield %q : f32
  } -> tensor<1x8x8x16xf32>
  %y = linalg.add ins(%n, %res : tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>) outs(%e : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  return %y : tensor<1x8x8x16xf32>
}

// -----

// A result with two readers is the root of its task: the second product reads
// it, and so does the sum, which ends the second task.

// CHECK-LABEL: func.func @two_readers
// CHECK: %[[M:.*]] = call @task_0(%arg0, %{{[0-9]+}}) :
// CHECK: %[[R:.*]] = call @task_1(%[[M]], %arg0, %{{[0-9]+}}) :
// CHECK: return %[[R]]
func.func @two_readers(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %x = linalg.exp ins(%m : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = linalg.matmul ins(%x, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = linalg.add ins(%n, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}

// -----

// A sum reads what it sums once: the product fuses into its body. An
// exponential before a matmul would be computed once a column: it is cut off.

// CHECK-LABEL: func.func @prologues
// CHECK: call @task_0(
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %arg0
// CHECK: %[[X:.*]] = call @task_1(%[[FLAT]],
// CHECK: %[[WIDE:.*]] = tensor.expand_shape %[[X]]
// CHECK: call @task_2(%[[WIDE]], %arg1,
// CHECK: func.func private @task_0
// CHECK: linalg.generic {{.*}} "reduction"
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return

// ANCHORS-LABEL: func.func @prologues
// ANCHORS: call @task_0(
// ANCHORS: linalg.generic
// ANCHORS: math.exp
// ANCHORS: call @task_1(
// ANCHORS: return
func.func @prologues(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> (tensor<16xf32>, tensor<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %e1 = tensor.empty() : tensor<16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16xf32>) -> tensor<16xf32>
  %sq = linalg.mul ins(%a, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %sum = linalg.reduce { arith.addf } ins(%sq : tensor<16x16xf32>) outs(%f1 : tensor<16xf32>) dimensions = [1]
  %x = linalg.exp ins(%a : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %m = linalg.matmul ins(%x, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %sum, %m : tensor<16xf32>, tensor<16x16xf32>
}

// -----

// Data movement is read through its maps by every consumer, and vanishes.

// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @transposed
// CHECK: call @task_0(%arg0, %arg1,
// CHECK: call @task_0(%arg2, %arg1,
// CHECK-NOT: call
// CHECK: func.func private @task_0
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[RHS]], #{{.*}}]
func.func @transposed(%a: tensor<4x16xf32>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %et = tensor.empty() : tensor<16x8xf32>
  %t = linalg.transpose ins(%b : tensor<8x16xf32>) outs(%et : tensor<16x8xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = linalg.matmul ins(%a, %t : tensor<4x16xf32>, tensor<16x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = linalg.matmul ins(%c, %t : tensor<4x16xf32>, tensor<16x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %m, %n : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// The larger anchor takes the op that both could end with; reshapes stay
// between calls, unless they cancel those of loops that became one.

// CHECK-LABEL: func.func @larger_anchor
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %arg2 {{\[\[}}0, 1], [2]]
// CHECK: %[[SMALL:.*]] = call @task_0(%[[FLAT]],
// CHECK: %[[WIDE:.*]] = tensor.expand_shape %[[SMALL]]
// CHECK: %[[BIG:.*]] = call @task_1(%arg0, %arg1, %[[WIDE]],
// CHECK: tensor.collapse_shape %[[BIG]]
func.func @larger_anchor(%a: tensor<8x64xf32>, %b: tensor<64x8xf32>, %c: tensor<8x8x2xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul ins(%a, %b : tensor<8x64xf32>, tensor<64x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = linalg.reduce { arith.addf } ins(%c : tensor<8x8x2xf32>) outs(%f : tensor<8x8xf32>) dimensions = [2]
  %d = linalg.div ins(%m, %s : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = tensor.collapse_shape %d [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  return %r : tensor<64xf32>
}

// -----

// Softmax is decomposed: each reduction with its elementwise neighbours.

// CHECK-LABEL: func.func @softmax
// CHECK-NOT: linalg.softmax
// CHECK: call @task_0
// CHECK: call @task_3
// CHECK-NOT: linalg.softmax
func.func @softmax(%x: tensor<4x31xf32>) -> tensor<4x31xf32> {
  %e = tensor.empty() : tensor<4x31xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<4x31xf32>) outs(%e : tensor<4x31xf32>) -> tensor<4x31xf32>
  return %r : tensor<4x31xf32>
}

// -----

// Padding that two anchors read is done in both tasks, being cheap beside them.

// CHECK-LABEL: func.func @shared_pad
// CHECK-NOT: tensor.pad
// CHECK: call @task_0(%{{.*}}, %arg1,
// CHECK: call @task_0(%{{.*}}, %arg2,
// CHECK: func.func private @task_0
// CHECK: tensor.pad
func.func @shared_pad(%x: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x16xf32>, %v: tensor<3x3x4x16xf32>) -> (tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x8x8x4xf32> to tensor<1x10x10x4xf32>
  %e = tensor.empty() : tensor<1x8x8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %c = linalg.conv_2d_nhwc_hwcf ins(%p, %w : tensor<1x10x10x4xf32>, tensor<3x3x4x16xf32>) outs(%f : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %d = linalg.conv_2d_nhwc_hwcf ins(%p, %v : tensor<1x10x10x4xf32>, tensor<3x3x4x16xf32>) outs(%f : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  return %c, %d : tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>
}
