//===- ZeroInsertion.cpp - Transposed convolutions by remainders -*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transposed convolution comes from front ends as a convolution over an
// input with zeros inserted between its elements: with stride s most of its
// multiplications are by those zeros. It is s kernels in one (in each such
// dimension): outputs o = s*q + r with one remainder r see the elements
// k = s*j + k0(r) of the kernel only, and the element q + j + e(r) of the input.
// Where k0 and e are affine, r becomes a loop like any other, and nothing is
// inserted.
//
// The products with inserted zeros are not computed: a kernel with infinities
// or NaNs doesn't turn these zeros to NaN. Where floats are to be strict, all
// stays as it is.
//
//===----------------------------------------------------------------------===//

#include "TaskInternal.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::ansor;
using namespace mlir::ansor::detail;

namespace {
/// A dimension of the input that zeros are inserted in.
struct Phases {
  /// The loops whose sum is the index.
  unsigned output, kernel;
  int64_t stride;
  /// Output o = stride * q + r; kernel k = stride * j + sign * r + shift.
  int64_t sign, shift;
  /// Input i = q + j + slope * r - low.
  int64_t slope, low;
  /// Extents of q and j; elements that the kernel lacks for the latter.
  int64_t outputs, kernels, missing;
};
} // namespace

/// True if zero elements of input `number` add nothing to the result of `op`.
static bool isFactor(linalg::GenericOp op, unsigned number) {
  Operation *add = getAddCombiner(op);
  if (!add)
    return false;
  Value out = op.getBody()->getArguments().back();
  Value term = add->getOperand(0) == out ? add->getOperand(1)
                                         : add->getOperand(0);
  Operation *product = term.getDefiningOp();
  if (!product || !isa<arith::MulFOp, arith::MulIOp>(product))
    return false;
  BlockArgument element = op.getBody()->getArgument(number);
  if (!element.hasOneUse())
    return false;
  return llvm::any_of(product->getOperands(), [&](Value factor) {
    while (Operation *cast = factor.getDefiningOp()) {
      if (!isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp,
               arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp>(cast))
        return false;
      factor = cast->getOperand(0);
    }
    return factor == element;
  });
}

/// The remainders of an output in terms of `offset`, where they are affine.
static bool solve(Phases &phases, int64_t offset) {
  int64_t s = phases.stride;
  if (offset % s == s - 1) { // k = s*j + s-1-r
    phases.sign = -1;
    phases.shift = s - 1;
    phases.slope = 0;
    phases.low = (offset - (s - 1)) / s;
    return true;
  }
  if (s == 2) { // k = 2*j + r
    phases.sign = 1;
    phases.shift = 0;
    phases.slope = 1;
    phases.low = offset / 2;
    return true;
  }
  return false;
}

/// The dimension that index `expr` of an input with zeros belongs to, or
/// nothing if it can't be taken apart.
static std::optional<Phases> findPhases(linalg::GenericOp op, AffineExpr expr,
                                        unsigned number, int64_t offset,
                                        int64_t stride) {
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return std::nullopt;
  auto lhs = dyn_cast<AffineDimExpr>(sum.getLHS());
  auto rhs = dyn_cast<AffineDimExpr>(sum.getRHS());
  if (!lhs || !rhs || lhs == rhs)
    return std::nullopt;
  auto iterators = op.getIteratorTypesArray();
  if (linalg::isReductionIterator(iterators[lhs.getPosition()]))
    std::swap(lhs, rhs);
  Phases phases;
  phases.output = lhs.getPosition();
  phases.kernel = rhs.getPosition();
  phases.stride = stride;
  if (!linalg::isParallelIterator(iterators[phases.output]) ||
      !linalg::isReductionIterator(iterators[phases.kernel]) ||
      !solve(phases, offset))
    return std::nullopt;

  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t outputs = extents[phases.output], kernel = extents[phases.kernel];
  if (outputs % stride || kernel < 2)
    return std::nullopt;
  phases.outputs = outputs / stride;
  phases.kernels = llvm::divideCeil(kernel, stride);
  phases.missing = phases.kernels * stride - kernel;
  // Other inputs follow the kernel's loop only, as one of their dimensions.
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (input->getOperandNumber() != number &&
        (map.isFunctionOfDim(phases.output) ||
         (map.isFunctionOfDim(phases.kernel) &&
          !map.isProjectedPermutation())))
      return std::nullopt;
  }
  // The input's other indices don't depend on these loops.
  unsigned uses = llvm::count_if(
      op.getIndexingMapsArray()[number].getResults(), [&](AffineExpr index) {
        return index.isFunctionOfDim(phases.output) ||
               index.isFunctionOfDim(phases.kernel);
      });
  return uses == 1 ? std::optional(phases) : std::nullopt;
}

