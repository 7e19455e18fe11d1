//===- Sizes.cpp - Dynamic extents fixed to given sizes ---------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Task/Sizes.h"
#include "ansor/IR/AnsorDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ansor;

/// Copies of one function, at most.
static constexpr size_t kMaxInstances = 64;
/// Times that sizes are propagated: reshapes by tensors of sizes take a few.
static constexpr int kRounds = 4;

StringRef ansor::getDynamicSizes(ModuleOp module) {
  auto sizes = module->getAttrOfType<StringAttr>(kDynamicSizesAttr);
  return sizes ? sizes.getValue() : StringRef();
}

bool ansor::hasDynamicArguments(func::FuncOp func) {
  return llvm::any_of(func.getArgumentTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  });
}

bool ansor::hasDynamicFunctions(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp func) {
    return !func.isExternal() && func.isPublic() && hasDynamicArguments(func);
  });
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

SmallVector<DynamicExtent> ansor::findDynamicExtents(func::FuncOp func) {
  // Dimensions of values, numbered in order of appearance.
  llvm::MapVector<std::pair<Value, unsigned>, unsigned> numbers;
  llvm::EquivalenceClasses<unsigned> classes;
  auto number = [&](Value value, unsigned dim) {
    unsigned next = numbers.size();
    auto [it, isNew] = numbers.insert({{value, dim}, next});
    if (isNew)
      classes.insert(it->second);
    return it->second;
  };
  auto unite = [&](Value a, unsigned dimA, Value b, unsigned dimB) {
    classes.unionSets(number(a, dimA), number(b, dimB));
  };
  for (BlockArgument arg : func.getArguments())
    if (auto type = dyn_cast<RankedTensorType>(arg.getType()))
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim))
          number(arg, dim);
  size_t numOwn = numbers.size();

  func.walk([&](Operation *op) {
    if (auto linalg = dyn_cast<linalg::LinalgOp>(op)) {
      SmallVector<std::optional<std::pair<Value, unsigned>>> first(
          linalg.getNumLoops());
      for (OpOperand &operand : op->getOpOperands())
        for (auto [dim, expr] : llvm::enumerate(
                 linalg.getMatchingIndexingMap(&operand).getResults())) {
          auto loop = dyn_cast<AffineDimExpr>(expr);
          if (!loop)
            continue;
          auto &seen = first[loop.getPosition()];
          if (seen)
            unite(seen->first, seen->second, operand.get(), dim);
          else
            seen = {operand.get(), dim};
        }
    }
    if (auto dps = dyn_cast<DestinationStyleOpInterface>(op)) {
      for (auto [result, init] :
           llvm::zip(op->getResults(), dps.getDpsInits()))
        if (auto type = dyn_cast<RankedTensorType>(result.getType()))
          for (int64_t dim = 0; dim < type.getRank(); ++dim)
            unite(result, dim, init, dim);
    } else if (auto cast = dyn_cast<tensor::CastOp>(op)) {
      if (auto type = dyn_cast<RankedTensorType>(cast.getType());
          type && isa<RankedTensorType>(cast.getSource().getType()))
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          unite(cast.getResult(), dim, cast.getSource(), dim);
    } else if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      unsigned next = 0;
      for (int64_t dim = 0; dim < empty.getType().getRank(); ++dim) {
        if (!empty.getType().isDynamicDim(dim))
          continue;
        auto size =
            empty.getDynamicSizes()[next++].getDefiningOp<tensor::DimOp>();
        std::optional<int64_t> index =
            size ? size.getConstantIndex() : std::nullopt;
        if (index)
          unite(empty.getResult(), dim, size.getSource(), *index);
      }
    }
  });

  SmallVector<DynamicExtent> extents;
  llvm::SmallDenseMap<unsigned, unsigned> extentOf;
  for (auto &[place, own] : llvm::make_range(
           numbers.begin(), std::next(numbers.begin(), numOwn))) {
    auto [it, isNew] =
        extentOf.try_emplace(classes.getLeaderValue(own), extents.size());
    if (isNew)
      extents.emplace_back();
    extents[it->second].places.emplace_back(
        cast<BlockArgument>(place.first).getArgNumber(), place.second);
  }
  return extents;
}

//===----------------------------------------------------------------------===//
// Reading the sizes
//===----------------------------------------------------------------------===//

namespace {
/// One list: sizes of an extent, or (without a number) of all others.
struct SizeList {
  std::optional<unsigned> extent;
  SmallVector<int64_t> sizes;
};
} // namespace

