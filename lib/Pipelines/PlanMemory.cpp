//===- PlanMemory.cpp - See Passes.td ---------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Entry.h"
#include "ansor/Pipelines/MemoryPlan.h"
#include "ansor/Pipelines/Passes.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

static constexpr int64_t kAlignment = 64;
/// A page, so that what lies behind the arena shares none with it.
static constexpr int64_t kArenaAlignment = 4096;

//===----------------------------------------------------------------------===//
// What can be placed
//===----------------------------------------------------------------------===//

namespace {
/// A buffer that has a place, or the memory of what a step calls.
struct Placed {
  memref::AllocOp alloc; ///< null: of calls
  SmallVector<func::CallOp> calls;
  LiveBuffer live;
};

/// The buffers of one block and of what is nested in it.
struct Scope {
  Block *block = nullptr;
  std::vector<Placed> placed;
  int64_t bytes = 0;

  void plan() {
    std::vector<LiveBuffer> live;
    for (Placed &buffer : placed)
      live.push_back(buffer.live);
    bytes = planMemory(live, kAlignment);
    for (auto [buffer, result] : llvm::zip_equal(placed, live))
      buffer.live = result;
  }
  /// Gives up the largest buffers until `limit` bytes are enough.
  void planWithin(int64_t limit) {
    for (plan(); bytes > limit; plan()) {
      auto largest = placed.end();
      for (auto it = placed.begin(); it != placed.end(); ++it)
        if (it->alloc && (largest == placed.end() ||
                          it->live.bytes > largest->live.bytes))
          largest = it;
      if (largest == placed.end())
        return;
      placed.erase(largest);
    }
  }
};

struct Function {
  Scope scope;
  std::vector<Scope> threads; ///< bodies of parallel loops
  /// The entry that this is the body of, or this, if it takes no memory from
  /// its callers.
  std::string entry;
  bool done = false, active = false, recursive = false;
};
} // namespace

/// Parallel loops around `op`, innermost first.
static SmallVector<scf::ParallelOp> parallelLoopsAround(Operation *op) {
  SmallVector<scf::ParallelOp> loops;
  for (auto loop = op->getParentOfType<scf::ParallelOp>(); loop;
       loop = loop->getParentOfType<scf::ParallelOp>())
    loops.push_back(loop);
  return loops;
}

/// The steps of `block` in which the buffer of `alloc` is used, if it can be
/// placed in memory that the block has; its frees.
static std::optional<LiveBuffer>
findLifetime(memref::AllocOp alloc, Block *block,
             const BufferViewFlowAnalysis &views,
             const DenseMap<Operation *, int64_t> &steps) {
  LiveBuffer live;
  live.bytes = bytesOf(alloc.getType());
  live.first = INT64_MAX;
  live.last = -1;
  if (live.bytes <= 0 || !alloc.getSymbolOperands().empty())
    return std::nullopt;
  BufferViewFlowAnalysis::ValueSetT aliases = views.resolve(alloc);
  bool nested = alloc->getBlock() != block;
  for (Value alias : aliases)
    for (Operation *user : alias.getUsers()) {
      if (isa<memref::DeallocOp>(user)) {
        if (alias != alloc.getResult())
          return std::nullopt; // may free another one
        continue;
      }
      Dialect *dialect = user->getDialect();
      if (!dialect || isa<LLVM::LLVMDialect>(dialect) ||
          isa<UnrealizedConversionCastOp, memref::ReallocOp,
              memref::ExtractAlignedPointerAsIndexOp>(user))
        return std::nullopt;
      if (user->hasTrait<OpTrait::IsTerminator>() &&
          (nested || user->getBlock() == block))
        return std::nullopt; // escapes, or lives in the next iteration
      for (Value result : user->getResults())
        if (isa<BaseMemRefType>(result.getType()) && !aliases.contains(result))
          return std::nullopt;
      Operation *step = block->findAncestorOpInBlock(*user);
      if (!step)
        return std::nullopt;
      live.first = std::min(live.first, steps.lookup(step));
      live.last = std::max(live.last, steps.lookup(step));
    }
  if (live.last < 0)
    return std::nullopt;
  return live;
}

