// RUN: mlir-opt %s -transform-interpreter | ansor-opt --ansor-print-features=nests -o /dev/null | FileCheck %s

// 500 by tiles of 64, 100 by tiles of 32: trip counts round up, and tiles at
// the boundary, of a size that affine.min gives, count as full ones.
// CHECK:      {"task":"f","statement":"linalg.generic","loops":[
// CHECK-SAME: "extent":8,"kind":"spatial","partial":true},
// CHECK-SAME: "extent":4,"kind":"reduction","partial":true},
// CHECK-SAME: "extent":64,"kind":"spatial","partial":true},
// CHECK-SAME: "extent":32,"kind":"reduction","partial":true}],
// CHECK-SAME: "access":"read_write",{{.*}}"shape":[500],"coefficients":{{\[\[}}64,0,1,0]]},
// CHECK-SAME: "access":"read",{{.*}}"shape":[500,100],"coefficients":{{\[\[}}64,0,1,0],[0,32,0,1]]}],
// CHECK-SAME: "ops":{"float_addsub":1}}
// CHECK-NOT: task

#rows = affine_map<(i, k) -> (i)>
#all = affine_map<(i, k) -> (i, k)>
module attributes {transform.with_named_sequence} {
  func.func @f(%x: tensor<500x100xf32>, %out: tensor<500xf32>) -> tensor<500xf32> {
    %0 = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<500x100xf32>) outs(%out : tensor<500xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %acc, %a : f32
      linalg.yield %s : f32
    } -> tensor<500xf32>
    return %0 : tensor<500xf32>
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.generic"]} in %m : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %op tile_sizes [64, 32] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
