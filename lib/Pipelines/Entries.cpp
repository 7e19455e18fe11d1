//===- Entries.cpp - Packed entries and their description -------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/Pipelines/Passes.h"
#include "ansor/Pipelines/Pipelines.h"
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

/// Adds `name`, the packed entry of `func`.
static LogicalResult addPackedEntry(func::FuncOp func, const std::string &name,
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
  auto call = func::CallOp::create(b, loc, func, args);
  for (auto [i, result] : llvm::enumerate(call.getResults())) {
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
    // Marks of the search mean nothing from here on.
    getOperation()->walk([](Operation *op) {
      for (NamedAttribute attr : llvm::to_vector(op->getDiscardableAttrs()))
        if (attr.getName().getValue().starts_with("ansor."))
          op->removeDiscardableAttr(attr.getName());
    });
    SmallVector<std::pair<func::FuncOp, std::string>> entries;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal() && !func.isPrivate())
        entries.emplace_back(func, (func.getName() + "_packed").str());
    renameLibraryNames(getOperation());
    for (auto &[func, name] : entries) {
      if (failed(addPackedEntry(func, name, types)))
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
  bool task = func->hasAttr("ansor.task");
  llvm::json::Array args, results;
  for (Type type : func.getArgumentTypes())
    args.push_back(describeType(type));
  if (!task)
    for (Type type : func.getResultTypes())
      results.push_back(describeType(type));
  return llvm::json::Object{
      {"entry", func.getName()},
      {"args", std::move(args)},
      {"results", std::move(results)},
      {"inits", task ? static_cast<int64_t>(func.getNumResults()) : 0}};
}
