// RUN: ansor-opt %s --ansor-fold-constant-layouts --split-input-file | FileCheck %s

#from = affine_map<(i, j) -> (j, i)>
#to = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @dense(
// CHECK: arith.constant dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi16>
// CHECK-NOT: linalg
func.func @dense() -> tensor<3x2xi16> {
  %c = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi16>
  %e = tensor.empty() : tensor<3x2xi16>
  %t = linalg.generic {indexing_maps = [#from, #to],
      iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<2x3xi16>) outs(%e : tensor<3x2xi16>) {
  ^bb0(%a: i16, %o: i16):
    linalg.yield %a : i16
  } -> tensor<3x2xi16>
  return %t : tensor<3x2xi16>
}

// -----

// Through a reshape; three dimensions, none of which stays.

// CHECK-LABEL: func.func @reshaped(
// CHECK: arith.constant dense<{{\[\[\[}}1, 4], [2, 5], [3, 6]], {{\[\[}}7, 10], [8, 11], [9, 12]]]> : tensor<2x3x2xi8>
func.func @reshaped() -> tensor<2x3x2xi8> {
  %c = arith.constant dense<[[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]> : tensor<2x6xi8>
  %x = tensor.expand_shape %c [[0], [1, 2]] output_shape [2, 2, 3] : tensor<2x6xi8> into tensor<2x2x3xi8>
  %e = tensor.empty() : tensor<2x3x2xi8>
  %t = linalg.transpose ins(%x : tensor<2x2x3xi8>) outs(%e : tensor<2x3x2xi8>) permutation = [0, 2, 1]
  return %t : tensor<2x3x2xi8>
}

// -----

// CHECK-LABEL: func.func @cycle(
// CHECK: arith.constant dense<{{\[\[\[}}1, 3, 5], [7, 9, 11]], {{\[\[}}2, 4, 6], [8, 10, 12]]]> : tensor<2x2x3xi32>
func.func @cycle() -> tensor<2x2x3xi32> {
  %c = arith.constant dense<[[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]]> : tensor<2x3x2xi32>
  %e = tensor.empty() : tensor<2x2x3xi32>
  %t = linalg.transpose ins(%c : tensor<2x3x2xi32>) outs(%e : tensor<2x2x3xi32>) permutation = [2, 0, 1]
  return %t : tensor<2x2x3xi32>
}

// -----

// Packing: tiles of two dimensions, and a remainder that is padded.

// CHECK-LABEL: func.func @packed(
// CHECK-DAG: arith.constant dense<{{\[\[\[\[}}1, 4], [2, 5]], {{\[\[}}3, 6], [-1, -1]]]]> : tensor<1x2x2x2xi16>
// CHECK-DAG: arith.constant dense<{{\[\[}}1, 2], [3, 4], [5, 0]]> : tensor<3x2xi16>
// CHECK-NOT: linalg.pack
func.func @packed() -> (tensor<1x2x2x2xi16>, tensor<3x2xi16>) {
  %c = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi16>
  %d = arith.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi16>
  %pad = arith.constant -1 : i16
  %zero = arith.constant 0 : i16
  %e = tensor.empty() : tensor<1x2x2x2xi16>
  %f = tensor.empty() : tensor<3x2xi16>
  %p = linalg.pack %c padding_value(%pad : i16) inner_dims_pos = [1, 0] inner_tiles = [2, 2]
      into %e : tensor<2x3xi16> -> tensor<1x2x2x2xi16>
  %q = linalg.pack %d padding_value(%zero : i16) inner_dims_pos = [0] inner_tiles = [2]
      into %f : tensor<5xi16> -> tensor<3x2xi16>
  return %p, %q : tensor<1x2x2x2xi16>, tensor<3x2xi16>
}

// -----

// A padding that isn't known stays.

// CHECK-LABEL: func.func @padded_by_argument(
// CHECK: linalg.pack
func.func @padded_by_argument(%pad: i16) -> tensor<3x2xi16> {
  %d = arith.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi16>
  %f = tensor.empty() : tensor<3x2xi16>
  %q = linalg.pack %d padding_value(%pad : i16) inner_dims_pos = [0] inner_tiles = [2]
      into %f : tensor<5xi16> -> tensor<3x2xi16>
  return %q : tensor<3x2xi16>
}

// -----

// The data of a resource; one that holds none is left.

// CHECK-LABEL: func.func @resources(
// CHECK-DAG: arith.constant dense_resource<w_1> : tensor<3x2xi8>
// CHECK-DAG: %[[ELIDED:.*]] = arith.constant dense_resource<elided> : tensor<2x3xi8>
// CHECK-DAG: linalg.transpose ins(%[[ELIDED]]
// CHECK: w_1: "0x40000000010402050306"
func.func @resources() -> (tensor<3x2xi8>, tensor<3x2xi8>) {
  %c = arith.constant dense_resource<w> : tensor<2x3xi8>
  %d = arith.constant dense_resource<elided> : tensor<2x3xi8>
  %e = tensor.empty() : tensor<3x2xi8>
  %t = linalg.transpose ins(%c : tensor<2x3xi8>) outs(%e : tensor<3x2xi8>) permutation = [1, 0]
  %u = linalg.transpose ins(%d : tensor<2x3xi8>) outs(%e : tensor<3x2xi8>) permutation = [1, 0]
  return %t, %u : tensor<3x2xi8>, tensor<3x2xi8>
}

{-#
  dialect_resources: { builtin: { w: "0x40000000010203040506" } }
#-}

// -----

// Other bodies and splats are left.

#from = affine_map<(i, j) -> (j, i)>
#to = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @others(
// CHECK: linalg.generic
// CHECK: linalg.transpose
func.func @others() -> (tensor<3x2xi16>, tensor<3x2xi16>) {
  %c = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi16>
  %s = arith.constant dense<1> : tensor<2x3xi16>
  %e = tensor.empty() : tensor<3x2xi16>
  %t = linalg.generic {indexing_maps = [#from, #to],
      iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<2x3xi16>) outs(%e : tensor<3x2xi16>) {
  ^bb0(%a: i16, %o: i16):
    %n = arith.muli %a, %a : i16
    linalg.yield %n : i16
  } -> tensor<3x2xi16>
  %u = linalg.transpose ins(%s : tensor<2x3xi16>) outs(%e : tensor<3x2xi16>) permutation = [1, 0]
  return %t, %u : tensor<3x2xi16>, tensor<3x2xi16>
}

// -----

// Neither map is the identity.

// CHECK-LABEL: func.func @both_moved(
// CHECK: arith.constant dense<{{\[\[\[}}1, 3], [2, 4]], {{\[\[}}5, 7], [6, 8]], {{\[\[}}9, 11], [10, 12]]]> : tensor<3x2x2xi32>
// CHECK-NOT: linalg
func.func @both_moved() -> tensor<3x2x2xi32> {
  %c = arith.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 10], [11, 12]]]> : tensor<3x2x2xi32>
  %e = tensor.empty() : tensor<3x2x2xi32>
  %t = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (j, k, i)>, affine_map<(i, j, k) -> (j, i, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c : tensor<3x2x2xi32>) outs(%e : tensor<3x2x2xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  } -> tensor<3x2x2xi32>
  return %t : tensor<3x2x2xi32>
}
