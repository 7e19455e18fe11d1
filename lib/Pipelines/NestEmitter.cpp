//===- NestEmitter.cpp - See Nest.h -----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "NestEmitter.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ansor;

/// The maximum and minimum that pass over NaNs, in a reduction that starts from
/// a number: its accumulators are never NaN.
static bool startsFromNumber(Operation *combiner) {
  return combiner->hasAttr(kStartsFromNumberAttr);
}

/// The value that partial results start from.
static TypedAttr getNeutral(Operation *combiner) {
  if (!startsFromNumber(combiner))
    return *arith::getNeutralElement(combiner);
  auto type = cast<FloatType>(combiner->getResult(0).getType());
  return FloatAttr::get(type,
                        APFloat::getInf(type.getFloatSemantics(),
                                        isa<arith::MaxNumFOp>(combiner)));
}

/// One instruction on x86, where the general form takes three. The element is
/// compared first, so that a NaN leaves the accumulator.
static Value emitNumberCombiner(OpBuilder &b, Operation *combiner, Value acc,
                                Value element) {
  auto predicate = isa<arith::MaxNumFOp>(combiner) ? arith::CmpFPredicate::OGT
                                                   : arith::CmpFPredicate::OLT;
  Value better = arith::CmpFOp::create(b, combiner->getLoc(), predicate,
                                       element, acc);
  return arith::SelectOp::create(b, combiner->getLoc(), better, element, acc);
}

Value NestEmitter::loopSize(unsigned loop) {
  for (auto [i, map] : llvm::enumerate(maps))
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (expr == b.getAffineDimExpr(loop)) {
        Value source = op->getOperand(i);
        if (isa<TensorType>(source.getType()))
          return tensor::DimOp::create(b, loc, source, dim);
        return memref::DimOp::create(b, loc, source, dim);
      }
  llvm_unreachable("a loop of a linalg op has an operand that gives its size");
}

