//===- CheckAnalysis.cpp - What the check must know -------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads from the unscheduled IR how results round: how many roundings a result
// goes through, in which types, and whether inputs on a grid keep the whole
// program exact. Also which sizes integer arguments index.
//
//===----------------------------------------------------------------------===//

#include "ansor/Measure/Builder.h"
#include "ansor/Task/Task.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include <cmath>

using namespace mlir;
using namespace mlir::ansor;

/// What a dynamic size counts as; the runner's default for such sizes.
static constexpr int64_t kDynamicSize = 3;
/// Roundings that a call of a mathematical function counts as: two
/// implementations differ by that many units, squared.
static constexpr double kMathTerms = 256;

static double roundoff(Type type) {
  type = getElementTypeOrSelf(type);
  if (auto complex = dyn_cast<ComplexType>(type))
    type = complex.getElementType();
  auto floatType = dyn_cast<FloatType>(type);
  return floatType ? std::ldexp(1.0, -int(floatType.getFPMantissaWidth())) : 0;
}

static double staticSize(int64_t size) {
  return double(ShapedType::isDynamic(size) ? kDynamicSize : size);
}

/// Runs of `op` because of the scf loops around it.
static double countRuns(Operation *op) {
  double runs = 1;
  for (; op; op = op->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      std::optional<APInt> trips = loop.getStaticTripCount();
      runs *= trips ? double(trips->getLimitedValue()) : kDynamicSize;
    } else if (isa<scf::WhileOp>(op)) {
      runs *= 16;
    }
  }
  return runs;
}

/// Terms that one element of a result of `op` sums.
static double countTerms(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    double terms = 1;
    SmallVector<int64_t> sizes = linalgOp.getStaticLoopRanges();
    for (auto [size, kind] :
         llvm::zip_equal(sizes, linalgOp.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction)
        terms *= staticSize(size);
    return terms;
  }
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return kMathTerms + staticSize(softmax.getInputOperandType()
                                       .getShape()[softmax.getDimension()]);
  return 0;
}

namespace {
/// Counts the operations of functions, each once.
class WorkCounter {
public:
  double count(func::FuncOp func) {
    auto [it, isNew] = counted.try_emplace(func, 0.0);
    if (!isNew)
      return it->second; // a recursive call counts as nothing
    double work = 0;
    func.walk([&](Operation *op) {
      double operations = 0;
      if (auto call = dyn_cast<func::CallOp>(op)) {
        auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
            call, call.getCalleeAttr());
        operations = callee ? count(callee) : 0;
      } else {
        operations = countFlops(op, kDynamicSize);
      }
      if (operations == 0)
        return;
      work += operations * countRuns(op);
      isExact &= hasKnownRuns(op);
    });
    counted[func] = work;
    return work;
  }

  bool isExact = true;

private:
  static bool hasKnownRuns(Operation *op) {
    for (Type type : op->getOperandTypes())
      if (auto shaped = dyn_cast<ShapedType>(type))
        if (!shaped.hasStaticShape())
          return false;
    for (; op && !isa<func::FuncOp>(op); op = op->getParentOp()) {
      auto loop = dyn_cast<scf::ForOp>(op);
      if (isa<scf::WhileOp>(op) || (loop && !loop.getStaticTripCount()))
        return false;
    }
    return true;
  }

  DenseMap<Operation *, double> counted;
};
} // namespace

double ansor::countWork(func::FuncOp func, bool *isExact) {
  WorkCounter counter;
  double work = counter.count(func);
  if (isExact)
    *isExact = counter.isExact;
  return work;
}

//===----------------------------------------------------------------------===//
// Exactness
//===----------------------------------------------------------------------===//

