// What a schedule has to do, and what its code looks like: known numbers for a
// target that is named.

// RUN: ansor-opt %s --ansor-attach-target=target=haswell --ansor-extract-tasks \
// RUN:   --ansor-explain="peak=100 l2=50 l3=20 memory=10" -o %t.mlir \
// RUN:   | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: ansor-opt %s --ansor-attach-target=target=haswell --ansor-extract-tasks \
// RUN:   --ansor-explain="peak=100 l2=50 l3=20 memory=10 json" -o %t.mlir \
// RUN:   | FileCheck %s --check-prefix=JSON

// The module is not changed.
// RUN: ansor-opt %s --ansor-attach-target=target=haswell --ansor-extract-tasks -o %t.before.mlir
// RUN: diff %t.before.mlir %t.mlir

// A script in the module is what is explained; an undecided one is refused.
// RUN: ansor-opt %s --ansor-attach-target=target=haswell --ansor-extract-tasks \
// RUN:   --ansor-generate-sketches --ansor-apply-decisions=seed=1 \
// RUN:   --ansor-explain="peak=100 l2=50 l3=20 memory=10" -o %t.mlir \
// RUN:   | FileCheck %s --check-prefixes=CHECK,SCRIPT
// RUN: not ansor-opt %s --ansor-extract-tasks --ansor-generate-sketches \
// RUN:   --ansor-explain 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not ansor-opt %s --ansor-extract-tasks --ansor-generate-sketches \
// RUN:   --ansor-apply-decisions=seed=1 --transform-interpreter --ansor-explain \
// RUN:   2>&1 | FileCheck %s --check-prefix=LOOPS

// CHECK: machine: 100.0 GFLOP/s; reads 50.0 GB/s from the second cache, 20.0 from the last, 10.0 from memory
// PLAIN: task_0 a1-{{[0-9a-f]+}}, unscheduled, called 2 times
// SCRIPT: task_0 a1-{{[0-9a-f]+}}, scheduled by the module's script, called 2 times
// 64·64·64 multiplications and additions; two matrices of 16 KB.
// CHECK-NEXT: work: 524288 operations, 32768 bytes
// CHECK-NEXT: bound: 0.005243 ms, by operations
// CHECK-NEXT: code: {{[0-9]+}} innermost loops; the main one has {{[0-9]+}} arithmetic of {{[0-9]+}} instructions, on up to 256 bits, {{[0-9]+}} accumulators
// CHECK-NEXT: in innermost loops: 0 spills, 0 reloads, 0 calls

// JSON: {"machine":{"gflops":100,"l2_gbs":50,"l3_gbs":20,"memory_gbs":10},
// JSON-SAME: "bound_by":"operations"
// JSON-SAME: "bytes":32768,"calls":2,"code":{"accumulators":
// JSON-SAME: "vector_bits":256
// JSON-SAME: "flops":524288
// JSON-SAME: "ms":null,"share":null,"task":"task_0"

// OPEN: error: {{.*}}decide its knobs first (--ansor-apply-decisions)
// LOOPS: error: {{.*}}has loops already: explain a schedule by its script in the module, or by a library

func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%b, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