/// `source` with `low` and `high` zeros around it.
static Value padWithZeros(RewriterBase &rewriter, Location loc, Value source,
                          ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  if (llvm::all_of(low, [](int64_t n) { return n == 0; }) &&
      llvm::all_of(high, [](int64_t n) { return n == 0; }))
    return source;
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> lows, highs;
  for (auto [dim, l, h] : llvm::enumerate(low, high)) {
    shape[dim] += l + h;
    lows.push_back(rewriter.getIndexAttr(l));
    highs.push_back(rewriter.getIndexAttr(h));
  }
  Value zero = arith::ConstantOp::create(
      rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  return tensor::PadOp::create(rewriter, loc, type.clone(shape), source, lows,
                               highs, zero);
}

namespace {
/// Takes the zeros out of input `number` of `op`.
class ZeroRemover {
public:
  ZeroRemover(RewriterBase &rewriter, linalg::GenericOp op, unsigned number)
      : rewriter(rewriter), op(op), number(number),
        insert(op.getInputs()[number].getDefiningOp<tensor::InsertSliceOp>()) {}

  /// False if the op isn't of this form.
  bool match();
  /// The expanded result; the old one is replaced by its collapsed form.
  tensor::CollapseShapeOp rewrite();

private:
  RewriterBase &rewriter;
  linalg::GenericOp op;
  unsigned number;
  tensor::InsertSliceOp insert;
  SmallVector<Phases> dims;
};
} // namespace

bool ZeroRemover::match() {
  if (!insert || insert.getSourceType().getRank() != insert.getType().getRank() ||
      !insert.getSourceType().hasStaticShape() ||
      op.hasDynamicShape() || op.getNumDpsInits() != 1 || !isFactor(op, number))
    return false;
  auto fill = insert.getDest().getDefiningOp<linalg::FillOp>();
  if (!fill || !(matchPattern(fill.value(), m_AnyZeroFloat()) ||
                 matchPattern(fill.value(), m_Zero())))
    return false;
  if (llvm::any_of(insert.getStaticOffsets(), ShapedType::isDynamic) ||
      llvm::any_of(insert.getStaticStrides(), ShapedType::isDynamic) ||
      !op.getIndexingMapsArray().back().isProjectedPermutation() ||
      op.hasIndexSemantics())
    return false;
  AffineMap map = op.getIndexingMapsArray()[number];
  for (auto [dim, stride] : llvm::enumerate(insert.getStaticStrides())) {
    if (stride == 1 || insert.getSourceType().getDimSize(dim) == 1)
      continue;
    auto phases = findPhases(op, map.getResult(dim), number,
                             insert.getStaticOffset(dim), stride);
    if (!phases || llvm::any_of(dims, [&](const Phases &other) {
          return other.output == phases->output ||
                 other.kernel == phases->kernel;
        }))
      return false;
    dims.push_back(*phases);
  }
  return !dims.empty();
}

tensor::CollapseShapeOp ZeroRemover::rewrite() {
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  rewriter.setInsertionPoint(op);

  // The remainder's loop comes right behind the loop it is taken from.
  SmallVector<AffineExpr> loops, remainders(dims.size());
  SmallVector<utils::IteratorType> iterators;
  unsigned next = 0;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    loops.push_back(getAffineDimExpr(next++, context));
    iterators.push_back(iterator);
    for (auto [i, dim] : llvm::enumerate(dims))
      if (dim.output == loop) {
        remainders[i] = getAffineDimExpr(next++, context);
        iterators.push_back(iterator);
      }
  }

  // Inputs: kernels of full length, cut by the stride; the source with zeros at
  // its borders.
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<Value> inputs(op.getInputs());
  for (unsigned i = 0, e = inputs.size(); i < e; ++i) {
    if (i == number)
      continue;
    AffineMap map = maps[i];
    auto type = dyn_cast<RankedTensorType>(inputs[i].getType());
    SmallVector<int64_t> low(map.getNumResults(), 0), high = low, shape;
    SmallVector<AffineExpr> indices;
    SmallVector<ReassociationIndices> groups;
    for (auto [pos, index] : llvm::enumerate(map.getResults())) {
      groups.push_back({static_cast<int64_t>(shape.size())});
      indices.push_back(index.replaceDims(loops));
      shape.push_back(type.getDimSize(pos));
      for (auto [dim, remainder] : llvm::zip_equal(dims, remainders)) {
        if (!index.isFunctionOfDim(dim.kernel))
          continue;
        high[pos] = dim.missing;
        groups.back().push_back(shape.size());
        indices.push_back(remainder * dim.sign + dim.shift);
        shape.back() = dim.kernels;
        shape.push_back(dim.stride);
      }
    }
    maps[i] = AffineMap::get(iterators.size(), 0, indices, context);
    if (shape.size() == map.getNumResults())
      continue;
    inputs[i] = tensor::ExpandShapeOp::create(
        rewriter, loc, type.clone(shape),
        padWithZeros(rewriter, loc, inputs[i], low, high), groups);
  }
  SmallVector<AffineExpr> indices;
  SmallVector<int64_t> low, high;
  for (auto [pos, index] : llvm::enumerate(maps[number].getResults())) {
    int64_t before = insert.getStaticOffset(pos);
    int64_t size = insert.getSourceType().getDimSize(pos);
    int64_t total = insert.getType().getDimSize(pos);
    AffineExpr expr = index.replaceDims(loops);
    for (auto [dim, remainder] : llvm::zip_equal(dims, remainders))
      if (index.isFunctionOfDim(dim.output)) {
        expr = loops[dim.output] + loops[dim.kernel] + remainder * dim.slope;
        before = dim.low;
        total = std::max(dim.outputs + dim.kernels - 1 +
                             dim.slope * (dim.stride - 1),
                         before + size);
      }
    indices.push_back(expr);
    low.push_back(before);
    high.push_back(total - before - size);
  }
  maps[number] = AffineMap::get(iterators.size(), 0, indices, context);
  inputs[number] = padWithZeros(rewriter, loc, insert.getSource(), low, high);

  // The result, with the remainders as dimensions of their own.
  auto type = cast<RankedTensorType>(op.getResultTypes().front());
  SmallVector<AffineExpr> results;
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  for (auto [index, extent] :
       llvm::zip_equal(maps.back().getResults(), type.getShape())) {
    groups.push_back({static_cast<int64_t>(shape.size())});
    results.push_back(index.replaceDims(loops));
    shape.push_back(extent);
    for (auto [dim, remainder] : llvm::zip_equal(dims, remainders))
      if (index.isFunctionOfDim(dim.output)) {
        groups.back().push_back(shape.size());
        results.push_back(remainder);
        shape.back() = dim.outputs;
        shape.push_back(dim.stride);
      }
  }
  maps.back() = AffineMap::get(iterators.size(), 0, results, context);
  auto expanded = RankedTensorType::get(shape, type.getElementType());
  Value init = tensor::ExpandShapeOp::create(
      rewriter, loc, expanded, op.getOutputs().front(), groups);
  auto generic = linalg::GenericOp::create(rewriter, loc, expanded, inputs,
                                           init, maps, iterators);
  rewriter.inlineRegionBefore(op.getRegion(), generic.getRegion(),
                              generic.getRegion().end());
  auto collapse = tensor::CollapseShapeOp::create(
      rewriter, loc, type, generic.getResult(0), groups);
  rewriter.replaceOp(op, collapse);
  return collapse;
}

