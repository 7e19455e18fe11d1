//===- Im2col.cpp - Windows as rows of a matrix -----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works on ops that are tiled already: greedy fusion stops at reshapes, so an
// untiled op with its windows as rows could have neither its copy nor its
// padding computed in the tiles of a consumer.
//
//===----------------------------------------------------------------------===//
#include "ansor/Support/Structured.h"
#include "ansor/TransformOps/AnsorTransformOps.h"
#include "mlir/Dialect/Affine/Analysis/AffineStructures.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CastInterfaces.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {
/// Rewrites one op. `check` decides all that can fail.
class Im2colRewriter {
public:
  Im2colRewriter(RewriterBase &rewriter, linalg::LinalgOp op,
                 const Im2colOptions &options)
      : rewriter(rewriter), op(op), options(options), loc(op.getLoc()) {}

  /// Empty, or why the op can't be rewritten.
  std::string check();
  Im2colOps rewrite();

private:
  std::string orderReductions();
  Value copyWindows(Im2colOps &ops);
  Value collapse(OpOperand &operand, SmallVectorImpl<AffineExpr> &results);
  Value padEnd(Value value, unsigned dim);

  bool isReduction(unsigned loop) const {
    return llvm::is_contained(reductions, loop);
  }
  /// Runs of joined reductions: [begin, end) in `reductions`.
  SmallVector<std::pair<unsigned, unsigned>> getRuns() const {
    SmallVector<std::pair<unsigned, unsigned>> runs;
    for (unsigned i = 0; i < reductions.size(); ++i)
      if (i > 0 && joined[i - 1])
        ++runs.back().second;
      else
        runs.emplace_back(i, i + 1);
    return runs;
  }
  int64_t getExtent(std::pair<unsigned, unsigned> run) const {
    int64_t extent = 1;
    for (unsigned i = run.first; i < run.second; ++i)
      extent *= sizes[reductions[i]];
    return extent;
  }

  RewriterBase &rewriter;
  linalg::LinalgOp op;
  const Im2colOptions &options;
  Location loc;
  SmallVector<int64_t> sizes; ///< of the op's loops
  /// The reduction loops that the operand depends on, and whether each may be
  /// one loop with the next.
  SmallVector<unsigned> reductions;
  SmallVector<bool> joined;
  SmallVector<unsigned> parallel; ///< that it depends on, but the lane
  int64_t padding = 0;            ///< zeros at the end of the last run
};
} // namespace

/// The input that `value` is an element of, perhaps cast.
static BlockArgument getCastInput(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<CastOpInterface>(op) || op->getNumOperands() != 1)
      return {};
    value = op->getOperand(0);
  }
  return cast<BlockArgument>(value);
}

/// True if `op` adds up products of elements of two inputs, which may be cast:
/// zeros add nothing.
static bool addsProducts(linalg::LinalgOp op) {
  auto factors = matchSumOfProducts(op);
  if (!factors || op.getNumDpsInputs() != 2)
    return false;
  auto isInput = [&](BlockArgument arg) {
    return arg && arg.getOwner() == op.getBlock() &&
           arg != op.getRegionOutputArgs().front();
  };
  BlockArgument x = getCastInput(factors->first),
                y = getCastInput(factors->second);
  return isInput(x) && isInput(y) && x != y;
}

/// The dimensions of `map` that are plain loops, in order.
static SmallVector<unsigned> getPlainDims(AffineMap map) {
  SmallVector<unsigned> dims;
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      dims.push_back(dim.getPosition());
  return dims;
}

/// Orders `reductions` as another input holds them, and finds which ones all
/// others hold side by side.
std::string Im2colRewriter::orderReductions() {
  bool isOrdered = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (input->getOperandNumber() == options.operand ||
        llvm::none_of(reductions,
                      [&](unsigned loop) { return map.isFunctionOfDim(loop); }))
      continue;
    SmallVector<unsigned> order;
    for (unsigned dim : getPlainDims(map))
      if (isReduction(dim))
        order.push_back(dim);
    if (order.size() != reductions.size() || !map.isProjectedPermutation())
      return "another input isn't read element by element along its reductions";
    if (!isOrdered)
      reductions = order;
    isOrdered = true;
    for (unsigned i = 0; i + 1 < reductions.size(); ++i)
      joined[i] &= *map.getResultPosition(getAffineDimExpr(
                       reductions[i], map.getContext())) +
                       1 ==
                   *map.getResultPosition(getAffineDimExpr(
                       reductions[i + 1], map.getContext()));
  }
  return "";
}

