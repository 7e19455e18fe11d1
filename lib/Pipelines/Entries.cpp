//===- Entries.cpp - Packed entries and their description -------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Entry.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "ansor/Pipelines/Passes.h"
#include "ansor/Pipelines/Pipelines.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Task/Weights.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "llvm/Analysis/TargetLibraryInfo.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_PACKEDENTRYPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

/// Renames functions that later steps, LLVM or the linker would take for those
/// of the C library: a module's own @exp must not be what `math.exp` calls.
static void renameLibraryNames(ModuleOp module) {
  llvm::TargetLibraryInfoImpl library{llvm::Triple()};
  SymbolTable symbols(module);
  for (auto func : llvm::to_vector(module.getOps<func::FuncOp>())) {
    llvm::LibFunc known;
    StringRef name = func.getName();
    if (func.isExternal() || !library.getLibFunc(name, known))
      continue;
    std::string fresh = ("ansor_" + name).str();
    while (symbols.lookup(fresh))
      fresh += "_";
    (void)symbols.rename(func, fresh);
  }
}

/// Calls `into` in place of `func`: a result whose descriptor in `slot` has a
/// buffer is written there, another one into a new buffer.
static SmallVector<Value>
callInto(OpBuilder &b, Location loc, func::FuncOp func, func::FuncOp into,
         SmallVector<Value> args, LLVMTypeConverter &types,
         function_ref<Value(unsigned)> slot) {
  Type ptr = LLVM::LLVMPointerType::get(func.getContext());
  SmallVector<Value> made;
  for (auto [i, type] : llvm::enumerate(func.getResultTypes())) {
    if (!isDestinationType(type))
      continue;
    auto memref = cast<MemRefType>(type);
    Value given =
        LLVM::LoadOp::create(b, loc, types.convertType(memref), slot(i));
    MemRefDescriptor descriptor(given);
    Value data = descriptor.alignedPtr(b, loc);
    Value none = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, data,
                                      LLVM::ZeroOp::create(b, loc, ptr));
    auto choice = scf::IfOp::create(
        b, loc, none,
        [&](OpBuilder &nested, Location loc) {
          Value alloc = memref::AllocOp::create(nested, loc, memref,
                                                nested.getI64IntegerAttr(64));
          scf::YieldOp::create(nested, loc, alloc);
        },
        [&](OpBuilder &nested, Location loc) {
          // Its sizes are known, whatever the descriptor says.
          Value view = MemRefDescriptor::fromStaticShape(nested, loc, types,
                                                         memref, data);
          scf::YieldOp::create(
              nested, loc,
              UnrealizedConversionCastOp::create(nested, loc, memref, view)
                  .getResults());
        });
    made.push_back(choice.getResult(0));
  }
  args.append(made);
  auto call = func::CallOp::create(b, loc, into, args);
  SmallVector<Value> results;
  unsigned next = 0, kept = 0;
  for (Type type : func.getResultTypes())
    results.push_back(isDestinationType(type) ? made[next++]
                                              : call.getResult(kept++));
  return results;
}

/// Adds `name`, the packed entry of `func`, which is to call `into` if that is
/// given.
static LogicalResult addPackedEntry(func::FuncOp func, func::FuncOp into,
                                    const std::string &name,
                                    LLVMTypeConverter &types) {
  MLIRContext *ctx = func.getContext();
  Location loc = func.getLoc();
  if (SymbolTable::lookupNearestSymbolFrom(func, StringAttr::get(ctx, name)))
    return func.emitOpError("has a packed entry already: @") << name;

  Type ptr = LLVM::LLVMPointerType::get(ctx);
  OpBuilder b(ctx);
  b.setInsertionPointAfter(func);
  auto entry =
      func::FuncOp::create(b, loc, name, FunctionType::get(ctx, {ptr}, {}));
  b.setInsertionPointToStart(entry.addEntryBlock());
  // The i-th pointer of the array.
  auto slot = [&](unsigned i) -> Value {
    Value address =
        LLVM::GEPOp::create(b, loc, ptr, ptr, entry.getArgument(0),
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    return LLVM::LoadOp::create(b, loc, ptr, address);
  };
  auto cast = [&](Type type, Value value) -> Value {
    if (value.getType() == type)
      return value;
    return UnrealizedConversionCastOp::create(b, loc, type, value).getResult(0);
  };

  unsigned numResults = func.getNumResults();
  SmallVector<Value> args;
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
    Type lowered = types.convertType(type);
    if (!lowered)
      return func.emitOpError("argument ")
             << i << " of type " << type << " can't be passed by pointer";
    args.push_back(
        cast(type, LLVM::LoadOp::create(b, loc, lowered, slot(numResults + i))));
  }
  SmallVector<Value> results;
  if (into)
    results = callInto(b, loc, func, into, args, types, slot);
  else
    results = func::CallOp::create(b, loc, func, args).getResults();
  for (auto [i, result] : llvm::enumerate(results)) {
    Type lowered = types.convertType(result.getType());
    if (!lowered)
      return func.emitOpError("result ") << i << " of type " << result.getType()
                                         << " can't be passed by pointer";
    LLVM::StoreOp::create(b, loc, cast(lowered, result), slot(i));
  }
  func::ReturnOp::create(b, loc);
  return success();
}

