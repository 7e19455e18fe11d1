// RUN: ansor-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'ansor.task' belongs on a 'func.func' or a 'transform.named_sequence', not on 'builtin.module'}}
module attributes {ansor.task = "a"} {}

// -----

// expected-error @below {{'ansor.task' must be a string that is not empty, got ""}}
func.func private @f() attributes {ansor.task = ""}

// -----

// expected-error @below {{'ansor.task' must be a string that is not empty, got 3 : i64}}
func.func private @f() attributes {ansor.task = 3 : i64}

// -----

// expected-error @below {{'ansor.weight' must be an i64 of at least 1, got 0 : i64}}
func.func private @f() attributes {ansor.weight = 0 : i64}

// -----

// expected-error @below {{'ansor.weight' must be an i64 of at least 1, got 3 : i32}}
func.func private @f() attributes {ansor.weight = 3 : i32}

// -----

// expected-error @below {{'ansor.weight' belongs on a 'func.func', not on 'builtin.module'}}
module attributes {ansor.weight = 1 : i64} {}

// -----

func.func @f() {
  // expected-error @below {{'ansor.stage' must be an i64 of at least 0, got -1 : i64}}
  %0 = arith.constant {ansor.stage = -1 : i64} 0 : i64
  return
}

// -----

func.func @f() {
  // expected-error @below {{'ansor.stage' must be an i64 of at least 0, got "0"}}
  %0 = arith.constant {ansor.stage = "0"} 0 : i64
  return
}

// -----

func.func @f() {
  // expected-error @below {{'ansor.unroll' must be an i64 of at least 0, got unit}}
  %0 = arith.constant {ansor.unroll} 0 : i64
  return
}

// -----

func.func @f() {
  // expected-error @below {{'ansor.vectorize' must be a unit attribute, got true}}
  %0 = arith.constant {ansor.vectorize = true} 0 : i64
  return
}

// -----

func.func @f() {
  // expected-error @below {{'ansor.parallel' belongs on a loop, not on 'arith.constant'}}
  %0 = arith.constant {ansor.parallel} 0 : i64
  return
}

// -----

func.func @f() {
  %0 = arith.constant 0 : index
  // expected-error @below {{'ansor.parallel' must be a unit attribute, got 1 : i64}}
  scf.for %i = %0 to %0 step %0 {
  } {ansor.parallel = 1 : i64}
  return
}

// -----

// expected-error @below {{'ansor.sketch' belongs on a 'builtin.module' or a 'transform.named_sequence', not on 'func.func'}}
func.func private @f() attributes {ansor.sketch = "s0"}

// -----

// expected-error @below {{'ansor.sketch' must be a string that is not empty, got unit}}
module attributes {ansor.sketch} {}

// -----

// expected-error @below {{'ansor.derivation' belongs on a 'builtin.module' or a 'transform.named_sequence', not on 'func.func'}}
func.func private @f() attributes {ansor.derivation = []}

// -----

// expected-error @below {{'ansor.derivation' must be an array of strings, got ["tile", 1]}}
module attributes {ansor.derivation = ["tile", 1]} {}

// -----

// expected-error @below {{'ansor.constraints' belongs on a 'builtin.module' or a 'transform.named_sequence', not on 'func.func'}}
func.func private @f() attributes {ansor.constraints = []}

// -----

// expected-error @below {{'ansor.constraints' must be an array of dictionaries, got "x"}}
module attributes {ansor.constraints = "x"} {}

// -----

// expected-error @below {{'ansor.constraints' must be an array of dictionaries, it holds 1 : i64}}
module attributes {ansor.constraints = [1]} {}

// -----

// expected-error @below {{a constraint needs 'name', a string that is not empty}}
module attributes {ansor.constraints = [{max = 1 : i64, terms = []}]} {}

// -----

// expected-error @below {{unknown key 'min' in a constraint; known are name, reason, terms, max}}
module attributes {ansor.constraints = [{name = "c", min = 1 : i64}]} {}

// -----

// expected-error @below {{constraint 'c' needs 'max', an i64}}
module attributes {ansor.constraints = [{name = "c", terms = [], max = 1 : i32}]} {}

// -----

// expected-error @below {{constraint 'c' needs 'terms', an array of dictionaries that is not empty}}
module attributes {ansor.constraints = [{name = "c", terms = [], max = 1 : i64}]} {}

// -----

// expected-error @below {{'reason' of constraint 'c' must be a string, got 1 : i64}}
module attributes {ansor.constraints = [{name = "c", reason = 1, max = 1 : i64}]} {}

// -----

// expected-error @below {{a term of constraint 'c' must be a dictionary, got "a"}}
module attributes {ansor.constraints = [{name = "c", terms = ["a"], max = 1 : i64}]} {}

// -----

// expected-error @below {{unknown key 'factor' in a term of a constraint; known are coefficient, knobs}}
module attributes {ansor.constraints = [{name = "c", terms = [{factor = 1 : i64}], max = 1 : i64}]} {}

// -----

// expected-error @below {{'coefficient' of constraint 'c' must be an i64, got 1.0}}
module attributes {ansor.constraints = [{name = "c", terms = [{coefficient = 1.0 : f32, knobs = []}], max = 1 : i64}]} {}

// -----

// expected-error @below {{a term of constraint 'c' needs 'knobs', an array of knob names}}
module attributes {ansor.constraints = [{name = "c", terms = [{knobs = [1]}], max = 1 : i64}]} {}

// -----

// expected-error @below {{'ansor.weight' must be a unit attribute}}
func.func @weight_value(%w: tensor<4xf32> {ansor.weight = 1 : i64}) {
  return
}

// -----

// expected-error @below {{'ansor.prepack' must be an array of two symbols on a function}}
func.func @prepack_value() attributes {ansor.prepack} {
  return
}
