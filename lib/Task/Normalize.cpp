//===- Normalize.cpp - One form of each op ----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaskInternal.h"
#include "ansor/IR/Decompose.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::ansor;
using namespace mlir::ansor::detail;

/// Fused bodies grow no further than this: more live values than registers
/// help no schedule.
static constexpr unsigned kMaxFusedInputs = 16;
static constexpr unsigned kMaxFusedOps = 128;

//===----------------------------------------------------------------------===//
// Edits of linalg.generic in place
//===----------------------------------------------------------------------===//

void ansor::detail::selectInputs(RewriterBase &rewriter, linalg::GenericOp op,
                                 ArrayRef<unsigned> order) {
  unsigned numInputs = op.getNumDpsInputs();
  Block *body = op.getBody();
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps, oldMaps = op.getIndexingMapsArray();
  rewriter.startOpModification(op);
  for (unsigned from : order) {
    inputs.push_back(op.getInputs()[from]);
    maps.push_back(oldMaps[from]);
  }
  // New arguments go behind the old ones, then the old inputs leave.
  unsigned numArgs = body->getNumArguments();
  for (unsigned from : order) {
    BlockArgument old = body->getArgument(from);
    BlockArgument fresh = body->addArgument(old.getType(), old.getLoc());
    old.replaceAllUsesWith(fresh);
  }
  for (unsigned i = numInputs; i < numArgs; ++i) {
    BlockArgument old = body->getArgument(i);
    BlockArgument fresh = body->addArgument(old.getType(), old.getLoc());
    old.replaceAllUsesWith(fresh);
  }
  body->eraseArguments(0, numArgs);
  llvm::append_range(maps, ArrayRef(oldMaps).drop_front(numInputs));
  op.getInputsMutable().assign(inputs);
  op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  rewriter.finalizeOpModification(op);
}

/// The scalar that all elements of `value` have, materialised if need be.
static Value getUniformScalar(RewriterBase &rewriter, Operation *before,
                              Value value) {
  if (!isa<ShapedType>(value.getType()))
    return value;
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    if (fill.hasPureTensorSemantics())
      return fill.value();
  DenseElementsAttr dense;
  if (!matchPattern(value, m_Constant(&dense)) || !dense.isSplat() ||
      !dense.getElementType().isIntOrIndexOrFloat())
    return {};
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(before);
  return arith::ConstantOp::create(rewriter, before->getLoc(),
                                   dense.getSplatValue<TypedAttr>());
}

void ansor::detail::cleanInputs(RewriterBase &rewriter, linalg::GenericOp op) {
  Block *body = op.getBody();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned numInputs = op.getNumDpsInputs();
  for (unsigned i = 0; i < numInputs; ++i) {
    BlockArgument arg = body->getArgument(i);
    if (arg.use_empty())
      continue;
    if (Value scalar = getUniformScalar(rewriter, op, op.getInputs()[i])) {
      rewriter.replaceAllUsesWith(arg, scalar);
      continue;
    }
    for (unsigned j = 0; j < i; ++j)
      if (op.getInputs()[j] == op.getInputs()[i] && maps[j] == maps[i]) {
        rewriter.replaceAllUsesWith(arg, body->getArgument(j));
        break;
      }
  }
  // Unused inputs stay only where a loop's extent is known from them alone.
  SmallVector<unsigned> kept = llvm::to_vector(llvm::seq(0u, numInputs));
  for (unsigned i = numInputs; i-- > 0;) {
    if (!body->getArgument(i).use_empty())
      continue;
    SmallVector<AffineMap> rest;
    for (unsigned k : kept)
      if (k != i)
        rest.push_back(maps[k]);
    llvm::append_range(rest, ArrayRef(maps).drop_front(numInputs));
    if (inversePermutation(concatAffineMaps(rest, op.getContext())))
      llvm::erase(kept, i);
  }
  if (kept.size() != numInputs)
    selectInputs(rewriter, op, kept);
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// linalg.softmax becomes its reductions and elementwise parts, which fuse.
static void decompose(RewriterBase &rewriter, linalg::SoftmaxOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getInput().getType());
  if (!type || type.getEncoding() || !op.hasPureTensorSemantics())
    return;
  FailureOr<SmallVector<Value>> results = decomposeAggregate(
      cast<linalg::AggregatedOpInterface>(op.getOperation()), rewriter);
  if (succeeded(results))
    rewriter.replaceOp(op, *results);
}