namespace {
struct PackedEntryPass
    : public ansor::impl::PackedEntryPassBase<PackedEntryPass> {
  void runOnOperation() override {
    LLVMTypeConverter types(&getContext());
    SmallVector<func::FuncOp> funcs(getOperation().getOps<func::FuncOp>());
    SmallVector<func::FuncOp> intos;
    for (func::FuncOp func : funcs) {
      auto symbol = func->getAttrOfType<FlatSymbolRefAttr>(kIntoAttr);
      intos.push_back(symbol ? getOperation().lookupSymbol<func::FuncOp>(symbol)
                             : func::FuncOp());
    }
    // Marks of the search mean nothing from here on.
    getOperation()->walk([](Operation *op) {
      for (NamedAttribute attr : llvm::to_vector(op->getDiscardableAttrs()))
        if (attr.getName().getValue().starts_with("ansor.") &&
            attr.getName() != kProfileAttr)
          op->removeDiscardableAttr(attr.getName());
    });
    for (func::FuncOp func : funcs)
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        func.removeArgAttr(i, StringAttr::get(&getContext(), kWeightAttr));
    SmallVector<std::string> names;
    for (func::FuncOp func : funcs)
      names.push_back((func.getName() + "_packed").str());
    renameLibraryNames(getOperation());
    for (auto [func, into, name] : llvm::zip_equal(funcs, intos, names)) {
      if (func.isExternal())
        continue;
      if (func.isPrivate()) {
        // Two objects may have tasks of one name.
        func->setAttr("llvm.linkage",
                      LLVM::LinkageAttr::get(&getContext(),
                                             LLVM::Linkage::Internal));
        continue;
      }
      if (failed(addPackedEntry(func, into, name, types)))
        return signalPassFailure();
      func->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                    UnitAttr::get(&getContext()));
    }
  }
};
} // namespace

static llvm::json::Value describeType(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    os << shaped.getElementType();
    llvm::json::Array shape;
    if (shaped.hasRank())
      for (int64_t size : shaped.getShape())
        shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
    return llvm::json::Object{
        {"kind", "memref"}, {"type", text}, {"shape", std::move(shape)}};
  }
  os << type;
  return llvm::json::Object{{"kind", "scalar"}, {"type", text}};
}

llvm::json::Value ansor::describeEntry(Operation *op) {
  auto func = cast<func::FuncOp>(op);
  bool task = func->hasAttr(kTaskAttr);
  llvm::json::Array args, results;
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
    args.push_back(describeType(type));
    if (func.getArgAttr(i, kWeightAttr))
      args.back().getAsObject()->try_emplace("weight", true);
  }
  if (!task)
    for (Type type : func.getResultTypes())
      results.push_back(describeType(type));
  return llvm::json::Object{
      {"entry", func.getName()},
      {"args", std::move(args)},
      {"results", std::move(results)},
      {"inits", task ? static_cast<int64_t>(func.getNumResults()) : 0}};
}

llvm::json::Value ansor::describePrepack(Operation *op) {
  auto func = cast<func::FuncOp>(op);
  PrepackedFunction parts = getPrepacked(func);
  if (!parts.pack || !parts.run)
    return nullptr;
  // The function is two calls, which tell where each operand comes from.
  func::CallOp packing, running;
  for (auto call : func.getOps<func::CallOp>()) {
    if (call.getCallee() == parts.pack.getSymName())
      packing = call;
    else if (call.getCallee() == parts.run.getSymName())
      running = call;
  }
  if (!packing || !running)
    return nullptr;
  llvm::json::Array args, results, runArgs;
  for (Value value : packing.getOperands())
    args.push_back(int64_t(cast<BlockArgument>(value).getArgNumber()));
  for (Type type : packing.getResultTypes())
    results.push_back(describeType(type));
  for (Value value : running.getOperands()) {
    if (auto arg = dyn_cast<BlockArgument>(value))
      runArgs.push_back(int64_t(arg.getArgNumber()));
    else
      runArgs.push_back(-1 - int64_t(cast<OpResult>(value).getResultNumber()));
  }
  return llvm::json::Object{{"entry", parts.pack.getSymName()},
                            {"args", std::move(args)},
                            {"results", std::move(results)},
                            {"run", parts.run.getSymName()},
                            {"run_args", std::move(runArgs)}};
}
