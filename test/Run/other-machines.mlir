// REQUIRES: x86_64-host
// A target of another kind needs a runner there; narrower vectors run here.
// RUN: ansor-run %s --target=x86-64-v3 --check --repeats=1 | FileCheck %s --check-prefix=HERE
// RUN: not ansor-run %s --target=riscv64 --check 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not ansor-run %s --target=cortex-a72 --check 2>&1 | FileCheck %s
// RUN: not ansor-run %s --runner="no-such-emulator ansor-runner" --check 2>&1 | FileCheck %s --check-prefix=MISSING
// HERE: check: ok
// UNKNOWN: error: {{.*}}riscv64
// CHECK: error: this machine ({{.*}}) can't run code for aarch64: say by --runner
// MISSING: error: can't find the program 'no-such-emulator' that --runner names
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