/// Constants of the body move in front of the op. Front ends leave f64
/// constants that are truncated in the body, which upstream folds only if they
/// are exact; the default rounding mode is known, so that all are folded here.
static void hoistConstants(RewriterBase &rewriter, linalg::GenericOp op) {
  for (Operation &inner : llvm::make_early_inc_range(*op.getBody())) {
    if (inner.hasTrait<OpTrait::ConstantLike>()) {
      rewriter.moveOpBefore(&inner, op);
      continue;
    }
    auto trunc = dyn_cast<arith::TruncFOp>(inner);
    auto type = trunc ? dyn_cast<FloatType>(trunc.getType()) : FloatType();
    APFloat value(0.0);
    if (!type || trunc.getRoundingmode() ||
        !matchPattern(trunc.getIn(), m_ConstantFloat(&value)))
      continue;
    bool lossy;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &lossy);
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        trunc, rewriter.getFloatAttr(type, value));
  }
}

/// A generic op that only writes one scalar everywhere becomes linalg.fill.
static bool replaceByFill(RewriterBase &rewriter, linalg::GenericOp op) {
  Block *body = op.getBody();
  if (!isPointwise(op) || op->getNumResults() != 1 ||
      !llvm::hasSingleElement(*body) ||
      !op.getIndexingMapsArray().back().isPermutation())
    return false;
  Value value = body->getTerminator()->getOperand(0);
  if (value.getParentBlock() == body)
    return false;
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<linalg::FillOp>(op, value, op.getOutputs()[0]);
  return true;
}

/// A copy of its input.
static bool replaceByInput(RewriterBase &rewriter, linalg::GenericOp op) {
  if (!isMovement(op))
    return false;
  unsigned i = cast<BlockArgument>(op.getBody()->getTerminator()->getOperand(0))
                   .getArgNumber();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (op.getInputs()[i].getType() != op->getResult(0).getType() ||
      maps[i] != maps.back() || !maps[i].isPermutation())
    return false;
  rewriter.replaceOp(op, op.getInputs()[i]);
  return true;
}

/// Results that are written at the constant index 0 of unit dimensions (those
/// that "keep dims") lose these, and get them back behind the op: tiling wants
/// results that are written through a projected permutation.
static void dropUnitResultDims(RewriterBase &rewriter, linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    AffineMap &map = maps[op.getNumDpsInputs() + i];
    auto type = cast<RankedTensorType>(op->getResult(i).getType());
    SmallVector<unsigned> units;
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (expr == 0 && type.getDimSize(dim) == 1)
        units.push_back(dim);
    if (units.empty())
      continue;
    SmallVector<ReassociationIndices> groups;
    SmallVector<AffineExpr> exprs;
    SmallVector<int64_t> shape;
    ReassociationIndices pending;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      if (llvm::is_contained(units, dim)) {
        (groups.empty() ? pending : groups.back()).push_back(dim);
        continue;
      }
      groups.push_back(pending);
      pending.clear();
      groups.back().push_back(dim);
      exprs.push_back(expr);
      shape.push_back(type.getDimSize(dim));
    }
    map = AffineMap::get(map.getNumDims(), 0, exprs, rewriter.getContext());
    auto narrow = RankedTensorType::get(shape, type.getElementType());

    Location loc = op.getLoc();
    rewriter.setInsertionPoint(op);
    Value init = op.getDpsInitOperand(i)->get();
    linalg::FillOp fill = getInitFill(op, i);
    init = tensor::CollapseShapeOp::create(rewriter, loc, narrow,
                                           fill ? fill.output() : init, groups);
    if (fill)
      init = linalg::FillOp::create(rewriter, loc, fill.value(), init)
                 .getResult(0);
    rewriter.setInsertionPointAfter(op);
    auto uses =
        llvm::to_vector(llvm::make_pointer_range(op->getResult(i).getUses()));
    auto wide = tensor::ExpandShapeOp::create(rewriter, loc, type,
                                              op->getResult(i), groups);
    for (OpOperand *use : uses)
      rewriter.modifyOpInPlace(use->getOwner(),
                               [&] { use->set(wide.getResult()); });
    rewriter.modifyOpInPlace(op, [&] {
      op.setDpsInitOperand(i, init);
      op->getResult(i).setType(narrow);
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
  }
}

