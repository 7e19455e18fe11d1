// Knobs that don't make a space together.
// RUN: split-file %s %t
// RUN: not ansor-opt %t/name.mlir --ansor-apply-decisions 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not ansor-opt %t/differs.mlir --ansor-apply-decisions 2>&1 | FileCheck %s --check-prefix=DIFFERS
// RUN: not ansor-opt %t/level.mlir --ansor-apply-decisions 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not ansor-opt %t/nothing.mlir --ansor-apply-decisions 2>&1 | FileCheck %s --check-prefix=NOTHING

// NAME: name.mlir:4:10: error: knob name "s0.d0" is the name of a loop's tiles too
// DIFFERS: differs.mlir:4:10: error: knob "s0.d0.l1" differs from the other levels of its loop in stage, loop, levels or extent
// LEVEL: level.mlir:4:10: error: knob "again" is level 0 of its loop, like another knob
// NOTHING: nothing.mlir:3:10: error: no choice of the tile sizes of loop "s0.d0" satisfies its domains

//--- name.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.tune.knob<"s0.d0.l0"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 2 : i64, extent = 64 : i64} -> !transform.param<i64>
    %1 = transform.tune.knob<"s0.d0"> options = {kind = "unroll", stage = 0 : i64, values = [1]} -> !transform.param<i64>
    transform.yield
  }
}
//--- differs.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.tune.knob<"s0.d0.l0"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 2 : i64, extent = 64 : i64} -> !transform.param<i64>
    %1 = transform.tune.knob<"s0.d0.l1"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 1 : i64, levels = 2 : i64, extent = 32 : i64} -> !transform.param<i64>
    transform.yield
  }
}
//--- level.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.tune.knob<"s0.d0.l0"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 2 : i64, extent = 64 : i64} -> !transform.param<i64>
    %1 = transform.tune.knob<"again"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 2 : i64, extent = 64 : i64} -> !transform.param<i64>
    transform.yield
  }
}
//--- nothing.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.tune.knob<"s0.d0.l0"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 7 : i64, multiple_of = 4 : i64, max = 6 : i64} -> !transform.param<i64>
    transform.yield
  }
}
