//===- ConvertLayouts.cpp - See ansor/Task/NetworkLayout.h ------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rewrite: each op of the plan is made again beside the old one, which goes
// when all are made. A value is transposed at most once into each layout, right
// behind its definition.
//
//===----------------------------------------------------------------------===//

#include "LayoutPlan.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Support/Structured.h"
#include "ansor/Task/NetworkLayout.h"
#include "ansor/Task/Weights.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ansor;
using namespace mlir::ansor::detail;

template <typename T>
static SmallVector<T> permute(ArrayRef<T> list, ArrayRef<int64_t> order) {
  return order.empty() ? SmallVector<T>(list)
                       : applyPermutation(list, order);
}

static RankedTensorType permute(RankedTensorType type,
                                ArrayRef<int64_t> order) {
  return type.clone(permute(type.getShape(), order));
}

namespace {
class Converter {
public:
  explicit Converter(func::FuncOp func)
      : func(func), rewriter(func.getContext()) {}
  unsigned run(bool always);

private:
  Value getAs(Value value, ArrayRef<int64_t> order);
  Value makeAs(Value value, ArrayRef<int64_t> order);
  Value transpose(Value value, ArrayRef<int64_t> order, bool once);
  SmallVector<Value> remake(Operation *op, const OpLayout &layout);
  linalg::GenericOp remake(linalg::LinalgOp op, const OpLayout &layout);
  Value remake(tensor::PadOp op, const OpLayout &layout);
  Value remake(tensor::ConcatOp op, const OpLayout &layout);
  Value remake(tensor::ExpandShapeOp op, const OpLayout &layout);
  Value remake(tensor::CollapseShapeOp op, const OpLayout &layout);
  Value getOperandAs(Operation *op, unsigned number, const OpLayout &layout);

  func::FuncOp func;
  IRRewriter rewriter;
  /// The forms of a value that exist: the first is the one it is made in.
  DenseMap<Value, SmallVector<std::pair<Permutation, Value>, 2>> forms;
  DenseMap<Value, ValueKind> kinds;
};
} // namespace

//===----------------------------------------------------------------------===//
// Values in other layouts
//===----------------------------------------------------------------------===//

Value Converter::transpose(Value value, ArrayRef<int64_t> order, bool once) {
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  Value empty = tensor::EmptyOp::create(
      rewriter, loc,
      permute(ArrayRef(tensor::getMixedSizes(rewriter, loc, value)), order),
      type.getElementType());
  auto op = linalg::TransposeOp::create(rewriter, loc, value, empty, order);
  if (once)
    op->setAttr(kPrepackAttr, rewriter.getUnitAttr());
  return op->getResult(0);
}

/// Elementwise work on weights, like the widening of narrow ones: it can be
/// done on transposed ones, so that the wide ones are not kept.
static bool isWorkOnWeights(linalg::LinalgOp op) {
  return op && op.hasPureTensorSemantics() && op->getNumResults() == 1 &&
         op->hasOneUse() && op.getNumReductionLoops() == 0 &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation();
}

/// Makes `value` as new dimension i being dimension order[i].
Value Converter::makeAs(Value value, ArrayRef<int64_t> order) {
  rewriter.setInsertionPointAfterValue(value);
  auto type = cast<RankedTensorType>(value.getType());
  DenseElementsAttr constant;
  if (isUniform(value) && matchPattern(value, m_Constant(&constant)))
    return arith::ConstantOp::create(
        rewriter, value.getLoc(),
        constant.resizeSplat(permute(type, order)));
  if (isUniform(value)) {
    auto fill = value.getDefiningOp<linalg::FillOp>();
    Value old = fill ? fill.output() : value;
    auto empty = old.getDefiningOp<tensor::EmptyOp>();
    Value moved = tensor::EmptyOp::create(
        rewriter, value.getLoc(),
        permute(ArrayRef(empty ? empty.getMixedSizes()
                               : tensor::getMixedSizes(rewriter, value.getLoc(),
                                                       value)),
                order),
        type.getElementType());
    if (fill)
      moved = linalg::FillOp::create(rewriter, value.getLoc(), fill.value(),
                                     moved)
                  .getResult(0);
    return moved;
  }
  bool once = classifyValue(value, kinds) == ValueKind::Weight;
  // From the form that it was made in.
  auto known = forms.find(value);
  if (known != forms.end()) {
    auto [from, source] = known->second.front();
    SmallVector<int64_t> back = invertPermutationVector(from);
    rewriter.setInsertionPointAfterValue(source);
    return transpose(source, permute(ArrayRef(back), order), once);
  }
  if (auto op = value.getDefiningOp<linalg::LinalgOp>();
      once && isWorkOnWeights(op)) {
    OpLayout layout;
    AffineMap write = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    for (int64_t dim : order)
      layout.loopOrder.push_back(write.getDimPosition(dim));
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      Permutation &permutation = layout.operands.emplace_back().permutation;
      for (unsigned loop : layout.loopOrder)
        for (auto [dim, expr] : llvm::enumerate(map.getResults()))
          if (expr == getAffineDimExpr(loop, op.getContext()))
            permutation.push_back(dim);
      if (permutation.size() != map.getNumResults() ||
          llvm::is_sorted(permutation))
        permutation.clear();
    }
    layout.results.push_back(layout.operands.back());
    if (linalg::GenericOp moved = remake(op, layout))
      return moved->getResult(0);
    rewriter.setInsertionPointAfterValue(value);
  }
  return transpose(value, order, once);
}

