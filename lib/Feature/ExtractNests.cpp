//===- ExtractNests.cpp - Loop nests of scheduled IR ------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fills a NestDesc from tensor-level IR after tiling and fusion. Reading
// guide: `run` marks what the results need (the untiled originals stay in the
// function and must not count), `visitBlock` walks the live loops in order,
// `addStatement` describes one op, and `viewOf` traces a tensor to the buffer
// that bufferization will give it, composing the offsets of all slices on the
// way. Nothing is created in the IR and no attribute is uniqued: this runs for
// each scored candidate.
//
//===----------------------------------------------------------------------===//

#include "OpCounting.h"
#include "ansor/Feature/Feature.h"
#include "ansor/IR/AnsorDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/Support/MathExtras.h"
#include <deque>
#include <optional>

using namespace mlir;
using namespace mlir::ansor;

namespace {

/// A linear function of induction variables, counted in iterations: pairs of
/// a loop's position in the nest and a coefficient. The constant is dropped.
using Linear = SmallVector<std::pair<unsigned, int64_t>, 4>;

void addScaled(Linear &sum, const Linear &term, int64_t scale) {
  if (scale == 0)
    return;
  for (const auto &part : term) {
    auto *it =
        llvm::find_if(sum, [&](auto &t) { return t.first == part.first; });
    if (it == sum.end())
      sum.push_back({part.first, part.second * scale});
    else
      it->second += part.second * scale;
  }
}

/// Memory that a value lives in after bufferization.
struct Buffer {
  SmallVector<int64_t, 4> shape;
  int64_t elementBytes = 4;
  bool temporary = false; ///< allocated in the function
  unsigned depth = 0;     ///< loops outside the allocation
  int root = -1;          ///< index of the buffer that this one reshapes
  int id = -1;            ///< number in the NestDesc, in order of first access
};

/// The part of a buffer that a tensor value stands for.
struct View {
  int buffer = -1;
  /// Nothing was written yet: a slice of it is a smaller allocation of its
  /// own, and so is what an op writes "into" it.
  bool fresh = false;
  SmallVector<Linear, 4> offsets; ///< by dimension of the buffer
  /// Dimension of the buffer and step in it, by dimension of the value.
  SmallVector<std::pair<unsigned, int64_t>, 4> dims;
};

/// An enclosing loop that is open during the walk.
struct OpenLoop {
  LoopDesc desc;
  std::optional<int64_t> unroll;
};

class NestExtractor {
public:
  explicit NestExtractor(NestDesc &program) : program(program) {}

  LogicalResult run(func::FuncOp func) {
    Block &entry = func.getBody().front();
    if (!func.getBody().hasOneBlock())
      return failure();
    markLive(entry.getTerminator());
    visitBlock(entry);
    return success();
  }

private:
  //===--- Liveness ---===//

  void markLive(Operation *root) {
    SmallVector<Operation *, 32> worklist{root};
    auto push = [&](Value value) {
      if (Operation *def = value.getDefiningOp())
        if (live.insert(def).second)
          worklist.push_back(def);
    };
    while (!worklist.empty()) {
      Operation *op = worklist.pop_back_val();
      for (Value operand : op->getOperands())
        push(operand);
      if (isa<linalg::LinalgOp>(op)) {
        for (Operation &inner : op->getRegion(0).front())
          if (isa<tensor::ExtractOp>(inner))
            for (Value operand : inner.getOperands())
              push(operand);
        continue;
      }
      for (Region &region : op->getRegions())
        for (Block &block : region)
          markTerminator(block, push);
    }
  }

  template <typename Fn> void markTerminator(Block &block, Fn push) {
    if (block.empty())
      return;
    Operation &terminator = block.back();
    for (Value operand : terminator.getOperands())
      push(operand);
    // scf.forall.in_parallel holds its insertions in a region.
    for (Region &region : terminator.getRegions())
      for (Operation &op : region.getOps())
        for (Value operand : op.getOperands())
          push(operand);
  }

  //===--- Walk ---===//

  void visitBlock(Block &block) {
    blockDepth[&block] = loops.size();
    for (Operation &op : block) {
      if (!live.contains(&op))
        continue;
      if (auto loop = dyn_cast<scf::ForOp>(op))
        visitFor(loop);
      else if (auto loop = dyn_cast<scf::ForallOp>(op))
        visitForall(loop);
      else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
        addLinalg(linalgOp);
      else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
        addCopy(insert);
      else if (isa<tensor::PadOp, tensor::GenerateOp>(op) ||
               (isa<DestinationStyleOpInterface>(op) &&
                !isa<tensor::InsertOp>(op)))
        addElementwise(&op);
      else
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            visitBlock(inner);
    }
  }

