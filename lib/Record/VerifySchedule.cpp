//===- VerifySchedule.cpp - Whether a schedule fits a task ------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "VerifySchedule.h"
#include "ansor/IR/AnsorDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/TransformOps/LinalgTransformOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {
/// Follows the handles of a schedule, with upper bounds of the loops of what
/// they stand for.
class ScheduleVerifier {
public:
  explicit ScheduleVerifier(func::FuncOp task) : task(task) {
    task.walk([&](Operation *op) {
      if (auto tag = op->getAttrOfType<IntegerAttr>(kStageAttr))
        addStage(tag.getValue().getLimitedValue(), op);
    });
  }

  LogicalResult verify(Block &block) {
    for (Operation &op : block.without_terminator())
      if (failed(verify(&op)))
        return failure();
    return success();
  }

private:
  using Extents = SmallVector<int64_t>;

  void addStage(uint64_t tag, Operation *op);
  LogicalResult verify(Operation *op);
  LogicalResult verifyMatch(transform::MatchOp op);
  /// Sizes of tiles of `target`, of which none is larger than its loop. The
  /// loops of `result` are the tiles'.
  LogicalResult verifySizes(Operation *op, Value target,
                            ArrayRef<OpFoldResult> sizes, Value result,
                            StringRef what = "tile size");

  func::FuncOp task;
  DenseMap<uint64_t, Extents> stages;
  DenseMap<Value, Extents> extents;
};
} // namespace

void ScheduleVerifier::addStage(uint64_t tag, Operation *op) {
  Extents found;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    found = linalgOp.getStaticLoopRanges();
  else if (auto pad = dyn_cast<tensor::PadOp>(op))
    llvm::append_range(found, pad.getResultType().getShape());
  auto [it, isNew] = stages.try_emplace(tag, found);
  if (isNew)
    return;
  Extents &known = it->second;
  if (known.size() != found.size())
    return known.clear();
  for (auto [a, b] : llvm::zip_equal(known, found))
    a = ShapedType::isDynamic(a) || ShapedType::isDynamic(b)
            ? ShapedType::kDynamic
            : std::max(a, b);
}

LogicalResult ScheduleVerifier::verifyMatch(transform::MatchOp op) {
  DictionaryAttr attrs = op.getOpAttrsAttr();
  auto tag = attrs ? attrs.getAs<IntegerAttr>(kStageAttr) : IntegerAttr();
  if (!tag)
    return success();
  auto stage = stages.find(tag.getValue().getLimitedValue());
  if (stage == stages.end())
    return op.emitError() << "task @" << task.getSymName()
                          << " has no stage "
                          << tag.getValue().getSExtValue();
  if (!stage->second.empty())
    extents[op.getResult()] = stage->second;
  return success();
}

LogicalResult ScheduleVerifier::verifySizes(Operation *op, Value target,
                                            ArrayRef<OpFoldResult> sizes,
                                            Value result, StringRef what) {
  auto found = extents.find(target);
  Extents loops = found == extents.end() ? Extents() : found->second;
  if (!loops.empty() && sizes.size() > loops.size())
    return op->emitError() << sizes.size() << " " << what
                           << "s for the " << loops.size()
                           << " loops of a stage of @" << task.getSymName();
  for (auto [i, size] : llvm::enumerate(sizes)) {
    Location loc = op->getLoc();
    IntegerAttr value;
    if (auto param = dyn_cast<Value>(size)) {
      auto constant = param.getDefiningOp<transform::ParamConstantOp>();
      value = constant ? dyn_cast<IntegerAttr>(constant.getValue())
                       : IntegerAttr();
      if (value)
        loc = constant.getLoc();
    } else {
      value = dyn_cast<IntegerAttr>(cast<Attribute>(size));
    }
    if (!value)
      continue;
    // Written in the list, 0 leaves a loop alone, and the kind of step has
    // been chosen accordingly; a choice of 0 is none that the space has.
    bool isChoice = isa<Value>(size);
    APInt number = value.getValue();
    if (number.isNegative() || (isChoice && number.isZero()))
      return emitError(loc) << what << " " << number.getSExtValue()
                            << " of loop " << i << " of a stage of @"
                            << task.getSymName() << " is not positive";
    int64_t known = number.getLimitedValue(INT64_MAX);
    if (i >= loops.size() || known == 0)
      continue;
    if (!ShapedType::isDynamic(loops[i]) && known > loops[i])
      return emitError(loc)
             << what << " " << known << " of loop " << i << " of a stage of @"
             << task.getSymName() << " exceeds its extent, " << loops[i];
    loops[i] = known;
  }
  if (result && !loops.empty())
    extents[result] = loops;
  return success();
}

