//===- NestEmitter.cpp - See Nest.h -----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include <map>

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

namespace {

/// Where the current piece of straight code lies in one loop.
struct Position {
  Value base;         ///< induction variable, or null
  int64_t offset = 0; ///< added to it
  int64_t size = 1;   ///< iterations that the piece covers
};

/// Emits the code of one op. The state is that of a recursive descent: parallel
/// loops, then the accumulators, then reduction loops, then bodies.
class NestEmitter {
public:
  NestEmitter(linalg::LinalgOp op, const NestPlan &plan)
      : op(op), plan(plan), b(op), loc(op.getLoc()),
        positions(op.getNumLoops()), buffers(op.hasPureBufferSemantics()) {
    for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
      (iterator == utils::IteratorType::parallel ? parallelLoops
                                                 : reductionLoops)
          .push_back(loop);
    for (OpOperand &operand : op->getOpOperands())
      maps.push_back(op.getMatchingIndexingMap(&operand));
    for (OpOperand &init : op.getDpsInitsMutable()) {
      inits.push_back(init.get());
      needsInit.push_back(!reductionLoops.empty() ||
                          op.payloadUsesValueFromOperand(&init));
    }
  }

  void run() {
    emitParallel(0);
    if (!buffers)
      for (auto [result, value] : llvm::zip_equal(op->getResults(), inits))
        result.replaceAllUsesWith(value);
    op.erase();
  }

  SmallVector<scf::ForOp> runCarried(ArrayRef<scf::ForOp> loops);

private:
  /// One chunk of the lane loop, or one scalar iteration of it.
  struct Chunk {
    int64_t offset, width;
  };

  using Callback = llvm::function_ref<void()>;
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  /// A loop from `lower` to `upper` that carries `state`.
  void emitLoop(unsigned loop, Value lower, Value upper, int64_t step,
                SmallVectorImpl<Value> &state, Callback body);
  /// Splits `loop` into pieces of its tile size and a rest.
  void emitPieces(unsigned loop, SmallVectorImpl<Value> &state, Callback body);
  void emitParallel(unsigned depth);
  void emitLeaf();
  void loadAccumulators();
  void storeAccumulators();
  void forEachResult(llvm::function_ref<void(unsigned, ArrayRef<int64_t>, Chunk)> body);
  void clearCaches() {
    bases.clear();
    sums.clear();
    loads.clear();
    blocks.clear();
  }
  void emitReduction(unsigned depth);
  void emitBodies();
  void evaluate(ArrayRef<int64_t> point, int64_t width,
                ArrayRef<Value> accumulators, SmallVectorImpl<Value> &results);

  SmallVector<Chunk> chunks(int64_t size) const {
    return chunks(size, plan.lanes);
  }
  static SmallVector<Chunk> chunks(int64_t size, int64_t most);
  /// The loop along which the transposed result `init` is written, if it is.
  std::optional<unsigned> transposedLoop(unsigned init) const;
  void forEachPoint(ArrayRef<unsigned> loops, SmallVectorImpl<int64_t> &point,
                    unsigned depth, Callback body);

  Value loopSize(unsigned loop);
  Value indexOf(unsigned loop, int64_t point);
  SmallVector<Value> indicesOf(unsigned operand, ArrayRef<int64_t> point);
  Value loadScalar(Value source, ValueRange indices);
  Value loadVector(Value source, ValueRange indices, int64_t width);
  Value load(unsigned operand, Value source, ArrayRef<int64_t> point,
             int64_t width);
  Value loadInterleaved(Value source, ValueRange indices, int64_t width,
                        int64_t step);
  Value loadFromBlock(unsigned operand, Value source, ArrayRef<int64_t> point,
                      int64_t width, unsigned loop);
  SmallVector<Value> zip(SmallVector<Value> vectors, unsigned rounds,
                         int64_t most);
  void storeTransposed(unsigned init, unsigned loop);
  void store(unsigned init, Value value, ArrayRef<int64_t> point,
             int64_t width);
  Value combine(unsigned init, Value lhs, Value rhs);
  /// The groups of a dot instruction's operands at `point`.
  Value dotScalars(ArrayRef<int64_t> point);
  Value dotVectors(ArrayRef<int64_t> point, int64_t width);
  /// Visits the sums of what the dot form's offset adds: one for each place of
  /// full vectors in the operand along the lanes.
  void forEachOffset(llvm::function_ref<void(ArrayRef<int64_t>)> body);
  std::vector<int64_t> dotKey(ArrayRef<int64_t> point) const;
  Value reduceLanes(unsigned init, Value vector);
  Value toVector(Value value, int64_t width);
  bool vectors() const { return plan.lane.has_value(); }

