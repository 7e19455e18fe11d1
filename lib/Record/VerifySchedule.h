//===- VerifySchedule.h - Whether a schedule fits a task --------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library may have been edited by hand. Its constants are compared with the
// loops of the task before they are applied: a negative tile makes a loop that
// never ends, or one that never runs.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_LIB_RECORD_VERIFYSCHEDULE_H
#define ANSOR_LIB_RECORD_VERIFYSCHEDULE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"

namespace mlir::ansor {

/// Whether the stages that `schedule` names are in `task`, and the sizes that
/// it states fit their loops. Emits, at the size, and fails if not.
LogicalResult verifySchedule(transform::NamedSequenceOp schedule,
                             func::FuncOp task);

/// Whether every loop of `task` whose step is known goes forward. Emits and
/// fails if not.
LogicalResult verifyLoopSteps(func::FuncOp task);

} // namespace mlir::ansor

#endif // ANSOR_LIB_RECORD_VERIFYSCHEDULE_H
