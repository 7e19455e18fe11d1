//===- AnsorDialect.td - The ansor dialect ------------------*- tablegen -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_IR_ANSORDIALECT_TD
#define ANSOR_IR_ANSORDIALECT_TD

include "mlir/IR/OpBase.td"

def Ansor_Dialect : Dialect {
  let name = "ansor";
  let cppNamespace = "::mlir::ansor";
  let summary = "Discardable attributes of the Ansor auto-scheduler";
  let description = [{
    The dialect has no operations and no types. It gives a meaning, and a
    verifier, to discardable attributes made of builtin attributes, so that
    files with them parse in a stock `mlir-opt`:

    | attribute | on | value | meaning |
    |---|---|---|---|
    | `ansor.task` | `func.func`, `transform.named_sequence` | string | key of the task (hash of its canonical structure) |
    | `ansor.weight` | `func.func` | i64 ≥ 1 | how often the network runs the task |
    | `ansor.weight` | argument of a `func.func` | unit | a weight: the same values in every call, until it is packed again |
    | `ansor.prepack` | op of a network | unit | depends on weights alone; may be done before any call |
    | `ansor.prepack` | `func.func` | array of two symbols | the functions that it calls: `@f_prepack`, which packs its weights, and `@f_prepacked`, which takes them packed |
    | `ansor.stage` | any op of a task | i64 ≥ 0 | index of the stage, producers first |
    | `ansor.sketch` | `builtin.module`, `transform.named_sequence` | string | name of the sketch |
    | `ansor.derivation` | as `ansor.sketch` | array of strings | the rules that made the sketch |
    | `ansor.constraints` | as `ansor.sketch` | array of dictionaries | constraints over the knobs below |
    | `ansor.parallel` | loop | unit | loop whose iterations may run in parallel |
    | `ansor.unroll` | loop or op | i64 ≥ 0 | largest body, in copies, that unrolling may make |
    | `ansor.vectorize` | any op of a task | unit | turn the tiled op into vector code |
    | `ansor.read_through` | op of a task | unit | it only permutes dimensions: its users read its input instead |
    | `ansor.bind` | transform op | dictionary | attribute operands to be filled from knobs |

    A library of schedules carries, for information, `ansor.library` (version of
    its task keys) and `ansor.prepack` (the callers of its tasks transpose
    weights) on its module, and on each `transform.named_sequence` beside
    `ansor.task` and `ansor.sketch`: `ansor.target`, `ansor.trials`,
    `ansor.median_ms`, `ansor.speedup` (over the unscheduled program), or
    `ansor.note` where the task stays unscheduled.

    `ansor.dynamic_sizes` on a module, or a library, names the sizes that
    functions with dynamic extents are copied for (see `ansor/Task/Sizes.h`),
    and `ansor.layout` what convolutions were converted to
    (`ansor/Task/NetworkLayout.h`).
    Other names that begin with `ansor.` are marks of the code generation, from
    one of its passes to a later one.

    A knob's domain is the dictionary in the `options` of `transform.tune.knob`
    (see `ansor/IR/KnobDomain.h`):

    ```mlir
    %0 = transform.tune.knob<"s2.d0.l1"> options = {kind = "tile", stage = 2 : i64,
      loop = 0 : i64, level = 1 : i64, levels = 3 : i64, extent = 512 : i64,
      policy = "divisor"} -> !transform.param<i64>
    ```

    The verifier of `ansor.sketch` checks the domains of the knobs below it.

    A constraint bounds a sum of products of knob values, coefficient 1 if none
    is given; its `reason`, a string, may say to a person why:

    ```mlir
    ansor.constraints = [{name = "vector-registers", max = 32 : i64,
      terms = [{coefficient = 1 : i64, knobs = ["s2.d0.l1", "s2.d1.l1"]} ]} ]
    ```

    Some transform ops take attributes only. `ansor.bind` names such attributes
    of its op, and the knobs and constants that fill them when decisions are
    applied; the attribute holds a placeholder before. `{knob = "u0", extent =
    960 : i64}` stands for the number of tiles of that size in the extent:

    ```mlir
    transform.loop.unroll %loop {ansor.bind = {factor = "u0"}, factor = 1 : i64}
      : !transform.any_op
    ```
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

#endif // ANSOR_IR_ANSORDIALECT_TD
