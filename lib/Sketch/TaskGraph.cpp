//===- TaskGraph.cpp - Analysis of a task -----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Sketch/TaskGraph.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Support/Structured.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::ansor;

//===----------------------------------------------------------------------===//
// Stage
//===----------------------------------------------------------------------===//

static SmallVector<unsigned> loopsOf(const Stage &stage, bool reduction) {
  SmallVector<unsigned> result;
  for (auto [index, loop] : llvm::enumerate(stage.loops))
    if (loop.reduction == reduction)
      result.push_back(index);
  return result;
}

SmallVector<unsigned> Stage::spatialLoops() const {
  return loopsOf(*this, false);
}

SmallVector<unsigned> Stage::reductionLoops() const {
  return loopsOf(*this, true);
}

int Stage::contiguousLoop() const {
  if (!write)
    return -1;
  for (AffineExpr expr : llvm::reverse(write.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && loops[dim.getPosition()].extent > 1)
      return dim.getPosition();
    // A constant (or unit) dimension does not change what is contiguous.
    if (!dim && !isa<AffineConstantExpr>(expr))
      return -1;
  }
  return -1;
}

bool Stage::hasTileableLoop(bool reduction) const {
  return llvm::any_of(loops, [&](const StageLoop &loop) {
    return loop.reduction == reduction && loop.extent > 1 && loop.tileable;
  });
}

//===----------------------------------------------------------------------===//
// Legality of tiling, from maps
//===----------------------------------------------------------------------===//

/// The dimensions that `expr` uses.
static void collectDims(AffineExpr expr, SmallVectorImpl<unsigned> &dims) {
  expr.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      dims.push_back(dim.getPosition());
  });
}

/// Restricts the loops of `stage` to tiles that are right for subscript `expr`,
/// and tells whether any tile is. Tiling takes for the extent of a slice what
/// the subscript is at the last point of the tile, plus one; so it has to grow
/// with every loop, and a group that `floordiv` or `mod` makes has to lie in one
/// tile, whose offset is not seen by them.
static bool restrictLoops(Stage &stage, AffineExpr expr) {
  if (isa<AffineDimExpr>(expr))
    return true;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return restrictLoops(stage, binary.getLHS()) &&
           restrictLoops(stage, binary.getRHS());
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!factor || factor.getValue() <= 0 ||
      !restrictLoops(stage, binary.getLHS()))
    return false;
  if (binary.getKind() == AffineExprKind::Mul)
    return true;
  auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
  if (binary.getKind() == AffineExprKind::Mod) {
    if (!dim)
      return false;
    int64_t extent = stage.loops[dim.getPosition()].extent;
    if (extent > factor.getValue() && extent % factor.getValue())
      return false;
  } else if (binary.getKind() != AffineExprKind::FloorDiv) {
    return false;
  }
  if (dim) {
    StageLoop &loop = stage.loops[dim.getPosition()];
    loop.multipleOf = std::lcm(loop.multipleOf, factor.getValue());
    return true;
  }
  SmallVector<unsigned> dims;
  collectDims(expr, dims);
  for (unsigned index : dims)
    stage.loops[index].tileable = false;
  return true;
}

/// Marks the reduction loops that share a subscript with another loop.
static void markWindows(Stage &stage, AffineExpr expr) {
  SmallVector<unsigned> dims;
  collectDims(expr, dims);
  if (dims.size() < 2)
    return;
  for (unsigned dim : dims)
    if (stage.loops[dim].reduction)
      stage.loops[dim].window = true;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// True if a body op costs no more than a few instructions.
static bool isCheap(Operation &op) {
  if (isa_and_nonnull<arith::ArithDialect>(op.getDialect()))
    return !isa<arith::DivFOp, arith::RemFOp>(op);
  return isa<linalg::YieldOp, linalg::IndexOp, math::AbsFOp, math::AbsIOp,
             math::FmaOp, math::CopySignOp>(op);
}

/// True if the combiner is associative, commutative and has a neutral element.
static bool isReorderableCombiner(Operation *op) {
  return isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp,
             arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp,
             arith::MinUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op);
}

static bool isReorderable(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.hasIndexSemantics())
    return false;
  SmallVector<Operation *> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), 0, combiners))
    return false;
  return combiners.size() == 1 && isReorderableCombiner(combiners.front());
}

//===----------------------------------------------------------------------===//
// TaskGraph
//===----------------------------------------------------------------------===//