static FailureOr<SmallVector<SizeList>> parseSizes(ModuleOp module,
                                                   StringRef text) {
  auto fail = [&](const Twine &what) {
    return module.emitError()
           << "dynamic sizes \"" << text << "\": " << what
           << "; write lists as in \"?=32,128\" or \"d0=1,8;?=64\"";
  };
  SmallVector<SizeList> lists;
  SmallVector<StringRef> parts;
  text.split(parts, ';');
  for (StringRef part : parts) {
    auto [name, values] = part.split('=');
    name = name.trim();
    SizeList list;
    unsigned extent;
    if (name.consume_front("d") && !name.getAsInteger(10, extent))
      list.extent = extent;
    else if (name != "?")
      return fail("'" + part + "' begins neither with '?=' nor with 'd0='");
    if (llvm::any_of(lists, [&](const SizeList &other) {
          return other.extent == list.extent;
        }))
      return fail("a second list for '" + part.split('=').first.trim() + "'");
    SmallVector<StringRef> sizes;
    values.split(sizes, ',');
    for (StringRef size : sizes) {
      int64_t value;
      if (size.trim().getAsInteger(10, value) || value < 1)
        return fail("'" + size + "' is no size");
      if (!llvm::is_contained(list.sizes, value))
        list.sizes.push_back(value);
    }
    lists.push_back(std::move(list));
  }
  return lists;
}

/// Whether `list` gives the size of `extent`.
static bool gives(const SizeList &list, unsigned extent,
                  ArrayRef<SizeList> lists) {
  if (list.extent)
    return *list.extent == extent;
  return llvm::none_of(
      lists, [&](const SizeList &other) { return other.extent == extent; });
}

