// RUN: ansor-opt %s --ansor-print-features=nests -o /dev/null | FileCheck %s
// RUN: ansor-opt %s --ansor-print-features -o /dev/null | FileCheck %s --check-prefix=ROWS

// Matmul, bias and relu, tiled and fused at two levels. The untiled originals
// and the dead slices that fusion leaves are still there and make no
// statement.

// The fill writes a tile of its own: an allocation of 8x64 inside four loops,
// not the 512x512 of the tensor.empty. Loops outside it don't move it.
// CHECK:      {"task":"a1-00","statement":"s0","loops":[
// CHECK-SAME: {"id":[[I0:[0-9]+]],"extent":4,"kind":"spatial","annotation":"parallel"},
// CHECK-SAME: {"id":[[J0:[0-9]+]],"extent":2,"kind":"spatial","annotation":"parallel"},
// CHECK-SAME: {"id":[[I1:[0-9]+]],"extent":16,"kind":"spatial"},
// CHECK-SAME: {"id":[[J1:[0-9]+]],"extent":4,"kind":"spatial"},
// CHECK-SAME: "extent":8,"kind":"spatial"},{{[^}]*}}"extent":64,"kind":"spatial"}],
// CHECK-SAME: "accesses":[{"buffer":[[C:[0-9]+]],"access":"write","element_bytes":4,"shape":[8,64],
// CHECK-SAME: "coefficients":{{\[\[}}0,0,0,0,1,0],[0,0,0,0,0,1]]}],
// CHECK-SAME: "ops":{},"allocation_bytes":2048,"allocation_depth":4}

// The update shares the four loops and the tile; k is a reduction, and the
// iterator of one trip that is left of it is no loop.
// CHECK-NEXT: {"task":"a1-00","statement":"s1","loops":[
// CHECK-SAME: {"id":[[I0]],"extent":4,{{.*}}{"id":[[J0]],"extent":2,{{.*}}{"id":[[I1]],"extent":16,{{.*}}{"id":[[J1]],"extent":4,
// CHECK-SAME: "extent":512,"kind":"reduction"},{{[^}]*}}"extent":8,"kind":"spatial"},{{[^}]*}}"extent":64,"kind":"spatial"}],
// CHECK-SAME: {"buffer":[[C]],"access":"read_write",{{.*}}"shape":[8,64],"coefficients":{{\[\[}}0,0,0,0,0,1,0],[0,0,0,0,0,0,1]]},
// CHECK-SAME: "access":"read",{{.*}}"shape":[512,512],"coefficients":{{\[\[}}128,0,8,0,0,1,0],[0,0,0,0,1,0,0]]},
// CHECK-SAME: "access":"read",{{.*}}"shape":[512,512],"coefficients":{{\[\[}}0,0,0,0,1,0,0],[0,256,0,64,0,0,1]]}],
// CHECK-SAME: "ops":{"float_mad":1},"allocation_bytes":2048,"allocation_depth":4}

// The epilogue reads the tile and writes the result in the init argument.
// CHECK-NEXT: {"task":"a1-00","statement":"s2","loops":[
// CHECK-SAME: "access":"write",{{.*}}"shape":[512,512],"coefficients":{{\[\[}}128,0,8,0,1,0],[0,256,0,64,0,1]]},
// CHECK-SAME: {"buffer":[[C]],"access":"read",{{.*}}"shape":[8,64],"coefficients":{{\[\[}}0,0,0,0,1,0],[0,0,0,0,0,1]]},
// CHECK-SAME: "access":"read",{{.*}}"shape":[512],"coefficients":{{\[\[}}0,256,0,64,0,1]]}],
// CHECK-SAME: "ops":{"float_addsub":1,"float_cmp":1}}
// CHECK-NOT:  task

// log2(1 + 512^3) = 27 multiply-adds, 2 parallel loops of 8 iterations.
// ROWS:      "statement":"s0","version":1,"vec_type.none":1,{{.*}}"b0.reuse.serial":1
// ROWS-NEXT: "statement":"s1","version":1,"float_mad":27,
// ROWS-SAME: "parallel_num":1.58{{[0-9]*}},"parallel_prod":3.16{{[0-9]*}},"parallel_len":1.58{{[0-9]*}},"parallel_type.outer_spatial":1
// ROWS-SAME: "b0.access.read_write":1,{{.*}}"b0.reuse.loop":1
// ROWS-NEXT: "statement":"s2","version":1,"float_addsub":18.0