/// `value` in the layout `order`, which is empty for the old one.
Value Converter::getAs(Value value, ArrayRef<int64_t> order) {
  auto known = forms.find(value);
  bool isOld = known == forms.end() || known->second.empty();
  if (isOld && order.empty())
    return value;
  SmallVector<int64_t> wanted(order);
  if (wanted.empty())
    wanted = llvm::to_vector(
        llvm::seq<int64_t>(cast<RankedTensorType>(value.getType()).getRank()));
  if (!isOld)
    for (auto &[form, made] : known->second)
      if (form == wanted)
        return made;
  OpBuilder::InsertionGuard guard(rewriter);
  Value made = makeAs(value, wanted);
  auto &list = forms[value];
  if (list.empty()) {
    // The old form is the first.
    SmallVector<int64_t> identity = llvm::to_vector(
        llvm::seq<int64_t>(static_cast<int64_t>(wanted.size())));
    list.emplace_back(identity, value);
  }
  list.emplace_back(wanted, made);
  return made;
}

Value Converter::getOperandAs(Operation *op, unsigned number,
                              const OpLayout &layout) {
  return getAs(op->getOperand(number), layout.operands[number].permutation);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

linalg::GenericOp Converter::remake(linalg::LinalgOp op,
                                    const OpLayout &layout) {
  SmallVector<Value> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands.push_back(getOperandAs(op, i, layout));
  rewriter.setInsertionPoint(op);
  auto copy = cast<linalg::LinalgOp>(rewriter.clone(*op));
  auto generic = dyn_cast<linalg::GenericOp>(copy.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> made =
        linalg::generalizeNamedOp(rewriter, copy);
    if (failed(made)) {
      rewriter.eraseOp(copy);
      return {};
    }
    generic = *made;
  }
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  for (auto [map, value] : llvm::zip_equal(maps, layout.operands))
    map = AffineMap::get(map.getNumDims(), map.getNumSymbols(),
                         permute(map.getResults(), value.permutation),
                         op.getContext());
  rewriter.modifyOpInPlace(generic, [&] {
    generic->setOperands(operands);
    generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    for (OpResult result : generic->getResults())
      result.setType(
          generic.getDpsInitOperand(result.getResultNumber())->get().getType());
  });
  FailureOr<linalg::GenericOp> ordered =
      linalg::interchangeGenericOp(rewriter, generic, layout.loopOrder);
  return succeeded(ordered) ? *ordered : generic;
}

Value Converter::remake(tensor::PadOp op, const OpLayout &layout) {
  ArrayRef<int64_t> order = layout.results[0].permutation;
  Value source = getOperandAs(op, 0, layout);
  rewriter.setInsertionPoint(op);
  auto pad = tensor::PadOp::create(
      rewriter, op.getLoc(), permute(op.getResultType(), order), source,
      permute(ArrayRef(op.getMixedLowPad()), order),
      permute(ArrayRef(op.getMixedHighPad()), order), op.getNofold());
  // What it fills in doesn't depend on the place.
  rewriter.cloneRegionBefore(op.getRegion(), pad.getRegion(),
                             pad.getRegion().begin());
  return pad;
}

Value Converter::remake(tensor::ConcatOp op, const OpLayout &layout) {
  ArrayRef<int64_t> order = layout.results[0].permutation;
  SmallVector<Value> inputs;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    inputs.push_back(getOperandAs(op, i, layout));
  rewriter.setInsertionPoint(op);
  int64_t dim = llvm::find(order, int64_t(op.getDim())) - order.begin();
  return tensor::ConcatOp::create(rewriter, op.getLoc(),
                                  permute(op.getResultType(), order), dim,
                                  inputs);
}

Value Converter::remake(tensor::ExpandShapeOp op, const OpLayout &layout) {
  ArrayRef<int64_t> order = layout.results[0].permutation;
  auto groups = permuteGroups(op.getResultType().getShape(),
                              op.getReassociationIndices(), order,
                              layout.operands[0].permutation);
  Value source = getOperandAs(op, 0, layout);
  rewriter.setInsertionPoint(op);
  return tensor::ExpandShapeOp::create(
      rewriter, op.getLoc(), permute(op.getResultType(), order), source,
      *groups, permute(ArrayRef(op.getMixedOutputShape()), order));
}

Value Converter::remake(tensor::CollapseShapeOp op, const OpLayout &layout) {
  auto groups = permuteGroups(op.getSrcType().getShape(),
                              op.getReassociationIndices(),
                              layout.operands[0].permutation,
                              layout.results[0].permutation);
  Value source = getOperandAs(op, 0, layout);
  rewriter.setInsertionPoint(op);
  return tensor::CollapseShapeOp::create(
      rewriter, op.getLoc(),
      permute(op.getResultType(), layout.results[0].permutation), source,
      *groups);
}

/// `op` in the layout; empty if that can't be.
SmallVector<Value> Converter::remake(Operation *op, const OpLayout &layout) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    linalg::GenericOp generic = remake(linalgOp, layout);
    if (!generic)
      return {};
    // A transposition of the front end may be none now.
    if (std::optional<AffineMap> map = getPermutation(generic);
        map && map->isIdentity() &&
        generic.getInputs()[0].getType() == generic->getResult(0).getType()) {
      Value source = generic.getInputs()[0];
      rewriter.eraseOp(generic);
      return {source};
    }
    return llvm::to_vector_of<Value>(generic->getResults());
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return {remake(pad, layout)};
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return {remake(concat, layout)};
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return {remake(expand, layout)};
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return {remake(collapse, layout)};

  ArrayRef<int64_t> order = layout.results[0].permutation;
  SmallVector<Value> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands.push_back(getOperandAs(op, i, layout));
  rewriter.setInsertionPoint(op);
  Location loc = op->getLoc();
  auto type = permute(cast<RankedTensorType>(op->getResult(0).getType()), order);
  if (isa<tensor::CastOp>(op))
    return {tensor::CastOp::create(rewriter, loc, type, operands[0])};
  auto slice = cast<OffsetSizeAndStrideOpInterface>(op);
  auto offsets = permute(ArrayRef(slice.getMixedOffsets()), order);
  auto sizes = permute(ArrayRef(slice.getMixedSizes()), order);
  auto strides = permute(ArrayRef(slice.getMixedStrides()), order);
  if (isa<tensor::ExtractSliceOp>(op))
    return {tensor::ExtractSliceOp::create(rewriter, loc, type, operands[0],
                                           offsets, sizes, strides)};
  return {tensor::InsertSliceOp::create(rewriter, loc, operands[0], operands[1],
                                        offsets, sizes, strides)};
}

