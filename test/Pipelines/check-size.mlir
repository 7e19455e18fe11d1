// RUN: not ansor-opt %s --ansor-check-size=max-operations=3 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: ansor-opt %s --ansor-check-size=max-operations=4 | FileCheck %s
// RUN: not ansor-opt %s --ansor-lower-to-cpu="max-operations=2 parallel=false" 2>&1 | FileCheck %s --check-prefix=LARGE

// LARGE: error: generated code is too large: {{[0-9]+}} operations, the limit is {{[23]}}; use smaller tiles or less unrolling
// CHECK-LABEL: func.func @f
func.func @f(%a: f32) -> f32 {
  %r = arith.addf %a, %a : f32
  return %r : f32
}
