// RUN: ansor-opt %s --split-input-file --ansor-print-features=nests -o /dev/null | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Classes of operations, by type. The second multiply has two uses and the
// third none but the yield: neither is a multiply-add.
// CHECK:      "task":"classes",
// CHECK-SAME: "ops":{"float_mad":1,"float_addsub":1,"float_mul":2,"float_divmod":1,"float_cmp":2,"float_mathfunc":1,"float_otherfunc":1,"int_mad":1,"int_divmod":1,"int_cmp":1,"int_otherfunc":1,"bool_op":1,"select_op":1}}
func.func @classes(%x: tensor<8xf32>, %n: tensor<8xi32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %n : tensor<8xf32>, tensor<8xi32>) outs(%out : tensor<8xf32>) {
  ^bb0(%a: f32, %i: i32, %o: f32):
    %c2 = arith.constant 2 : i32
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %a : f32
    %2 = arith.mulf %1, %a : f32
    %3 = arith.subf %2, %2 : f32
    %4 = arith.divf %3, %2 : f32
    %5 = arith.maximumf %4, %a : f32
    %6 = math.exp %5 : f32
    %7 = arith.cmpf olt, %6, %a : f32
    %8 = arith.muli %i, %i : i32
    %9 = arith.addi %8, %c2 : i32
    %10 = arith.remsi %9, %c2 : i32
    %11 = arith.cmpi slt, %10, %i : i32
    %12 = arith.andi %7, %11 : i1
    %13 = arith.shli %10, %c2 : i32
    %14 = arith.sitofp %13 : i32 to f32
    %15 = arith.select %12, %6, %14 : f32
    %16 = arith.mulf %15, %6 : f32
    linalg.yield %16 : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A gather of rows: the index of a row depends on data. At an index that is a
// function of the iterators, tensor.extract is an access like any other.
// CHECK:      "task":"gather",
// CHECK-SAME: "access":"read",{{[^[]*}}"shape":[10],"coefficients":{{\[\[}}1,0]]},
// CHECK-SAME: "access":"read","indirect":true,"element_bytes":4,"shape":[100,8],"coefficients":{{\[\[}}0,0],[0,0]]},
// CHECK-SAME: "access":"read","element_bytes":2,"shape":[16],"coefficients":{{\[\[}}1,1]]}],
func.func @gather(%table: tensor<100x8xf32>, %index: tensor<10xi32>, %scale: tensor<16xf16>, %out: tensor<10x8xf32>) -> tensor<10x8xf32> {
  %r = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%index : tensor<10xi32>) outs(%out : tensor<10x8xf32>) {
  ^bb0(%i: i32, %o: f32):
    %row = arith.index_cast %i : i32 to index
    %m = linalg.index 0 : index
    %n = linalg.index 1 : index
    %v = tensor.extract %table[%row, %n] : tensor<100x8xf32>
    %mn = arith.addi %m, %n : index
    %s = tensor.extract %scale[%mn] : tensor<16xf16>
    %t = arith.extf %s : f16 to f32
    %p = arith.mulf %v, %t : f32
    linalg.yield %p : f32
  } -> tensor<10x8xf32>
  return %r : tensor<10x8xf32>
}

// -----

// What no result needs is no statement; an insertion of a tensor from
// elsewhere is a copy, here to rows 4 to 7, of every iteration of the loop.
// CHECK:      "task":"copies","statement":"linalg.fill"
// CHECK-NEXT: "task":"copies","statement":"tensor.insert_slice","loops":[
// CHECK-SAME: "extent":3,{{[^}]*}}},{{[^}]*}}"extent":4,{{[^}]*}}},{{[^}]*}}"extent":16,
// CHECK-SAME: "access":"write",{{[^[]*}}"shape":[12,16],"coefficients":{{\[\[}}4,1,0],[0,0,1]]},
// CHECK-SAME: "access":"read",{{[^[]*}}"shape":[4,16],"coefficients":{{\[\[}}0,1,0],[0,0,1]]}],
// CHECK-NOT:  "task"
func.func @copies(%x: tensor<4x16xf32>, %out: tensor<12x16xf32>) -> tensor<12x16xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  %dead = linalg.fill ins(%zero : f32) outs(%x : tensor<4x16xf32>) -> tensor<4x16xf32>
  %slice = tensor.extract_slice %dead[0, 0] [2, 2] [1, 1] : tensor<4x16xf32> to tensor<2x2xf32>
  %e = tensor.empty() : tensor<4x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r = scf.for %i = %c0 to %c12 step %c4 iter_args(%o = %out) -> (tensor<12x16xf32>) {
    %s = tensor.insert_slice %f into %o[%i, 0] [4, 16] [1, 1] : tensor<4x16xf32> into tensor<12x16xf32>
    scf.yield %s : tensor<12x16xf32>
  }
  return %r : tensor<12x16xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>