void ansor::detail::removeInsertedZeros(RewriterBase &rewriter, Block &block,
                                        const ExtractOptions &options) {
  SmallVector<linalg::GenericOp> ops(block.getOps<linalg::GenericOp>());
  llvm::SmallDenseSet<Type> expanded;
  for (linalg::GenericOp op : ops) {
    if (!whyNoTask(op).empty())
      continue;
    // Zero times infinity is NaN, and zero times a negative number is -0.
    if (options.strictFP &&
        llvm::any_of(op->getResultTypes(), [](Type type) {
          return !isa<IntegerType, IndexType>(getElementTypeOrSelf(type));
        }))
      continue;
    for (unsigned i = 0, e = op.getNumDpsInputs(); i < e; ++i) {
      ZeroRemover remover(rewriter, op, i);
      if (!remover.match())
        continue;
      expanded.insert(remover.rewrite().getSrcType());
      break;
    }
  }
  if (expanded.empty())
    return;

  // Elementwise ops before and behind take the expanded form, too, so that
  // they end up in the same task.
  linalg::ControlFusionFn control = [&](OpOperand *operand) {
    Operation *producer = operand->get().getDefiningOp();
    Operation *consumer = operand->getOwner();
    if (!producer || consumer->getBlock() != &block ||
        producer->getBlock() != &block)
      return false;
    Type type;
    Operation *generic = producer;
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(producer)) {
      type = collapse.getSrcType();
      generic = consumer;
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(consumer)) {
      type = expand.getResultType();
      if (!producer->hasOneUse())
        return false;
    }
    auto op = dyn_cast<linalg::GenericOp>(generic);
    return op && expanded.contains(type) && whyNoTask(op).empty() &&
           isPointwise(op);
  };
  RewritePatternSet patterns(block.getParentOp()->getContext());
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, control);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps)
      .enableFolding(false);
  SmallVector<Operation *> all;
  for (Operation &op : block)
    if (isa<linalg::GenericOp, tensor::ExpandShapeOp>(op))
      all.push_back(&op);
  (void)applyOpPatternsGreedily(all, std::move(patterns), config);
}