#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1)>
func.func private @task_0(%arg0: tensor<512x512xf32>, %arg1: tensor<512x512xf32>, %arg2: tensor<512xf32>, %arg3: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {ansor.task = "a1-00", ansor.weight = 1 : i64} {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<512x512xf32>
  %1 = linalg.fill {ansor.stage = 0 : i64} ins(%cst : f32) outs(%0 : tensor<512x512xf32>) -> tensor<512x512xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<512x512xf32>, tensor<512x512xf32>) outs(%1 : tensor<512x512xf32>) attrs =  {ansor.stage = 1 : i64} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %4 = arith.mulf %in, %in_0 : f32
    %5 = arith.addf %out, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<512x512xf32>
  %3 = scf.forall (%arg4, %arg5) = (0, 0) to (512, 512) step (128, 256) shared_outs(%arg6 = %arg3) -> (tensor<512x512xf32>) {
    %extracted_slice = tensor.extract_slice %arg0[%arg4, 0] [128, 512] [1, 1] : tensor<512x512xf32> to tensor<128x512xf32>
    %extracted_slice_0 = tensor.extract_slice %arg1[0, %arg5] [512, 256] [1, 1] : tensor<512x512xf32> to tensor<512x256xf32>
    %4 = tensor.empty() : tensor<512x512xf32>
    %extracted_slice_1 = tensor.extract_slice %4[%arg4, %arg5] [128, 256] [1, 1] : tensor<512x512xf32> to tensor<128x256xf32>
    %extracted_slice_2 = tensor.extract_slice %0[%arg4, %arg5] [128, 256] [1, 1] : tensor<512x512xf32> to tensor<128x256xf32>
    %5 = linalg.fill {ansor.stage = 0 : i64} ins(%cst : f32) outs(%extracted_slice_2 : tensor<128x256xf32>) -> tensor<128x256xf32>
    %extracted_slice_3 = tensor.extract_slice %1[%arg4, %arg5] [128, 256] [1, 1] : tensor<512x512xf32> to tensor<128x256xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%extracted_slice, %extracted_slice_0 : tensor<128x512xf32>, tensor<512x256xf32>) outs(%5 : tensor<128x256xf32>) attrs =  {ansor.stage = 1 : i64} {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %8 = arith.mulf %in, %in_8 : f32
      %9 = arith.addf %out, %8 : f32
      linalg.yield %9 : f32
    } -> tensor<128x256xf32>
    %extracted_slice_4 = tensor.extract_slice %2[%arg4, %arg5] [128, 256] [1, 1] : tensor<512x512xf32> to tensor<128x256xf32>
    %extracted_slice_5 = tensor.extract_slice %arg2[%arg5] [256] [1] : tensor<512xf32> to tensor<256xf32>
    %extracted_slice_6 = tensor.extract_slice %arg6[%arg4, %arg5] [128, 256] [1, 1] : tensor<512x512xf32> to tensor<128x256xf32>
    %c0 = arith.constant 0 : index
    %c0_7 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %7 = scf.for %arg7 = %c0 to %c128 step %c8 iter_args(%arg8 = %extracted_slice_6) -> (tensor<128x256xf32>) {
      %8 = scf.for %arg9 = %c0_7 to %c256 step %c64 iter_args(%arg10 = %arg8) -> (tensor<128x256xf32>) {
        %extracted_slice_8 = tensor.extract_slice %arg0[%arg4, 0] [128, 512] [1, 1] : tensor<512x512xf32> to tensor<128x512xf32>
        %extracted_slice_9 = tensor.extract_slice %extracted_slice_8[%arg7, 0] [8, 512] [1, 1] : tensor<128x512xf32> to tensor<8x512xf32>
        %extracted_slice_10 = tensor.extract_slice %extracted_slice[%arg7, 0] [8, 512] [1, 1] : tensor<128x512xf32> to tensor<8x512xf32>
        %extracted_slice_11 = tensor.extract_slice %arg1[0, %arg5] [512, 256] [1, 1] : tensor<512x512xf32> to tensor<512x256xf32>
        %extracted_slice_12 = tensor.extract_slice %extracted_slice_11[0, %arg9] [512, 64] [1, 1] : tensor<512x256xf32> to tensor<512x64xf32>
        %extracted_slice_13 = tensor.extract_slice %extracted_slice_0[0, %arg9] [512, 64] [1, 1] : tensor<512x256xf32> to tensor<512x64xf32>
        %extracted_slice_14 = tensor.extract_slice %0[%arg4, %arg5] [128, 256] [1, 1] : tensor<512x512xf32> to tensor<128x256xf32>
        %extracted_slice_15 = tensor.extract_slice %extracted_slice_14[%arg7, %arg9] [8, 64] [1, 1] : tensor<128x256xf32> to tensor<8x64xf32>
        %extracted_slice_16 = tensor.extract_slice %extracted_slice_2[%arg7, %arg9] [8, 64] [1, 1] : tensor<128x256xf32> to tensor<8x64xf32>
        %9 = linalg.fill {ansor.stage = 0 : i64} ins(%cst : f32) outs(%extracted_slice_16 : tensor<8x64xf32>) -> tensor<8x64xf32>
        %extracted_slice_17 = tensor.extract_slice %5[%arg7, %arg9] [8, 64] [1, 1] : tensor<128x256xf32> to tensor<8x64xf32>
        %c0_18 = arith.constant 0 : index
        %c512 = arith.constant 512 : index
        %c1 = arith.constant 1 : index
        %10 = scf.for %arg11 = %c0_18 to %c512 step %c1 iter_args(%arg12 = %9) -> (tensor<8x64xf32>) {
          %extracted_slice_26 = tensor.extract_slice %extracted_slice_10[0, %arg11] [8, 1] [1, 1] : tensor<8x512xf32> to tensor<8x1xf32>
          %extracted_slice_27 = tensor.extract_slice %extracted_slice_13[%arg11, 0] [1, 64] [1, 1] : tensor<512x64xf32> to tensor<1x64xf32>
          %extracted_slice_28 = tensor.extract_slice %arg12[0, 0] [8, 64] [1, 1] : tensor<8x64xf32> to tensor<8x64xf32>
          %12 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%extracted_slice_26, %extracted_slice_27 : tensor<8x1xf32>, tensor<1x64xf32>) outs(%extracted_slice_28 : tensor<8x64xf32>) attrs =  {ansor.stage = 1 : i64} {
          ^bb0(%in: f32, %in_30: f32, %out: f32):
            %13 = arith.mulf %in, %in_30 : f32
            %14 = arith.addf %out, %13 : f32
            linalg.yield %14 : f32
          } -> tensor<8x64xf32>
          %inserted_slice_29 = tensor.insert_slice %12 into %arg12[0, 0] [8, 64] [1, 1] : tensor<8x64xf32> into tensor<8x64xf32>
          scf.yield %inserted_slice_29 : tensor<8x64xf32>
        }
        %extracted_slice_19 = tensor.extract_slice %6[%arg7, %arg9] [8, 64] [1, 1] : tensor<128x256xf32> to tensor<8x64xf32>
        %extracted_slice_20 = tensor.extract_slice %arg2[%arg5] [256] [1] : tensor<512xf32> to tensor<256xf32>
        %extracted_slice_21 = tensor.extract_slice %extracted_slice_20[%arg9] [64] [1] : tensor<256xf32> to tensor<64xf32>
        %extracted_slice_22 = tensor.extract_slice %extracted_slice_5[%arg9] [64] [1] : tensor<256xf32> to tensor<64xf32>
        %extracted_slice_23 = tensor.extract_slice %arg6[%arg4, %arg5] [128, 256] [1, 1] : tensor<512x512xf32> to tensor<128x256xf32>
        %extracted_slice_24 = tensor.extract_slice %extracted_slice_23[%arg7, %arg9] [8, 64] [1, 1] : tensor<128x256xf32> to tensor<8x64xf32>
        %extracted_slice_25 = tensor.extract_slice %arg10[%arg7, %arg9] [8, 64] [1, 1] : tensor<128x256xf32> to tensor<8x64xf32>
        %11 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%10, %extracted_slice_22 : tensor<8x64xf32>, tensor<64xf32>) outs(%extracted_slice_25 : tensor<8x64xf32>) attrs =  {ansor.stage = 2 : i64} {
        ^bb0(%in: f32, %in_26: f32, %out: f32):
          %12 = arith.addf %in, %in_26 : f32
          %13 = arith.maximumf %12, %cst : f32
          linalg.yield %13 : f32
        } -> tensor<8x64xf32>
        %inserted_slice = tensor.insert_slice %11 into %arg10[%arg7, %arg9] [8, 64] [1, 1] : tensor<8x64xf32> into tensor<128x256xf32>
        scf.yield %inserted_slice : tensor<128x256xf32>
      }
      scf.yield %8 : tensor<128x256xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %7 into %arg6[%arg4, %arg5] [128, 256] [1, 1] : tensor<128x256xf32> into tensor<512x512xf32>
    }
  } {ansor.parallel}
  return %3 : tensor<512x512xf32>
}
