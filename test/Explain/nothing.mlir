// RUN: ansor-opt %s --ansor-explain="target=haswell peak=100 l2=50 l3=20 memory=10" -o /dev/null 2>&1 | FileCheck %s

// CHECK: remark: the module has no tasks to explain
func.func @main(%a: i32) -> i32 {
  return %a : i32
}
