// The profile names each task once with its calls, says why one has no
// schedule, and its shares sum to one.

// RUN: ansor-run %s --profile --json --repeats=1 > %t
// RUN: FileCheck %s < %t
// CHECK: "profile":{"between":[],"ms":
// CHECK-SAME: "calls":2,
// CHECK-SAME: "key":"a1-{{[0-9a-f]+}}"
// CHECK-SAME: "scheduled":false
// CHECK-SAME: "task":"task_0"
// RUN: %python -c "import json, sys; p = json.load(open(sys.argv[1]))['profile']; assert abs(sum(t['share'] for t in p['tasks']) - 1) < 1e-9, p; assert sum(t['ms'] for t in p['tasks']) > 0" %t

// RUN: ansor-run %s --profile --repeats=1 | FileCheck %s --check-prefix=TEXT
// TEXT: ms share calls GFLOP/s
// TEXT: {{.*}} 2 {{.*}} task_0 a1-{{.*}}, unscheduled
// TEXT: ms in all, 0.000 between tasks

func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%b, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
