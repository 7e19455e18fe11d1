// A library that was edited by hand: a size that doesn't fit the task's loops
// is refused where it stands, and nothing is applied.

// RUN: sed -e "s/@KEY@/a1-00/" %S/Inputs/library.mlir > %t.library
// RUN: ansor-opt %s --ansor-apply-library=library=%t.library | FileCheck %s --check-prefix=GOOD
// GOOD: scf.for
// RUN: sed -e "s/constant 4/constant 16/" %t.library > %t.whole
// RUN: ansor-opt %s --ansor-apply-library=library=%t.whole | FileCheck %s --check-prefix=GOOD

// Sizes that are choices.
// RUN: sed -e "s/constant 4/constant -4/" %t.library > %t.negative
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.negative 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: .negative:4:{{[0-9]+}}: error: tile size -4 of loop 0 of a stage of @task_0 is not positive
// NEGATIVE: error: the library's schedule of task 'a1-00' does not apply to @task_0; tune again
// NEGATIVE-NOT: module
// RUN: sed -e "s/constant 4/constant 0/" %t.library > %t.zero
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.zero 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: .zero:4:{{[0-9]+}}: error: tile size 0 of loop 0 of a stage of @task_0 is not positive
// RUN: sed -e "s/constant 4/constant 17/" %t.library > %t.large
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.large 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: .large:4:{{[0-9]+}}: error: tile size 17 of loop 0 of a stage of @task_0 exceeds its extent, 16
// RUN: sed -e "s/constant 4/constant 9223372036854775807/" %t.library > %t.huge
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.huge 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: .huge:4:{{[0-9]+}}: error: tile size 9223372036854775807 of loop 0 of a stage of @task_0 exceeds its extent, 16

// Sizes in the list, of each op that takes some.
// RUN: sed -e "s/\[%%size\] : (!transform.any_op, !transform.param<i64>)/[4, -8] : (!transform.any_op)/; s/, %%loop =/, %%loop:2 =/; s/-> (!transform.any_op, !transform.any_op)/-> (!transform.any_op, !transform.any_op, !transform.any_op)/" %t.library > %t.list
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.list 2>&1 | FileCheck %s --check-prefix=LIST
// LIST: .list:6:{{.*}}: error: tile size -8 of loop 1 of a stage of @task_0 is not positive
// RUN: sed -e "s/%%tiled, %%loop = .*/%%tiled, %%loop = transform.structured.fuse %%op tile_sizes [32, 0] {use_forall} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)/" %t.library > %t.fuse
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.fuse 2>&1 | FileCheck %s --check-prefix=FUSE
// FUSE: .fuse:6:{{.*}}: error: tile size 32 of loop 0 of a stage of @task_0 exceeds its extent, 16
// RUN: sed -e "s/%%tiled, %%loop = .*/%%tiled, %%loop = transform.structured.tile_using_forall %%op tile_sizes [-1, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)/" %t.library > %t.forall
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.forall 2>&1 | FileCheck %s --check-prefix=FORALL
// FORALL: .forall:6:{{.*}}: error: tile size -1 of loop 0
// RUN: sed -e "s/%%tiled, %%loop = .*/%%tiled, %%loop = transform.structured.tile_using_forall %%op num_threads [99] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)/" %t.library > %t.threads
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.threads 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: .threads:6:{{.*}}: error: number of threads 99 of loop 0 of a stage of @task_0 exceeds its extent, 16
// RUN: sed -e "s/%%tiled, %%loop = .*/%%parts = transform.structured.split %%op after 16 {dimension = 0} : !transform.any_op/" %t.library > %t.split
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.split 2>&1 | FileCheck %s --check-prefix=SPLIT
// SPLIT: .split:6:{{.*}}: error: splits loop 0 of a stage of @task_0 after 16, but its extent is 16

// A tile of a tile, also in a loop over handles.
// RUN: sed -e "0,/transform.yield/s/transform.yield/transform.foreach %%tiled : !transform.any_op { ^bb0(%%t: !transform.any_op): %%again, %%l = transform.structured.tile_using_for %%t tile_sizes [8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op) }\n transform.yield/;" %t.library > %t.nested
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.nested 2>&1 | FileCheck %s --check-prefix=NESTED
// NESTED: .nested:7:{{.*}}: error: tile size 8 of loop 0 of a stage of @task_0 exceeds its extent, 4

// An unroll factor, more sizes than loops, and a stage that isn't there.
// RUN: sed -e "0,/transform.yield/s/transform.yield/%%u = transform.param.constant -2 : i64 -> !transform.param<i64>\n transform.annotate %%loop \"ansor.unroll\" = %%u : !transform.any_op, !transform.param<i64>\n transform.yield/" %t.library > %t.unroll
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.unroll 2>&1 | FileCheck %s --check-prefix=UNROLL
// UNROLL: .unroll:7:{{[0-9]+}}: error: {{.*}}the value of ansor.unroll is negative
// RUN: sed -e "s/\[%%size\]/[%%size, 0, 0]/" %t.library > %t.more
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.more 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: .more:6:{{.*}}: error: {{.*}}3 tile sizes for the 2 loops of a stage of @task_0
// RUN: sed -e "s/ansor.stage = 0/ansor.stage = 5/" %t.library > %t.stage
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.stage 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: .stage:5:{{.*}}: error: {{.*}}task @task_0 has no stage 5

// What isn't known before is seen in the loops that come out.
// RUN: sed -e "s/\[%%size\]/[%%merged]/; s/%%op = /%%merged = transform.merge_handles deduplicate %%size, %%size : !transform.param<i64>\n %%op = /; s/constant 4/constant -4/" %t.library > %t.merged
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.merged 2>&1 | FileCheck %s --check-prefix=MERGED
// MERGED: error: {{.*}}makes a loop of step -4
// MERGED: error: the library's schedule of task 'a1-00' does not apply

func.func private @task_0(%arg: tensor<16x8xf32>, %init: tensor<16x8xf32>) -> tensor<16x8xf32>
    attributes {ansor.task = "a1-00", ansor.weight = 1 : i64} {
  %0 = linalg.exp {ansor.stage = 0 : i64} ins(%arg : tensor<16x8xf32>) outs(%init : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