  static std::optional<int64_t> getUnroll(Operation *op) {
    if (auto attr = op->getAttrOfType<IntegerAttr>(kUnrollAttr))
      return attr.getInt();
    return std::nullopt;
  }

  /// Opens a loop over [lower, upper) and binds its induction variable. Loops
  /// of one trip bind a constant. Returns true if a loop was opened.
  bool openLoop(Value iv, OpFoldResult lower, OpFoldResult upper,
                OpFoldResult step, LoopDesc::Annotation annotation,
                Operation *op) {
    bool partial = false;
    int64_t lb = boundOf(lower, partial).value_or(0);
    int64_t ub = boundOf(upper, partial).value_or(lb + 1);
    int64_t by = std::max<int64_t>(getConstantIntValue(step).value_or(1), 1);
    int64_t trips = std::max<int64_t>(llvm::divideCeil(ub - lb, by), 1);
    if (trips == 1)
      return false;
    ivs[iv] = {static_cast<unsigned>(loops.size()), by};
    OpenLoop loop;
    loop.desc.extent = trips;
    loop.desc.id = nextLoopId++;
    loop.desc.annotation = annotation;
    loop.desc.partial = partial || (ub - lb) % by != 0;
    loop.unroll = getUnroll(op);
    loops.push_back(loop);
    return true;
  }

  void visitFor(scf::ForOp loop) {
    bool parallel = loop->hasAttr(kParallelAttr);
    bool opened = openLoop(
        loop.getInductionVar(), loop.getLowerBound(), loop.getUpperBound(),
        loop.getStep(), parallel ? LoopDesc::Parallel : LoopDesc::None, loop);
    visitBlock(*loop.getBody());
    if (opened)
      loops.pop_back();
  }

  static LoopDesc::Annotation getMapping(Attribute mapping) {
    unsigned base;
    if (isa<gpu::GPUBlockMappingAttr>(mapping))
      base = LoopDesc::BlockX;
    else if (isa<gpu::GPUThreadMappingAttr, gpu::GPUWarpMappingAttr,
                 gpu::GPUWarpgroupMappingAttr, gpu::GPULaneMappingAttr>(
                 mapping))
      base = LoopDesc::ThreadX;
    else
      return LoopDesc::None;
    int64_t index =
        cast<DeviceMappingAttrInterface>(mapping).getRelativeIndex();
    return LoopDesc::Annotation(base + index % 3);
  }

  void visitForall(scf::ForallOp loop) {
    size_t depth = loops.size();
    bool parallel = loop->hasAttr(kParallelAttr);
    auto lower = loop.getMixedLowerBound(), upper = loop.getMixedUpperBound(),
         step = loop.getMixedStep();
    ArrayAttr mapping = loop.getMappingAttr();
    for (auto [i, iv] : llvm::enumerate(loop.getInductionVars())) {
      LoopDesc::Annotation annotation =
          parallel ? LoopDesc::Parallel : LoopDesc::None;
      if (mapping && i < mapping.size())
        if (auto device = getMapping(mapping[i]); device != LoopDesc::None)
          annotation = device;
      openLoop(iv, lower[i], upper[i], step[i], annotation, loop);
    }
    visitBlock(*loop.getBody());
    loops.truncate(depth);
  }

  //===--- Sizes and indices ---===//

