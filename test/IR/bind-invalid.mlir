// RUN: ansor-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'ansor.bind' belongs on an op of the transform dialect, not on 'builtin.module'}}
module attributes {ansor.bind = {}} {}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'ansor.bind' must be a dictionary from attribute names to knobs, got "u"}}
    transform.loop.unroll %a {factor = 1 : i64, ansor.bind = "u"} : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'factor' of 'ansor.bind' must be the name of a knob, {knob = "NAME", extent = N : i64} for the number of its tiles, or an array of these and i64 constants, got 3 : i64}}
    transform.loop.unroll %a {factor = 1 : i64, ansor.bind = {factor = 3 : i64}} : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'factor' of 'ansor.bind' must be the name of a knob, {knob = "NAME", extent = N : i64} for the number of its tiles, or an array of these and i64 constants, got {extent = 0 : i64, knob = "u"}}}
    transform.loop.unroll %a {factor = 1 : i64, ansor.bind = {factor = {knob = "u", extent = 0 : i64}}} : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'ansor.bind' names 'factors', which this op lacks: give it a placeholder value}}
    transform.loop.unroll %a {factor = 1 : i64, ansor.bind = {factors = "u"}} : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'ansor.bind' can't fill 'factor' = 1 : i64: it is no array of integers}}
    transform.loop.unroll %a {factor = 1 : i64, ansor.bind = {factor = ["u"]}} : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @s(%a: !transform.any_op) {
    // expected-error @below {{'ansor.bind' can't fill 'iterator_interchange' = array<i64: 1, 0>: it is no integer}}
    %0 = transform.structured.interchange %a iterator_interchange = [1, 0] {ansor.bind = {iterator_interchange = "u"}} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