std::string Im2colRewriter::check() {
  if (!op.hasPureTensorSemantics() || options.operand >= op.getNumDpsInputs())
    return "it is no input of an op on tensors";
  if (op.hasDynamicShape())
    return "the op has dynamic extents";
  if (op.hasIndexSemantics())
    return "the op knows its place";
  OpOperand *operand = op.getDpsInputOperand(options.operand);
  if (!isa<RankedTensorType>(operand->get().getType()))
    return "it is no tensor";
  AffineMap map = op.getMatchingIndexingMap(operand);
  sizes = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (unsigned loop = 0; loop < sizes.size(); ++loop) {
    if (!map.isFunctionOfDim(loop))
      continue;
    if (kinds[loop] == utils::IteratorType::reduction)
      reductions.push_back(loop);
    else if (static_cast<int64_t>(loop) != options.lane)
      parallel.push_back(loop);
  }
  if (options.lane >= 0 &&
      (options.lane >= static_cast<int64_t>(sizes.size()) ||
       kinds[options.lane] == utils::IteratorType::reduction ||
       !map.isFunctionOfDim(options.lane)))
    return "the lane is no parallel loop that it depends on";
  if (reductions.empty())
    return "it depends on no reduction loop";
  joined.assign(reductions.size() - 1, true);
  if (std::string error = orderReductions(); !error.empty())
    return error;
  int64_t last = getExtent(getRuns().back());
  padding = llvm::alignTo(last, options.group) - last;
  if (padding && !addsProducts(op))
    return "what is added at the end of its rows isn't known to be nothing";
  return "";
}

/// Makes one of the last two dimensions of the operand if windows hold the last
/// one as a whole: what is contiguous is a row of the copy then. `map` is how
/// the operand is read, by the op's loops.
static bool collapseLastDims(RewriterBase &rewriter, Location loc, Value &value,
                             AffineMap &map, unsigned outer, unsigned inner,
                             int64_t innerSize) {
  auto type = cast<RankedTensorType>(value.getType());
  unsigned rank = map.getNumResults();
  if (rank < 2 || type.getShape().back() != innerSize ||
      map.getResult(rank - 1) != rewriter.getAffineDimExpr(inner))
    return false;
  for (unsigned i = 0; i + 1 < rank; ++i)
    if (map.getResult(i).isFunctionOfDim(inner) ||
        (i + 2 < rank && map.getResult(i).isFunctionOfDim(outer)))
      return false;
  AffineExpr expr = map.getResult(rank - 2);
  SmallVector<int64_t> flat;
  if (failed(getFlattenedAffineExpr(expr, map.getNumDims(), 0, &flat)) ||
      flat.size() != map.getNumDims() + 1 || flat[outer] != 1)
    return false;
  SmallVector<ReassociationIndices> groups;
  for (unsigned i = 0; i + 1 < rank; ++i)
    groups.push_back({i});
  groups.back().push_back(rank - 1);
  value = tensor::CollapseShapeOp::create(rewriter, loc, value, groups);
  // The loop `outer` now runs through both.
  AffineExpr sum = rewriter.getAffineConstantExpr(flat.back() * innerSize);
  for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
    sum = sum + rewriter.getAffineDimExpr(loop) *
                    (loop == outer ? 1 : flat[loop] * innerSize);
  SmallVector<AffineExpr> results(map.getResults().drop_back());
  results.back() = sum;
  map = AffineMap::get(map.getNumDims(), 0, results, map.getContext());
  return true;
}