/// Reads an expand_shape that only adds unit dimensions through its source.
static void foldUnitExpand(RewriterBase &rewriter, linalg::GenericOp op) {
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto expand = operand->get().getDefiningOp<tensor::ExpandShapeOp>();
    if (!expand || expand.getSrcType().getEncoding())
      continue;
    AffineMap map = op.getMatchingIndexingMap(operand);
    ArrayRef<int64_t> shape = expand.getResultType().getShape();
    SmallVector<AffineExpr> exprs;
    bool fits = true;
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      SmallVector<int64_t> wide;
      llvm::copy_if(group, std::back_inserter(wide),
                    [&](int64_t dim) { return shape[dim] != 1; });
      fits &= wide.size() <= 1;
      if (fits)
        exprs.push_back(wide.empty() ? rewriter.getAffineConstantExpr(0)
                                     : map.getResult(wide.front()));
    }
    if (!fits)
      continue;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    unsigned number = operand->getOperandNumber();
    maps[number] =
        AffineMap::get(map.getNumDims(), 0, exprs, rewriter.getContext());
    if (!inversePermutation(concatAffineMaps(maps, rewriter.getContext())))
      continue;
    rewriter.modifyOpInPlace(op, [&] {
      operand->set(expand.getSrc());
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
  }
}

Value ansor::detail::createEmptyLike(RewriterBase &rewriter, Location loc,
                                     Value like) {
  while (auto fill = like.getDefiningOp<linalg::FillOp>())
    like = fill.output();
  auto empty = like.getDefiningOp<tensor::EmptyOp>();
  return tensor::EmptyOp::create(
      rewriter, loc,
      empty ? empty.getMixedSizes()
            : tensor::getMixedSizes(rewriter, loc, like),
      cast<RankedTensorType>(like.getType()).getElementType());
}

/// Elementwise ops read what their inits hold as inputs. Inits of which they
/// leave elements as they are stay what they are.
static void moveReadInits(RewriterBase &rewriter, linalg::GenericOp op) {
  if (!isPointwise(op))
    return;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    OpOperand *init = op.getDpsInitOperand(i);
    if (!op.payloadUsesValueFromOperand(init) || !overwritesInit(op, i))
      continue;
    rewriter.setInsertionPoint(op);
    Value old = init->get();
    Value empty = createEmptyLike(rewriter, op.getLoc(), old);
    unsigned numInputs = op.getNumDpsInputs();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    AffineMap map = maps[numInputs + i];
    maps.insert(maps.begin() + numInputs, map);
    rewriter.startOpModification(op);
    init->set(empty);
    op.getInputsMutable().append(old);
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    Block *body = op.getBody();
    BlockArgument fresh = body->insertArgument(
        numInputs, body->getArgument(numInputs + i).getType(), op.getLoc());
    body->getArgument(numInputs + 1 + i).replaceAllUsesWith(fresh);
    rewriter.finalizeOpModification(op);
  }
}

//===----------------------------------------------------------------------===//
// Where anchors start from
//===----------------------------------------------------------------------===//

