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
    every file this project prints parses in a stock `mlir-opt`:

    | attribute | on | value | meaning |
    |---|---|---|---|
    | `ansor.task` | `func.func` | string | key of the task (hash of its canonical structure) |
    | `ansor.weight` | `func.func` | i64 ≥ 1 | how often the network runs the task |
    | `ansor.stage` | any op of a task | i64 ≥ 0 | index of the stage, producers first |
    | `ansor.sketch` | `builtin.module`, `transform.named_sequence` | string | name of the sketch |
    | `ansor.derivation` | `builtin.module` | array of strings | the rules that made the sketch |
    | `ansor.constraints` | `builtin.module` | array of dictionaries | constraints over the knobs |
    | `ansor.parallel` | loop | unit | loop whose iterations may run in parallel |
    | `ansor.unroll` | loop or op | i64 ≥ 0 | largest body, in copies, that unrolling may make |
    | `ansor.vectorize` | any op of a task | unit | turn the tiled op into vector code |
    | `ansor.bind` | transform op | dictionary | attribute operands to be filled from knobs |

    A knob's domain is the dictionary in the `options` of `transform.tune.knob`
    (see `ansor/IR/KnobDomain.h`):

    ```mlir
    %0 = transform.tune.knob<"s2.d0.l1"> options = {kind = "tile", stage = 2 : i64,
      loop = 0 : i64, level = 1 : i64, levels = 3 : i64, extent = 512 : i64,
      policy = "divisor"} -> !transform.param<i64>
    ```
  }];
  let hasOperationAttrVerify = 1;
}

#endif // ANSOR_IR_ANSORDIALECT_TD