static DenseMap<Operation *, int64_t> numberSteps(Block *block) {
  DenseMap<Operation *, int64_t> steps;
  for (Operation &op : *block)
    steps[&op] = int64_t(steps.size());
  return steps;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Adds a global of `bytes` bytes, and a function that returns it. It is called
/// where it is used: an op without effects would be moved out of the loop whose
/// threads have memory of their own.
static func::FuncOp makeBuffer(ModuleOp module, StringRef name, int64_t bytes,
                               bool ofThread) {
  MLIRContext *context = module.getContext();
  Location loc = module.getLoc();
  OpBuilder b(context);
  b.setInsertionPointToEnd(module.getBody());
  Type array =
      LLVM::LLVMArrayType::get(IntegerType::get(context, 8), uint64_t(bytes));
  SymbolTable symbols(module);
  auto global = LLVM::GlobalOp::create(
      b, loc, array, /*isConstant=*/false, LLVM::Linkage::Internal,
      (name + "_memory").str(), Attribute(),
      ofThread ? kAlignment : kArenaAlignment, /*addrSpace=*/0,
      /*dsoLocal=*/true, ofThread);
  {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&global.getInitializerRegion());
    Value zero = LLVM::ZeroOp::create(b, loc, array);
    LLVM::ReturnOp::create(b, loc, zero);
  }
  auto type = MemRefType::get({bytes}, IntegerType::get(context, 8));
  auto func = func::FuncOp::create(b, loc, name,
                                   FunctionType::get(context, {}, {type}));
  func.setPrivate();
  b.setInsertionPointToStart(func.addEntryBlock());
  LLVMTypeConverter types(context);
  Value address = LLVM::AddressOfOp::create(b, loc, global);
  if (ofThread) {
    // LLVM's code for the address takes vector registers that the library's
    // part of it, in its first call, uses: keep that out of other code.
    address = LLVM::ThreadlocalAddressOp::create(b, loc, address.getType(),
                                                 address);
    func->setAttr("passthrough", b.getStrArrayAttr({"noinline"}));
  }
  Value view =
      MemRefDescriptor::fromStaticShape(b, loc, types, type, address);
  func::ReturnOp::create(
      b, loc,
      UnrealizedConversionCastOp::create(b, loc, type, view).getResults());
  return func;
}

/// Adds function `name`, which stores the address and the size of `arena`.
static void addWorkspace(func::FuncOp entry, StringRef name,
                         func::FuncOp arena) {
  MLIRContext *context = entry.getContext();
  Location loc = entry.getLoc();
  OpBuilder b(context);
  b.setInsertionPointAfter(entry);
  Type ptr = LLVM::LLVMPointerType::get(context), i64 = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), ptr);
  auto func = LLVM::LLVMFuncOp::create(
      b, loc, name, type);
  b.setInsertionPointToStart(func.addEntryBlock(b));
  auto module = entry->getParentOfType<ModuleOp>();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(
      (arena.getName() + "_memory").str());
  LLVM::StoreOp::create(b, loc, LLVM::AddressOfOp::create(b, loc, global),
                        func.getArgument(0));
  Value bytes = LLVM::ConstantOp::create(
      b, loc, i64,
      b.getI64IntegerAttr(
          cast<MemRefType>(arena.getResultTypes()[0]).getNumElements()));
  Value second = LLVM::GEPOp::create(b, loc, ptr, i64, func.getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{1});
  LLVM::StoreOp::create(b, loc, bytes, second);
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

static Value viewAt(OpBuilder &b, Location loc, Value base, int64_t offset,
                    MemRefType type) {
  Value shift = arith::ConstantIndexOp::create(b, loc, offset);
  return memref::ViewOp::create(b, loc, type, base, shift, ValueRange());
}