namespace {
/// A bound on values: multiples of 2^-(grid * g + fraction) below
/// 2^magnitude, for inputs that are multiples of 2^-g.
struct Bound {
  int grid = 0, fraction = 0;
  double magnitude = -1000; ///< log2; -1000 is zero
  bool zeroMean = false;    ///< random with both signs: sums grow by the root
  Value source;             ///< the tensor it is an element of, if unchanged
};

/// Follows bounds through a function of sums and products.
class ExactnessAnalysis {
public:
  explicit ExactnessAnalysis(int gridBits) : gridBits(gridBits) {}

  bool isExact(func::FuncOp func) {
    if (!func.getBody().hasOneBlock())
      return false;
    for (BlockArgument arg : func.getArguments()) {
      Bound bound;
      bound.grid = 1;
      bound.magnitude = 0;
      bound.zeroMean = true;
      bound.source = arg;
      bounds[arg] = bound;
    }
    return llvm::all_of(func.getBody().front().without_terminator(),
                        [&](Operation &op) { return visit(op); });
  }

private:
  static bool hasFloat(TypeRange types) {
    return llvm::any_of(types, [](Type type) { return roundoff(type) != 0; });
  }

  bool fits(const Bound &bound, Type type) const {
    return bound.magnitude + bound.grid * gridBits + bound.fraction <=
           -std::log2(roundoff(type));
  }

  static Bound join(const Bound &a, const Bound &b) {
    Bound result;
    result.grid = std::max(a.grid, b.grid);
    result.fraction = std::max(a.fraction, b.fraction);
    result.magnitude = std::max(a.magnitude, b.magnitude);
    return result;
  }

  bool visitConstant(Operation &op, Attribute attr) {
    SmallVector<APFloat> values;
    if (auto scalar = dyn_cast<FloatAttr>(attr))
      values.push_back(scalar.getValue());
    else if (auto splat = dyn_cast<SplatElementsAttr>(attr);
             splat && isa<FloatType>(splat.getElementType()))
      values.push_back(splat.getSplatValue<APFloat>());
    else
      return false;
    Bound bound;
    for (APFloat value : values) {
      bool loses;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &loses);
      double number = value.convertToDouble();
      // Infinities and the largest numbers are neutral elements of max and min.
      if (number == 0 || !(std::fabs(number) < 1e30))
        continue;
      for (double scaled = number; scaled != std::floor(scaled); scaled *= 2)
        if (++bound.fraction > 8)
          return false;
      bound.magnitude = std::log2(std::fabs(number));
    }
    bounds[op.getResult(0)] = bound;
    return true;
  }

