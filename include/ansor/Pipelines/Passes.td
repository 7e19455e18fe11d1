//===- Passes.td - Passes of the code generation -----------*- tablegen -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_PIPELINES_PASSES_TD
#define ANSOR_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckLowerablePass : Pass<"ansor-check-lowerable", "ModuleOp"> {
  let summary = "Refuse what the code generation would get wrong or can't lower";
  let description = [{
    Emits an error, at the op or function, for tensors with a sparse encoding
    (bufferization would treat them as dense), constants whose data was elided
    from the text, and element types that have no arithmetic in LLVM.
  }];
}

def DecomposePass : Pass<"ansor-decompose", "ModuleOp"> {
  let summary = "Bring every structured op to linalg.generic and slices";
  let description = [{
    Decomposes aggregated ops by their interface, packs with one inner tile by
    copies of panels in parallel, other packs and unpacks, pads, concatenations
    and winograd transforms by the upstream rewrites, and generalizes the named
    ops that are left. Transform scripts in the module are dropped: they have
    done their work.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def DefineShiftsPass : Pass<"ansor-define-shifts", "ModuleOp"> {
  let summary = "Take the amounts of shifts modulo the bits of their type";
  let description = [{
    A shift by as many bits as there are, or more, is poison, and becomes one
    value in vector code and another one in plain code. By this all code for a
    program gives the same values, and a candidate isn't refused for them.
    Amounts that are known to be small stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TaskDestinationsPass : Pass<"ansor-task-destinations", "ModuleOp"> {
  let summary = "State which arguments may be written";
  let description = [{
    A task function (attribute `ansor.task`) materialises its results in its
    last arguments, one a result. All other arguments of functions that can be
    called from outside are marked `bufferization.writable = false`, so that no
    caller's data is overwritten.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def DropTaskResultsPass : Pass<"ansor-drop-task-results", "ModuleOp"> {
  let summary = "Remove the results of bufferized task functions";
  let description = [{
    After bufferization a task function returns its last arguments. Those
    results are removed; callers use the buffer that they passed. A result that
    is another buffer is copied into its argument.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def InPlaceEpiloguePass : Pass<"ansor-in-place-epilogue", "ModuleOp"> {
  let summary = "Let elementwise ops write over the value they consume";
  let description = [{
    An elementwise `linalg.generic` that reads a value of its result's type by
    the identity map, and is its only user, takes that value as its init, so
    that bufferization makes no temporary. Nothing is done if the init already
    is memory that the result has to be written to.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def FoldLayoutsPass : Pass<"ansor-fold-layouts", "ModuleOp"> {
  let summary = "Let users of permuted tensors read the tensors themselves";
  let description = [{
    An op with `ansor.read_through` only permutes the dimensions of its input.
    The structured ops that read its result, or slices of it, read the input
    through other maps instead, and the op is erased.
  }];
  let dependentDialects = [
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def FoldConstantLayoutsPass : Pass<"ansor-fold-constant-layouts", "ModuleOp"> {
  let summary = "Replace permutations of constants by permuted constants";
  let description = [{
    An op that only permutes the dimensions of a constant (or of a reshaped one)
    becomes a constant: the filters of a network are in the order that its tasks
    want before it runs.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FastMathPass : Pass<"ansor-fast-math", "ModuleOp"> {
  let summary = "Allow contraction, and reassociation of reductions";
  let description = [{
    Adds `contract` to the floating-point arithmetic in the bodies of linalg
    ops, and `reassoc` and `nsz` to the op that combines an element into its
    reduction.
    Never `nnan` or `ninf`: the code has to be right for all values.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PartialTilesPass : Pass<"ansor-partial-tiles", "ModuleOp"> {
  let summary = "Give partial tiles static sizes";
  let description = [{
    The size of a tile that does not divide its loop is the minimum of the tile
    size and of what is left, which takes two values. The last iteration is
    taken out of a sequential loop; in a parallel one, what follows the size in
    its block is made once for each value. So both are static. Runs on buffers,
    where loops yield nothing; code of more than a few hundred operations is
    left alone.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def VectorizePass : Pass<"ansor-vectorize", "ModuleOp"> {
  let summary = "Generate loops of vector code for linalg ops";
  let description = [{
    Each `linalg.generic` becomes straight code on one-dimensional vectors if
    its iteration space is small and static, as it is after tiling, and loops
    around such code otherwise. The lane dimension is chosen by the accesses:
    a parallel loop that the result is contiguous in, or a reduction loop that
    all inputs are contiguous in. Accumulators stay in vector values for the
    whole reduction, also through the `scf.for` loops around the op that do
    nothing else and leave its result in place; the innermost of these is
    unrolled (by its attribute `ansor.unroll`, if it has one). Runs on buffers,
    after bufferization, whose analysis is slow on unrolled code. Any affine map is accepted; bodies that have no vector
    form (gathers, sub-byte storage, complex numbers) get scalar code of the
    same structure.

    Sums of products of 8-bit integers, or of bf16, use the dot instructions
    that the target's features allow.

    The vector width and the number of registers come from the target that the
    module carries, or the host's.
  }];
  let options = [
    Option<"strictFP", "strict-fp", "bool", "false",
           "Never reorder a floating-point reduction">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect"
  ];
}

def ForwardBuffersPass : Pass<"ansor-forward-buffers", "ModuleOp"> {
  let summary = "Forward what straight code stores to what loads it again";
  let description = [{
    Within a block, a vector or scalar that is read where it was just written is
    used directly; writes that are written over, and buffers that are only
    written, go. This joins an initialisation, a reduction and its epilogue,
    tiled to one piece of straight code, without memory between them.
    Different arguments and allocations are taken not to overlap, which holds
    for bufferized code.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def CheckSizePass : Pass<"ansor-check-size", "ModuleOp"> {
  let summary = "Fail if the module has too many operations";
  let description = [{
    Unrolled code of a bad schedule can keep LLVM busy for minutes. The error
    contains "too large".
  }];
  let options = [
    Option<"maxOperations", "max-operations", "int64_t", "200000",
           "Largest number of operations">
  ];
}

def LowerForallPass : Pass<"ansor-lower-forall", "ModuleOp"> {
  let summary = "Lower scf.forall on buffers to parallel or sequential loops";
  let description = [{
    With `parallel`, an `scf.forall` that no other one encloses becomes
    `scf.parallel`, for OpenMP. All others, and every `scf.parallel` that was
    there before, become `scf.for`.
  }];
  let options = [
    Option<"parallel", "parallel", "bool", "true", "Keep the outermost parallel">
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def PlaceBuffersPass : Pass<"ansor-place-buffers", "ModuleOp"> {
  let summary = "Move small static buffers to the stack, outside all loops";
  let description = [{
    An allocation of a static size of at most `max-bytes`, in the entry block of
    its function and not returned, becomes a stack buffer, as long as the stack
    buffers of the function stay within `max-stack`. So does one in the body of
    a parallel loop, of any size up to `max-stack`: each iteration has its own.
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "2048", "Largest buffer">,
    Option<"maxStack", "max-stack", "int64_t", "16384", "Largest sum">
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def ResultDestinationsPass : Pass<"ansor-result-destinations", "ModuleOp"> {
  let summary = "Write results into buffers that the caller gives";
  let description = [{
    A public function `@f` that returns dense buffers of static size becomes
    `@f_into`, with an argument for each of these behind its own; `@f` makes
    the buffers and calls that. A result that is a buffer of the function, in
    whatever shape, is computed in its place; another one is copied there. Task
    functions are left alone. Runs before buffers get owners.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def PlanMemoryPass : Pass<"ansor-plan-memory", "ModuleOp"> {
  let summary = "Place the buffers of a program into one arena";
  let description = [{
    Static buffers that functions allocate and free get fixed places in an
    arena of their entry, a global, such that buffers that are live at the same
    time don't overlap: a call allocates nothing, and touches the same memory
    each time. A private function that is called takes its part of the arena as
    its last argument. Buffers of the body of a parallel loop lie in memory of
    the thread.

    The arena is used by one call at a time; a call from another thread that
    finds it taken allocates one of its own. `@<entry>_workspace(ptr)` stores
    the arena's address and its bytes, so that a host can prepare or inspect
    it.

    Buffers that escape, of dynamic sizes, or in functions with more than one
    block stay as they are.
  }];
  let options = [
    Option<"maxArena", "max-arena", "int64_t", "1073741824",
           "Largest arena, bytes">,
    Option<"maxThread", "max-thread", "int64_t", "2097152",
           "Largest memory of a thread, bytes">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"
  ];
}

def ProfileEntryPass : Pass<"ansor-profile-entry", "ModuleOp"> {
  let summary = "Time the tasks of a network, and what lies between them";
  let description = [{
    After each call of a task function, and after the ops between two calls
    that do work, calls `@ansor_profile_lap(slot)`, which adds the time since
    the last such call to a slot; slot -1 begins. The attribute `ansor.profile`
    of the module lists the slots: the name of a task function, or the first op
    and its location.
  }];
}

def LowerCopiesPass : Pass<"ansor-lower-copies", "ModuleOp"> {
  let summary = "Lower strided copies to loops";
  let description = [{
    A `memref.copy` between buffers that are not both contiguous would become a
    call of a runtime function. It becomes a `linalg.generic` instead.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def PolynomialMathPass : Pass<"ansor-polynomial-math", "ModuleOp"> {
  let summary = "Expand math functions that have a good polynomial";
  let description = [{
    Expands exp, expm1, log, log1p, log2, tanh and erf on f32, which would be
    calls of one lane at a time. Functions that need a careful argument
    reduction stay calls of the mathematical library. Vectors that are divided
    by the same number are multiplied by its reciprocal, unless that number is
    subnormal.
  }];
  let options = [
    Option<"strictFP", "strict-fp", "bool", "false", "Divide where it says so">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def InlineAllocaScopesPass : Pass<"ansor-inline-alloca-scopes", "ModuleOp"> {
  let summary = "Inline the stack scopes around the bodies of parallel loops";
  let description = [{
    The conversion of loops to OpenMP wraps each body in a
    `memref.alloca_scope`, which may hold one block only, and so does not
    survive the conversion of the loops inside to branches. The scope is
    inlined; the stack is saved and restored where it holds an `alloca`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ExpandTruncationsPass : Pass<"ansor-expand-truncations", "ModuleOp"> {
  let summary = "Cut floats to bf16 without a call of the compiler's library";
  let description = [{
    LLVM calls `__truncdfbf2` and, where the target has no instruction for it,
    `__truncsfbf2`, which the C libraries of many systems lack. Rounds f64 to odd
    in f32 first, and then to nearest, which is exact; f32 by integers, as
    upstream expands it, with arithmetic in bf16 done in f32. After passes that
    fold casts which may be contracted.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"
  ];
}

def PackedEntryPass : Pass<"ansor-packed-entry", "ModuleOp"> {
  let summary = "Give public functions an entry that takes an array of pointers";
  let description = [{
    For each public function with a body, adds
    `<name>_packed(%args: !llvm.ptr)`, which loads the arguments through the
    pointers in `args` and stores the results through those before them, and
    asks for the C interface of the function. If a function that writes into
    given buffers exists (see `ansor-result-destinations`), a result whose
    descriptor points to a buffer is written there. Runs on bufferized
    functions.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // ANSOR_PIPELINES_PASSES_TD
