// RUN: ansor-run %s --check --json | FileCheck %s --check-prefix=JSON
// RUN: ansor-run %s --check --threads=2 --seed=7 --repeats=2 --entry=main | FileCheck %s --check-prefix=TEXT
// RUN: ansor-run %s --json | FileCheck %s --check-prefix=UNCHECKED
// RUN: not ansor-run %s --entry=nothing 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not ansor-run %s --threads=0 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not ansor-run %s --tool-dir=/nonexistent 2>&1 | FileCheck %s --check-prefix=TOOL

// JSON: {"entry":"main","gflops":{{[0-9.e+-]+}},"max_error":{{[0-9.e-]+}},"median_ms":{{[0-9.e-]+}},"min_ms":{{[0-9.e-]+}},"ok":true,"prepack_ms":null,"reference_ms":{{[0-9.e-]+}},"threads":1,"tolerance":{{[0-9.e-]+}}}

// TEXT: @main, 2 threads: median {{.*}} ms, min {{.*}} ms, {{.*}} GFLOP/s
// TEXT: unscheduled: {{.*}} ms ({{.*}} times as long)
// TEXT: check: ok, largest error {{.*}}, tolerance there {{[0-9]}}

// UNCHECKED: "max_error":null,"median_ms":{{[0-9.e-]+}},{{.*}}"ok":true,"prepack_ms":null,"reference_ms":null,{{.*}}"tolerance":null

// ENTRY: matmul.mlir:{{[0-9]+:[0-9]+}}: error: there is no function '@nothing' with a body; there are @main @helper
// THREADS: error: --threads must be from 1 to 1024
// TOOL: matmul.mlir:[[#@LINE+1]]:1: error: can't find the program 'ansor-runner' in /nonexistent
func.func @main(%a: tensor<37x53xf32>, %b: tensor<53x29xf32>, %bias: tensor<29xf32>) -> tensor<37x29xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x29xf32>
  %f = linalg.fill ins(%c0 : f32) outs(%e : tensor<37x29xf32>) -> tensor<37x29xf32>
  %m = linalg.matmul ins(%a, %b : tensor<37x53xf32>, tensor<53x29xf32>) outs(%f : tensor<37x29xf32>) -> tensor<37x29xf32>
  %r = call @helper(%m, %bias) : (tensor<37x29xf32>, tensor<29xf32>) -> tensor<37x29xf32>
  return %r : tensor<37x29xf32>
}

func.func private @helper(%m: tensor<37x29xf32>, %bias: tensor<29xf32>) -> tensor<37x29xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x29xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%m, %bias : tensor<37x29xf32>, tensor<29xf32>) outs(%e : tensor<37x29xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %t = arith.maximumf %s, %c0 : f32
    linalg.yield %t : f32
  } -> tensor<37x29xf32>
  return %r : tensor<37x29xf32>
}