  linalg::LinalgOp op;
  const NestPlan &plan;
  OpBuilder b;
  Location loc;
  SmallVector<unsigned> parallelLoops, reductionLoops;
  SmallVector<AffineMap> maps;
  SmallVector<Position> positions;
  SmallVector<Value> inits;     ///< current tensor (or buffer) of each result
  SmallVector<bool> needsInit;  ///< whether old values are read
  SmallVector<Value> accs;      ///< accumulators of the current leaf
  unsigned numSums = 0;         ///< of these, those of results
  /// Accumulators of what a dot form's offset adds, by dotKey.
  std::map<std::vector<int64_t>, unsigned> offsets;
  /// Values computed once for the current block.
  std::map<std::pair<unsigned, unsigned>, Value> bases;
  DenseMap<std::pair<Value, int64_t>, Value> sums;
  std::map<std::pair<unsigned, std::vector<int64_t>>, Value> loads;
  std::map<std::pair<unsigned, std::vector<int64_t>>, SmallVector<Value>>
      blocks;
  bool buffers;
};
} // namespace

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
    lane = chunks(positions[*plan.lane].size);
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
      lane = chunks(positions[*plan.lane].size);
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

Value NestEmitter::toVector(Value value, int64_t width) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      b, loc, VectorType::get({width}, value.getType()), value);
}

Value NestEmitter::indexOf(unsigned loop, int64_t point) {
  Value base = positions[loop].base;
  int64_t offset = positions[loop].offset + point;
  if (!base)
    return constant(offset);
  if (offset == 0)
    return base;
  Value &sum = sums[{base, offset}];
  if (!sum)
    sum = arith::AddIOp::create(b, loc, base, constant(offset));
  return sum;
}

SmallVector<Value> NestEmitter::indicesOf(unsigned operand,
                                          ArrayRef<int64_t> point) {
  AffineMap map = maps[operand];
  unsigned numDims = map.getNumDims();
  SmallVector<Value> indices;
  for (auto [r, expr] : llvm::enumerate(map.getResults())) {
    SmallVector<int64_t> flat;
    bool linear = succeeded(getFlattenedAffineExpr(
                      expr, numDims, map.getNumSymbols(), &flat)) &&
                  flat.size() == map.getNumInputs() + 1;
    if (!linear) {
      SmallVector<Value> dims;
      for (unsigned d = 0; d < numDims; ++d)
        dims.push_back(indexOf(d, point[d]));
      indices.push_back(affine::AffineApplyOp::create(
          b, loc, AffineMap::get(numDims, 0, expr), dims));
      continue;
    }
    int64_t offset = flat.back();
    bool hasBase = false;
    for (unsigned d = 0; d < numDims; ++d) {
      offset += flat[d] * (positions[d].offset + point[d]);
      hasBase |= flat[d] && positions[d].base;
    }
    if (!hasBase) {
      indices.push_back(constant(offset));
      continue;
    }
    Value &base = bases[{operand, static_cast<unsigned>(r)}];
    if (!base) {
      Value sum;
      for (unsigned d = 0; d < numDims; ++d) {
        if (!flat[d] || !positions[d].base)
          continue;
        Value term = positions[d].base;
        if (flat[d] != 1)
          term = arith::MulIOp::create(b, loc, term, constant(flat[d]));
        sum = sum ? arith::AddIOp::create(b, loc, sum, term) : term;
      }
      base = sum;
    }
    if (offset == 0) {
      indices.push_back(base);
      continue;
    }
    Value key = base;
    Value &sum = sums[{key, offset}];
    if (!sum)
      sum = arith::AddIOp::create(b, loc, key, constant(offset));
    indices.push_back(sum);
  }
  return indices;
}

