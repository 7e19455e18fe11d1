// RUN: ansor-opt %s --ansor-attach-target=target=znver4:cores=3,l2=2M \
// RUN:   | FileCheck %s
// RUN: ansor-opt %s --ansor-attach-target=target=sm_80 \
// RUN:   | FileCheck %s --check-prefix=GPU
// RUN: ansor-opt %s --ansor-attach-target | FileCheck %s --check-prefix=HOST
// A second target takes the place of the first.
// RUN: ansor-opt %s --ansor-attach-target=target=cortex-a72 \
// RUN:   --ansor-attach-target=target=haswell \
// RUN:   | FileCheck %s --check-prefix=AGAIN

// Stock mlir-opt reads what the pass writes.
// RUN: ansor-opt %s --ansor-attach-target=target=znver4 | mlir-opt \
// RUN:   | FileCheck %s --check-prefix=STOCK

// CHECK: module attributes {
// CHECK-SAME: dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
// CHECK-SAME: "ansor.name" = "znver4"
// CHECK-SAME: "ansor.triple" = "x86_64-unknown-linux-gnu"
// CHECK-SAME: "ansor.cpu" = "znver4"
// CHECK-SAME: "ansor.cores" = 3 : i64
// CHECK-SAME: "max_vector_op_width" = 512 : i64
// CHECK-SAME: "ansor.vector_registers" = 32 : i64
// CHECK-SAME: "L1_cache_size_in_bytes" = 32768 : i64
// CHECK-SAME: "ansor.l2" = 2097152 : i64
// CHECK-SAME: llvm.data_layout = "e-m:e-
// CHECK-SAME: llvm.target_triple = "x86_64-unknown-linux-gnu"

// GPU: "GPU" = #dlti.target_device_spec<
// GPU-SAME: "ansor.max_threads_per_block" = 1024 : i64
// GPU-SAME: "ansor.warp_size" = 32 : i64
// GPU-NOT: llvm.target_triple

// HOST: "ansor.name" = "host"
// HOST-SAME: llvm.target_triple

// AGAIN: #dlti.target_system_spec<"CPU"
// AGAIN-SAME: "ansor.cpu" = "haswell"
// AGAIN-NOT: cortex
// AGAIN: llvm.target_triple = "x86_64-unknown-linux-gnu"

// STOCK: "ansor.name" = "znver4"
module {
}
