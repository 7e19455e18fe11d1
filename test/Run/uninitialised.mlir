// Values that depend on uninitialised memory differ from run to run: they are
// told of and not compared, and no schedule is called wrong for them.
// RUN: ansor-run %bugs/32-uninitialised-accumulator.mlir --check --repeats=1 | FileCheck %s
// RUN: ansor-tune %bugs/32-uninitialised-accumulator.mlir --trials=4 --model=random --keep-slower --library=%t.best.mlir --repeats=1 --min-repeat-ms=0 | FileCheck %s --check-prefix=TUNE
// RUN: ansor-run %bugs/32-uninitialised-accumulator.mlir --library=%t.best.mlir --check --repeats=1 | FileCheck %s

// CHECK: check: ok
// CHECK: values depend on uninitialised memory and are not checked
// TUNE-NOT: wrong-result
