// Reductions in parts: products of few results, one of two loops transposed, in
// batches, of narrow integers, with a consumer, an initial value that is not
// neutral, and a combiner that is no sum; sums of rows and of columns with a
// consumer.
// REQUIRES: ansor-tune, ansor-run
// RUN: %sample_and_check %s --threads=2

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#bt = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#columns = affine_map<(d0, d1) -> (d1)>
#vector = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<3x2304xf32>, %b: tensor<2304x40xf32>, %bt: tensor<50x2304xf32>, %ba: tensor<2x3x1024xf32>, %bb: tensor<2x1024x24xf32>, %ia: tensor<4x1024xi8>, %ib: tensor<1024x36xi8>, %s: tensor<6x2000xf32>, %t: tensor<2000x6xf32>)
    -> (tensor<3x40xf32>, tensor<3x50xf32>, tensor<2x3x24xf32>, tensor<4x36xi32>, tensor<3x40xf32>, tensor<6xf32>, tensor<6xf32>) {
  %z = arith.constant 0.0 : f32
  %h = arith.constant 0.5 : f32
  %i0 = arith.constant 0 : i32
  %low = arith.constant 0xFF800000 : f32
  // A product, and a consumer.
  %e0 = tensor.empty() : tensor<3x40xf32>
  %f0 = linalg.fill ins(%h : f32) outs(%e0 : tensor<3x40xf32>) -> tensor<3x40xf32>
  %m0 = linalg.matmul ins(%a, %b : tensor<3x2304xf32>, tensor<2304x40xf32>) outs(%f0 : tensor<3x40xf32>) -> tensor<3x40xf32>
  %r0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m0 : tensor<3x40xf32>) outs(%e0 : tensor<3x40xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.maximumf %x, %z : f32
    linalg.yield %y : f32
  } -> tensor<3x40xf32>
  // A factor transposed.
  %e1 = tensor.empty() : tensor<3x50xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<3x50xf32>) -> tensor<3x50xf32>
  %r1 = linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %bt : tensor<3x2304xf32>, tensor<50x2304xf32>) outs(%f1 : tensor<3x50xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<3x50xf32>
  // A batch.
  %e2 = tensor.empty() : tensor<2x3x24xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<2x3x24xf32>) -> tensor<2x3x24xf32>
  %r2 = linalg.batch_matmul ins(%ba, %bb : tensor<2x3x1024xf32>, tensor<2x1024x24xf32>) outs(%f2 : tensor<2x3x24xf32>) -> tensor<2x3x24xf32>
  // Narrow factors.
  %e3 = tensor.empty() : tensor<4x36xi32>
  %f3 = linalg.fill ins(%i0 : i32) outs(%e3 : tensor<4x36xi32>) -> tensor<4x36xi32>
  %r3 = linalg.matmul ins(%ia, %ib : tensor<4x1024xi8>, tensor<1024x36xi8>) outs(%f3 : tensor<4x36xi32>) -> tensor<4x36xi32>
  // The largest sum.
  %f4 = linalg.fill ins(%low : f32) outs(%e0 : tensor<3x40xf32>) -> tensor<3x40xf32>
  %r4 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<3x2304xf32>, tensor<2304x40xf32>) outs(%f4 : tensor<3x40xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.addf %x, %y : f32
    %n = arith.maximumf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<3x40xf32>
  // Means.
  %scale = arith.constant 0.0005 : f32
  %e5 = tensor.empty() : tensor<6xf32>
  %f5 = linalg.fill ins(%z : f32) outs(%e5 : tensor<6xf32>) -> tensor<6xf32>
  %s5 = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<6x2000xf32>) outs(%f5 : tensor<6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %n = arith.addf %o, %x : f32
    linalg.yield %n : f32
  } -> tensor<6xf32>
  %r5 = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%s5 : tensor<6xf32>) outs(%e5 : tensor<6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %n = arith.mulf %x, %scale : f32
    linalg.yield %n : f32
  } -> tensor<6xf32>
  %s6 = linalg.generic {indexing_maps = [#id, #columns], iterator_types = ["reduction", "parallel"]} ins(%t : tensor<2000x6xf32>) outs(%f5 : tensor<6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %n = arith.addf %o, %x : f32
    linalg.yield %n : f32
  } -> tensor<6xf32>
  %r6 = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%s6 : tensor<6xf32>) outs(%e5 : tensor<6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %n = arith.mulf %x, %scale : f32
    linalg.yield %n : f32
  } -> tensor<6xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6 : tensor<3x40xf32>, tensor<3x50xf32>, tensor<2x3x24xf32>, tensor<4x36xi32>, tensor<3x40xf32>, tensor<6xf32>, tensor<6xf32>
}