/// Sizes of all extents, for each copy, at most kMaxInstances; empty if some
/// extent has none. `count` is the number of all combinations.
static SmallVector<SmallVector<int64_t>> combine(ArrayRef<SizeList> lists,
                                                 unsigned numExtents,
                                                 uint64_t &count) {
  count = 1;
  SmallVector<SmallVector<int64_t>> instances = {
      SmallVector<int64_t>(numExtents, 0)};
  for (const SizeList &list : lists) {
    SmallVector<unsigned> given;
    for (unsigned extent = 0; extent < numExtents; ++extent)
      if (gives(list, extent, lists))
        given.push_back(extent);
    if (given.empty())
      continue;
    count = llvm::SaturatingMultiply<uint64_t>(count, list.sizes.size());
    // The first ones come from the first ones: the rest need not be made.
    SmallVector<SmallVector<int64_t>> next;
    for (const SmallVector<int64_t> &instance : instances)
      for (int64_t size : list.sizes) {
        if (next.size() == kMaxInstances)
          break;
        next.push_back(instance);
        for (unsigned extent : given)
          next.back()[extent] = size;
      }
    instances = std::move(next);
  }
  if (llvm::is_contained(instances.front(), 0))
    return {};
  return instances;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Reshapes whose shape has become a constant: to static types.
static void foldReshapes(func::FuncOp func) {
  SmallVector<tensor::ReshapeOp> reshapes;
  func.walk([&](tensor::ReshapeOp op) { reshapes.push_back(op); });
  for (tensor::ReshapeOp op : reshapes) {
    DenseIntElementsAttr shape;
    Value source = op.getSource();
    if (auto cast = source.getDefiningOp<tensor::CastOp>())
      source = cast.getSource();
    auto from = dyn_cast<RankedTensorType>(source.getType());
    if (!matchPattern(op.getShape(), m_Constant(&shape)) || !from ||
        !from.hasStaticShape() || !isa<RankedTensorType>(op.getType()))
      continue;
    SmallVector<int64_t> sizes;
    int64_t count = 1;
    for (const APInt &size : shape) {
      sizes.push_back(size.getSExtValue());
      count = size.isNegative() ? -1 : count * sizes.back();
    }
    if (count != from.getNumElements() || count == 0)
      continue;
    OpBuilder b(op);
    Location loc = op.getLoc();
    auto to = RankedTensorType::get(sizes, from.getElementType());
    // By way of a single dimension: canonicalization finds the short one.
    auto reshape = [&](RankedTensorType type) {
      if (source.getType() == type)
        return;
      auto groups = getReassociationIndicesForReshape(
          cast<RankedTensorType>(source.getType()), type);
      int64_t rank = cast<RankedTensorType>(source.getType()).getRank();
      if (rank > type.getRank())
        source = tensor::CollapseShapeOp::create(b, loc, type, source, *groups);
      else
        source = tensor::ExpandShapeOp::create(b, loc, type, source, *groups);
    };
    if (from != to && (from.getRank() == to.getRank() ||
                       !getReassociationIndicesForReshape(from, to)))
      reshape(RankedTensorType::get(count, from.getElementType()));
    reshape(to);
    op.replaceAllUsesWith(
        tensor::CastOp::create(b, loc, op.getType(), source).getResult());
    op.erase();
  }
}

/// A copy of `func` with static arguments, outside of any module; null if it
/// does not verify.
static func::FuncOp makeInstance(func::FuncOp func,
                                 ArrayRef<DynamicExtent> extents,
                                 ArrayRef<int64_t> sizes, StringRef name) {
  SmallVector<Type> types(func.getArgumentTypes());
  for (auto [extent, size] : llvm::zip_equal(extents, sizes))
    for (auto [arg, dim] : extent.places) {
      auto type = cast<RankedTensorType>(types[arg]);
      SmallVector<int64_t> shape(type.getShape());
      shape[dim] = size;
      types[arg] = type.clone(shape);
    }
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(func.getLoc()));
  func::FuncOp copy = func.clone();
  scratch->push_back(copy);
  copy.setName(name);
  copy.setPrivate();
  OpBuilder b(copy.getBody());
  for (auto [arg, type] : llvm::zip_equal(copy.getArguments(), types)) {
    Type old = arg.getType();
    if (old == type)
      continue;
    arg.setType(type);
    auto cast = tensor::CastOp::create(b, copy.getLoc(), old, arg);
    arg.replaceAllUsesExcept(cast, cast);
  }
  copy.setFunctionType(
      b.getFunctionType(types, copy.getFunctionType().getResults()));

  // Sizes that follow from the arguments become known bit by bit.
  PassManager pm(func.getContext(), ModuleOp::getOperationName());
  pm.enableVerifier(false);
  pm.addPass(createCanonicalizerPass());
  pm.addPass(memref::createResolveShapedTypeResultDimsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  for (int round = 0; round < kRounds; ++round) {
    if (failed(pm.run(*scratch)))
      return nullptr;
    if (round + 1 < kRounds)
      foldReshapes(copy);
  }
  // Results as static as they have become.
  SmallVector<Type> results(copy.getFunctionType().getResults());
  bool several = false;
  for (Block &block : copy.getBody()) {
    auto ret = dyn_cast<func::ReturnOp>(block.getTerminator());
    if (!ret)
      continue;
    if (several)
      break;
    several = true;
    for (OpOperand &operand : ret->getOpOperands()) {
      auto cast = operand.get().getDefiningOp<tensor::CastOp>();
      if (!cast || !isa<RankedTensorType>(cast.getSource().getType()) ||
          llvm::count_if(copy.getBody(), [](Block &other) {
            return isa<func::ReturnOp>(other.getTerminator());
          }) != 1)
        continue;
      operand.set(cast.getSource());
      results[operand.getOperandNumber()] = cast.getSource().getType();
      if (cast->use_empty())
        cast.erase();
    }
  }
  copy.setFunctionType(b.getFunctionType(types, results));
  if (failed(verify(copy, /*verifyRecursively=*/true)))
    return nullptr;
  copy->remove();
  return copy;
}

/// Calls `callee`, casting what differs in type.
static SmallVector<Value> callCast(OpBuilder &b, Location loc,
                                   func::FuncOp callee, ValueRange operands,
                                   TypeRange results) {
  auto castTo = [&](Value value, Type type) -> Value {
    return value.getType() == type
               ? value
               : tensor::CastOp::create(b, loc, type, value).getResult();
  };
  SmallVector<Value> cast;
  for (auto [value, type] :
       llvm::zip_equal(operands, callee.getArgumentTypes()))
    cast.push_back(castTo(value, type));
  auto call = func::CallOp::create(b, loc, callee, cast);
  SmallVector<Value> values;
  for (auto [value, type] : llvm::zip_equal(call.getResults(), results))
    values.push_back(castTo(value, type));
  return values;
}

/// Fills the body of `func`: a chain of guards, in the order of the copies.
static void makeDispatcher(
    func::FuncOp func, func::FuncOp general, ArrayRef<DynamicExtent> extents,
    ArrayRef<std::pair<func::FuncOp, SmallVector<int64_t>>> instances) {
  OpBuilder b(func.getContext());
  Location loc = func.getLoc();
  Block *entry = func.addEntryBlock();
  b.setInsertionPointToStart(entry);
  SmallVector<SmallVector<Value>> dims;
  for (const DynamicExtent &extent : extents) {
    dims.emplace_back();
    for (auto [arg, dim] : extent.places)
      dims.back().push_back(
          tensor::DimOp::create(b, loc, entry->getArgument(arg), dim));
  }
  TypeRange results = func.getFunctionType().getResults();
  scf::IfOp outermost;
  for (auto &[instance, sizes] : instances) {
    Value all;
    for (auto [places, size] : llvm::zip_equal(dims, sizes)) {
      Value constant = arith::ConstantIndexOp::create(b, loc, size);
      for (Value dim : places) {
        Value equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                            dim, constant);
        all = all ? arith::AndIOp::create(b, loc, all, equal).getResult()
                  : equal;
      }
    }
    auto branch = scf::IfOp::create(b, loc, results, all, /*withElse=*/true);
    if (!outermost)
      outermost = branch;
    else
      scf::YieldOp::create(b, loc, branch.getResults());
    if (results.empty()) {
      branch.thenBlock()->clear();
      branch.elseBlock()->clear();
    }
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(
        b, loc, callCast(b, loc, instance, entry->getArguments(), results));
    b.setInsertionPointToStart(branch.elseBlock());
  }
  scf::YieldOp::create(
      b, loc, callCast(b, loc, general, entry->getArguments(), results));
  b.setInsertionPointToEnd(entry);
  func::ReturnOp::create(b, loc, outermost.getResults());
}