void NestEmitter::emitLoop(unsigned loop, Value lower, Value upper,
                           int64_t step, SmallVectorImpl<Value> &state,
                           Callback body) {
  auto forOp =
      scf::ForOp::create(b, loc, lower, upper, constant(step), state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  for (auto [value, arg] : llvm::zip_equal(state, forOp.getRegionIterArgs()))
    value = arg;
  positions[loop].base = forOp.getInductionVar();
  clearCaches();
  body();
  clearCaches();
  positions[loop].base = Value();
  if (!state.empty())
    scf::YieldOp::create(b, loc, state);
  for (auto [value, result] : llvm::zip_equal(state, forOp.getResults()))
    value = result;
}

void NestEmitter::emitPieces(unsigned loop, SmallVectorImpl<Value> &state,
                             Callback body) {
  int64_t extent = plan.extents[loop], tile = plan.tile[loop];
  Position &position = positions[loop];
  if (ShapedType::isDynamic(extent)) {
    Value size = loopSize(loop), main = size;
    if (tile > 1) {
      Value rest = arith::RemUIOp::create(b, loc, size, constant(tile));
      main = arith::SubIOp::create(b, loc, size, rest);
    }
    position = {Value(), 0, tile};
    emitLoop(loop, constant(0), main, tile, state, body);
    if (tile > 1) {
      position = {Value(), 0, 1};
      emitLoop(loop, main, size, 1, state, body);
    }
    return;
  }
  int64_t main = tile > 0 ? extent / tile * tile : 0;
  if (main == 0 && extent == 0)
    return;
  if (main > tile) {
    position = {Value(), 0, tile};
    emitLoop(loop, constant(0), constant(main), tile, state, body);
  } else if (main > 0) {
    position = {Value(), 0, tile};
    body();
  }
  if (main < extent) {
    position = {Value(), main, extent - main};
    clearCaches();
    body();
  }
}

void NestEmitter::emitParallel(unsigned depth) {
  if (depth == parallelLoops.size())
    return emitLeaf();
  SmallVector<Value> none;
  SmallVectorImpl<Value> &state = buffers ? none : inits;
  emitPieces(parallelLoops[depth], state, [&] { emitParallel(depth + 1); });
}

SmallVector<NestEmitter::Chunk> NestEmitter::chunks(int64_t size,
                                                    int64_t most) {
  SmallVector<Chunk> result;
  int64_t offset = 0;
  for (; offset + most <= size; offset += most)
    result.push_back({offset, most});
  for (int64_t width = llvm::bit_floor<uint64_t>(std::max<int64_t>(most - 1, 1));
       offset < size; width /= 2)
    for (; offset + width <= size; offset += width)
      result.push_back({offset, width});
  return result;
}

SmallVector<NestEmitter::Chunk> NestEmitter::laneChunks(int64_t size) const {
  int64_t rest = size % plan.lanes;
  if (!plan.masks || llvm::popcount<uint64_t>(rest) < 2)
    return chunks(size);
  SmallVector<Chunk> result = chunks(size - rest);
  result.push_back({size - rest, static_cast<int64_t>(
                                     llvm::PowerOf2Ceil(rest))});
  return result;
}

std::optional<unsigned> NestEmitter::transposedLoop(unsigned init) const {
  if (!vectors() || plan.laneReduces)
    return std::nullopt;
  AffineMap map = maps[maps.size() - inits.size() + init];
  if (classifyAccess(map, *plan.lane) != LaneAccess::Strided)
    return std::nullopt;
  return findBlockLoop(map, *plan.lane, plan.tile);
}

void NestEmitter::forEachPoint(ArrayRef<unsigned> loops,
                               SmallVectorImpl<int64_t> &point, unsigned depth,
                               Callback body) {
  if (depth == loops.size())
    return body();
  unsigned loop = loops[depth];
  if (plan.lane && *plan.lane == loop) // Left to the chunks.
    return forEachPoint(loops, point, depth + 1, body);
  for (int64_t i = 0; i < positions[loop].size; ++i) {
    point[loop] = i;
    forEachPoint(loops, point, depth + 1, body);
  }
  point[loop] = 0;
}

/// Visits what the current piece computes: per point and chunk, each result.
void NestEmitter::forEachResult(
    llvm::function_ref<void(unsigned, ArrayRef<int64_t>, Chunk)> body) {
  bool chunked = vectors() && !plan.laneReduces;
  SmallVector<Chunk> lane = {{0, 1}};
  if (chunked)
    lane = laneChunks(positions[*plan.lane].size);
  SmallVector<int64_t> point(op.getNumLoops(), 0);
  forEachPoint(parallelLoops, point, 0, [&] {
    for (Chunk chunk : lane) {
      if (chunked)
        point[*plan.lane] = chunk.offset;
      for (unsigned i = 0, e = inits.size(); i < e; ++i)
        body(i, point, chunk);
    }
    if (chunked)
      point[*plan.lane] = 0;
  });
}

void NestEmitter::loadAccumulators() {
  accs.clear();
  unsigned firstInit = op.getNumDpsInputs();
  forEachResult([&](unsigned i, ArrayRef<int64_t> point, Chunk chunk) {
    Value value;
    if (needsInit[i])
      value = load(firstInit + i, inits[i], point, chunk.width);
    accs.push_back(value);
    if (!plan.laneReduces)
      return;
    // Behind the scalar: partial results of the lanes.
    TypedAttr neutral = getNeutral(getCombiner(op, i));
    auto type = VectorType::get({plan.lanes}, neutral.getType());
    Value vector = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, ArrayRef<Attribute>(neutral)));
    accs.append(plan.laneAccumulators, vector);
  });
  numSums = accs.size();
  offsets.clear();
  if (!plan.dot || !plan.dot->offset)
    return;
  forEachOffset([&](ArrayRef<int64_t> point) {
    if (!offsets.try_emplace(dotKey(point), accs.size()).second)
      return;
    auto type = VectorType::get({plan.lanes}, b.getI32Type());
    accs.push_back(
        arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
  });
}

/// Where `point` lies in the operand along the lanes, reductions aside.
std::vector<int64_t> NestEmitter::dotKey(ArrayRef<int64_t> point) const {
  std::vector<int64_t> key;
  for (unsigned loop : parallelLoops)
    key.push_back(maps[plan.dot->vector].isFunctionOfDim(loop) ? point[loop]
                                                               : 0);
  return key;
}

void NestEmitter::forEachOffset(
    llvm::function_ref<void(ArrayRef<int64_t>)> body) {
  forEachResult([&](unsigned, ArrayRef<int64_t> point, Chunk chunk) {
    if (chunk.width == plan.lanes)
      body(point);
  });
}

