// RUN: split-file %s %t
// RUN: not ansor-opt %t/one.mlir --ansor-apply-decisions='decisions={"s0.d0":8]}' 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: not ansor-opt %t/one.mlir --ansor-apply-decisions='decisions={"x":1}' 2>&1 | FileCheck %s --check-prefix=LACKS
// RUN: not ansor-opt %t/one.mlir --ansor-apply-decisions='decisions={"s0.d0":[8],"x":1}' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not ansor-opt %t/one.mlir --ansor-apply-decisions='decisions={"s0.d0":[8,4]}' 2>&1 | FileCheck %s --check-prefix=ARITY
// RUN: not ansor-opt %t/one.mlir --ansor-apply-decisions='decisions={"s0.d0":[5]}' 2>&1 | FileCheck %s --check-prefix=DOMAIN
// RUN: not ansor-opt %t/one.mlir --ansor-apply-decisions='decisions={"s0.d0":[32]}' 2>&1 | FileCheck %s --check-prefix=CONSTRAINT
// RUN: not ansor-opt %t/one.mlir --ansor-apply-decisions='decisions={"other":{"s0.d0":[8]}}' 2>&1 | FileCheck %s --check-prefix=SEQUENCE
// RUN: not ansor-opt %t/two.mlir --ansor-apply-decisions='decisions={"s0.d0":[8]}' 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: ansor-opt %t/two.mlir --ansor-apply-decisions='decisions={"b":{"s0.d0":[8]}}' | FileCheck %s --check-prefix=NAMED
// RUN: not ansor-opt %t/never.mlir --ansor-apply-decisions 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: not ansor-opt %t/module.mlir --ansor-apply-decisions 2>&1 | FileCheck %s --check-prefix=MODULE
// RUN: not ansor-opt %t/domain.mlir --ansor-apply-decisions 2>&1 | FileCheck %s --check-prefix=BADKNOB
// RUN: ansor-opt %t/empty.mlir --ansor-apply-decisions 2>&1 | FileCheck %s --check-prefix=EMPTY

// JSON: one.mlir:1:1: error: option 'decisions' is no JSON: [1:11
// LACKS: error: decisions lack "s0.d0"
// UNKNOWN: error: unknown group "x" in decisions; known are s0.d0
// ARITY: error: "s0.d0" takes 1 values, got 2
// DOMAIN: error: decisions violate "domain": s0.d0.l0 = 5 is no divisor of the extent 64
// CONSTRAINT: error: decisions violate "small": s0.d0.l0 is 32, more than 16
// SEQUENCE: error: no named sequence with open choices is called "other"
// TWO: error: 2 sketches with open choices are applied: name the one that the decisions are for: {"NAME": {…}}
// TWO: note: "a"
// TWO: note: "b"
// NAMED: sequence @a
// NAMED: knob<"s0.d0.l0"> options
// NAMED: sequence @b
// NAMED: knob<"s0.d0.l0"> = 8 : i64 from
// NEVER: error: none of 1000 samples satisfies the constraints
// NEVER: note: 1000 rejected by "never"
// MODULE: error: 'ansor.constraints' on a module with 2 sketches: put it on the named sequence that it is about
// BADKNOB: domain.mlir:3:10: error: 'extent' of a knob domain must be at least 1, got 0
// EMPTY: remark: the module has no open choice: generate sketches first (--ansor-generate-sketches)

//--- one.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) attributes {ansor.constraints = [{name = "small", max = 16 : i64, terms = [{knobs = ["s0.d0.l0"]}]}]} {
    %0 = transform.tune.knob<"s0.d0.l0"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 64 : i64} -> !transform.param<i64>
    transform.yield
  }
}
//--- two.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @a(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.tune.knob<"s0.d0.l0"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 64 : i64} -> !transform.param<i64>
    transform.yield
  }
  transform.named_sequence @b(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.tune.knob<"s0.d0.l0"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 64 : i64} -> !transform.param<i64>
    transform.yield
  }
}
//--- never.mlir
module attributes {transform.with_named_sequence, ansor.constraints = [{name = "never", max = 0 : i64, terms = [{knobs = ["u"]}]}]} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.tune.knob<"u"> options = {kind = "unroll", stage = 0 : i64, values = [16, 64]} -> !transform.param<i64>
    transform.yield
  }
}
//--- module.mlir
module attributes {transform.with_named_sequence, ansor.constraints = []} {
  transform.named_sequence @a(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.tune.knob<"u"> options = [1, 2] -> !transform.param<i64>
    transform.yield
  }
  transform.named_sequence @b(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.tune.knob<"u"> options = [1, 2] -> !transform.param<i64>
    transform.yield
  }
}
//--- domain.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.tune.knob<"a"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 0 : i64} -> !transform.param<i64>
    transform.yield
  }
}
//--- empty.mlir
module {
}