// A reshape keeps the buffer; both statements name the same one. A slice with
// dropped dimensions and a stride moves along the source's dimensions.
// CHECK:      "task":"views",{{.*}}{"buffer":[[B:[0-9]+]],"access":"write",{{[^[]*}}"shape":[4,6]
// CHECK-NEXT: {"buffer":[[B]],"access":"read",{{[^[]*}}"shape":[24],"coefficients":{{\[\[}}1]]}
// CHECK-SAME: "access":"read",{{[^[]*}}"shape":[50,3],"coefficients":{{\[\[}}2],[0]]}
func.func @views(%x: tensor<50x3xf32>, %out: tensor<24xf32>) -> tensor<24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %c = tensor.collapse_shape %f [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %s = tensor.extract_slice %x[1, 2] [24, 1] [2, 1] : tensor<50x3xf32> to tensor<24xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%c, %s : tensor<24xf32>, tensor<24xf32>) outs(%out : tensor<24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<24xf32>
  return %r : tensor<24xf32>
}

// -----

#in = affine_map<(d0) -> (d0 floordiv 2, d0 mod 4)>
#id = affine_map<(d0) -> (d0)>

// Quotients move by one step at most; remainders like their operand.
// CHECK: "task":"quotient",{{.*}}"access":"read",{{[^[]*}}"shape":[8,4],"coefficients":{{\[\[}}1],[1]]}
func.func @quotient(%x: tensor<8x4xf32>, %out: tensor<16xf32>) -> tensor<16xf32> {
  %r = linalg.generic {indexing_maps = [#in, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8x4xf32>) outs(%out : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// -----

// Dynamic extents count as 1, and make no loop.
// CHECK:      "task":"dynamic","statement":"linalg.fill","loops":[{{[^]]*}}"extent":16,{{[^]]*}}],
// CHECK-SAME: "shape":[1,16],"coefficients":{{\[\[}}0],[1]]}
func.func @dynamic(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%x : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %f : tensor<?x16xf32>
}

// -----

// Only the task, where there is one.
// CHECK:     "task":"a1-07","statement":"s4"
// CHECK-NOT: "task"
func.func @task(%x: tensor<16xf32>) -> tensor<16xf32> attributes {ansor.task = "a1-07"} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill {ansor.stage = 4 : i64} ins(%zero : f32) outs(%x : tensor<16xf32>) -> tensor<16xf32>
  return %f : tensor<16xf32>
}
func.func private @declared(tensor<16xf32>) -> tensor<16xf32>
func.func @model(%x: tensor<16xf32>) -> tensor<16xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%x : tensor<16xf32>) -> tensor<16xf32>
  %r = call @task(%f) : (tensor<16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// -----

// A loop without iterations, and sizes beyond what a number can say: counted
// as one iteration and as the largest number.
// CHECK:      "task":"extremes","statement":"linalg.fill","loops":[
// CHECK-SAME: "extent":4294967296,{{.*}}"allocation_bytes":9223372036854775807,
// CHECK-NEXT: "task":"extremes","statement":"linalg.fill","loops":[{{[^]]*}}"extent":4,{{[^]]*}}],
func.func @extremes(%out: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2147483648x4294967296xf32>) {
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4294967296x4294967296xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32>
  %x = tensor.expand_shape %f [[0, 1], [2]] output_shape [2, 2147483648, 4294967296] : tensor<4294967296x4294967296xf32> into tensor<2x2147483648x4294967296xf32>
  %r = scf.for %i = %c8 to %c0 step %c1 iter_args(%o = %out) -> (tensor<4xf32>) {
    %s = linalg.fill ins(%zero : f32) outs(%o : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r, %x : tensor<4xf32>, tensor<2x2147483648x4294967296xf32>
}
