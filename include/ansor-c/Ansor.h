//===- Ansor.h - C interface ------------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
/*
 * The project for embedding from C, and from languages that speak it, over the
 * types of mlir-c. A caller links its own copy of MLIR's C interface (the
 * archive MLIRCAPIIR) beside AnsorCAPI.
 */

#ifndef ANSOR_C_ANSOR_H
#define ANSOR_C_ANSOR_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Adds the ansor dialect, its transform ops, and every dialect, interface and
 * translation of upstream that the passes use. */
MLIR_CAPI_EXPORTED void ansorRegisterDialects(MlirDialectRegistry registry);

/** Registers the passes, to be named in pipelines. Once a process. */
MLIR_CAPI_EXPORTED void ansorRegisterPasses(void);

/** Outlines the tasks of the module's functions, in place. */
MLIR_CAPI_EXPORTED MlirLogicalResult ansorExtractTasks(MlirModule module);

/** Inlines the task functions into their callers again. */
MLIR_CAPI_EXPORTED MlirLogicalResult ansorInlineTasks(MlirModule module);

/** Called for each task; the strings live during the call only. `flops` are of
 * one call of the task, which the module makes `weight` times. */
typedef void (*AnsorTaskCallback)(MlirStringRef key, MlirStringRef name,
                                  int64_t weight, double flops,
                                  void *userData);

/** Tells the tasks of an extracted module, in the order of its functions. */
MLIR_CAPI_EXPORTED void ansorForEachTask(MlirModule module,
                                         AnsorTaskCallback callback,
                                         void *userData);

/** Applies the library of schedules at `path` to an extracted module. The
 * number of scheduled tasks is put into `*applied`, unless it is NULL. */
MLIR_CAPI_EXPORTED MlirLogicalResult ansorApplyLibrary(MlirModule module,
                                                       MlirStringRef path,
                                                       unsigned *applied);

/** Lowers the module, scheduled or not, to the LLVM dialect for its target, or
 * for the host if it names none. */
MLIR_CAPI_EXPORTED MlirLogicalResult ansorLowerToCPU(MlirModule module,
                                                     bool parallel,
                                                     bool strictFP);

#ifdef __cplusplus
}
#endif

#endif /* ANSOR_C_ANSOR_H */