LogicalResult ScheduleVerifier::verify(Operation *op) {
  MLIRContext *context = op->getContext();
  if (auto match = dyn_cast<transform::MatchOp>(op))
    return verifyMatch(match);
  if (auto tile = dyn_cast<transform::TileUsingForOp>(op))
    return verifySizes(op, tile.getTarget(), tile.getMixedSizes(),
                       tile.getTiledLinalgOp());
  if (auto fuse = dyn_cast<transform::FuseOp>(op))
    return verifySizes(op, fuse.getTarget(), fuse.getMixedTileSizes(),
                       fuse.getTransformed());
  if (auto tile = dyn_cast<transform::TileUsingForallOp>(op)) {
    if (failed(verifySizes(op, tile.getTarget(), tile.getMixedNumThreads(),
                           Value(), "number of threads")))
      return failure();
    return verifySizes(op, tile.getTarget(), tile.getMixedTileSizes(),
                       tile.getTiledOp());
  }
  if (auto tile = dyn_cast<transform::TileReductionUsingForOp>(op))
    return verifySizes(op, tile.getTarget(),
                       llvm::to_vector_of<OpFoldResult>(tile.getTileSizes()),
                       Value());
  if (auto tile = dyn_cast<transform::TileReductionUsingForallOp>(op)) {
    if (failed(verifySizes(op, tile.getTarget(),
                           getAsIndexOpFoldResult(context,
                                                  tile.getNumThreads()),
                           Value(), "number of threads")))
      return failure();
    return verifySizes(op, tile.getTarget(),
                       getAsIndexOpFoldResult(context, tile.getTileSizes()),
                       Value());
  }
  if (auto split = dyn_cast<transform::SplitOp>(op)) {
    int64_t at = split.getStaticChunkSizes();
    auto found = extents.find(split.getTarget());
    if (found != extents.end()) {
      uint64_t loop = split.getDimension();
      if (loop >= found->second.size())
        return op->emitError() << "there is no loop " << loop << " of a stage "
                               << "of @" << task.getSymName() << " to split";
      int64_t extent = found->second[loop];
      if (!ShapedType::isDynamic(at) && !ShapedType::isDynamic(extent) &&
          at >= extent)
        return op->emitError()
               << "splits loop " << loop << " of a stage of @"
               << task.getSymName() << " after " << at << ", but its extent is "
               << extent;
      extents[split.getResult()] = found->second;
    }
    if (!ShapedType::isDynamic(at) && at <= 0)
      return op->emitError() << "splits a loop after " << at;
    return success();
  }
  if (auto parts = dyn_cast<transform::SplitHandleOp>(op)) {
    auto found = extents.find(parts.getHandle());
    if (found == extents.end())
      return success();
    Extents loops = found->second;
    for (Value part : parts.getResults())
      extents[part] = loops;
    return success();
  }
  if (auto annotate = dyn_cast<transform::AnnotateOp>(op)) {
    Value param = annotate.getParam();
    auto constant = param ? param.getDefiningOp<transform::ParamConstantOp>()
                          : transform::ParamConstantOp();
    auto value = constant ? dyn_cast<IntegerAttr>(constant.getValue())
                          : IntegerAttr();
    if (value && value.getValue().isNegative())
      return constant.emitError()
             << "the value of " << annotate.getName() << " is negative";
    // Ops that the schedule made become a stage: those that the task began with
    // say nothing of their loops.
    if (value && annotate.getName() == kStageAttr)
      stages[value.getValue().getLimitedValue()].clear();
    return success();
  }
  if (auto foreach = dyn_cast<transform::ForeachOp>(op)) {
    for (auto [argument, target] : llvm::zip(
             foreach.getBody().front().getArguments(), foreach.getTargets())) {
      auto found = extents.find(target);
      if (found == extents.end())
        continue;
      Extents loops = found->second;
      extents[argument] = loops;
    }
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        if (failed(verify(&inner)))
          return failure();
  return success();
}

LogicalResult ansor::verifySchedule(transform::NamedSequenceOp schedule,
                                    func::FuncOp task) {
  if (schedule.isExternal())
    return success();
  return ScheduleVerifier(task).verify(schedule.getBody().front());
}

LogicalResult ansor::verifyLoopSteps(func::FuncOp task) {
  WalkResult result = task.walk([&](Operation *op) {
    SmallVector<OpFoldResult> steps;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      steps = {loop.getStep()};
    else if (auto loop = dyn_cast<scf::ForallOp>(op))
      steps = loop.getMixedStep();
    for (OpFoldResult step : steps)
      if (std::optional<int64_t> value = getConstantIntValue(step);
          value && *value <= 0) {
        op->emitError() << "makes a loop of step " << *value;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