  /// An upper bound of an index: exact for constants; for the size of a tile
  /// at a boundary, `min(8, 500 - i)`, the full size, and `partial` is set.
  std::optional<int64_t> boundOf(OpFoldResult value, bool &partial) {
    if (auto constant = getConstantIntValue(value))
      return constant;
    auto *op = cast<Value>(value).getDefiningOp();
    if (!op)
      return std::nullopt;
    std::optional<int64_t> bound;
    auto take = [&](std::optional<int64_t> other) {
      if (other && (!bound || *other < *bound))
        bound = other;
    };
    if (auto min = dyn_cast<affine::AffineMinOp>(op)) {
      for (AffineExpr expr : min.getMap().getResults()) {
        if (auto constant = dyn_cast<AffineConstantExpr>(expr))
          take(constant.getValue());
        else if (auto dim = dyn_cast<AffineDimExpr>(expr))
          take(boundOf(min.getDimOperands()[dim.getPosition()], partial));
        else if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
          take(boundOf(min.getSymbolOperands()[symbol.getPosition()], partial));
      }
      partial = true;
    } else if (isa<arith::MinSIOp, arith::MinUIOp>(op)) {
      take(boundOf(op->getOperand(0), partial));
      take(boundOf(op->getOperand(1), partial));
      partial = true;
    } else if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      if (auto index = dim.getConstantIndex())
        bound = sizeOf(dim.getSource(), *index, partial);
    } else if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
      bound = boundOfExpr(apply.getMap().getResult(0), apply, partial);
    }
    return bound;
  }

  /// Bound of a sum, product or quotient with constants of bounded operands.
  std::optional<int64_t> boundOfExpr(AffineExpr expr, affine::AffineApplyOp op,
                                     bool &partial) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return constant.getValue();
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return boundOf(op.getDimOperands()[dim.getPosition()], partial);
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return boundOf(op.getSymbolOperands()[symbol.getPosition()], partial);
    auto binary = cast<AffineBinaryOpExpr>(expr);
    auto lhs = boundOfExpr(binary.getLHS(), op, partial);
    auto rhs = boundOfExpr(binary.getRHS(), op, partial);
    if (!lhs || !rhs)
      return std::nullopt;
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return *lhs + *rhs;
    case AffineExprKind::Mul:
      return *lhs * *rhs;
    case AffineExprKind::FloorDiv:
      return *rhs > 0 ? std::optional(llvm::divideFloorSigned(*lhs, *rhs))
                      : std::nullopt;
    case AffineExprKind::CeilDiv:
      return *rhs > 0 ? std::optional(llvm::divideCeilSigned(*lhs, *rhs))
                      : std::nullopt;
    default:
      return std::nullopt;
    }
  }

  /// Extent of a dimension of a tensor; 1 if it is not known.
  int64_t sizeOf(Value value, unsigned dim, bool &partial) {
    auto type = cast<ShapedType>(value.getType());
    if (!type.isDynamicDim(dim))
      return std::max<int64_t>(type.getDimSize(dim), 1);
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      if (Value result = getLoopResult(arg))
        return sizeOf(result, dim, partial);
      return 1;
    }
    Operation *op = value.getDefiningOp();
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      auto sizes = slice.getMixedSizes();
      auto dropped = slice.getDroppedDims();
      for (unsigned d = 0, kept = 0; d < sizes.size(); ++d)
        if (!dropped.test(d) && kept++ == dim)
          return std::max<int64_t>(boundOf(sizes[d], partial).value_or(1), 1);
      return 1;
    }
    if (Value init = getLoopInit(op, number))
      return sizeOf(init, dim, partial);
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      return sizeOf(insert.getDest(), dim, partial);
    if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
      return sizeOf(dps.getDpsInits()[number], dim, partial);
    if (auto cast = dyn_cast<tensor::CastOp>(op))
      return isa<RankedTensorType>(cast.getSource().getType())
                 ? sizeOf(cast.getSource(), dim, partial)
                 : 1;
    if (auto empty = dyn_cast<tensor::EmptyOp>(op))
      return std::max<int64_t>(
          boundOf(empty.getMixedSizes()[dim], partial).value_or(1), 1);
    if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      int64_t size = sizeOf(pad.getSource(), dim, partial);
      size += boundOf(pad.getMixedLowPad()[dim], partial).value_or(0);
      size += boundOf(pad.getMixedHighPad()[dim], partial).value_or(0);
      return std::max<int64_t>(size, 1);
    }
    return 1;
  }

  /// The function of the loops that `expr` is, with `operand` giving those of
  /// its dimensions and symbols. A quotient moves by at most one step an
  /// iteration where it doesn't divide; a remainder moves like its operand.
  template <typename Fn> Linear evalExpr(AffineExpr expr, Fn operand) {
    Linear result;
    if (isa<AffineConstantExpr>(expr))
      return result;
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return operand(dim.getPosition(), false);
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return operand(symbol.getPosition(), true);
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Linear lhs = evalExpr(binary.getLHS(), operand);
    auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      result = std::move(lhs);
      addScaled(result, evalExpr(binary.getRHS(), operand), 1);
      return result;
    case AffineExprKind::Mul:
      if (constant)
        addScaled(result, lhs, constant.getValue());
      return result;
    case AffineExprKind::FloorDiv:
    case AffineExprKind::CeilDiv:
      if (constant && constant.getValue() > 0)
        for (auto [loop, coefficient] : lhs)
          result.push_back(
              {loop, llvm::divideCeilSigned(coefficient, constant.getValue())});
      return result;
    default:
      return lhs;
    }
  }

  /// The function of the enclosing loops that an index value is.
  Linear evalIndex(OpFoldResult index) {
    Linear result;
    auto value = dyn_cast<Value>(index);
    if (!value)
      return result;
    if (auto it = ivs.find(value); it != ivs.end()) {
      result.push_back(it->second);
      return result;
    }
    Operation *op = value.getDefiningOp();
    if (!op)
      return result;
    auto evalMap = [&](AffineMap map, unsigned number, OperandRange operands) {
      return evalExpr(map.getResult(number), [&](unsigned i, bool isSymbol) {
        return evalIndex(operands[isSymbol ? map.getNumDims() + i : i]);
      });
    };
    if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
      return evalMap(apply.getMap(), 0, apply->getOperands());
    // The last tile may be moved inward to be full: min(i, n - tile).
    if (auto min = dyn_cast<affine::AffineMinOp>(op)) {
      for (unsigned i = 0; i < min.getMap().getNumResults(); ++i)
        if (!isa<AffineConstantExpr>(min.getMap().getResult(i)))
          return evalMap(min.getMap(), i, min->getOperands());
      return result;
    }
    if (isa<arith::AddIOp>(op)) {
      result = evalIndex(op->getOperand(0));
      addScaled(result, evalIndex(op->getOperand(1)), 1);
    } else if (isa<arith::SubIOp>(op)) {
      result = evalIndex(op->getOperand(0));
      addScaled(result, evalIndex(op->getOperand(1)), -1);
    } else if (isa<arith::MulIOp>(op)) {
      for (unsigned i : {0u, 1u})
        if (auto constant = getConstantIntValue(op->getOperand(i)))
          addScaled(result, evalIndex(op->getOperand(1 - i)), *constant);
    } else if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
      result = evalIndex(op->getOperand(0));
    }
    return result;
  }

  //===--- Buffers ---===//

  /// The result of a loop that a region argument carries, or null.
  static Value getLoopResult(BlockArgument arg) {
    Operation *parent = arg.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return arg == loop.getInductionVar() ? Value()
                                           : loop.getTiedLoopResult(arg);
    if (auto loop = dyn_cast<scf::ForallOp>(parent)) {
      if (arg.getArgNumber() < loop.getRank())
        return {};
      return loop->getResult(arg.getArgNumber() - loop.getRank());
    }
    return {};
  }

  /// The value that result `number` of a loop starts from, or null.
  static Value getLoopInit(Operation *op, unsigned number) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return loop.getInitArgs()[number];
    if (auto loop = dyn_cast<scf::ForallOp>(op))
      return loop.getOutputs()[number];
    return {};
  }

  View makeBuffer(Value value, bool temporary, unsigned depth) {
    auto type = cast<ShapedType>(value.getType());
    Buffer buffer;
    bool partial = false;
    for (unsigned d = 0, e = type.hasRank() ? type.getRank() : 0; d < e; ++d)
      buffer.shape.push_back(sizeOf(value, d, partial));
    Type element = type.getElementType();
    buffer.elementBytes =
        element.isIntOrFloat()
            ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
            : 8;
    buffer.temporary = temporary;
    buffer.depth = depth;
    View view;
    view.buffer = buffers.size();
    view.offsets.resize(buffer.shape.size());
    for (unsigned d = 0, e = buffer.shape.size(); d < e; ++d)
      view.dims.push_back({d, 1});
    buffers.push_back(std::move(buffer));
    return view;
  }

  unsigned depthOf(Operation *op) {
    auto it = blockDepth.find(op->getBlock());
    return it == blockDepth.end() ? loops.size() : it->second;
  }

  const View &viewOf(Value value) {
    if (auto it = views.find(value); it != views.end())
      return *it->second;
    View view = trace(value);
    storage.push_back(std::move(view));
    views[value] = &storage.back();
    return storage.back();
  }

  /// What op writes when its init is `init`: the init's memory, or an
  /// allocation of its own if nothing holds that yet.
  View written(Value result, Value init, unsigned depth) {
    View view = viewOf(init);
    if (!view.fresh)
      return view;
    Buffer buffer = buffers[view.buffer];
    buffer.depth = std::min(buffer.depth, depth);
    view.buffer = buffers.size();
    view.fresh = false;
    buffers.push_back(std::move(buffer));
    return view;
  }

  View trace(Value value) {
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      if (Value result = getLoopResult(arg))
        return viewOf(result);
      return makeBuffer(value, /*temporary=*/false, 0);
    }
    Operation *op = value.getDefiningOp();
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return traceSlice(slice);
    if (Value init = getLoopInit(op, number))
      return written(value, init, depthOf(op));
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      return written(value, insert.getDest(), depthOf(op));
    if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
      return written(value, dps.getDpsInits()[number], depthOf(op));
    if (auto cast = dyn_cast<tensor::CastOp>(op))
      if (isa<RankedTensorType>(cast.getSource().getType()))
        return viewOf(cast.getSource());
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
      return traceReshape(op);
    if (isa<tensor::EmptyOp>(op)) {
      View view = makeBuffer(value, /*temporary=*/true, depthOf(op));
      view.fresh = true;
      return view;
    }
    bool constant =
        op->hasTrait<OpTrait::ConstantLike>() || !op->getNumRegions();
    bool temporary = isa<tensor::PadOp, tensor::GenerateOp>(op) || !constant;
    return makeBuffer(value, temporary, depthOf(op));
  }

  View traceSlice(tensor::ExtractSliceOp slice) {
    View view = viewOf(slice.getSource());
    auto offsets = slice.getMixedOffsets();
    auto strides = slice.getMixedStrides();
    auto sizes = slice.getMixedSizes();
    for (unsigned d = 0, e = offsets.size(); d < e; ++d) {
      auto &[dim, scale] = view.dims[d];
      addScaled(view.offsets[dim], evalIndex(offsets[d]), scale);
      scale *= getConstantIntValue(strides[d]).value_or(1);
    }
    if (view.fresh) {
      // Bufferization turns a slice of an empty tensor into an allocation of
      // the slice's size, where the slice is.
      Buffer buffer = buffers[view.buffer];
      bool partial = false;
      for (unsigned d = 0, e = sizes.size(); d < e; ++d)
        buffer.shape[view.dims[d].first] =
            std::max<int64_t>(boundOf(sizes[d], partial).value_or(1), 1);
      buffer.depth = depthOf(slice);
      view.buffer = buffers.size();
      buffers.push_back(std::move(buffer));
    }
    if (slice.getSourceType().getRank() != slice.getType().getRank()) {
      auto dropped = slice.getDroppedDims();
      SmallVector<std::pair<unsigned, int64_t>, 4> kept;
      for (unsigned d = 0, e = view.dims.size(); d < e; ++d)
        if (!dropped.test(d))
          kept.push_back(view.dims[d]);
      view.dims = std::move(kept);
    }
    return view;
  }

  /// A reshape keeps the memory and gives it other dimensions. Exact for whole
  /// buffers; for slices of one, the rows of the slice count as adjacent.
  View traceReshape(Operation *op) {
    Value source = op->getOperand(0), result = op->getResult(0);
    View view = viewOf(source);
    const Buffer &old = buffers[view.buffer];
    int root = old.root >= 0 ? old.root : view.buffer;
    View reshaped = makeBuffer(result, old.temporary, old.depth);
    bool whole = view.dims.size() == old.shape.size();
    if (!whole)
      return reshaped;
    Buffer &buffer = buffers[reshaped.buffer];
    buffer.root = root;
    reshaped.fresh = view.fresh;
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      for (auto [d, group] :
           llvm::enumerate(collapse.getReassociationIndices())) {
        int64_t inner = 1;
        for (int64_t s : llvm::reverse(group)) {
          addScaled(reshaped.offsets[d], view.offsets[s], inner);
          inner *= buffers[view.buffer].shape[s];
        }
        buffer.shape[d] = inner;
      }
      return reshaped;
    }
    auto expand = cast<tensor::ExpandShapeOp>(op);
    for (auto [s, group] : llvm::enumerate(expand.getReassociationIndices())) {
      for (auto [loop, coefficient] : view.offsets[s]) {
        int64_t inner = 1;
        int64_t target = group.back();
        for (int64_t d : llvm::reverse(group)) {
          if (coefficient % inner != 0)
            break;
          target = d;
          if (d != group.front() &&
              coefficient % (inner * buffer.shape[d]) != 0)
            break;
          if (d != group.front())
            inner *= buffer.shape[d];
        }
        reshaped.offsets[target].push_back({loop, coefficient / inner});
      }
    }
    return reshaped;
  }

  //===--- Statements ---===//

  struct OwnLoop {
    int64_t extent = 1;
    bool reduction = false, partial = false;
  };

  /// Starts a statement for `op` inside the open loops with `own` iterators,
  /// and says where each of those is in the nest (nullopt: one trip).
  StatementDesc begin(Operation *op, ArrayRef<OwnLoop> own,
                      SmallVectorImpl<std::optional<unsigned>> &positions) {
    StatementDesc statement;
    if (auto stage = op->getAttrOfType<IntegerAttr>(kStageAttr))
      statement.name = "s" + std::to_string(stage.getInt());
    else
      statement.name = op->getName().getStringRef().str();
    std::optional<int64_t> unroll = getUnroll(op);
    for (const OpenLoop &loop : loops)
      statement.loops.push_back(loop.desc);
    for (const OpenLoop &loop : llvm::reverse(loops))
      if (!unroll)
        unroll = loop.unroll;
    statement.unrollLimit = unroll.value_or(0);
    positions.assign(own.size(), std::nullopt);
    auto append = [&](unsigned i) {
      if (own[i].extent <= 1)
        return;
      positions[i] = statement.loops.size();
      LoopDesc loop;
      loop.extent = own[i].extent;
      loop.id = nextLoopId++;
      loop.kind = own[i].reduction ? LoopDesc::Reduction : LoopDesc::Spatial;
      loop.partial = own[i].partial;
      statement.loops.push_back(loop);
    };
    if (!op->hasAttr(kVectorizeAttr)) {
      for (unsigned i = 0; i < own.size(); ++i)
        append(i);
      return statement;
    }
    // Vector code keeps the reductions of a tile outside its vectors.
    for (bool reduction : {true, false})
      for (unsigned i = 0; i < own.size(); ++i)
        if (own[i].reduction == reduction)
          append(i);
    if (statement.loops.size() > loops.size())
      statement.loops.back().annotation = LoopDesc::Vectorized;
    return statement;
  }

  /// Adds an access to what `view` shows; `index(d)` is the function of the
  /// loops that indexes dimension d of the value.
  template <typename Fn>
  AccessDesc &addAccess(StatementDesc &statement, const View &view, Fn index) {
    Buffer &buffer = buffers[view.buffer];
    Buffer &root = buffer.root >= 0 ? buffers[buffer.root] : buffer;
    if (root.id < 0)
      root.id = nextBufferId++;
    AccessDesc access;
    access.buffer = root.id;
    access.elementBytes = buffer.elementBytes;
    access.shape.assign(buffer.shape.begin(), buffer.shape.end());
    size_t numLoops = statement.loops.size();
    access.coefficients.assign(buffer.shape.size() * numLoops, 0);
    auto add = [&](unsigned dim, const Linear &linear, int64_t scale) {
      for (auto [loop, coefficient] : linear)
        if (loop >= buffer.depth)
          access.coefficients[dim * numLoops + loop] += coefficient * scale;
    };
    for (unsigned d = 0, e = view.offsets.size(); d < e; ++d)
      add(d, view.offsets[d], 1);
    for (unsigned d = 0, e = view.dims.size(); d < e; ++d)
      add(view.dims[d].first, index(d), view.dims[d].second);
    statement.accesses.push_back(std::move(access));
    return statement.accesses.back();
  }

  /// Classes the enclosing loops by what they drive, notes the allocation, and
  /// puts the annotations that a limit implies.
  void finish(StatementDesc statement, ArrayRef<const View *> outputs,
              ArrayRef<std::pair<const View *, unsigned>> reducedDims) {
    auto drives = [](const Linear &linear, unsigned loop) {
      return llvm::any_of(
          linear, [&](auto &t) { return t.first == loop && t.second != 0; });
    };
    for (unsigned l = 0, e = loops.size(); l < e; ++l) {
      bool spatial = llvm::any_of(outputs, [&](const View *view) {
        return llvm::any_of(view->offsets,
                            [&](const Linear &o) { return drives(o, l); });
      });
      bool reduction = llvm::any_of(reducedDims, [&](auto dim) {
        return drives(dim.first->offsets[dim.second], l);
      });
      statement.loops[l].kind = !spatial    ? LoopDesc::Reduction
                                : reduction ? LoopDesc::Mixed
                                            : LoopDesc::Spatial;
    }
    const Buffer &buffer = buffers[outputs.front()->buffer];
    const Buffer &root = buffer.root >= 0 ? buffers[buffer.root] : buffer;
    if (root.temporary) {
      statement.allocationBytes = root.elementBytes;
      for (int64_t extent : root.shape)
        statement.allocationBytes *= extent;
      statement.allocationDepth = root.depth;
    }
    int64_t copies = 1;
    for (LoopDesc &loop : llvm::reverse(statement.loops)) {
      if (loop.annotation == LoopDesc::Vectorized)
        continue;
      if (loop.annotation != LoopDesc::None ||
          loop.extent > statement.unrollLimit / copies)
        break;
      copies *= loop.extent;
      loop.annotation = LoopDesc::Unrolled;
    }
    program.statements.push_back(std::move(statement));
  }

  static bool usesOnly(AffineExpr expr, ArrayRef<OwnLoop> own, bool &any) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      any = true;
      return own[dim.getPosition()].reduction;
    }
    if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr))
      return usesOnly(binary.getLHS(), own, any) &&
             usesOnly(binary.getRHS(), own, any);
    return true;
  }

  void addLinalg(linalg::LinalgOp op) {
    SmallVector<OwnLoop, 8> own(op.getNumLoops());
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    for (auto [loop, kind] : llvm::zip(own, kinds))
      loop.reduction = kind != utils::IteratorType::parallel;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    llvm::SmallBitVector known(own.size());
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = maps[operand.getOperandNumber()];
      for (auto [d, expr] : llvm::enumerate(map.getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          if (!known.test(dim.getPosition())) {
            known.set(dim.getPosition());
            OwnLoop &loop = own[dim.getPosition()];
            loop.extent = sizeOf(operand.get(), d, loop.partial);
          }
    }
    if (!known.all()) {
      SmallVector<int64_t> ranges = op.getStaticLoopRanges();
      for (int d = known.find_first_unset(); d >= 0;
           d = known.find_next_unset(d))
        own[d].extent = std::max<int64_t>(ranges[d], 1);
    }

    SmallVector<std::optional<unsigned>, 8> positions;
    StatementDesc statement = begin(op, own, positions);
    SmallVector<const View *, 2> outputs;
    SmallVector<std::pair<const View *, unsigned>, 4> reducedDims;
    auto iterator = [&](unsigned i, bool) {
      Linear linear;
      if (positions[i])
        linear.push_back({*positions[i], 1});
      return linear;
    };
    auto access = [&](OpOperand &operand, const View &view) -> AccessDesc & {
      AffineMap map = maps[operand.getOperandNumber()];
      return addAccess(statement, view, [&](unsigned d) {
        return evalExpr(map.getResult(d), iterator);
      });
    };
    for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      if (i >= op->getNumResults())
        return; // Not on tensors.
      const View &view = viewOf(op->getResult(i));
      outputs.push_back(&view);
      AccessDesc &desc = access(init, view);
      desc.writes = true;
      desc.reads = op.payloadUsesValueFromOperand(&init);
    }
    if (outputs.empty())
      return;
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (!isa<RankedTensorType>(input->get().getType()) ||
          !op.payloadUsesValueFromOperand(input))
        continue;
      const View &view = viewOf(input->get());
      access(*input, view).reads = true;
      AffineMap map = maps[input->getOperandNumber()];
      for (auto [d, expr] : llvm::enumerate(map.getResults())) {
        bool any = false;
        if (usesOnly(expr, own, any) && any)
          reducedDims.push_back({&view, view.dims[d].first});
      }
    }
    addGathers(op, statement, iterator);
    statement.ops = countOps(op->getRegion(0).front());
    finish(std::move(statement), outputs, reducedDims);
  }

  /// tensor.extract in a body: an access by linear functions of linalg.index,
  /// or, where the index depends on data, an indirect one.
  template <typename Fn>
  void addGathers(linalg::LinalgOp op, StatementDesc &statement, Fn iterator) {
    Block &body = op->getRegion(0).front();
    if (llvm::none_of(body, [](Operation &inner) {
          return isa<tensor::ExtractOp>(inner);
        }))
      return;
    SmallVector<Value, 4> bound;
    for (auto index : body.getOps<linalg::IndexOp>()) {
      Linear linear = iterator(index.getDim(), false);
      if (linear.empty())
        continue;
      ivs[index.getResult()] = linear.front();
      bound.push_back(index.getResult());
    }
    for (auto extract : body.getOps<tensor::ExtractOp>()) {
      bool indirect = llvm::any_of(extract.getIndices(), [&](Value index) {
        return dependsOnData(index, body);
      });
      AccessDesc &desc =
          addAccess(statement, viewOf(extract.getTensor()), [&](unsigned d) {
            return indirect ? Linear() : evalIndex(extract.getIndices()[d]);
          });
      desc.reads = true;
      desc.indirect = indirect;
    }
    for (Value index : bound)
      ivs.erase(index);
  }

  static bool dependsOnData(Value value, Block &body) {
    if (auto arg = dyn_cast<BlockArgument>(value))
      return arg.getOwner() == &body;
    Operation *op = value.getDefiningOp();
    if (op->getBlock() != &body)
      return false;
    return isa<tensor::ExtractOp>(op) ||
           llvm::any_of(op->getOperands(),
                        [&](Value v) { return dependsOnData(v, body); });
  }

  /// Ops that are no linalg ops in the strict sense (tensor.pad, linalg.pack,
  /// linalg.softmax, …): a loop a dimension of the result, each operand read
  /// at the same index, dimensions aligned from the right.
  void addElementwise(Operation *op) {
    auto type = op->getNumResults()
                    ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                    : RankedTensorType();
    if (!type)
      return;
    Value result = op->getResult(0);
    SmallVector<OwnLoop, 8> own(type.getRank());
    for (auto [d, loop] : llvm::enumerate(own))
      loop.extent = sizeOf(result, d, loop.partial);
    addPlain(op, own, viewOf(result), op->getOperands());
  }

  void addPlain(Operation *op, ArrayRef<OwnLoop> own, const View &output,
                ValueRange operands) {
    SmallVector<std::optional<unsigned>, 8> positions;
    StatementDesc statement = begin(op, own, positions);
    auto aligned = [&](const View &view) {
      return [&, rank = view.dims.size()](unsigned d) {
        Linear linear;
        if (d + own.size() >= rank)
          if (auto position = positions[d + own.size() - rank])
            linear.push_back({*position, 1});
        return linear;
      };
    };
    addAccess(statement, output, aligned(output)).writes = true;
    auto dps = dyn_cast<DestinationStyleOpInterface>(op);
    for (auto [i, operand] : llvm::enumerate(operands)) {
      if (!isa<RankedTensorType>(operand.getType()) ||
          (dps && dps.isDpsInit(&op->getOpOperand(i))))
        continue;
      const View &view = viewOf(operand);
      addAccess(statement, view, aligned(view)).reads = true;
    }
    statement.ops = countPlainOps(op);
    finish(std::move(statement), &output, {});
  }

  /// An insertion of what lives elsewhere is a copy; the usual one, of a tile
  /// that was computed in place, is nothing.
  void addCopy(tensor::InsertSliceOp op) {
    const View &source = viewOf(op.getSource());
    const View &dest = viewOf(op.getResult());
    auto rootOf = [&](int buffer) {
      return buffers[buffer].root >= 0 ? buffers[buffer].root : buffer;
    };
    if (rootOf(source.buffer) == rootOf(dest.buffer))
      return;
    View target = dest;
    auto offsets = op.getMixedOffsets();
    for (unsigned d = 0, e = offsets.size(); d < e; ++d)
      addScaled(target.offsets[target.dims[d].first], evalIndex(offsets[d]),
                target.dims[d].second);
    if (op.getSourceType().getRank() != op.getType().getRank()) {
      auto dropped = op.getDroppedDims();
      SmallVector<std::pair<unsigned, int64_t>, 4> kept;
      for (unsigned d = 0, e = target.dims.size(); d < e; ++d)
        if (!dropped.test(d))
          kept.push_back(target.dims[d]);
      target.dims = std::move(kept);
    }
    SmallVector<OwnLoop, 8> own(op.getSourceType().getRank());
    for (auto [d, loop] : llvm::enumerate(own))
      loop.extent = sizeOf(op.getSource(), d, loop.partial);
    storage.push_back(std::move(target));
    addPlain(op, own, storage.back(), op.getSource());
  }

  NestDesc &program;
  llvm::DenseSet<Operation *> live;
  llvm::DenseMap<Block *, unsigned> blockDepth;
  SmallVector<OpenLoop, 8> loops;
  llvm::DenseMap<Value, std::pair<unsigned, int64_t>> ivs;
  std::deque<Buffer> buffers;
  std::deque<View> storage;
  llvm::DenseMap<Value, const View *> views;
  int nextLoopId = 0, nextBufferId = 0;
};

} // namespace

FailureOr<NestDesc> mlir::ansor::extractNests(func::FuncOp func) {
  if (func.isExternal())
    return failure();
  NestDesc program;
  if (failed(NestExtractor(program).run(func)))
    return failure();
  return program;
}

FailureOr<NestDesc> mlir::ansor::extractNests(ModuleOp module) {
  func::FuncOp task;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    if (!task || (func->hasAttr(kTaskAttr) && !task->hasAttr(kTaskAttr)))
      task = func;
  }
  if (!task)
    return failure();
  return extractNests(task);
}
