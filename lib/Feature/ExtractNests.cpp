//===- ExtractNests.cpp - Loop nests of scheduled IR ------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fills a RawNest from tensor-level IR after tiling and fusion. Reading
// guide: `run` marks what the results need (the untiled originals stay in the
// function and must not count), `visitBlock` walks the live loops in order,
// `addLinalg` and its siblings describe one op each, and ValueTracer finds the
// buffer that a tensor will live in, composing the offsets of all slices on the
// way.
//
//===----------------------------------------------------------------------===//

#include "OpCounting.h"
#include "RawNest.h"
#include "ValueTracer.h"
#include "ansor/Feature/Feature.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Support/Structured.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

using namespace mlir;
using namespace mlir::ansor;

namespace {

/// One iterator of an op.
struct OwnLoop {
  int64_t extent = 1;
  bool reduction = false, partial = false;
};

class NestExtractor {
public:
  explicit NestExtractor(RawNest &program) : program(program) {}

  LogicalResult run(func::FuncOp func) {
    Block &entry = func.getBody().front();
    if (!func.getBody().hasOneBlock())
      return failure();
    markLive(entry.getTerminator());
    visitBlock(entry);
    return success();
  }

private:
  // Liveness.

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

  // Walk.

  void visitBlock(Block &block) {
    tracer.enterBlock(block, loops.size());
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
      else if (auto pack = dyn_cast<linalg::PackOp>(op); pack && isPanels(pack))
        addPanels(pack);
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

  /// `ansor.unroll` on `op`, -1 if it has none.
  static int64_t getUnroll(Operation *op) {
    auto attr = op->getAttrOfType<IntegerAttr>(kUnrollAttr);
    return attr ? std::max<int64_t>(attr.getInt(), 0) : -1;
  }

  /// Opens a loop over [lower, upper) and binds its induction variable.
  void openLoop(Value iv, OpFoldResult lower, OpFoldResult upper,
                OpFoldResult step, LoopDesc::Annotation annotation,
                Operation *op) {
    bool partial = false;
    int64_t lb = tracer.boundOf(lower, partial).value_or(0);
    int64_t ub = tracer.boundOf(upper, partial).value_or(lb + 1);
    int64_t by = std::max<int64_t>(getConstantIntValue(step).value_or(1), 1);
    tracer.bind(iv, loops.size(), by);
    RawLoop loop;
    // A loop that never runs counts as one that runs once.
    loop.extent = ub > lb ? llvm::divideCeil(ub - lb, by) : 1;
    loop.id = nextLoopId++;
    loop.annotation = annotation;
    loop.partial = partial || (ub - lb) % by != 0;
    loop.unroll = getUnroll(op);
    loops.push_back(loop);
  }

  void visitFor(scf::ForOp loop) {
    bool parallel = loop->hasAttr(kParallelAttr);
    openLoop(loop.getInductionVar(), loop.getLowerBound(), loop.getUpperBound(),
             loop.getStep(), parallel ? LoopDesc::Parallel : LoopDesc::None,
             loop);
    visitBlock(*loop.getBody());
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

  // Statements.

  /// Starts a statement for `op` inside the open loops with `own` iterators,
  /// and says where each of those is in the nest.
  RawStatement begin(Operation *op, ArrayRef<OwnLoop> own,
                     SmallVectorImpl<unsigned> &positions) {
    RawStatement statement;
    if (auto stage = op->getAttrOfType<IntegerAttr>(kStageAttr))
      statement.name = "s" + std::to_string(stage.getInt());
    else
      statement.name = op->getName().getStringRef().str();
    statement.unroll = getUnroll(op);
    statement.vectorized = op->hasAttr(kVectorizeAttr);
    statement.loops = loops;
    statement.numOuter = loops.size();
    positions.assign(own.size(), 0);
    auto append = [&](unsigned i) {
      positions[i] = statement.loops.size();
      RawLoop loop;
      loop.extent = own[i].extent;
      loop.id = nextLoopId++;
      loop.kind = own[i].reduction ? LoopDesc::Reduction : LoopDesc::Spatial;
      loop.partial = own[i].partial;
      statement.loops.push_back(loop);
    };
    if (!statement.vectorized) {
      for (unsigned i = 0; i < own.size(); ++i)
        append(i);
      return statement;
    }
    // Vector code keeps the reductions of a tile outside its vectors.
    for (bool reduction : {true, false})
      for (unsigned i = 0; i < own.size(); ++i)
        if (own[i].reduction == reduction)
          append(i);
    return statement;
  }

  /// Adds an access to what `view` shows; `index(d)` is the function of the
  /// loops that indexes dimension d of the value.
  template <typename Fn>
  AccessDesc &addAccess(RawStatement &statement, const View &view, Fn index) {
    Buffer &buffer = tracer.getBuffer(view), &root = tracer.getRoot(view);
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

  /// Classes the enclosing loops by what they drive, and notes the allocation.
  void finish(RawStatement statement, ArrayRef<const View *> outputs,
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
    const Buffer &root = tracer.getRoot(*outputs.front());
    if (root.temporary) {
      statement.elementBytes = root.elementBytes;
      statement.allocationShape = root.shape;
      statement.allocationDepth = root.depth;
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
            loop.extent = tracer.sizeOf(operand.get(), d, loop.partial);
          }
    }
    if (!known.all()) {
      SmallVector<int64_t> ranges = op.getStaticLoopRanges();
      for (int d = known.find_first_unset(); d >= 0;
           d = known.find_next_unset(d))
        own[d].extent = std::max<int64_t>(ranges[d], 1);
    }

    SmallVector<unsigned, 8> positions;
    RawStatement statement = begin(op, own, positions);
    SmallVector<const View *, 2> outputs;
    SmallVector<std::pair<const View *, unsigned>, 4> reducedDims;
    auto iterator = [&](unsigned i, bool) {
      return Linear{{positions[i], 1}};
    };
    auto access = [&](OpOperand &operand, const View &view) -> AccessDesc & {
      AffineMap map = maps[operand.getOperandNumber()];
      return addAccess(statement, view, [&](unsigned d) {
        return ValueTracer::evalExpr(map.getResult(d), iterator);
      });
    };
    for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      if (i >= op->getNumResults())
        return; // Not on tensors.
      const View &view = tracer.viewOf(op->getResult(i));
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
      const View &view = tracer.viewOf(input->get());
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
  void addGathers(linalg::LinalgOp op, RawStatement &statement, Fn iterator) {
    Block &body = op->getRegion(0).front();
    if (llvm::none_of(body, [](Operation &inner) {
          return isa<tensor::ExtractOp>(inner);
        }))
      return;
    SmallVector<Value, 4> bound;
    for (auto index : body.getOps<linalg::IndexOp>()) {
      Linear linear = iterator(index.getDim(), false);
      tracer.bind(index.getResult(), linear.front().first,
                  linear.front().second);
      bound.push_back(index.getResult());
    }
    for (auto extract : body.getOps<tensor::ExtractOp>()) {
      bool indirect = llvm::any_of(extract.getIndices(), [&](Value index) {
        return dependsOnData(index, body);
      });
      AccessDesc &desc = addAccess(
          statement, tracer.viewOf(extract.getTensor()), [&](unsigned d) {
            return indirect ? Linear()
                            : tracer.evalIndex(extract.getIndices()[d]);
          });
      desc.reads = true;
      desc.indirect = indirect;
    }
    for (Value index : bound)
      tracer.unbind(index);
  }

  static bool dependsOnData(Value value, Block &body) {
    SmallVector<Value> worklist{value};
    llvm::SmallPtrSet<Operation *, 8> seen;
    while (!worklist.empty()) {
      Value next = worklist.pop_back_val();
      if (auto arg = dyn_cast<BlockArgument>(next)) {
        if (arg.getOwner() == &body)
          return true;
        continue;
      }
      Operation *op = next.getDefiningOp();
      if (op->getBlock() != &body || !seen.insert(op).second)
        continue;
      if (isa<tensor::ExtractOp>(op))
        return true;
      worklist.append(op->operand_begin(), op->operand_end());
    }
    return false;
  }

  /// One inner tile of known size: what `transform.ansor.pack_operand` makes.
  static bool isPanels(linalg::PackOp pack) {
    return pack.getStaticInnerTiles().size() == 1 &&
           !ShapedType::isDynamic(pack.getStaticInnerTiles().front());
  }

  /// Code generation copies panels in parallel, row by row of vectors. Panels
  /// of a weight are made once, not here.
  void addPanels(linalg::PackOp pack) {
    if (auto argument = dyn_cast<BlockArgument>(pack.getSource()))
      if (auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
        if (func.getArgAttr(argument.getArgNumber(), kWeightAttr))
          return;
    const View &output = tracer.viewOf(pack.getResult());
    const View &source = tracer.viewOf(pack.getSource());
    SmallVector<OwnLoop, 8> own(pack.getDestRank());
    for (auto [d, loop] : llvm::enumerate(own))
      loop.extent = tracer.sizeOf(pack.getResult(), d, loop.partial);
    SmallVector<unsigned, 8> positions;
    RawStatement statement = begin(pack, own, positions);
    statement.vectorized = true;
    statement.numOuter += own.size() - 1;
    addAccess(statement, output, [&](unsigned d) {
      return Linear{{positions[d], 1}};
    }).writes = true;
    int64_t cut = pack.getInnerDimsPos().front();
    SmallVector<int64_t> order = getOuterOrder(pack);
    addAccess(statement, source, [&](unsigned d) {
      unsigned i = llvm::find(order, d) - order.begin();
      int64_t step = d == cut ? pack.getStaticInnerTiles().front() : 1;
      Linear linear{{positions[i], step}};
      if (d == cut)
        linear.push_back({positions.back(), 1});
      return linear;
    }).reads = true;
    for (unsigned outer = 0; outer < getNumParallelDims(pack); ++outer)
      statement.loops[positions[outer]].annotation = LoopDesc::Parallel;
    finish(std::move(statement), &output, {});
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
      loop.extent = tracer.sizeOf(result, d, loop.partial);
    addPlain(op, own, tracer.viewOf(result), op->getOperands());
  }

  void addPlain(Operation *op, ArrayRef<OwnLoop> own, const View &output,
                ValueRange operands) {
    SmallVector<unsigned, 8> positions;
    RawStatement statement = begin(op, own, positions);
    auto aligned = [&](const View &view) {
      return [&, rank = view.dims.size()](unsigned d) {
        Linear linear;
        if (d + own.size() >= rank)
          linear.push_back({positions[d + own.size() - rank], 1});
        return linear;
      };
    };
    addAccess(statement, output, aligned(output)).writes = true;
    auto dps = dyn_cast<DestinationStyleOpInterface>(op);
    for (auto [i, operand] : llvm::enumerate(operands)) {
      if (!isa<RankedTensorType>(operand.getType()) ||
          (dps && dps.isDpsInit(&op->getOpOperand(i))))
        continue;
      const View &view = tracer.viewOf(operand);
      addAccess(statement, view, aligned(view)).reads = true;
    }
    statement.ops = countPlainOps(op);
    finish(std::move(statement), &output, {});
  }

  /// An insertion of what lives elsewhere is a copy; the usual one, of a tile
  /// that was computed in place, is nothing.
  void addCopy(tensor::InsertSliceOp op) {
    const View &source = tracer.viewOf(op.getSource());
    const View &dest = tracer.viewOf(op.getResult());
    if (&tracer.getRoot(source) == &tracer.getRoot(dest))
      return;
    View target = dest;
    auto offsets = op.getMixedOffsets();
    for (unsigned d = 0, e = offsets.size(); d < e; ++d)
      addScaled(target.offsets[target.dims[d].first],
                tracer.evalIndex(offsets[d]), target.dims[d].second);
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
      loop.extent = tracer.sizeOf(op.getSource(), d, loop.partial);
    addPlain(op, own, tracer.keep(std::move(target)), op.getSource());
  }

  RawNest &program;
  llvm::DenseSet<Operation *> live;
  SmallVector<RawLoop, 12> loops; ///< that are open
  ValueTracer tracer;
  int nextLoopId = 0, nextBufferId = 0;
};

} // namespace

FailureOr<RawNest> mlir::ansor::extractRawNest(func::FuncOp func) {
  if (func.isExternal())
    return failure();
  RawNest raw;
  if (failed(NestExtractor(raw).run(func)))
    return failure();
  return raw;
}

func::FuncOp mlir::ansor::findTaskFunction(ModuleOp module) {
  func::FuncOp task;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    if (!task || (func->hasAttr(kTaskAttr) && !task->hasAttr(kTaskAttr)))
      task = func;
  }
  return task;
}

FailureOr<NestDesc> mlir::ansor::extractNests(func::FuncOp func) {
  FailureOr<RawNest> raw = extractRawNest(func);
  if (failed(raw))
    return failure();
  return simplify(*raw);
}

FailureOr<NestDesc> mlir::ansor::extractNests(ModuleOp module) {
  func::FuncOp task = findTaskFunction(module);
  if (!task)
    return failure();
  return extractNests(task);
}