Value NestEmitter::loadScalar(Value source, ValueRange indices) {
  if (isa<TensorType>(source.getType()))
    return tensor::ExtractOp::create(b, loc, source, indices);
  if (isa<MemRefType>(source.getType()))
    return memref::LoadOp::create(b, loc, source, indices);
  return source; // A scalar operand.
}

Value NestEmitter::loadVector(Value source, ValueRange indices,
                              int64_t width) {
  auto type =
      VectorType::get({width}, getElementTypeOrSelf(source.getType()));
  bool inBounds[] = {true};
  return vector::TransferReadOp::create(
      b, loc, type, source, indices,
      ub::PoisonOp::create(b, loc, type.getElementType()), inBounds);
}

Value NestEmitter::load(unsigned operand, Value source,
                        ArrayRef<int64_t> point, int64_t width) {
  if (!isa<ShapedType>(source.getType()))
    return source;
  LaneAccess access = LaneAccess::Invariant;
  if (vectors())
    access = classifyAccess(maps[operand], *plan.lane);
  if (access != LaneAccess::Invariant && width == 1 &&
      (plan.laneReduces || access != LaneAccess::Contiguous)) {
    Value scalar = loadScalar(source, indicesOf(operand, point));
    return plan.laneReduces ? scalar : toVector(scalar, 1);
  }
  if (access == LaneAccess::Invariant)
    return loadScalar(source, indicesOf(operand, point));
  if (access == LaneAccess::Contiguous)
    return loadVector(source, indicesOf(operand, point), width);
  if (access == LaneAccess::Interleaved)
    return loadInterleaved(source, indicesOf(operand, point), width,
                           interleavedStep(maps[operand], *plan.lane));
  if (std::optional<unsigned> loop =
          findBlockLoop(maps[operand], *plan.lane, plan.tile))
    if (Value value = loadFromBlock(operand, source, point, width, *loop))
      return value;
  SmallVector<int64_t> lane(point);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < width; ++i, ++lane[*plan.lane])
    elements.push_back(loadScalar(source, indicesOf(operand, lane)));
  return vector::FromElementsOp::create(
      b, loc, VectorType::get({width}, elements.front().getType()), elements);
}

Value NestEmitter::dotScalars(ArrayRef<int64_t> point) {
  const DotForm &form = *plan.dot;
  std::vector<int64_t> key(point.begin(), point.end());
  for (unsigned d = 0, e = key.size(); d < e; ++d)
    if (!maps[form.scalar].isFunctionOfDim(d))
      key[d] = 0;
  key.push_back(-form.group); // No width of a plain load.
  Value &value = loads[{form.scalar, key}];
  if (!value)
    value = broadcastGroup(b, loc,
                           loadVector(op->getOperand(form.scalar),
                                      indicesOf(form.scalar, point),
                                      form.group),
                           plan.lanes * form.group, form.offset);
  return value;
}

Value NestEmitter::dotVectors(ArrayRef<int64_t> point, int64_t width) {
  const DotForm &form = *plan.dot;
  std::vector<int64_t> key(point.begin(), point.end());
  for (unsigned d = 0, e = key.size(); d < e; ++d)
    if (!maps[form.vector].isFunctionOfDim(d))
      key[d] = 0;
  key.push_back(-form.group);
  Value &value = loads[{form.vector, key}];
  if (value)
    return value;
  SmallVector<int64_t> step(point);
  SmallVector<Value> rows;
  for (int64_t i = 0; i < form.group; ++i, ++step[form.loop])
    rows.push_back(loadVector(op->getOperand(form.vector),
                              indicesOf(form.vector, step), width));
  // `loads` may have grown since.
  return loads[{form.vector, key}] = interleaveRows(b, loc, rows);
}