/// The arena at the beginning of an entry, given back at its end: the global if
/// no other call has it, else new memory.
static Value takeArena(func::FuncOp func, func::FuncOp arena,
                       StringRef flagName) {
  Block &block = func.getBody().front();
  Location loc = func.getLoc();
  OpBuilder b(func);
  auto flagType = MemRefType::get({}, b.getI32Type());
  memref::GlobalOp::create(
      b, loc, flagName, b.getStringAttr("private"), flagType,
      DenseElementsAttr::get(RankedTensorType::get({}, b.getI32Type()), 0),
      /*constant=*/false, IntegerAttr());
  b.setInsertionPointToStart(&block);
  Value one = arith::ConstantIntOp::create(b, loc, 1, 32);
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
  Value flag = memref::GetGlobalOp::create(b, loc, flagType, flagName);
  Value old = memref::AtomicRMWOp::create(
      b, loc, arith::AtomicRMWKind::assign, one, flag, ValueRange());
  Value isFree = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, old,
                                       zero);
  auto type = cast<MemRefType>(arena.getResultTypes()[0]);
  auto choice = scf::IfOp::create(
      b, loc, isFree,
      [&](OpBuilder &nested, Location loc) {
        scf::YieldOp::create(
            nested, loc,
            func::CallOp::create(nested, loc, arena).getResults());
      },
      [&](OpBuilder &nested, Location loc) {
        Value alloc = memref::AllocOp::create(
            nested, loc, type, nested.getI64IntegerAttr(kAlignment));
        scf::YieldOp::create(nested, loc, alloc);
      });
  Value base = choice.getResult(0);
  b.setInsertionPoint(block.getTerminator());
  auto end = scf::IfOp::create(
      b, loc, isFree,
      [&](OpBuilder &nested, Location loc) {
        memref::AtomicRMWOp::create(nested, loc, arith::AtomicRMWKind::assign,
                                    zero, flag, ValueRange());
        scf::YieldOp::create(nested, loc);
      },
      [&](OpBuilder &nested, Location loc) {
        memref::DeallocOp::create(nested, loc, base);
        scf::YieldOp::create(nested, loc);
      });
  choice->setAttr(kArenaAttr, b.getUnitAttr());
  end->setAttr(kArenaAttr, b.getUnitAttr());
  return base;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct PlanMemoryPass
    : public ansor::impl::PlanMemoryPassBase<PlanMemoryPass> {
  using PlanMemoryPassBase::PlanMemoryPassBase;

  void runOnOperation() override;

private:
  void findInner();
  void plan(func::FuncOp func);
  bool takesMemory(func::FuncOp func) const;
  void rewrite(Scope &scope, Value base);

  /// In the order of the module.
  llvm::MapVector<func::FuncOp, Function> functions;
  /// Those that may run in the body of a parallel loop, or are used otherwise
  /// than by calls.
  llvm::DenseSet<Operation *> excluded;
};
} // namespace

/// Fills `excluded`.
void PlanMemoryPass::findInner() {
  ModuleOp module = getOperation();
  SmallVector<func::FuncOp> work;
  auto exclude = [&](StringRef name) {
    auto func = module.lookupSymbol<func::FuncOp>(name);
    if (func && excluded.insert(func).second)
      work.push_back(func);
  };
  module.walk([&](Operation *op) {
    auto call = dyn_cast<func::CallOp>(op);
    if (isa<func::FuncOp>(op) || (call && parallelLoopsAround(call).empty()))
      return;
    op->getAttrDictionary().walk(
        [&](SymbolRefAttr symbol) { exclude(symbol.getLeafReference()); });
  });
  while (!work.empty())
    work.pop_back_val().walk(
        [&](func::CallOp call) { exclude(call.getCallee()); });
}

/// Whether callers give `func` its memory.
bool PlanMemoryPass::takesMemory(func::FuncOp func) const {
  auto found = functions.find(func);
  return found != functions.end() && found->second.done &&
         found->second.entry.empty() && found->second.scope.bytes > 0;
}

/// Plans what `func` needs, after what it calls.
void PlanMemoryPass::plan(func::FuncOp func) {
  Function &function = functions[func];
  if (function.done || function.active)
    return;
  function.active = true;
  func.walk([&](func::CallOp call) {
    auto callee = getOperation().lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || !functions.contains(callee))
      return;
    Function &called = functions[callee];
    called.recursive |= called.active && !called.done;
    plan(callee);
  });

  BufferViewFlowAnalysis views(func);
  Block *body = &func.getBody().front();
  DenseMap<Operation *, int64_t> steps = numberSteps(body);
  Scope &scope = function.scope;
  scope.block = body;
  std::map<int64_t, Placed> calls;
  func.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op);
        alloc && parallelLoopsAround(alloc).empty()) {
      if (auto live = findLifetime(alloc, body, views, steps))
        scope.placed.push_back({alloc, {}, *live});
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee =
          getOperation().lookupSymbol<func::FuncOp>(call.getCallee());
      if (!callee || !takesMemory(callee))
        return;
      int64_t step = steps.lookup(body->findAncestorOpInBlock(*call));
      Placed &placed = calls[step];
      placed.calls.push_back(call);
      placed.live.first = placed.live.last = step;
      placed.live.bytes =
          std::max(placed.live.bytes, functions[callee].scope.bytes);
    } else if (auto loop = dyn_cast<scf::ParallelOp>(op);
               loop && parallelLoopsAround(loop).empty()) {
      Scope thread;
      thread.block = loop.getBody();
      DenseMap<Operation *, int64_t> inner = numberSteps(thread.block);
      loop.walk([&](memref::AllocOp alloc) {
        if (parallelLoopsAround(alloc).size() != 1)
          return;
        if (auto live = findLifetime(alloc, thread.block, views, inner))
          thread.placed.push_back({alloc, {}, *live});
      });
      thread.planWithin(maxThread);
      if (!thread.placed.empty())
        function.threads.push_back(std::move(thread));
    }
  });
  for (auto &[step, placed] : calls)
    scope.placed.push_back(placed);
  scope.planWithin(maxArena);
  function.done = true;
  if (function.recursive)
    scope = Scope();
}

