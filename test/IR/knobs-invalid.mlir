// Knob domains are verified under a module or sequence with ansor.sketch.

// RUN: ansor-opt %s -split-input-file -verify-diagnostics

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'kind' of a knob domain must be a string, got 1 : i64}}
    %0 = transform.tune.knob<"k"> options = {kind = 1 : i64, stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{unknown 'kind' of a knob domain: "tiles"; known are tile, unroll, parallel, location, choice}}
    %0 = transform.tune.knob<"k"> options = {kind = "tiles", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{knob domain lacks 'stage'}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{knob domain lacks 'loop'}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{knob domain lacks 'level'}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, levels = 1 : i64, extent = 16 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{knob domain lacks 'levels'}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, extent = 16 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{knob domain lacks 'extent'}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'extent' of a knob domain must be at least 1, got 0}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 0 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'extent' of a knob domain must be an i64, got 16 : i32}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i32} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'stage' of a knob domain must be at least 0, got -1}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = -1 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'loop' of a knob domain must be at least 0, got -1}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = 0 : i64, loop = -1 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'levels' of a knob domain must be at least 1, got 0}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 0 : i64, extent = 16 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'level' of a knob domain must be less than 'levels', got 1 of 1}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 1 : i64, levels = 1 : i64, extent = 16 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{unknown 'policy' of a knob domain: "ceil"; known are divisor, remainder}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64, policy = "ceil"} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'policy' of a knob domain must be a string, got 1 : i64}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64, policy = 1} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'multiple_of' of a knob domain must be at least 1, got 0}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64, multiple_of = 0 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'max' of a knob domain must be at least 0, got -1}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64, max = -1 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{knob domain has no value: the least multiple, 8, and the extent, 16, are above the largest size, 4}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64, multiple_of = 8 : i64, max = 4 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{unknown key 'size' in a knob domain of kind 'tile'; known are kind, stage, loop, level, levels, extent, policy, multiple_of, max}}
    %0 = transform.tune.knob<"k"> options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64, size = 4 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{unknown key 'extent' in a knob domain of kind 'unroll'; known are kind, stage, values}}
    %0 = transform.tune.knob<"k"> options = {kind = "unroll", stage = 0 : i64, values = [0, 16], extent = 4 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{knob domain lacks 'stage'}}
    %0 = transform.tune.knob<"k"> options = {kind = "unroll", values = [0, 16]} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{knob domain lacks 'values'}}
    %0 = transform.tune.knob<"k"> options = {kind = "unroll", stage = 0 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'values' of a knob domain must not be empty}}
    %0 = transform.tune.knob<"k"> options = {kind = "unroll", stage = 0 : i64, values = []} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'values' of a knob domain holds 0 twice}}
    %0 = transform.tune.knob<"k"> options = {kind = "unroll", stage = 0 : i64, values = [0, 16, 0]} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'values' of a knob domain must not be negative, got -1}}
    %0 = transform.tune.knob<"k"> options = {kind = "unroll", stage = 0 : i64, values = [0, -1]} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'values' of a knob domain must be an array of i64, it holds "x"}}
    %0 = transform.tune.knob<"k"> options = {kind = "unroll", stage = 0 : i64, values = [0, "x"]} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'values' of a knob domain must be an array of i64, got 3 : i64}}
    %0 = transform.tune.knob<"k"> options = {kind = "unroll", stage = 0 : i64, values = 3 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{the selected value 5 is outside the knob's domain}}
    %0 = transform.tune.knob<"k"> = 5 : i64 from options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{the selected value 32 is outside the knob's domain}}
    %0 = transform.tune.knob<"k"> = 32 : i64 from options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{the selected value 8 is outside the knob's domain}}
    %0 = transform.tune.knob<"k"> = 8 : i64 from options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64, max = 4 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{the selected value 2 is outside the knob's domain}}
    %0 = transform.tune.knob<"k"> = 2 : i64 from options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64, multiple_of = 4 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{the selected value 17 is outside the knob's domain}}
    %0 = transform.tune.knob<"k"> = 17 : i64 from options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64, policy = "remainder"} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{the selected value 4 is outside the knob's domain}}
    %0 = transform.tune.knob<"k"> = 4 : i64 from options = {kind = "unroll", stage = 0 : i64, values = [0, 16]} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence, ansor.sketch = "s0"} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{the selected value of a knob must be an i64, got 4 : i32}}
    %0 = transform.tune.knob<"k"> = 4 : i32 from options = {kind = "tile", stage = 0 : i64, loop = 0 : i64, level = 0 : i64, levels = 1 : i64, extent = 16 : i64} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @s(%a: !transform.any_op) attributes {ansor.sketch = "s0"} {
    // expected-error @below {{knob domain lacks 'values'}}
    %0 = transform.tune.knob<"k"> options = {kind = "choice", stage = 0 : i64} -> !transform.param<i64>
    transform.yield
  }
}
