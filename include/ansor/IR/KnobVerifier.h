//===- KnobVerifier.h - Verification of knobs -------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dialect can't verify another dialect's op. The passes of this project, and
// the verifier of `ansor.sketch`, check the knobs of a script by these
// functions instead.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_IR_KNOBVERIFIER_H
#define ANSOR_IR_KNOBVERIFIER_H

#include "mlir/IR/Operation.h"

namespace mlir::ansor {

/// Verifies the options of every `transform.tune.knob` under `root` that are a
/// dictionary with a "kind" (see KnobDomain.h), and that the selected value, if
/// there is one, lies in the domain. Other options are left alone.
LogicalResult verifyKnobs(Operation *root);

/// Verifies the value of `ansor.bind` on a transform op: a dictionary from the
/// name of an attribute of `op` to the name of a knob or {knob = NAME, extent =
/// i64}, the number of tiles of the knob's size, or to an array of these and i64
/// constants.
LogicalResult verifyBinding(Operation *op, Attribute binding);

/// Verifies the value of `ansor.constraints`: an array of dictionaries
/// {name = string, terms = [{coefficient = i64, knobs = [string, …]}, …],
/// max = i64}; see DesignSpace.h.
LogicalResult verifyConstraints(Attribute attr,
                                function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::ansor

#endif // ANSOR_IR_KNOBVERIFIER_H