  /// An op on scalars.
  bool visitArith(Operation &op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return visitConstant(op, constant.getValue());
    SmallVector<Bound> in;
    for (Value operand : op.getOperands())
      if (roundoff(operand.getType()) != 0)
        in.push_back(bounds.lookup(operand));
    Bound out;
    if (isa<arith::NegFOp, arith::ExtFOp, arith::TruncFOp>(op)) {
      out = in[0];
    } else if (isa<arith::AddFOp, arith::SubFOp>(op)) {
      bool isSum = in[0].magnitude > -1000 && in[1].magnitude > -1000;
      out = in[0].magnitude > -1000 ? in[0] : in[1];
      if (isSum) {
        out = join(in[0], in[1]);
        out.magnitude += 1;
        out.zeroMean = in[0].zeroMean && in[1].zeroMean;
      }
    } else if (isa<arith::MulFOp>(op)) {
      out.grid = in[0].grid + in[1].grid;
      out.fraction = in[0].fraction + in[1].fraction;
      out.magnitude = std::max(-1000., in[0].magnitude + in[1].magnitude);
      bool isSquare = op.getOperand(0) == op.getOperand(1) ||
                      (in[0].source && in[0].source == in[1].source);
      out.zeroMean = !isSquare && (in[0].zeroMean || in[1].zeroMean);
    } else if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                   arith::MinNumFOp, arith::SelectOp>(op)) {
      out = join(in[0], in[1]);
    } else {
      return false;
    }
    out.source = isa<arith::ExtFOp>(op) ? in[0].source : Value();
    bounds[op.getResult(0)] = out;
    return fits(out, op.getResult(0).getType());
  }

  /// Ops whose results are made of elements of their operands.
  static bool movesData(Operation &op) {
    return isa<tensor::PadOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
               tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
               tensor::ConcatOp, tensor::EmptyOp, tensor::ExtractOp>(op);
  }

  bool visitMove(Operation &op) {
    Bound out;
    bool first = true;
    auto add = [&](Value value) {
      if (roundoff(value.getType()) == 0)
        return;
      Bound in = bounds.lookup(value);
      out = first ? in : join(out, in);
      first = false;
    };
    for (Value operand : op.getOperands())
      add(operand);
    if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      Value padding = pad.getConstantPaddingValue();
      if (!padding)
        return false;
      bool zeroMean = out.zeroMean; // zeros do not move a mean
      add(padding);
      out.zeroMean = zeroMean;
    }
    bounds[op.getResult(0)] = out;
    return true;
  }

  bool visitLinalg(linalg::LinalgOp op) {
    Block *body = op.getBlock();
    for (OpOperand &operand : op->getOpOperands())
      if (BlockArgument arg = op.getMatchingBlockArgument(&operand)) {
        Bound bound = bounds.lookup(operand.get());
        if (!bound.source)
          bound.source = operand.get();
        if (op.isDpsInit(&operand) && op.getNumReductionLoops() > 0)
          bound = Bound(); // the term alone is wanted
        bounds[arg] = bound;
      }
    for (Operation &inner : body->without_terminator())
      if (!visit(inner))
        return false;
    double terms = countTerms(op);
    for (auto [i, yielded] :
         llvm::enumerate(body->getTerminator()->getOperands())) {
      if (roundoff(yielded.getType()) == 0)
        continue;
      Bound term = bounds.lookup(yielded);
      if (op.getNumReductionLoops() > 0) {
        OpOperand *init = op.getDpsInitOperand(i);
        BlockArgument arg = op.getMatchingBlockArgument(init);
        Operation *combiner = yielded.getDefiningOp();
        if (arg.use_empty() || !combiner || !arg.hasOneUse() ||
            *arg.getUsers().begin() != combiner)
          return false;
        Bound start = bounds.lookup(init->get());
        if (isa<arith::AddFOp, arith::SubFOp>(combiner)) {
          // Six standard deviations of the sum of terms of either sign.
          double grown = term.zeroMean ? std::min(std::log2(terms),
                                                  std::log2(terms) / 2 + 2)
                                       : std::log2(terms);
          bool zeroMean = term.zeroMean;
          term.magnitude += std::max(grown, 0.);
          bool starts = start.magnitude > -1000;
          Bound sum = starts ? join(term, start) : term;
          if (starts)
            sum.magnitude += 1;
          sum.zeroMean = zeroMean && (start.zeroMean || !starts);
          term = sum;
        } else if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                       arith::MinNumFOp>(combiner)) {
          term = join(term, start);
        } else {
          return false;
        }
      }
      term.source = Value();
      if (!fits(term, yielded.getType()))
        return false;
      if (i < op->getNumResults())
        bounds[op->getResult(i)] = term;
    }
    return true;
  }

  bool visit(Operation &op) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(&op))
      return visitLinalg(linalgOp);
    bool touchesFloats =
        hasFloat(op.getResultTypes()) || hasFloat(op.getOperandTypes());
    if (isa_and_nonnull<arith::ArithDialect>(op.getDialect())) {
      if (!hasFloat(op.getResultTypes()))
        return !touchesFloats || isa<arith::CmpFOp>(op);
      return visitArith(op);
    }
    if (movesData(op))
      return visitMove(op);
    // Index arithmetic and the like; nothing with a region of its own.
    return !touchesFloats && op.getNumRegions() == 0;
  }

  int gridBits;
  DenseMap<Value, Bound> bounds;
};
} // namespace

