// Products of narrow numbers are exact, whatever instructions the machine has:
// rows and columns that fill no vector, steps that fill no group.
// RUN: ansor-run %s --entry=signed_signed --check --repeats=1 | FileCheck %s
// RUN: ansor-run %s --entry=unsigned_signed --check --repeats=1 | FileCheck %s
// RUN: ansor-run %s --entry=signed_unsigned --check --repeats=1 | FileCheck %s
// RUN: ansor-run %s --entry=unsigned_unsigned --check --repeats=1 | FileCheck %s
// RUN: ansor-run %s --entry=bf16 --check --repeats=1 | FileCheck %s

// CHECK: check: ok

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @signed_signed(%a: tensor<13x67xi8>, %b: tensor<67x53xi8>, %c: tensor<13x53xi32>) -> tensor<13x53xi32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<13x67xi8>, tensor<67x53xi8>) outs(%c : tensor<13x53xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %p = arith.extsi %x : i8 to i32
    %q = arith.extsi %y : i8 to i32
    %s = arith.muli %p, %q : i32
    %t = arith.addi %o, %s : i32
    linalg.yield %t : i32
  } -> tensor<13x53xi32>
  return %r : tensor<13x53xi32>
}
func.func @unsigned_signed(%a: tensor<13x67xi8>, %b: tensor<67x53xi8>, %c: tensor<13x53xi32>) -> tensor<13x53xi32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<13x67xi8>, tensor<67x53xi8>) outs(%c : tensor<13x53xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %p = arith.extui %x : i8 to i32
    %q = arith.extsi %y : i8 to i32
    %s = arith.muli %p, %q : i32
    %t = arith.addi %o, %s : i32
    linalg.yield %t : i32
  } -> tensor<13x53xi32>
  return %r : tensor<13x53xi32>
}
func.func @signed_unsigned(%a: tensor<13x67xi8>, %b: tensor<67x53xi8>, %c: tensor<13x53xi32>) -> tensor<13x53xi32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<13x67xi8>, tensor<67x53xi8>) outs(%c : tensor<13x53xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %p = arith.extsi %x : i8 to i32
    %q = arith.extui %y : i8 to i32
    %s = arith.muli %p, %q : i32
    %t = arith.addi %o, %s : i32
    linalg.yield %t : i32
  } -> tensor<13x53xi32>
  return %r : tensor<13x53xi32>
}
func.func @unsigned_unsigned(%a: tensor<13x67xi8>, %b: tensor<67x53xi8>, %c: tensor<13x53xi32>) -> tensor<13x53xi32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<13x67xi8>, tensor<67x53xi8>) outs(%c : tensor<13x53xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %p = arith.extui %x : i8 to i32
    %q = arith.extui %y : i8 to i32
    %s = arith.muli %p, %q : i32
    %t = arith.addi %o, %s : i32
    linalg.yield %t : i32
  } -> tensor<13x53xi32>
  return %r : tensor<13x53xi32>
}
func.func @bf16(%a: tensor<13x67xbf16>, %b: tensor<67x53xbf16>, %c: tensor<13x53xf32>) -> tensor<13x53xf32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<13x67xbf16>, tensor<67x53xbf16>) outs(%c : tensor<13x53xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %p = arith.extf %x : bf16 to f32
    %q = arith.extf %y : bf16 to f32
    %s = arith.mulf %p, %q : f32
    %t = arith.addf %o, %s : f32
    linalg.yield %t : f32
  } -> tensor<13x53xf32>
  return %r : tensor<13x53xf32>
}
