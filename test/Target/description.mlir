// A target description that can't be read is no reason to take the host's.

// RUN: split-file %s %t
// RUN: ansor-opt %t/good.mlir --ansor-generate-sketches 2>&1 | FileCheck %s --check-prefix=GOOD
// GOOD: remark: no function has ansor.task
// GOOD-NOT: error

// RUN: not ansor-opt %t/word.mlir --ansor-generate-sketches 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not ansor-opt %t/word.mlir --ansor-sample 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not ansor-opt %t/word.mlir --ansor-lower-to-cpu 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not ansor-run %t/word.mlir 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not ansor-tune %t/word.mlir --trials=1 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: word.mlir:{{[0-9:]+}}: error: the target description's "ansor.cores" must be an integer of at least 1, got "many"

// RUN: not ansor-opt %t/few.mlir --ansor-sample 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: the target description's "ansor.l2" must be an integer of at least 1, got 0 : i64
// RUN: not ansor-opt %t/wide.mlir --ansor-sample 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: error: the target description's "max_vector_op_width" must be an integer of at least 8 and a multiple of 8, got 12 : i64
// RUN: not ansor-opt %t/float.mlir --ansor-sample 2>&1 | FileCheck %s --check-prefix=FLOAT
// FLOAT: error: the target description's "L1_cache_size_in_bytes" must be an integer of at least 1, got 3.2
// RUN: not ansor-opt %t/cpu.mlir --ansor-sample 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: the target description's "ansor.cpu" must be a string, got 4 : i64
// RUN: not ansor-opt %t/unknown.mlir --ansor-sample 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: the target description has an unknown "ansor.kores"; known are ansor.name, {{.*}}ansor.cores
// RUN: not ansor-opt %t/nocpu.mlir --ansor-sample 2>&1 | FileCheck %s --check-prefix=NOCPU
// NOCPU: error: LLVM knows no CPU "pdp11" of the target description's triple "x86_64-unknown-linux-gnu"
// RUN: not ansor-opt %t/feature.mlir --ansor-sample 2>&1 | FileCheck %s --check-prefix=FEATURE
// FEATURE: error: LLVM knows no feature "+warp" of the target description's triple
// RUN: ansor-opt %t/bare.mlir --ansor-sample 2>&1 | FileCheck %s --check-prefix=BARE
// BARE: warning: the target description's "cores" is not read: write "ansor.cores"

//--- good.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"ansor.cores" = 4 : i32, "max_vector_op_width" = 256 : i64, "theirs" = "any">, "ACCELERATOR" = #dlti.target_device_spec<"x" = 1 : i32>>} {
  func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}
//--- word.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"ansor.cores" = "many">>} {
  func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
    %r = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}
//--- few.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"ansor.l2" = 0 : i64>>} {}
//--- wide.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_op_width" = 12 : i64>>} {}
//--- float.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"L1_cache_size_in_bytes" = 3.2e4 : f32>>} {}
//--- cpu.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"ansor.cpu" = 4 : i64>>} {}
//--- unknown.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"ansor.kores" = 4 : i64>>} {}
//--- nocpu.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"ansor.triple" = "x86_64-unknown-linux-gnu", "ansor.cpu" = "pdp11">>} {}
//--- feature.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"ansor.triple" = "x86_64-unknown-linux-gnu", "ansor.features" = "+warp">>} {}
//--- bare.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"cores" = 4 : i64>>} {}