/// Every `step`-th element from `indices` on. Nothing behind the last of them
/// is read.
Value NestEmitter::loadInterleaved(Value source, ValueRange indices,
                                   int64_t width, int64_t step) {
  int64_t total = (width - 1) * step + 1;
  Value result;
  for (int64_t part = 0; part < step; ++part) {
    int64_t start = std::min(part * width, total - width);
    SmallVector<Value> at(indices);
    if (start)
      at.back() = arith::AddIOp::create(b, loc, at.back(), constant(start));
    Value vector = loadVector(source, at, width);
    SmallVector<int64_t> mask;
    for (int64_t i = 0; i < width; ++i) {
      int64_t element = i * step;
      bool here = element >= part * width && element < (part + 1) * width;
      mask.push_back(here ? (result ? width : 0) + element - start : i);
    }
    result = vector::ShuffleOp::create(b, loc, result ? result : vector, vector,
                                       mask);
  }
  return result;
}

/// `rounds` times, the vectors, seen as one sequence, become the elements of
/// its halves in turn. Vectors grow up to `most` elements by it. With as many
/// rounds as a matrix of 2^rounds rows has, this is its transposition.
SmallVector<Value> NestEmitter::zip(SmallVector<Value> vectors, unsigned rounds,
                                    int64_t most) {
  for (unsigned round = 0; round < rounds; ++round) {
    int64_t length = cast<VectorType>(vectors.front().getType()).getDimSize(0);
    unsigned half = vectors.size() / 2;
    SmallVector<Value> next;
    if (half == 0) { // One vector holds all.
      SmallVector<int64_t> mask;
      for (int64_t i = 0; i < length; ++i)
        mask.push_back(i / 2 + i % 2 * (length / 2));
      next.push_back(vector::ShuffleOp::create(b, loc, vectors[0], vectors[0],
                                               mask));
    }
    for (unsigned k = 0; k < half; ++k) {
      SmallVector<int64_t> mask;
      for (int64_t i = 0; i < length; ++i) {
        mask.push_back(i);
        mask.push_back(length + i);
      }
      bool whole = 2 * length <= most;
      for (int64_t part = 0; part < (whole ? 1 : 2); ++part)
        next.push_back(vector::ShuffleOp::create(
            b, loc, vectors[k], vectors[k + half],
            whole ? ArrayRef(mask) : ArrayRef(mask).slice(part * length, length)));
    }
    vectors = std::move(next);
  }
  return vectors;
}

/// Loads a strided vector out of a block, which is loaded along `loop` and
/// transposed; null if the point is in none.
Value NestEmitter::loadFromBlock(unsigned operand, Value source,
                                 ArrayRef<int64_t> point, int64_t width,
                                 unsigned loop) {
  for (Chunk across : chunks(positions[loop].size, width)) {
    int64_t index = point[loop] - across.offset;
    if (index < 0 || index >= across.width || across.width < 2)
      continue;
    std::vector<int64_t> key(point.begin(), point.end());
    for (unsigned d = 0, e = key.size(); d < e; ++d)
      if (!maps[operand].isFunctionOfDim(d))
        key[d] = 0;
    key[loop] = across.offset;
    std::vector<int64_t> at = key;
    key.push_back(width);
    SmallVector<Value> &block = blocks[{operand, key}];
    if (block.empty()) {
      SmallVector<Value> rows;
      for (int64_t i = 0; i < width; ++i, ++at[*plan.lane])
        rows.push_back(
            loadVector(source, indicesOf(operand, at), across.width));
      block = zip(rows, llvm::Log2_64(width), width);
    }
    return block[index];
  }
  return Value();
}

void NestEmitter::store(unsigned init, Value value, ArrayRef<int64_t> point,
                        int64_t width) {
  SmallVector<Value> indices = indicesOf(op.getNumDpsInputs() + init, point);
  Value &target = inits[init];
  if (vectors() && !plan.laneReduces) {
    bool inBounds[] = {true};
    auto write = vector::TransferWriteOp::create(
        b, loc, toVector(value, width), target, indices, inBounds);
    if (!buffers)
      target = write.getResult();
    return;
  }
  if (buffers)
    memref::StoreOp::create(b, loc, value, target, indices);
  else
    target = tensor::InsertOp::create(b, loc, value, target, indices);
}

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