/// The finest grid on which the program is exact; -1 if there is none.
static int findGrid(func::FuncOp func) {
  for (int bits : {3, 2, 1, 0})
    if (ExactnessAnalysis(bits).isExact(func))
      return bits;
  return -1;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Whether an index comes from data rather than from loops alone.
static bool isData(Value value, int depth = 8) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    // Loop positions are cast to integers and back at times.
    Operation *source = op->getOperand(0).getDefiningOp();
    return !source || !isa<arith::ConstantOp>(source);
  }
  return isa_and_nonnull<arith::ArithDialect, affine::AffineDialect>(
             op->getDialect()) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return isData(operand, depth - 1);
         });
}

/// The smallest size that data indexes; 0 if data indexes nothing.
static int64_t findIndexBound(ModuleOp module) {
  int64_t bound = 0;
  auto take = [&](double size) {
    int64_t places = std::max<int64_t>(int64_t(size), 1);
    bound = bound == 0 ? places : std::min(bound, places);
  };
  auto add = [&](Type type, ValueRange indices) {
    auto shaped = cast<ShapedType>(type);
    for (auto [i, index] : llvm::enumerate(indices)) {
      bool fromIndexTensor = false;
      if (auto arg = dyn_cast<BlockArgument>(index))
        fromIndexTensor = isa<linalg::LinalgOp>(arg.getOwner()->getParentOp());
      else if (Operation *op = index.getDefiningOp())
        fromIndexTensor = isa<tensor::ExtractOp, memref::LoadOp>(op);
      if (!fromIndexTensor && !isData(index))
        continue;
      take(staticSize(shaped.getDimSize(i)));
    }
  };
  module.walk([&](Operation *op) {
    if (auto extract = dyn_cast<tensor::ExtractOp>(op))
      add(extract.getTensor().getType(), extract.getIndices());
    else if (auto insert = dyn_cast<tensor::InsertOp>(op))
      add(insert.getDest().getType(), insert.getIndices());
    else if (auto load = dyn_cast<memref::LoadOp>(op))
      add(load.getMemRefType(), load.getIndices());
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      add(store.getMemRefType(), store.getIndices());
    else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      for (auto [i, offset] : llvm::enumerate(slice.getMixedOffsets()))
        if (auto value = dyn_cast<Value>(offset); value && isData(value))
          take(staticSize(slice.getSourceType().getDimSize(i)) -
               staticSize(slice.getStaticSizes()[i]) + 1);
    }
  });
  return bound;
}

//===----------------------------------------------------------------------===//
// The manifest
//===----------------------------------------------------------------------===//

llvm::json::Value ansor::describeForMeasuring(func::FuncOp func) {
  double terms = 0, accumulator = 0, storage = 0;
  auto module = func->getParentOfType<ModuleOp>();
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<transform::TransformDialect>(op->getDialect()))
      return;
    double runs = countRuns(op);
    terms += runs * countTerms(op);
    if (op->getNumResults() == 0)
      return;
    double epsilon = roundoff(op->getResult(0).getType());
    if (epsilon == 0)
      return;
    storage = std::max(storage, epsilon);
    bool isMath = isa_and_nonnull<math::MathDialect>(op->getDialect());
    bool isArith = isa_and_nonnull<arith::ArithDialect>(op->getDialect()) &&
                   !isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp,
                        arith::SelectOp>(op);
    if (isMath)
      terms += runs * kMathTerms;
    if (isMath || isArith ||
        isa_and_nonnull<complex::ComplexDialect>(op->getDialect()) ||
        isa<linalg::SoftmaxOp>(op))
      accumulator = std::max(accumulator, epsilon);
  });
  // Inputs are stored as they are; only results of conversions round.
  if (accumulator == 0)
    accumulator = storage;

  llvm::json::Value manifest = describeEntry(func);
  llvm::json::Object check{{"terms", terms},
                           {"accumulator", accumulator},
                           {"storage", storage},
                           {"grid_bits", findGrid(func)},
                           {"index_bound", findIndexBound(module)}};
  manifest.getAsObject()->try_emplace("check", std::move(check));
  return manifest;
}
