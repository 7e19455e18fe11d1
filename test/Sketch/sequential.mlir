// How many loops run in parallel is decided by the outermost tiles: a loop whose
// tile is the whole of it isn't parallel, and if all are so, no thread is
// started for the task.
// RUN: ansor-opt %s --ansor-generate-sketches="target=x86-64-v4:cores=2 sketch=0" -o %t.mlir
// RUN: ansor-opt %t.mlir --ansor-apply-decisions='decisions={"s1.d0":[24,24,6],"s1.d1":[32,32,32],"s1.d2":[16,4],"s1.unroll":[0]} fold=true' | mlir-opt --transform-interpreter | ansor-opt --ansor-lower-to-cpu="parallel=true" | FileCheck %s --check-prefix=WHOLE
// RUN: ansor-opt %t.mlir --ansor-apply-decisions='decisions={"s1.d0":[12,12,6],"s1.d1":[32,32,32],"s1.d2":[16,4],"s1.unroll":[0]} fold=true' | mlir-opt --transform-interpreter | ansor-opt --ansor-lower-to-cpu="parallel=true" | FileCheck %s --check-prefix=HALVES
// WHOLE: llvm.func {{.*}}@task_0
// WHOLE-NOT: omp.
// HALVES: omp.parallel

func.func @task_0(%a: tensor<24x16xf32>, %b: tensor<16x32xf32>, %o: tensor<24x32xf32>) -> tensor<24x32xf32> attributes {ansor.task = "a1-00"} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%z : f32) outs(%o : tensor<24x32xf32>) -> tensor<24x32xf32>
  %r = linalg.matmul {ansor.stage = 1 : i64} ins(%a, %b : tensor<24x16xf32>, tensor<16x32xf32>) outs(%f : tensor<24x32xf32>) -> tensor<24x32xf32>
  return %r : tensor<24x32xf32>
}