LogicalResult ansor::specializeSizes(ModuleOp module, StringRef sizes,
                                     unsigned *count) {
  if (count)
    *count = 0;
  FailureOr<SmallVector<SizeList>> lists = parseSizes(module, sizes);
  if (failed(lists))
    return failure();
  SmallVector<func::FuncOp> functions;
  unsigned mostExtents = 0;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal() && func.isPublic() && hasDynamicArguments(func)) {
      functions.push_back(func);
      mostExtents = std::max<unsigned>(mostExtents,
                                       findDynamicExtents(func).size());
    }
  for (const SizeList &list : *lists)
    if (list.extent && *list.extent >= mostExtents)
      return module.emitError()
             << "dynamic sizes \"" << sizes << "\": there is no extent d"
             << *list.extent << "; the public functions have "
             << (mostExtents ? "at most " + std::to_string(mostExtents) : "no")
             << " different dynamic extents in their arguments";
  SymbolTable symbols(module);
  for (func::FuncOp func : functions) {
    SmallVector<DynamicExtent> extents = findDynamicExtents(func);
    uint64_t numCombinations;
    SmallVector<SmallVector<int64_t>> wanted =
        combine(*lists, extents.size(), numCombinations);
    if (wanted.empty()) {
      func.emitRemark() << "dynamic sizes \"" << sizes
                        << "\" leave an extent of @" << func.getSymName()
                        << " open; it stays as it is";
      continue;
    }
    if (numCombinations > wanted.size())
      func.emitRemark() << "only the first " << kMaxInstances << " of "
                        << numCombinations
                        << " combinations of sizes are used";
    SmallVector<std::pair<func::FuncOp, SmallVector<int64_t>>> instances;
    for (const SmallVector<int64_t> &instance : wanted) {
      std::string text;
      llvm::raw_string_ostream os(text);
      llvm::interleave(instance, os, "x");
      func::FuncOp copy =
          makeInstance(func, extents, instance,
                       (func.getSymName() + "_" + text).str());
      if (!copy) {
        func.emitRemark() << "@" << func.getSymName()
                          << " can't have the sizes " << text;
        continue;
      }
      symbols.insert(copy, std::next(Block::iterator(func)));
      instances.emplace_back(copy, instance);
    }
    if (instances.empty())
      continue;
    // The old body under a new name; calls inside the module keep the old one.
    func::FuncOp general = func.clone();
    general.setName((func.getSymName() + "_general").str());
    general.setPrivate();
    symbols.insert(general, std::next(Block::iterator(func)));
    func.eraseBody();
    makeDispatcher(func, general, extents, instances);
    if (count)
      *count += instances.size();
  }
  module->setAttr(kDynamicSizesAttr,
                  StringAttr::get(module.getContext(), sizes));
  return success();
}
