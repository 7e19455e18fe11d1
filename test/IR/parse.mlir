// RUN: ansor-opt %s | FileCheck %s

// CHECK: func.func private @f
// CHECK-SAME: ansor.weight = 3
func.func private @f() attributes {ansor.weight = 3 : i64}
