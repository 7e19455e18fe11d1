// Calls in innermost loops are counted, and bytes bound what has few
// operations. AArch64's assembly is read as well.

// RUN: ansor-opt %s --ansor-explain="target=haswell peak=100 l2=50 l3=20 memory=10" -o %t.mlir \
// RUN:   | FileCheck %s
// RUN: ansor-opt %s --ansor-explain="target=cortex-a76 peak=100 l2=50 l3=20 memory=10" -o %t.mlir \
// RUN:   | FileCheck %s

// CHECK: work: 4096 operations, 32768 bytes
// CHECK-NEXT: bound: 0.0006554 ms, by bytes
// CHECK: in innermost loops: {{[0-9]+}} spills, {{[0-9]+}} reloads, {{[1-9][0-9]*}} calls

#id = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  %e = tensor.empty() : tensor<4096xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<4096xf32>) outs(%e : tensor<4096xf32>) {
  ^bb0(%x: f32, %y: f32):
    %t = math.tan %x : f32
    linalg.yield %t : f32
  } -> tensor<4096xf32>
  return %b : tensor<4096xf32>
}