/// Fills the fields of a stage whose op is a linalg op. Returns the reason if
/// it can't be scheduled.
static StringRef analyzeLinalg(Stage &stage, linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return "it does not work on tensors";
  if (op.hasDynamicShape())
    return "its extents are not known";
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (extents.empty())
    return "it has no loops";
  if (llvm::is_contained(extents, 0))
    return "one of its extents is zero";
  // Tiles would have to cover what the loops don't write: its initial value.
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i)
    if (!overwritesInit(op, i)) {
      stage.barrier = true;
      return "it doesn't write every element of its result";
    }
  stage.structured = true;
  for (auto [extent, kind] :
       llvm::zip_equal(extents, op.getIteratorTypesArray())) {
    StageLoop loop;
    loop.extent = extent;
    loop.reduction = kind != utils::IteratorType::parallel;
    stage.reduces |= loop.reduction;
    stage.loops.push_back(loop);
  }
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults()) {
      if (!restrictLoops(stage, expr)) {
        Stage opaque;
        opaque.tag = stage.tag;
        opaque.op = stage.op;
        opaque.barrier = true;
        stage = opaque;
        return "a subscript doesn't grow with its loops";
      }
      markWindows(stage, expr);
    }
  // Iterations of a loop that a result doesn't depend on write the same slice
  // of it: its tiles can't be distributed.
  for (OpOperand &init : op.getDpsInitsMutable())
    for (auto [index, loop] : llvm::enumerate(stage.loops))
      if (!loop.reduction && loop.extent > 1 &&
          !op.getMatchingIndexingMap(&init).isFunctionOfDim(index))
        loop.tileable = false;
  stage.elementwise = !stage.reduces;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand->get().getType());
    if (!type || op.getMatchingBlockArgument(operand).use_empty())
      continue;
    StageRead read;
    read.operand = operand->getOperandNumber();
    read.map = op.getMatchingIndexingMap(operand);
    read.elementBits = type.getElementType().isIntOrFloat()
                           ? type.getElementTypeBitWidth()
                           : 64;
    stage.elementwise &= read.map.isProjectedPermutation(true);
    stage.reads.push_back(read);
  }
  OpOperand *init = op.getDpsInitOperand(0);
  stage.write = op.getMatchingIndexingMap(init);
  Type element = getElementTypeOrSelf(init->get().getType());
  stage.elementBits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  stage.elementwise &= stage.write.isPermutation();
  bool readsInit = !op.getMatchingBlockArgument(init).use_empty();
  stage.initializer = !stage.reduces && stage.reads.empty() && !readsInit;
  stage.inlinable = stage.elementwise && op->getNumResults() == 1 &&
                    llvm::all_of(*op.getBlock(), isCheap);
  stage.reorderable = stage.reduces && isReorderable(op);
  stage.cuttable =
      stage.reorderable ||
      llvm::count_if(stage.loops, [](const StageLoop &loop) {
        return loop.reduction && loop.extent > 1;
      }) == 1;

  // OSDI 2020: some operand is reused along an axis of the result.
  unsigned reused = 0;
  for (const StageRead &read : stage.reads)
    reused += llvm::any_of(llvm::enumerate(stage.loops), [&](auto item) {
      return !item.value().reduction && item.value().extent > 1 &&
             !read.map.isFunctionOfDim(item.index());
    });
  stage.needsTiling = reused >= 2 || (reused >= 1 && stage.reduces);
  return {};
}

/// Tiles of a stage that is computed inside a consumer follow the consumer's:
/// demands on them move to the consumer's loops, or the stage is a barrier.
static void propagateMultiples(MutableArrayRef<Stage> stages) {
  for (Stage &stage : stages) {
    if (!stage.structured)
      continue;
    stage.barrier = llvm::any_of(
        stage.loops, [](const StageLoop &loop) { return !loop.tileable; });
    for (const StageRead &read : stage.reads) {
      if (read.producer < 0 || !stages[read.producer].structured)
        continue;
      Stage &producer = stages[read.producer];
      if (producer.op->getNumResults() != 1) {
        // Only the map of the first result is known here.
        producer.barrier |= llvm::any_of(
            producer.loops,
            [](const StageLoop &loop) { return loop.multipleOf != 1; });
        continue;
      }
      for (auto [written, asked] : llvm::zip_equal(
               producer.write.getResults(), read.map.getResults())) {
        auto from = dyn_cast<AffineDimExpr>(written);
        int64_t multiple =
            from ? producer.loops[from.getPosition()].multipleOf : 1;
        if (multiple == 1)
          continue;
        if (auto to = dyn_cast<AffineDimExpr>(asked)) {
          StageLoop &loop = stage.loops[to.getPosition()];
          loop.multipleOf = std::lcm(loop.multipleOf, multiple);
        } else {
          producer.barrier = true;
        }
      }
    }
  }
}