void NestEmitter::storeAccumulators() {
  unsigned next = 0;
  forEachResult([&](unsigned i, ArrayRef<int64_t> point, Chunk chunk) {
    Value value = accs[next++];
    if (plan.laneReduces) {
      Value vector = accs[next++];
      for (unsigned k = 1; k < plan.laneAccumulators; ++k)
        vector = combine(i, vector, accs[next++]);
      value = combine(i, value, reduceLanes(i, vector));
    }
    if (plan.dot && plan.dot->offset && chunk.width == plan.lanes)
      value = arith::SubIOp::create(b, loc, value, accs[offsets.at(dotKey(point))]);
    if (!transposedLoop(i))
      store(i, value, point, chunk.width);
  });
  for (unsigned i = 0, e = inits.size(); i < e; ++i)
    if (std::optional<unsigned> loop = transposedLoop(i))
      storeTransposed(i, *loop);
}

/// Stores the accumulators of `init`, whose elements lie side by side along
/// `loop` rather than along the lanes: block by block, each transposed.
void NestEmitter::storeTransposed(unsigned init, unsigned loop) {
  std::map<std::vector<int64_t>, Value> values;
  unsigned next = 0;
  forEachResult([&](unsigned i, ArrayRef<int64_t> point, Chunk) {
    Value value = accs[next++];
    if (i == init)
      values[std::vector<int64_t>(point.begin(), point.end())] = value;
  });
  forEachResult([&](unsigned i, ArrayRef<int64_t> point, Chunk chunk) {
    if (i != init)
      return;
    for (Chunk across : chunks(positions[loop].size, chunk.width)) {
      if (across.offset != point[loop])
        continue;
      SmallVector<Value> rows;
      std::vector<int64_t> at(point.begin(), point.end());
      for (int64_t k = 0; k < across.width; ++k) {
        at[loop] = across.offset + k;
        rows.push_back(toVector(values[at], chunk.width));
      }
      at[loop] = across.offset;
      rows = zip(rows, llvm::Log2_64(across.width), chunk.width);
      int64_t perRow = chunk.width / across.width;
      for (int64_t k = 0; k < chunk.width; ++k) {
        Value part = rows[k / perRow];
        if (perRow > 1)
          part = vector::ExtractStridedSliceOp::create(
              b, loc, part, ArrayRef<int64_t>{k % perRow * across.width},
              ArrayRef<int64_t>{across.width}, ArrayRef<int64_t>{1});
        at[*plan.lane] = chunk.offset + k;
        store(init, part, at, across.width);
      }
    }
  });
}

void NestEmitter::emitLeaf() {
  clearCaches();
  loadAccumulators(); // Reads come before all writes.
  emitReduction(0);
  storeAccumulators();
}

SmallVector<scf::ForOp>
NestEmitter::runCarried(ArrayRef<scf::ForOp> loops) {
  for (unsigned loop : parallelLoops)
    positions[loop] = {Value(), 0, plan.extents[loop]};
  b.setInsertionPoint(loops.front());
  loadAccumulators();
  SmallVector<Value> carried = accs;
  SmallVector<scf::ForOp> rebuilt;
  for (scf::ForOp loop : loops) {
    b.setInsertionPoint(loop);
    auto copy =
        scf::ForOp::create(b, loop.getLoc(), loop.getLowerBound(),
                           loop.getUpperBound(), loop.getStep(), carried);
    copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    loop.getInductionVar().replaceAllUsesWith(copy.getInductionVar());
    Block *from = loop.getBody();
    copy.getBody()->getOperations().splice(
        copy.getBody()->end(), from->getOperations(), from->begin(),
        std::prev(from->end()));
    loop.erase();
    carried.assign(copy.getRegionIterArgs().begin(),
                   copy.getRegionIterArgs().end());
    rebuilt.push_back(copy);
  }
  b.setInsertionPoint(op);
  clearCaches();
  accs = carried;
  emitReduction(0);
  for (scf::ForOp loop : llvm::reverse(rebuilt)) {
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, loc, accs);
    accs.assign(loop.getResults().begin(), loop.getResults().end());
  }
  b.setInsertionPointAfter(rebuilt.front());
  clearCaches();
  storeAccumulators();
  op.erase();
  return rebuilt;
}

