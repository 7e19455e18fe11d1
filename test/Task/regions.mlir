// RUN: ansor-opt %s --ansor-extract-tasks | FileCheck %s
// RUN: ansor-opt %s --ansor-extract-tasks --ansor-extract-tasks | FileCheck %s
// RUN: ansor-opt %s --ansor-extract-tasks --ansor-inline-tasks | FileCheck %s --check-prefix=INLINE

// Ops in plain loops and branches are outlined there, and count as often as the
// loop is known to run. Extracting twice changes nothing.

// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK: scf.if
// CHECK: func.call @task_0(%{{.*}}, %{{.*}})
// CHECK: call @task_0(
// CHECK-LABEL: func.func @unknown_trips
// CHECK: scf.for
// CHECK: func.call @task_1(
// CHECK-LABEL: func.func @scheduled
// CHECK: scf.forall
// CHECK: linalg.exp
// CHECK: func.func private @task_0
// CHECK-SAME: ansor.weight = 11 : i64
// CHECK: func.func private @task_1
// CHECK-SAME: ansor.weight = 1 : i64
// CHECK-NOT: func.func

// INLINE-LABEL: func.func @loop
// INLINE: scf.for
// INLINE: scf.if
// INLINE: math.exp
// INLINE-NOT: call
// INLINE-NOT: @task

func.func @loop(%a: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%x = %a) -> tensor<8xf32> {
    %s = scf.if %c -> tensor<8xf32> {
      %y = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      scf.yield %y : tensor<8xf32>
    } else {
      scf.yield %x : tensor<8xf32>
    }
    scf.yield %s : tensor<8xf32>
  }
  %z = linalg.exp ins(%r : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}

func.func @unknown_trips(%a: tensor<8xf32>, %n: index, %k: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    // A scalar from outside is an argument.
    %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%p: f32, %q: f32):
      %m = arith.mulf %p, %k : f32
      linalg.yield %m : f32
    } -> tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// Parallel loops hold what was scheduled already: left alone.
func.func @scheduled(%a: tensor<64xf32>, %o: tensor<64xf32>) -> tensor<64xf32> {
  %r = scf.forall (%i) = (0) to (64) step (8) shared_outs(%s = %o) -> tensor<64xf32> {
    %x = tensor.extract_slice %a[%i] [8] [1] : tensor<64xf32> to tensor<8xf32>
    %y = tensor.extract_slice %s[%i] [8] [1] : tensor<64xf32> to tensor<8xf32>
    %z = linalg.exp ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %z into %s[%i] [8] [1] : tensor<8xf32> into tensor<64xf32>
    }
  }
  return %r : tensor<64xf32>
}