TaskGraph::TaskGraph(func::FuncOp task) : task(task) {
  if (task.isExternal())
    return;
  llvm::DenseMap<Operation *, unsigned> indexOf;
  task.getBody().front().walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto tag = op->getAttrOfType<IntegerAttr>(kStageAttr);
    if (!tag || op->getBlock() != &task.getBody().front())
      return;
    Stage stage;
    stage.tag = tag.getInt();
    stage.op = op;
    StringRef reason = "it is not a structured op";
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      reason = analyzeLinalg(stage, linalgOp);
    } else if (auto padOp = dyn_cast<tensor::PadOp>(op)) {
      stage.pad = padOp.getConstantPaddingValue() &&
                  padOp.getResultType().hasStaticShape() &&
                  padOp.getSourceType().hasStaticShape();
      reason = stage.pad ? "" : "its padding is not constant";
    }
    if (!reason.empty() && opaqueReason.empty())
      opaqueReason = ("stage " + Twine(stage.tag) + " (" +
                      op->getName().getStringRef() +
                      ") can't be tiled: " + reason)
                         .str();
    indexOf[op] = stages.size();
    stages.push_back(std::move(stage));
  });

  for (auto [index, stage] : llvm::enumerate(stages)) {
    for (StageRead &read : stage.reads) {
      auto it = indexOf.find(stage.op->getOperand(read.operand).getDefiningOp());
      if (it != indexOf.end())
        read.producer = it->second;
    }
    for (Value operand : stage.op->getOperands()) {
      auto it = indexOf.find(operand.getDefiningOp());
      if (it == indexOf.end() || llvm::is_contained(stage.producers, it->second))
        continue;
      stage.producers.push_back(it->second);
      stages[it->second].consumers.push_back(index);
    }
    // Users that are no stages need the whole value, as the result does.
    for (Operation *user : stage.op->getUsers())
      if (!indexOf.count(user))
        stage.output = true;
  }
  propagateMultiples(stages);
}

StringRef TaskGraph::getKey() const {
  func::FuncOp op = task;
  auto key = op->getAttrOfType<StringAttr>(kTaskAttr);
  return key ? key.getValue() : op.getSymName();
}

std::optional<MatchedConsumer>
TaskGraph::matchedConsumer(unsigned anchor) const {
  const Stage *producer = &stages[anchor];
  if (!producer->structured || producer->barrier)
    return std::nullopt;
  // Dimension of the producer's result -> loop of the anchor.
  SmallVector<unsigned> loopOfDim;
  for (AffineExpr expr : producer->write.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return std::nullopt;
    loopOfDim.push_back(dim.getPosition());
  }
  MatchedConsumer match;
  unsigned index = anchor;
  bool found = false;
  while (!producer->output && producer->consumers.size() == 1 &&
         producer->op->getNumResults() == 1) {
    unsigned next = producer->consumers.front();
    const Stage &consumer = stages[next];
    if (!consumer.structured || !consumer.elementwise ||
        consumer.initializer || consumer.op->getNumResults() != 1)
      break;
    auto reads = llvm::make_filter_range(
        consumer.reads, [&](const StageRead &read) {
          return read.producer == static_cast<int>(index);
        });
    if (!llvm::hasSingleElement(reads) ||
        !(*reads.begin()).map.isPermutation())
      break;
    AffineMap map = (*reads.begin()).map;
    SmallVector<unsigned> anchorLoop(consumer.loops.size());
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      anchorLoop[cast<AffineDimExpr>(expr).getPosition()] = loopOfDim[dim];
    if (found)
      match.between.push_back(match.stage);
    match.stage = next;
    match.anchorLoop = anchorLoop;
    found = true;
    loopOfDim.clear();
    for (AffineExpr expr : consumer.write.getResults())
      loopOfDim.push_back(
          anchorLoop[cast<AffineDimExpr>(expr).getPosition()]);
    producer = &consumer;
    index = next;
  }
  if (!found)
    return std::nullopt;
  return match;
}
