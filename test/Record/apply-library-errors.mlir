// A library that doesn't fit: a located message, and no output.

// RUN: not ansor-opt %s --ansor-apply-library 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: apply-library-errors.mlir{{.*}}: error: no library: name the file that tuning wrote

// RUN: not ansor-opt %s --ansor-apply-library=library=%t.missing 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: {{.*}}could not open input file
// MISSING: error: cannot use '{{.*}}.missing' as a library of schedules

// RUN: echo "nonsense" > %t.nonsense
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.nonsense 2>&1 | FileCheck %s --check-prefix=NONSENSE
// NONSENSE: .nonsense:1:1: error:
// NONSENSE: error: cannot use '{{.*}}.nonsense' as a library of schedules

// RUN: echo "module {}" > %t.empty
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.empty 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: .empty:1:1: error: not a library of schedules

// RUN: echo "module attributes {ansor.library = 7 : i64} {}" > %t.version
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.version 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: .version:1:1: error: this library is of task key version 7, but this build makes keys of version 1: tune again

// A schedule that fails.
// RUN: sed -e "s/@KEY@/a1-00/" -e "s/\[%%size\]/[%%size] interchange = [7]/" %S/Inputs/library.mlir > %t.broken
// RUN: not ansor-opt %s --ansor-apply-library=library=%t.broken 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: error: the library's schedule of task 'a1-00' does not apply to @task_0; tune again
// BROKEN: note: the schedule is here
// BROKEN-NOT: module

func.func private @task_0(%arg: tensor<16x8xf32>, %init: tensor<16x8xf32>) -> tensor<16x8xf32>
    attributes {ansor.task = "a1-00", ansor.weight = 1 : i64} {
  %0 = linalg.exp {ansor.stage = 0 : i64} ins(%arg : tensor<16x8xf32>) outs(%init : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
