// The program is profiled, the machine is measured, and each task is explained
// by both.

// RUN: ansor-run %s --explain --json --repeats=1 > %t
// RUN: %python -c "import json, sys; r = json.load(open(sys.argv[1])); e = r['explain']; m = e['machine']; assert all(v > 0 for v in m.values()), m; t, = e['tasks']; assert t['flops'] == 524288 and t['bytes'] == 32768 and t['calls'] == 1, t; assert t['ms'] > 0 and abs(t['share'] - t['bound_ms'] / t['ms']) < 1e-9, t; assert t['code']['arithmetic'] > 0 and t['code']['calls'] == 0, t; assert len(r['profile']['tasks']) == 1" %t
// RUN: ansor-run %s --explain --repeats=1 | FileCheck %s
// CHECK: machine: {{.*}} GFLOP/s
// CHECK: task_0 a1-{{[0-9a-f]+}}, unscheduled
// CHECK: bound: {{.*}} ms, by operations
// CHECK: time: {{.*}} ms, {{[0-9]+}}% of the bound
// CHECK: code: {{[1-9]}}

func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %b : tensor<64x64xf32>
}
