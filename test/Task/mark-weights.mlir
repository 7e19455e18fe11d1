// RUN: ansor-opt %s --ansor-mark-weights="arguments=1,3-" | FileCheck %s
// RUN: not ansor-opt %s --ansor-mark-weights="arguments=1,x" 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not ansor-opt %s --ansor-mark-weights="arguments=4-9" 2>&1 | FileCheck %s --check-prefix=RANGE

// CHECK: func.func @f(%{{[^:]*}}: tensor<2xf32>, %{{[^:]*}}: tensor<2xf32> {ansor.weight},
// CHECK-SAME: %{{[^:]*}}: tensor<2xf32>, %{{[^:]*}}: tensor<3xf32> {ansor.weight},
// CHECK-SAME: %{{[^:]*}}: index)
// SYNTAX: mark-weights.mlir:[[#@LINE+2]]:1: error: weights '1,x': expected numbers of arguments and ranges of them, as in 1,3-5 or 2-, got 'x'
// RANGE: error: weights '4-9': '4-9' is not within the 5 arguments of @f
func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>, %d: tensor<3xf32>, %e: index) {
  return
}
