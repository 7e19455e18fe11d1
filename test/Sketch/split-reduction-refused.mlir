// What is not split over the reduction: results that are many, an order that
// matters, an operand that a stage of the task computes, no initial value.
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:cores=4" | FileCheck %s
// CHECK-NOT: split-reduction

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @many(%a: tensor<128x2048xf32>, %b: tensor<2048x128xf32>, %o: tensor<128x128xf32>) -> tensor<128x128xf32> attributes {ansor.task = "a1-00"} {
  %c0 = arith.constant 0.0 : f32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%c0 : f32) outs(%o : tensor<128x128xf32>) -> tensor<128x128xf32>
  %r = linalg.matmul {ansor.stage = 1 : i64} ins(%a, %b : tensor<128x2048xf32>, tensor<2048x128xf32>) outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}
func.func private @ordered(%a: tensor<8x4096xf32>, %b: tensor<4096x64xf32>, %o: tensor<8x64xf32>) -> tensor<8x64xf32> attributes {ansor.task = "a1-01"} {
  %c0 = arith.constant 0.0 : f32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%c0 : f32) outs(%o : tensor<8x64xf32>) -> tensor<8x64xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<8x4096xf32>, tensor<4096x64xf32>) outs(%f : tensor<8x64xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.subf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}
func.func private @computed(%a: tensor<8x4096xf32>, %b: tensor<4096x64xf32>, %o: tensor<8x64xf32>) -> tensor<8x64xf32> attributes {ansor.task = "a1-02"} {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4096xf32>
  %t = linalg.exp {ansor.stage = 0 : i64} ins(%a : tensor<8x4096xf32>) outs(%e : tensor<8x4096xf32>) -> tensor<8x4096xf32>
  %f = linalg.fill {ansor.stage = 1 : i64} ins(%c0 : f32) outs(%o : tensor<8x64xf32>) -> tensor<8x64xf32>
  %r = linalg.matmul {ansor.stage = 2 : i64} ins(%t, %b : tensor<8x4096xf32>, tensor<4096x64xf32>) outs(%f : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}
func.func private @accumulates(%a: tensor<8x4096xf32>, %b: tensor<4096x64xf32>, %o: tensor<8x64xf32>) -> tensor<8x64xf32> attributes {ansor.task = "a1-03"} {
  %r = linalg.matmul {ansor.stage = 0 : i64} ins(%a, %b : tensor<8x4096xf32>, tensor<4096x64xf32>) outs(%o : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}