Operation *ansor::detail::getAddCombiner(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1)
    return nullptr;
  BlockArgument out = op.getBody()->getArguments().back();
  Operation *add = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!add || !isa<arith::AddFOp, arith::AddIOp>(add) || !out.hasOneUse() ||
      *out.user_begin() != add)
    return nullptr;
  return add;
}

/// The elementwise op that alone reads the only result of `op`, once an
/// element.
static linalg::GenericOp getEpilogue(linalg::GenericOp op) {
  if (op->getNumResults() != 1 || !op->hasOneUse())
    return {};
  OpOperand &use = *op->use_begin();
  auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!user || user->getBlock() != op->getBlock() || !isPointwise(user) ||
      !user.isDpsInput(&use) || !isReadOnce(use))
    return {};
  return user;
}

/// An anchor that adds to a tensor of known origin, or whose result goes to an
/// elementwise op, starts from zero instead, and the old value is added behind
/// it: a bias that is broadcast into a convolution's init then is the epilogue
/// that it is elsewhere. This reorders a sum, which is allowed by default, but
/// not where each step rounds to a narrow type: the order then shows in the
/// first digits.
static void startFromZero(RewriterBase &rewriter, linalg::GenericOp op,
                          const ExtractOptions &options) {
  Operation *add = getAddCombiner(op);
  if (!isAnchor(op) || !add || !readsInit(op, 0))
    return;
  if (auto type = dyn_cast<FloatType>(add->getResult(0).getType()))
    if (options.strictFP || type.getWidth() < 32)
      return;
  Value init = op.getDpsInitOperand(0)->get();
  if (init.getDefiningOp<tensor::EmptyOp>())
    return;
  Operation *producer = init.getDefiningOp();
  bool produced = producer && producer->getBlock() == op->getBlock() &&
                  isPointwise(producer) &&
                  (producer->hasOneUse() || isMovement(producer));
  if (!produced && !getEpilogue(op))
    return;

  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(init.getType());
  rewriter.setInsertionPoint(op);
  Value zero = arith::ConstantOp::create(
      rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  Value fill = linalg::FillOp::create(rewriter, loc, zero,
                                      createEmptyLike(rewriter, loc, init))
                   .getResult(0);
  rewriter.modifyOpInPlace(op, [&] { op.setDpsInitOperand(0, fill); });
  rewriter.setInsertionPointAfter(op);
  AffineMap id = rewriter.getMultiDimIdentityMap(type.getRank());
  auto sum = linalg::GenericOp::create(
      rewriter, loc, type, ValueRange{op->getResult(0), init},
      createEmptyLike(rewriter, loc, init), {id, id, id},
      SmallVector<utils::IteratorType>(type.getRank(),
                                       utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Operation *copy = b.clone(*add);
        copy->setOperands({args[0], args[1]});
        linalg::YieldOp::create(b, loc, copy->getResults());
      });
  rewriter.replaceAllUsesExcept(op->getResult(0), sum->getResult(0), sum);
}

//===----------------------------------------------------------------------===//
// Fusion of elementwise chains
//===----------------------------------------------------------------------===//

/// Only widens its input: computing it again is next to free.
static bool isWidening(linalg::GenericOp op) {
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(inner);
  });
}

/// True if `producer` will rather end the task of an anchor that feeds it.
static bool belongsToAnchor(linalg::GenericOp producer) {
  for (OpOperand *operand : producer.getDpsInputOperands()) {
    auto source = operand->get().getDefiningOp<linalg::GenericOp>();
    if (source && isAnchor(source) && getEpilogue(source) == producer &&
        !readsInit(source, 0))
      return true;
  }
  return false;
}

