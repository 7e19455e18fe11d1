//===- Pipelines.cpp - The code generation for a CPU ------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/Pipelines/Pipelines.h"
#include "ansor/Pipelines/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::ansor;

/// Tensors to buffers: every allocation outside of loops where it can be, and
/// freed by its owner.
static void addBufferization(OpPassManager &pm, bool parallel, bool plan) {
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  pm.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  options.allowReturnAllocsFromLoops = true;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addPass(createDropTaskResultsPass());
  // Before buffers are hoisted: a sequential loop keeps none of its own.
  LowerForallPassOptions forall;
  forall.parallel = parallel;
  pm.addPass(createLowerForallPass(forall));
  pm.addPass(memref::createFoldMemRefAliasOpsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(bufferization::createBufferLoopHoistingPass());
  pm.addPass(createPlaceBuffersPass());
  if (plan)
    pm.addPass(createResultDestinationsPass());
  pm.addPass(memref::createExpandReallocPass());
  pm.addPass(bufferization::createOwnershipBasedBufferDeallocationPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(bufferization::createBufferDeallocationSimplificationPass());
  pm.addPass(bufferization::createLowerDeallocationsPass());
  pm.addPass(createConvertBufferizationToMemRefPass());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
}

/// Loops and buffers to LLVM dialect.
static void addConversionToLLVM(OpPassManager &pm, bool parallel,
                                bool reassociate) {
  pm.addPass(createPackedEntryPass());
  if (parallel) {
    pm.addPass(createConvertSCFToOpenMPPass());
    pm.addPass(createInlineAllocaScopesPass());
  }
  pm.addPass(memref::createExpandOpsPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(createConvertMathToFuncs());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(math::createMathExtendToSupportedTypes());
  pm.addPass(createExpandTruncationsPass());
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createConvertComplexToStandardPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.reassociateFPReductions = reassociate;
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertComplexToLLVMPass());
  // The address arithmetic that the vector lowering left behind.
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  if (parallel)
    pm.addPass(createConvertOpenMPToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void ansor::buildCPULoweringPipeline(OpPassManager &pm,
                                     const CPULoweringOptions &options) {
  pm.addPass(createCheckLowerablePass());
  // Buffers are freed by their owners along structured control flow only.
  pm.addPass(createLiftControlFlowToSCFPass());
  pm.addPass(createDecomposePass());
  pm.addPass(createDefineShiftsPass());
  // Before destinations: an init whose only use is dead is an unused one, and
  // a task that seems not to write its init would share it with another call.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createFoldLayoutsPass());
  pm.addPass(createFoldConstantLayoutsPass());
  pm.addPass(createTaskDestinationsPass());
  if (!options.strictFP)
    pm.addPass(createFastMathPass());
  if (options.vectorize)
    pm.addPass(createInPlaceEpiloguePass());
  // The reference of the check keeps to what upstream does.
  bool plan = options.vectorize;
  addBufferization(pm, options.parallel, plan);
  pm.addPass(createLowerCopiesPass());
  if (options.vectorize) {
    VectorizePassOptions vectorize;
    vectorize.strictFP = options.strictFP;
    pm.addPass(createPartialTilesPass());
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createLoopInvariantCodeMotionPass());
    pm.addPass(createVectorizePass(vectorize));
    pm.addPass(createForwardBuffersPass());
    CheckSizePassOptions size;
    size.maxOperations = options.maxOperations;
    pm.addPass(createCheckSizePass(size));
    pm.addPass(createCSEPass());
    PolynomialMathPassOptions math;
    math.strictFP = options.strictFP;
    pm.addPass(createPolynomialMathPass(math));
  }
  if (plan)
    pm.addPass(createPlanMemoryPass());
  if (options.profile)
    pm.addPass(createProfileEntryPass());
  pm.addPass(createConvertLinalgToLoopsPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createCSEPass());
  addConversionToLLVM(pm, options.parallel, !options.strictFP);
}

LogicalResult ansor::lowerToCPU(ModuleOp module,
                                const CPULoweringOptions &options) {
  MLIRContext *context = module.getContext();
  // A diagnostic with a whole unrolled function in it helps nobody.
  bool printsOps = context->shouldPrintOpOnDiagnostic();
  context->printOpOnDiagnostic(false);
  PassManager pm(context);
  pm.enableVerifier(false);
  buildCPULoweringPipeline(pm, options);
  LogicalResult result = pm.run(module);
  context->printOpOnDiagnostic(printsOps);
  return result;
}

namespace {
/// The options of the registered pipeline.
struct LowerToCPUOptions : public PassPipelineOptions<LowerToCPUOptions> {
  Option<bool> parallel{*this, "parallel",
                        llvm::cl::desc("Lower parallel loops to OpenMP"),
                        llvm::cl::init(true)};
  Option<bool> strictFP{
      *this, "strict-fp",
      llvm::cl::desc("Forbid reassociation of reductions and contraction"),
      llvm::cl::init(false)};
  Option<bool> vectorize{*this, "vectorize",
                         llvm::cl::desc("Generate vector code"),
                         llvm::cl::init(true)};
  Option<int64_t> maxOperations{
      *this, "max-operations",
      llvm::cl::desc("Fail if the code has more operations"),
      llvm::cl::init(CPULoweringOptions().maxOperations)};
};
} // namespace

void ansor::registerPipelines() {
  registerAnsorPipelinesPasses();
  PassPipelineRegistration<LowerToCPUOptions>(
      "ansor-lower-to-cpu",
      "Lower linalg on tensors, scheduled or not, to LLVM dialect for a CPU",
      [](OpPassManager &pm, const LowerToCPUOptions &options) {
        CPULoweringOptions cpu;
        cpu.parallel = options.parallel;
        cpu.strictFP = options.strictFP;
        cpu.vectorize = options.vectorize;
        cpu.maxOperations = options.maxOperations;
        buildCPULoweringPipeline(pm, cpu);
      });
}