/// The buffer with the windows of the operand.
Value Im2colRewriter::copyWindows(Im2colOps &ops) {
  OpOperand *operand = op.getDpsInputOperand(options.operand);
  Value source = operand->get();
  AffineMap map = op.getMatchingIndexingMap(operand);
  auto runs = getRuns();
  int64_t end = getExtent(runs.back());

  // The loops of the copy: as the dimensions of the buffer.
  SmallVector<unsigned> rows(reductions);
  SmallVector<int64_t> extents(sizes);
  while (rows.size() > 1 && joined[rows.size() - 2] &&
         collapseLastDims(rewriter, loc, source, map, rows[rows.size() - 2],
                          rows.back(), extents[rows.back()])) {
    extents[rows[rows.size() - 2]] *= extents[rows.back()];
    rows.pop_back();
  }
  SmallVector<unsigned> loops(parallel);
  loops.append(rows);
  if (options.lane >= 0)
    loops.push_back(options.lane);
  unsigned numLoops = loops.size();
  SmallVector<AffineExpr> dims(map.getNumDims(), rewriter.getAffineConstantExpr(0));
  SmallVector<int64_t> shape;
  for (auto [position, loop] : llvm::enumerate(loops)) {
    dims[loop] = rewriter.getAffineDimExpr(position);
    shape.push_back(extents[loop]);
  }

  // The dimensions that become one, and the buffer's shape.
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> bufferShape;
  for (int64_t i = 0, e = parallel.size(); i < e; ++i)
    groups.push_back({i});
  for (auto [begin, runEnd] : runs) {
    groups.emplace_back();
    for (unsigned i = begin; i < std::min<unsigned>(runEnd, rows.size()); ++i)
      groups.back().push_back(parallel.size() + i);
  }
  if (options.lane >= 0)
    groups.push_back({static_cast<int64_t>(numLoops) - 1});
  for (const ReassociationIndices &group : groups) {
    bufferShape.push_back(1);
    for (int64_t dim : group)
      bufferShape.back() *= shape[dim];
  }
  bool reshapes = groups.size() < numLoops;

  Type element = getElementTypeOrSelf(source.getType());
  SmallVector<OpFoldResult> zeros(groups.size(), rewriter.getIndexAttr(0)),
      ones(groups.size(), rewriter.getIndexAttr(1));
  Value buffer, dest;
  if (padding) {
    // Zeros behind the windows, which are copied into the rest.
    unsigned last = parallel.size() + runs.size() - 1;
    SmallVector<int64_t> padded(bufferShape);
    padded[last] += padding;
    Value empty = tensor::EmptyOp::create(rewriter, loc, padded, element);
    SmallVector<int64_t> tail(bufferShape);
    tail[last] = padding;
    SmallVector<OpFoldResult> at(zeros);
    at[last] = rewriter.getIndexAttr(end);
    Value zero = arith::ConstantOp::create(rewriter, loc,
                                           rewriter.getZeroAttr(element));
    Value tailEmpty = tensor::ExtractSliceOp::create(
        rewriter, loc, empty, at, getAsIndexOpFoldResult(op.getContext(), tail),
        ones);
    Value fill =
        linalg::FillOp::create(rewriter, loc, zero, tailEmpty).getResult(0);
    buffer = tensor::InsertSliceOp::create(
        rewriter, loc, fill, empty, at,
        getAsIndexOpFoldResult(op.getContext(), tail), ones);
    dest = tensor::ExtractSliceOp::create(
        rewriter, loc, buffer, zeros,
        getAsIndexOpFoldResult(op.getContext(), bufferShape), ones);
    if (reshapes)
      dest = tensor::ExpandShapeOp::create(
          rewriter, loc, RankedTensorType::get(shape, element), dest, groups);
  } else {
    dest = tensor::EmptyOp::create(rewriter, loc, shape, element);
  }
  AffineMap read = map.replaceDimsAndSymbols(dims, {}, numLoops, 0);
  ops.copy = linalg::GenericOp::create(
      rewriter, loc, dest.getType(), source, dest,
      ArrayRef<AffineMap>{read, rewriter.getMultiDimIdentityMap(numLoops)},
      SmallVector<utils::IteratorType>(numLoops, utils::IteratorType::parallel),
      [](OpBuilder &b, Location loc, ValueRange args) {
        linalg::YieldOp::create(b, loc, args.front());
      });
  Value copied = ops.copy.getResult(0);
  if (reshapes)
    copied = tensor::CollapseShapeOp::create(rewriter, loc, copied, groups);
  if (!padding)
    return copied;
  return tensor::InsertSliceOp::create(
      rewriter, loc, copied, buffer, zeros,
      getAsIndexOpFoldResult(op.getContext(), bufferShape), ones);
}

/// `value` with zeros at the end of `dim`.
Value Im2colRewriter::padEnd(Value value, unsigned dim) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] += padding;
  SmallVector<OpFoldResult> low(shape.size(), rewriter.getIndexAttr(0)),
      high(low);
  high[dim] = rewriter.getIndexAttr(padding);
  Value zero = arith::ConstantOp::create(
      rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  return tensor::PadOp::create(rewriter, loc, type.clone(shape), value, low,
                               high, zero);
}

/// Another input, its runs of reductions as one dimension each. `results` holds
/// its map with a run's first loop for all of it.
Value Im2colRewriter::collapse(OpOperand &operand,
                               SmallVectorImpl<AffineExpr> &results) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  auto runs = getRuns();
  SmallVector<ReassociationIndices> groups;
  std::optional<unsigned> padded;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    auto place = dim ? llvm::find(reductions, dim.getPosition())
                     : reductions.end();
    unsigned index = place - reductions.begin();
    if (place != reductions.end() && index > 0 && joined[index - 1]) {
      groups.back().push_back(i);
      continue;
    }
    if (place != reductions.end() && index == runs.back().first)
      padded = groups.size();
    groups.push_back({static_cast<int64_t>(i)});
    results.push_back(expr);
  }
  Value value = operand.get();
  if (groups.size() < map.getNumResults())
    value = tensor::CollapseShapeOp::create(rewriter, loc, value, groups);
  return padding && padded ? padEnd(value, *padded) : value;
}