/// Decides whether the producer of `operand` is computed inside its consumer.
/// It is if that repeats no work, or only the moving and widening of data.
static bool wantsFusion(OpOperand &operand) {
  auto producer = operand.get().getDefiningOp<linalg::GenericOp>();
  auto consumer = cast<linalg::GenericOp>(operand.getOwner());
  if (!producer || producer->getBlock() != consumer->getBlock() ||
      !isPointwise(producer) || producer->getNumResults() != 1 ||
      readsInit(producer, 0) || !linalg::areElementwiseOpsFusable(&operand))
    return false;
  if (producer.getNumDpsInputs() + consumer.getNumDpsInputs() >
          kMaxFusedInputs + 1 ||
      producer.getBody()->getOperations().size() +
              consumer.getBody()->getOperations().size() >
          kMaxFusedOps)
    return false;
  if (isMovement(producer) || (isWidening(producer) && isReadOnce(operand)))
    return true;
  if (!producer->hasOneUse())
    return false;
  if (isPointwise(consumer))
    return isReadOnce(operand);
  return isWidening(producer) ||
         (isReadOnce(operand) && !belongsToAnchor(producer));
}

/// Fuses the producer of `operand`; returns the new consumer.
static linalg::GenericOp fuse(RewriterBase &rewriter, OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  Operation *consumer = operand->getOwner();
  if (!operand->get().hasOneUse()) {
    rewriter.setInsertionPoint(consumer);
    producer = cast<linalg::GenericOp>(rewriter.clone(*producer));
    rewriter.modifyOpInPlace(consumer,
                             [&] { operand->set(producer->getResult(0)); });
  }
  rewriter.setInsertionPoint(consumer);
  FailureOr<linalg::ElementwiseOpFusionResult> result =
      linalg::fuseElementwiseOps(rewriter, operand);
  if (failed(result))
    return {};
  for (OpResult old : consumer->getResults())
    rewriter.replaceAllUsesWith(old, result->replacements.lookup(old));
  rewriter.eraseOp(consumer);
  if (producer->use_empty())
    rewriter.eraseOp(producer);
  return cast<linalg::GenericOp>(result->fusedOp);
}