/// Erases what the old ops alone used.
static void eraseUnused(RewriterBase &rewriter, func::FuncOp func) {
  func.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    bool ours = isa<linalg::LinalgOp, arith::ConstantOp>(op) ||
                isa_and_nonnull<tensor::TensorDialect>(op->getDialect());
    if (ours && isOpTriviallyDead(op))
      rewriter.eraseOp(op);
  });
}

unsigned Converter::run(bool always) {
  LayoutPlan plan = planChannelsLast(func, always);
  if (plan.empty())
    return 0;
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (plan.contains(op))
      ops.push_back(op);
  });
  SmallVector<std::pair<Operation *, SmallVector<Value>>> remade;
  for (Operation *op : ops) {
    const OpLayout &layout = plan.find(op)->second;
    SmallVector<Value> results = remake(op, layout);
    if (results.empty())
      continue;
    for (auto [old, value, made] :
         llvm::zip_equal(op->getResults(), layout.results, results)) {
      Permutation order = value.permutation;
      if (order.empty() && isa<RankedTensorType>(old.getType()))
        order = llvm::to_vector(llvm::seq<int64_t>(
            cast<RankedTensorType>(old.getType()).getRank()));
      forms[old].emplace_back(order, made);
    }
    remade.emplace_back(op, std::move(results));
  }
  // Those that are left read the old form.
  for (auto &[op, results] : llvm::reverse(remade)) {
    for (OpResult old : op->getResults())
      if (!old.use_empty())
        rewriter.replaceAllUsesWith(old, getAs(old, {}));
    rewriter.eraseOp(op);
  }
  eraseUnused(rewriter, func);
  return remade.size();
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

std::optional<NetworkLayout> ansor::parseNetworkLayout(StringRef text) {
  if (text == "keep")
    return NetworkLayout::Keep;
  if (text == "channels-last")
    return NetworkLayout::ChannelsLast;
  return std::nullopt;
}

NetworkLayout ansor::getNetworkLayout(ModuleOp module) {
  auto attr = module->getAttrOfType<StringAttr>(kNetworkLayoutAttr);
  return attr && attr.getValue() == "channels-last"
             ? NetworkLayout::ChannelsLast
             : NetworkLayout::Keep;
}

void ansor::noteNetworkLayout(ModuleOp module, NetworkLayout layout) {
  if (layout == NetworkLayout::Keep)
    return;
  module->setAttr(kNetworkLayoutAttr,
                  StringAttr::get(module.getContext(), "channels-last"));
}

unsigned ansor::convertLayouts(ModuleOp module, NetworkLayout layout,
                               bool always) {
  if (layout == NetworkLayout::Keep || getNetworkLayout(module) == layout)
    return 0;
  unsigned count = 0;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isDeclaration() && !func->hasAttr(kTaskAttr))
      count += Converter(func).run(always);
  if (count > 0)
    noteNetworkLayout(module, layout);
  return count;
}
