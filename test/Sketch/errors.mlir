// RUN: not ansor-opt %s --ansor-generate-sketches="space=wide" 2>&1 | FileCheck %s --check-prefix=SPACE
// RUN: not ansor-opt %s --ansor-generate-sketches="task=a1-99" 2>&1 | FileCheck %s --check-prefix=TASK
// RUN: not ansor-opt %s --ansor-generate-sketches="task=task_0 sketch=99" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not ansor-opt %s --ansor-generate-sketches="target=pdp11" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not ansor-opt %s --ansor-generate-sketches --ansor-generate-sketches 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sed 's/a1-00/a1-\\22_\\\\/' %s | ansor-opt --ansor-generate-sketches --ansor-apply-decisions --transform-interpreter | FileCheck %s --check-prefix=QUOTE
// RUN: sed 's/@task_0/@task_1/; s/#id = /#other = /' %s > %t; cat %s %t | not ansor-opt --ansor-generate-sketches 2>&1 | FileCheck %s --check-prefix=EQUAL

// SPACE: error: unknown space 'wide': use "full" or "ansor"
// TASK: error: no task has the key or the name 'a1-99'
// NUMBER: error: {{.*}}there is no number 99
// TARGET: error: {{.*}}pdp11
// TWICE: error: the module has a @__transform_main already
// QUOTE: ansor.task = "a1-\22_\\"
// QUOTE: scf.forall
// EQUAL: error: the module has a @a1_00_s0 already: another function has this task's key

#id = affine_map<(d0) -> (d0)>
func.func private @task_0(%x: tensor<64xf32>, %o: tensor<64xf32>) -> tensor<64xf32> attributes {ansor.task = "a1-00"} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%o : tensor<64xf32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
