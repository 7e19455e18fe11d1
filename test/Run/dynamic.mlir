// RUN: ansor-run %s --check --shape=0:5x7 --shape=1:7x2 --shape=2:5x2 --json | FileCheck %s
// RUN: ansor-run %s --check --json | FileCheck %s
// RUN: not ansor-run %s --shape=0:5 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not ansor-run %s --shape=9:5 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not ansor-run %s --shape=0:5xq 2>&1 | FileCheck %s --check-prefix=SIZE

// CHECK: "max_error":0,{{.*}}"ok":true
// RANK: error: the program failed: argument 0: expected 2 sizes, got 1
// NUMBER: error: --shape=9:5: expected the number of one of the 3 arguments
// SIZE: error: --shape=0:5xq: 'q' is no size
func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
