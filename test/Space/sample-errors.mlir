// RUN: ansor-opt %s --ansor-sample 2>&1 -o /dev/null | FileCheck %s --check-prefix=NONE
// RUN: not ansor-opt %s --ansor-sample=space=half 2>&1 | FileCheck %s --check-prefix=SPACE
// RUN: not ansor-opt %s --ansor-sample=count=-1 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not ansor-opt %s --ansor-sample=target=foo 2>&1 | FileCheck %s --check-prefix=TARGET

// NONE: remark: no function has ansor.task: extract tasks first (--ansor-extract-tasks)
// SPACE: error: unknown space 'half': use "full" or "ansor"
// COUNT: error: option 'count' must not be negative, got -1
// TARGET: error: unknown target "foo"; known are host
func.func private @f()