void NestEmitter::emitReduction(unsigned depth) {
  if (depth == reductionLoops.size())
    return emitBodies();
  emitPieces(reductionLoops[depth], accs, [&] { emitReduction(depth + 1); });
}

void NestEmitter::emitBodies() {
  unsigned numInits = inits.size();
  SmallVector<int64_t> point(op.getNumLoops(), 0);
  loads.clear();
  blocks.clear();
  SmallVector<Value> old(numInits), results;

  if (!plan.laneReduces) {
    SmallVector<Chunk> lane = {{0, 1}};
    if (vectors())
      lane = laneChunks(positions[*plan.lane].size);
    forEachPoint(reductionLoops, point, 0, [&] {
      unsigned next = 0;
      // The first step of a group of a dot instruction, or one behind it.
      bool grouped = false, first = false;
      if (plan.dot) {
        int64_t step = point[plan.dot->loop], group = plan.dot->group;
        grouped = step / group * group + group <=
                  positions[plan.dot->loop].size;
        first = step % group == 0;
      }
      llvm::SmallDenseSet<unsigned> summed;
      forEachPoint(parallelLoops, point, 0, [&] {
        for (Chunk chunk : lane) {
          if (vectors())
            point[*plan.lane] = chunk.offset;
          if (grouped && chunk.width == plan.lanes) {
            if (first) {
              Value vectors = dotVectors(point, chunk.width);
              accs[next] = emitDot(b, loc, *plan.dot, accs[next],
                                   dotScalars(point), vectors);
              if (plan.dot->offset) {
                unsigned sum = offsets.at(dotKey(point));
                if (summed.insert(sum).second) {
                  auto type = cast<VectorType>(vectors.getType());
                  Value offset = arith::ConstantOp::create(
                      b, loc, DenseElementsAttr::get(type, APInt(8, 128)));
                  accs[sum] = emitDot(b, loc, *plan.dot, accs[sum], offset,
                                      vectors);
                }
              }
            }
            ++next;
            continue;
          }
          for (unsigned i = 0; i < numInits; ++i)
            old[i] = accs[next + i];
          evaluate(point, chunk.width, old, results);
          for (unsigned i = 0; i < numInits; ++i)
            accs[next++] = results[i];
        }
        if (vectors())
          point[*plan.lane] = 0;
      });
    });
    return;
  }

  SmallVector<Chunk> lane = chunks(positions[*plan.lane].size);
  const unsigned stride = 1 + plan.laneAccumulators;
  forEachPoint(reductionLoops, point, 0, [&] {
    for (unsigned which = 0, e = lane.size(); which < e; ++which) {
      Chunk chunk = lane[which];
      point[*plan.lane] = chunk.offset;
      unsigned next = 0;
      forEachPoint(parallelLoops, point, 0, [&] {
        bool full = chunk.width == plan.lanes;
        unsigned slot = full ? 1 + which % plan.laneAccumulators : 0;
        for (unsigned i = 0; i < numInits; ++i) {
          Value acc = accs[next + i * stride + slot];
          if (!full && chunk.width > 1) {
            TypedAttr neutral = getNeutral(getCombiner(op, i));
            auto type = VectorType::get({chunk.width}, neutral.getType());
            acc = arith::ConstantOp::create(
                b, loc,
                DenseElementsAttr::get(type, ArrayRef<Attribute>(neutral)));
          }
          old[i] = acc;
        }
        evaluate(point, chunk.width, old, results);
        for (unsigned i = 0; i < numInits; ++i) {
          Value &acc = accs[next + i * stride + slot];
          acc = !full && chunk.width > 1
                    ? combine(i, acc, reduceLanes(i, results[i]))
                    : results[i];
        }
        next += numInits * stride;
      });
    }
    point[*plan.lane] = 0;
  });
}

//===----------------------------------------------------------------------===//
// Straight code
//===----------------------------------------------------------------------===//

Value NestEmitter::combine(unsigned init, Value lhs, Value rhs) {
  Operation *combiner = getCombiner(op, init);
  if (startsFromNumber(combiner))
    return emitNumberCombiner(b, combiner, lhs, rhs);
  Operation *copy = b.clone(*combiner);
  copy->setOperands({lhs, rhs});
  copy->getResult(0).setType(lhs.getType());
  return copy->getResult(0);
}

