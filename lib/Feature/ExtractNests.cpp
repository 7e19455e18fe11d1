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
// `addLinalg` and its siblings describe one op each, and ValueTracer finds the
// buffer that a tensor will live in, composing the offsets of all slices on the
// way.
//
//===----------------------------------------------------------------------===//

#include "OpCounting.h"
#include "ValueTracer.h"
#include "ansor/Feature/Feature.h"
#include "ansor/IR/AnsorDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

using namespace mlir;
using namespace mlir::ansor;

namespace {

/// An enclosing loop that is open during the walk.
struct OpenLoop {
  LoopDesc desc;
  std::optional<int64_t> unroll;
};

/// One iterator of an op.
struct OwnLoop {
  int64_t extent = 1;
  bool reduction = false, partial = false;
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
    int64_t lb = tracer.boundOf(lower, partial).value_or(0);
    int64_t ub = tracer.boundOf(upper, partial).value_or(lb + 1);
    int64_t by = std::max<int64_t>(getConstantIntValue(step).value_or(1), 1);
    // A loop that never runs counts as one that runs once.
    int64_t trips = ub > lb ? llvm::divideCeil(ub - lb, by) : 1;
    if (trips == 1)
      return false;
    tracer.bind(iv, loops.size(), by);
    OpenLoop loop;
    loop.desc.extent = trips;
    loop.desc.id = nextLoopId++;
    loop.desc.annotation = annotation;
    loop.desc.partial = partial || (ub - lb) % by != 0;
    loop.unroll = getUnroll(op);
    unrollLoop(loop.desc, loop.unroll.value_or(0));
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

  // Statements.

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
      // A limit on the op is for its own loops, from the innermost outward.
      int64_t limit = getUnroll(op).value_or(0);
      for (size_t l = statement.loops.size(); l-- > loops.size();) {
        unrollLoop(statement.loops[l], limit);
        limit /= statement.loops[l].extent;
      }
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

  /// Unrolls `loop` up to `limit` copies, if nothing else becomes of it.
  static void unrollLoop(LoopDesc &loop, int64_t limit) {
    if (limit <= 1 || loop.annotation != LoopDesc::None)
      return;
    loop.annotation = LoopDesc::Unrolled;
    loop.copies = std::min(loop.extent, limit);
  }

  /// Adds an access to what `view` shows; `index(d)` is the function of the
  /// loops that indexes dimension d of the value.
  template <typename Fn>
  AccessDesc &addAccess(StatementDesc &statement, const View &view, Fn index) {
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
    const Buffer &root = tracer.getRoot(*outputs.front());
    if (root.temporary) {
      statement.allocationBytes = root.elementBytes;
      for (int64_t extent : root.shape)
        statement.allocationBytes =
            multiplySaturating(statement.allocationBytes, extent);
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
      loop.extent = tracer.sizeOf(result, d, loop.partial);
    addPlain(op, own, tracer.viewOf(result), op->getOperands());
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

  NestDesc &program;
  llvm::DenseSet<Operation *> live;
  SmallVector<OpenLoop, 8> loops;
  ValueTracer tracer;
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