/// In program order, each op takes in its producers as long as some want to.
static void fuseChains(RewriterBase &rewriter, Block &block) {
  for (Operation *op = block.empty() ? nullptr : &block.front(); op;
       op = op->getNextNode()) {
    auto consumer = dyn_cast<linalg::GenericOp>(op);
    if (!consumer || !whyNoTask(consumer).empty())
      continue;
    for (bool changed = true; changed;) {
      changed = false;
      for (OpOperand *operand : consumer.getDpsInputOperands()) {
        if (!wantsFusion(*operand))
          continue;
        linalg::GenericOp fused = fuse(rewriter, operand);
        if (!fused)
          continue;
        consumer = fused;
        cleanInputs(rewriter, consumer);
        changed = true;
        break;
      }
    }
    op = consumer;
  }
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

/// Drops results that nothing uses, and what only computes them.
static void dropUnusedResults(ArrayRef<Operation *> ops) {
  SmallVector<Operation *> several;
  llvm::copy_if(ops, std::back_inserter(several),
                [](Operation *op) { return op->getNumResults() > 1; });
  if (several.empty())
    return;
  RewritePatternSet patterns(several.front()->getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps)
      .enableFolding(false);
  (void)applyOpPatternsGreedily(several, std::move(patterns), config);
}

/// Reshapes of reshapes are one; reshapes and padding of fills are fills.
void ansor::detail::foldReshapes(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (isa<linalg::FillOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
            tensor::PadOp>(op))
      ops.push_back(&op);
  if (ops.empty())
    return;
  MLIRContext *context = ops.front()->getContext();
  RewritePatternSet patterns(context);
  linalg::FillOp::getCanonicalizationPatterns(patterns, context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  (void)applyOpPatternsGreedily(ops, std::move(patterns), config);
}

static void eraseDeadOps(RewriterBase &rewriter, Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<linalg::LinalgOp, tensor::EmptyOp, tensor::PadOp,
            tensor::ExpandShapeOp, tensor::DimOp>(op) &&
        isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

/// The ops of kind `OpTy` in `block` that tasks can hold.
template <typename OpTy> static SmallVector<Operation *> collect(Block &block) {
  SmallVector<Operation *> ops;
  for (auto op : block.getOps<OpTy>())
    if (whyNoTask(op).empty() && !isPacking(op))
      ops.push_back(op);
  return ops;
}

static void generalize(RewriterBase &rewriter, Block &block) {
  for (auto op : llvm::make_early_inc_range(block.getOps<linalg::SoftmaxOp>()))
    decompose(rewriter, op);
  for (Operation *op : collect<linalg::LinalgOp>(block)) {
    if (isa<linalg::GenericOp, linalg::FillOp>(op))
      continue;
    rewriter.setInsertionPoint(op);
    (void)linalg::generalizeNamedOp(rewriter, cast<linalg::LinalgOp>(op));
  }
  dropUnusedResults(collect<linalg::GenericOp>(block));
}

/// Loops of extent 1 compute nothing: without them a 1x1 convolution is the
/// contraction that it is, and batches of one need no other task than rows.
/// The reshapes that this leaves between the tasks mostly cancel.
static void dropUnitDims(func::FuncOp func, ArrayRef<Block *> blocks) {
  linalg::ControlDropUnitDims control;
  auto all = control.controlFn;
  control.controlFn = [&](Operation *op) -> SmallVector<unsigned> {
    if (!llvm::is_contained(blocks, op->getBlock()))
      return {};
    if (isPacking(op))
      return {};
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      if (!whyNoTask(generic).empty() || countIterations(generic) == 1)
        return {};
    if (auto pad = dyn_cast<tensor::PadOp>(op))
      if (pad.getSourceType().getEncoding() ||
          pad.getResultType().getEncoding() || !pad.getConstantPaddingValue())
        return {};
    return all(op);
  };
  RewritePatternSet patterns(func.getContext());
  linalg::populateFoldUnitExtentDimsPatterns(patterns, control);
  walkAndApplyPatterns(func, std::move(patterns));
}

static void normalize(RewriterBase &rewriter, Block &block,
                      const ExtractOptions &options) {
  foldReshapes(block);
  for (Operation *op : collect<linalg::GenericOp>(block)) {
    auto generic = cast<linalg::GenericOp>(op);
    hoistConstants(rewriter, generic);
    foldUnitExpand(rewriter, generic);
    dropUnitResultDims(rewriter, generic);
    moveReadInits(rewriter, generic);
    cleanInputs(rewriter, generic);
    if (replaceByFill(rewriter, generic) || replaceByInput(rewriter, generic))
      continue;
    // An init that is a splat constant is a fill like any other.
    for (OpOperand &init : generic.getDpsInitsMutable()) {
      if (!init.get().getDefiningOp() ||
          !init.get().getDefiningOp()->hasTrait<OpTrait::ConstantLike>())
        continue;
      if (Value scalar = getUniformScalar(rewriter, op, init.get())) {
        rewriter.setInsertionPoint(op);
        Value empty = createEmptyLike(rewriter, op->getLoc(), init.get());
        Value fill =
            linalg::FillOp::create(rewriter, op->getLoc(), scalar, empty)
                .getResult(0);
        rewriter.modifyOpInPlace(op, [&] { init.set(fill); });
      }
    }
  }
  foldReshapes(block);
  eraseDeadOps(rewriter, block);
  for (Operation *op : collect<linalg::GenericOp>(block))
    startFromZero(rewriter, cast<linalg::GenericOp>(op), options);
  fuseChains(rewriter, block);
  // Fusing keeps a producer's result as long as it alone gives an extent.
  dropUnusedResults(collect<linalg::GenericOp>(block));
  eraseDeadOps(rewriter, block);
}

void ansor::detail::normalize(RewriterBase &rewriter, func::FuncOp func,
                              const ExtractOptions &options) {
  SmallVector<Block *> blocks = collectBlocks(func);
  for (Block *block : blocks) {
    generalize(rewriter, *block);
    removeInsertedZeros(rewriter, *block, options);
  }
  dropUnitDims(func, blocks);
  for (Block *block : blocks)
    ::normalize(rewriter, *block, options);
}