Im2colOps Im2colRewriter::rewrite() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  auto runs = getRuns();
  // The loops that stay, then one for each run.
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray(), newKinds;
  SmallVector<AffineExpr> dims(sizes.size(), rewriter.getAffineConstantExpr(0));
  for (unsigned loop = 0; loop < sizes.size(); ++loop) {
    if (isReduction(loop))
      continue;
    dims[loop] = rewriter.getAffineDimExpr(newKinds.size());
    newKinds.push_back(kinds[loop]);
  }
  for (auto [begin, end] : runs) {
    dims[reductions[begin]] = rewriter.getAffineDimExpr(newKinds.size());
    newKinds.push_back(utils::IteratorType::reduction);
  }

  Im2colOps ops;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    SmallVector<AffineExpr> results;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (operand.getOperandNumber() == options.operand) {
      inputs.push_back(copyWindows(ops));
      for (unsigned loop : parallel)
        results.push_back(rewriter.getAffineDimExpr(loop));
      for (auto [begin, end] : runs)
        results.push_back(rewriter.getAffineDimExpr(reductions[begin]));
      if (options.lane >= 0)
        results.push_back(rewriter.getAffineDimExpr(options.lane));
    } else if (op.isDpsInput(&operand) &&
               isa<RankedTensorType>(operand.get().getType())) {
      inputs.push_back(collapse(operand, results));
    } else {
      if (op.isDpsInput(&operand))
        inputs.push_back(operand.get());
      results.assign(map.getResults().begin(), map.getResults().end());
    }
    maps.push_back(
        AffineMap::get(sizes.size(), 0, results, op.getContext())
            .replaceDimsAndSymbols(dims, {}, newKinds.size(), 0));
  }
  ops.product = linalg::GenericOp::create(
      rewriter, loc, op->getResultTypes(), inputs, op.getDpsInits(), maps,
      newKinds);
  rewriter.cloneRegionBefore(op->getRegion(0), ops.product.getRegion(),
                             ops.product.getRegion().begin());
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (attr.getName() != linalg::LinalgDialect::kMemoizedIndexingMapsAttrName)
      ops.product->setDiscardableAttr(attr.getName(), attr.getValue());
  rewriter.replaceOp(op, ops.product.getResults());
  return ops;
}

FailureOr<Im2colOps> ansor::im2col(RewriterBase &rewriter, linalg::LinalgOp op,
                                   const Im2colOptions &options,
                                   std::string &error) {
  Im2colRewriter im2col(rewriter, op, options);
  error = im2col.check();
  if (!error.empty())
    return failure();
  return im2col.rewrite();
}

DiagnosedSilenceableFailure
transform::Im2colOp::apply(transform::TransformRewriter &rewriter,
                           transform::TransformResults &results,
                           transform::TransformState &state) {
  Im2colOptions options;
  options.operand = getOperand();
  options.group = getGroup().value_or(1);
  if (auto lane = getLane())
    options.lane = *lane;
  SmallVector<Operation *> products, copies;
  for (Operation *target : state.getPayloadOps(getTarget())) {
    auto op = dyn_cast<linalg::LinalgOp>(target);
    std::string error = "it isn't a linalg op";
    FailureOr<Im2colOps> made = failure();
    if (op)
      made = ansor::im2col(rewriter, op, options, error);
    if (failed(made)) {
      auto diag = emitSilenceableError()
                  << "can't copy the windows of operand " << getOperand()
                  << ": " << error;
      diag.attachNote(target->getLoc()) << "of this op";
      results.set(cast<OpResult>(getProduct()), products);
      results.set(cast<OpResult>(getCopy()), copies);
      return diag;
    }
    products.push_back(made->product);
    copies.push_back(made->copy);
  }
  results.set(cast<OpResult>(getProduct()), products);
  results.set(cast<OpResult>(getCopy()), copies);
  return DiagnosedSilenceableFailure::success();
}

void transform::Im2colOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::consumesHandle(getTargetMutable(), effects);
  transform::producesHandle(getOperation()->getOpResults(), effects);
  transform::modifiesPayload(effects);
}