Value NestEmitter::reduceLanes(unsigned init, Value vector) {
  // Halves on halves: LLVM would go lane by lane where it has to keep NaNs.
  int64_t width = cast<VectorType>(vector.getType()).getDimSize(0);
  Operation *combiner = getCombiner(op, init);
  if (!llvm::isPowerOf2_64(width)) {
    auto flags = arith::FastMathFlags::none;
    if (auto fm = dyn_cast<arith::ArithFastMathInterface>(combiner))
      flags = fm.getFastMathFlagsAttr().getValue();
    return vector::ReductionOp::create(
        b, loc, *linalg::getCombinerOpKind(combiner), vector, flags);
  }
  while ((width /= 2) > 0) {
    SmallVector<int64_t> low = llvm::to_vector(llvm::seq<int64_t>(0, width)),
                         high = llvm::to_vector(
                             llvm::seq<int64_t>(width, 2 * width));
    vector = combine(init,
                     vector::ShuffleOp::create(b, loc, vector, vector, low),
                     vector::ShuffleOp::create(b, loc, vector, vector, high));
  }
  return vector::ExtractOp::create(b, loc, vector, 0);
}

void NestEmitter::evaluate(ArrayRef<int64_t> point, int64_t width,
                           ArrayRef<Value> accumulators,
                           SmallVectorImpl<Value> &results) {
  Block *body = op.getBlock();
  IRMapping values;
  unsigned numInputs = op.getNumDpsInputs();
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument arg = op.getMatchingBlockArgument(input);
    if (arg.use_empty())
      continue;
    unsigned number = input->getOperandNumber();
    // Loads of the same place are the same value: loops that the access does
    // not depend on don't count.
    std::vector<int64_t> key(point.begin(), point.end());
    for (unsigned d = 0, e = key.size(); d < e; ++d)
      if (!maps[number].isFunctionOfDim(d))
        key[d] = 0;
    key.push_back(width);
    Value &value = loads[{number, key}];
    if (!value)
      value = load(number, input->get(), point, width);
    values.map(arg, value);
  }
  for (auto [i, acc] : llvm::enumerate(accumulators))
    if (acc)
      values.map(body->getArgument(numInputs + i), acc);

  bool vector = vectors() && !(plan.laneReduces && width == 1);
  for (Operation &inner : body->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      unsigned loop = index.getDim();
      Value value = indexOf(loop, point[loop]);
      if (vector && *plan.lane == loop) {
        auto type = VectorType::get({width}, b.getIndexType());
        value = arith::AddIOp::create(b, loc, toVector(value, width),
                                      vector::StepOp::create(b, loc, type));
      }
      values.map(index.getResult(), value);
      continue;
    }
    bool mixed = llvm::any_of(inner.getOperands(), [&](Value operand) {
      return isa<VectorType>(values.lookupOrDefault(operand).getType());
    });
    if (!vector || !mixed) {
      b.clone(inner, values);
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(toVector(values.lookupOrDefault(operand), width));
    SmallVector<Type> types;
    for (Type type : inner.getResultTypes())
      types.push_back(VectorType::get({width}, type));
    OperationState state(inner.getLoc(), inner.getName(), operands, types,
                         inner.getAttrs());
    if (startsFromNumber(&inner)) {
      values.map(inner.getResult(0),
                 emitNumberCombiner(b, &inner, operands[0], operands[1]));
      continue;
    }
    Operation *copy = b.create(state);
    values.map(inner.getResults(), copy->getResults());
  }
  results.clear();
  for (Value yielded : body->getTerminator()->getOperands()) {
    Value value = values.lookupOrDefault(yielded);
    if (vector)
      value = toVector(value, width);
    results.push_back(value);
  }
}

SmallVector<scf::ForOp>
ansor::emitCarriedNest(linalg::LinalgOp op, const NestPlan &plan,
                       ArrayRef<scf::ForOp> loops) {
  return NestEmitter(op, plan).runCarried(loops);
}

void ansor::emitNest(linalg::LinalgOp op, const NestPlan &plan) {
  NestEmitter(op, plan).run();
}