/// Puts the buffers of `scope` where they were planned in `base`.
void PlanMemoryPass::rewrite(Scope &scope, Value base) {
  for (Placed &placed : scope.placed) {
    if (placed.alloc) {
      memref::AllocOp alloc = placed.alloc;
      for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
        if (isa<memref::DeallocOp>(user))
          user->erase();
      OpBuilder b(alloc);
      alloc.replaceAllUsesWith(viewAt(b, alloc.getLoc(), base,
                                      placed.live.offset, alloc.getType()));
      alloc.erase();
      continue;
    }
    for (func::CallOp call : placed.calls) {
      auto callee = getOperation().lookupSymbol<func::FuncOp>(call.getCallee());
      OpBuilder b(call);
      auto type = MemRefType::get({functions[callee].scope.bytes},
                                  b.getIntegerType(8));
      call.getOperandsMutable().append(
          viewAt(b, call.getLoc(), base, placed.live.offset, type));
    }
  }
}

void PlanMemoryPass::runOnOperation() {
  ModuleOp module = getOperation();
  findInner();
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal() && func.getBody().hasOneBlock() &&
        !excluded.contains(func))
      functions[func].entry = func.isPrivate() ? "" : func.getName().str();
  for (auto func : module.getOps<func::FuncOp>())
    if (auto symbol = func->getAttrOfType<FlatSymbolRefAttr>(kIntoAttr)) {
      auto found = functions.find(
          module.lookupSymbol<func::FuncOp>(symbol.getValue()));
      if (found != functions.end())
        found->second.entry = func.getName().str();
    }
  SmallVector<func::FuncOp> order;
  for (auto &entry : functions)
    order.push_back(entry.first);
  for (func::FuncOp func : order)
    plan(func);

  int64_t threadBytes = 0;
  for (auto &[func, function] : functions)
    for (Scope &thread : function.threads)
      threadBytes = std::max(threadBytes, thread.bytes);
  SymbolTable symbols(module);
  auto uniqueName = [&](std::string name) {
    while (symbols.lookup(name) || symbols.lookup(name + "_memory") ||
           symbols.lookup(name + "_taken"))
      name += "_";
    return name;
  };
  func::FuncOp ofThread;
  if (threadBytes)
    ofThread = makeBuffer(module, uniqueName("ansor_thread"), threadBytes,
                          /*ofThread=*/true);
  for (func::FuncOp func : order) {
    Function &function = functions[func];
    for (Scope &thread : function.threads) {
      OpBuilder b = OpBuilder::atBlockBegin(thread.block);
      Value base =
          func::CallOp::create(b, func.getLoc(), ofThread).getResult(0);
      rewrite(thread, base);
    }
    if (!function.scope.bytes)
      continue;
    auto type = MemRefType::get({function.scope.bytes},
                                IntegerType::get(&getContext(), 8));
    if (function.entry.empty()) {
      unsigned position = func.getNumArguments();
      if (failed(func.insertArgument(position, type, DictionaryAttr(),
                                     func.getLoc())))
        return signalPassFailure();
      rewrite(function.scope, func.getArgument(position));
      continue;
    }
    std::string name = uniqueName(function.entry + "_arena");
    func::FuncOp arena =
        makeBuffer(module, name, function.scope.bytes, /*ofThread=*/false);
    rewrite(function.scope, takeArena(func, arena, name + "_taken"));
    std::string workspace = function.entry + "_workspace";
    if (!symbols.lookup(workspace))
      addWorkspace(func, workspace, arena);
  }
}
