//===- Feature.cpp - Features of loop nests ---------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic from a NestDesc to rows of features. The order of the columns
// is that of FeatureNames.cpp; docs/Features.md has a line for each.
//
//===----------------------------------------------------------------------===//

#include "ansor/Feature/Feature.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

using namespace mlir;
using namespace mlir::ansor;

namespace {

/// Number of buffers that a row describes.
constexpr unsigned kNumBuffers = 5;
/// Points of the arithmetic intensity curve.
constexpr unsigned kNumIntensity = 10;

/// What one buffer sees of one statement.
struct Footprint {
  int buffer = -1;
  bool reads = false, writes = false;
  double bytes = 0, lines = 0, stride = 0;
  /// Distinct bytes and cache lines that the loops l and inward touch in one
  /// run, by l (0 to the number of loops).
  SmallVector<double, 16> uniqueBytes, uniqueLines;
  /// Where this footprint's first access is in the statement.
  const AccessDesc *access = nullptr;
};

enum class Reuse { LoopMultipleRead, SerialMultipleReadWrite, None };

struct ReuseInfo {
  Reuse kind = Reuse::None;
  double iterations = 0, bytes = 0, count = 0;
};

struct StatementInfo {
  const StatementDesc *statement = nullptr;
  SmallVector<Footprint, 6> footprints;
  /// Product of the extents of the loops l and inward, by l.
  SmallVector<double, 16> trips;
};

} // namespace

//===----------------------------------------------------------------------===//
// Footprints
//===----------------------------------------------------------------------===//

/// Fills the unique bytes and lines of `access` for each level.
static void computeUnique(const AccessDesc &access, const StatementInfo &info,
                          int64_t cacheLine, Footprint &footprint) {
  size_t numLoops = info.statement->loops.size();
  size_t rank = access.shape.size();
  double elements = 1;
  for (int64_t extent : access.shape)
    elements *= extent;
  double perLine = std::max<double>(double(cacheLine) / access.elementBytes, 1);
  // By dimension: distance from the first to the last element, and how many
  // iterations there are that could differ in it.
  SmallVector<double, 6> span(rank, 1), count(rank, 1);
  double moving = 1; // iterations of the loops that move the access
  for (size_t level = numLoops + 1; level-- > 0;) {
    if (level < numLoops) {
      double extent = info.statement->loops[level].extent;
      bool moves = access.indirect;
      for (size_t d = 0; d < rank; ++d) {
        int64_t coefficient = access.coefficients[d * numLoops + level];
        if (coefficient == 0)
          continue;
        span[d] += std::abs(double(coefficient)) * (extent - 1);
        count[d] *= extent;
        moves = true;
      }
      if (moves)
        moving *= extent;
    }
    double touched, lines;
    if (access.indirect) {
      touched = std::min(moving, elements);
      lines = std::min(touched, std::ceil(elements / perLine));
    } else {
      // Runs of adjacent elements: the innermost dimension, joined with the
      // next one out where the whole of it is touched.
      touched = 1;
      double runSpan = 1, runTouched = 1, runs = 1;
      bool contiguous = true;
      for (size_t d = rank; d-- > 0;) {
        double extent = access.shape[d];
        double inSpan = std::min(span[d], extent);
        double inTouched = std::min(inSpan, count[d]);
        touched *= inTouched;
        if (contiguous) {
          runSpan *= inSpan;
          runTouched *= inTouched;
          contiguous = inSpan >= extent;
        } else {
          runs *= inTouched;
        }
      }
      touched = std::min(touched, moving); // diagonals
      lines = runs * std::min(runTouched, std::ceil(runSpan / perLine));
      lines = std::min(lines, touched);
    }
    footprint.uniqueBytes[level] += touched * access.elementBytes;
    footprint.uniqueLines[level] += lines;
  }
  for (size_t level = 0; level <= numLoops; ++level)
    footprint.uniqueBytes[level] =
        std::min(footprint.uniqueBytes[level], elements * access.elementBytes);
}

/// Distance in elements that one iteration of loop `l` moves the address.
static double flatStride(const AccessDesc &access, size_t l, size_t numLoops) {
  double stride = 0, inner = 1; // may not fit in 64 bits
  for (size_t d = access.shape.size(); d-- > 0;) {
    stride += access.coefficients[d * numLoops + l] * inner;
    inner *= access.shape[d];
  }
  return std::abs(stride);
}

/// True if loop `l` moves `access`.
static bool isMoved(const AccessDesc &access, size_t l, size_t numLoops) {
  if (access.indirect)
    return true;
  for (size_t d = 0; d < access.shape.size(); ++d)
    if (access.coefficients[d * numLoops + l] != 0)
      return true;
  return false;
}

/// Adds one access of a statement to the footprint of its buffer.
static void addAccess(const AccessDesc &access, StatementInfo &info,
                      int64_t cacheLine) {
  size_t numLoops = info.statement->loops.size();
  auto *it = llvm::find_if(info.footprints, [&](const Footprint &f) {
    return f.buffer == access.buffer;
  });
  if (it == info.footprints.end()) {
    info.footprints.emplace_back();
    it = &info.footprints.back();
    it->buffer = access.buffer;
    it->access = &access;
    it->uniqueBytes.assign(numLoops + 1, 0);
    it->uniqueLines.assign(numLoops + 1, 0);
  }
  bool same = it->access != &access &&
              it->access->coefficients == access.coefficients &&
              it->access->indirect == access.indirect;
  it->reads |= access.reads;
  it->writes |= access.writes;
  double perLine = std::max<double>(double(cacheLine) / access.elementBytes, 1);
  // Loops inside the innermost one that moves the access stay on its line.
  double stride = 0, repeats = 1;
  for (size_t l = numLoops; l-- > 0;) {
    if (isMoved(access, l, numLoops)) {
      stride = access.indirect ? perLine : flatStride(access, l, numLoops);
      break;
    }
    repeats *= info.statement->loops[l].extent;
  }
  double iterations = info.trips.front();
  it->bytes += iterations * access.elementBytes;
  it->lines +=
      std::max(iterations / repeats * std::min(stride / perLine, 1.0), 1.0);
  if (it->access == &access)
    it->stride = stride;
  // A second access with the same index (the input of an update, say) touches
  // nothing new.
  if (!same)
    computeUnique(access, info, cacheLine, *it);
}

static StatementInfo analyze(const StatementDesc &statement,
                             int64_t cacheLine) {
  StatementInfo info;
  info.statement = &statement;
  size_t numLoops = statement.loops.size();
  info.trips.assign(numLoops + 1, 1);
  for (size_t l = numLoops; l-- > 0;)
    info.trips[l] = info.trips[l + 1] * statement.loops[l].extent;
  for (const AccessDesc &access : statement.accesses)
    addAccess(access, info, cacheLine);
  return info;
}

/// Bytes that all buffers of the statement touch in loops `level` and inward.
static double workingSet(const StatementInfo &info, size_t level) {
  double bytes = 0;
  for (const Footprint &footprint : info.footprints)
    bytes += footprint.uniqueBytes[level];
  return bytes;
}

//===----------------------------------------------------------------------===//
// Reuse
//===----------------------------------------------------------------------===//

/// Number of outer loops that two statements share.
static size_t commonDepth(const StatementDesc &a, const StatementDesc &b) {
  size_t depth = 0;
  while (depth < a.loops.size() && depth < b.loops.size() &&
         a.loops[depth].id == b.loops[depth].id)
    ++depth;
  return depth;
}

/// The nearest reuse of a buffer of statement `index`: by the innermost loop
/// that doesn't move the access, or by another statement inside the innermost
/// loop that holds both; if both are in one loop's body, by the statement, for
/// it comes first.
static ReuseInfo computeReuse(ArrayRef<StatementInfo> infos, size_t index,
                              const Footprint &footprint) {
  const StatementInfo &info = infos[index];
  size_t numLoops = info.statement->loops.size();
  std::optional<size_t> loop;
  for (size_t l = numLoops; l-- > 0 && !loop;) {
    bool moved = llvm::any_of(info.statement->accesses, [&](auto &access) {
      return access.buffer == footprint.buffer && isMoved(access, l, numLoops);
    });
    if (!moved)
      loop = l;
  }
  std::optional<size_t> serial;
  for (size_t i = 0; i < infos.size(); ++i) {
    if (i == index || llvm::none_of(infos[i].footprints, [&](auto &other) {
          return other.buffer == footprint.buffer;
        }))
      continue;
    size_t depth = commonDepth(*info.statement, *infos[i].statement);
    serial = std::max(serial.value_or(0), depth);
  }
  ReuseInfo reuse;
  if (loop && (!serial || *loop + 1 > *serial)) {
    reuse.kind = Reuse::LoopMultipleRead;
    reuse.count = info.statement->loops[*loop].extent;
    reuse.iterations = info.trips[*loop + 1];
    reuse.bytes = workingSet(info, *loop + 1);
  } else if (serial) {
    reuse.kind = Reuse::SerialMultipleReadWrite;
    reuse.iterations = info.trips[*serial];
    reuse.bytes = workingSet(info, *serial);
    for (const StatementInfo &other : infos)
      if (commonDepth(*info.statement, *other.statement) >= *serial &&
          llvm::any_of(other.footprints,
                       [&](auto &f) { return f.buffer == footprint.buffer; }))
        ++reuse.count;
  }
  return reuse;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// Appends columns; numbers go through sign(x) * log2(|x| + 1).
class RowWriter {
public:
  explicit RowWriter(float *row) : next(row) {}
  void number(double x) {
    *next++ = x == 0 ? 0.0f : std::copysign(std::log2(std::abs(x) + 1), x);
  }
  void oneHot(unsigned index, unsigned size) {
    for (unsigned i = 0; i < size; ++i)
      *next++ = i == index;
  }
  void zeros(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      *next++ = 0;
  }
  float *position() const { return next; }

private:
  float *next;
};
} // namespace

/// Position of the loops with `annotation`: 0 none, 1 to 3 inner, middle and
/// outer spatial, 4 to 6 the same of the reductions, 7 mixed. A loop that is
/// both the first and the last of its kind is outer if `preferOuter`.
static unsigned getPosition(ArrayRef<LoopDesc> loops,
                            ArrayRef<size_t> annotated, bool preferOuter) {
  if (annotated.empty())
    return 0;
  LoopDesc::Kind kind = loops[annotated.front()].kind;
  for (size_t l : annotated)
    if (loops[l].kind != kind || kind == LoopDesc::Mixed)
      return 7;
  size_t loop = preferOuter ? annotated.front() : annotated.back();
  auto sameKind = [&](const LoopDesc &other) { return other.kind == kind; };
  bool first = llvm::none_of(loops.take_front(loop), sameKind);
  bool last = llvm::none_of(loops.drop_front(loop + 1), sameKind);
  unsigned base = kind == LoopDesc::Spatial ? 1 : 4;
  if (first && (!last || preferOuter))
    return base + 2;
  return last ? base : base + 1;
}

static void writeAnnotation(RowWriter &row, ArrayRef<LoopDesc> loops,
                            LoopDesc::Annotation annotation) {
  auto lengthOf = [](const LoopDesc &loop) {
    return loop.annotation == LoopDesc::Unrolled ? loop.copies : loop.extent;
  };
  SmallVector<size_t, 8> annotated;
  double product = 1;
  for (auto [l, loop] : llvm::enumerate(loops)) {
    if (loop.annotation != annotation)
      continue;
    annotated.push_back(l);
    product *= lengthOf(loop);
  }
  row.number(annotated.size());
  row.number(annotated.empty() ? 0 : product);
  row.number(annotated.empty() ? 0 : lengthOf(loops[annotated.back()]));
  row.oneHot(getPosition(loops, annotated, annotation == LoopDesc::Parallel),
             8);
}

static void writeCompute(RowWriter &row, const StatementInfo &info) {
  const StatementDesc &statement = *info.statement;
  double iterations = info.trips.front();
  for (double count : statement.ops.floats)
    row.number(count * iterations);
  for (double count : statement.ops.ints)
    row.number(count * iterations);
  row.number(statement.ops.boolOps * iterations);
  row.number(statement.ops.selectOps * iterations);
  writeAnnotation(row, statement.loops, LoopDesc::Vectorized);
  writeAnnotation(row, statement.loops, LoopDesc::Unrolled);
  writeAnnotation(row, statement.loops, LoopDesc::Parallel);
  bool isGPU = llvm::any_of(statement.loops, [](const LoopDesc &loop) {
    return loop.annotation >= LoopDesc::BlockX;
  });
  row.oneHot(isGPU ? 0 : 1, 1);
  for (int a = LoopDesc::BlockX; a <= LoopDesc::VThread; ++a) {
    double product = 1;
    for (const LoopDesc &loop : statement.loops)
      if (loop.annotation == a)
        product *= loop.extent;
    row.number(isGPU ? product : 0);
  }
}

static void writeBuffers(RowWriter &row, ArrayRef<StatementInfo> infos,
                         size_t index) {
  const StatementInfo &info = infos[index];
  SmallVector<const Footprint *, 6> order;
  for (const Footprint &footprint : info.footprints)
    order.push_back(&footprint);
  // Pointers into one array: the earlier access wins a tie.
  llvm::sort(order, [](const Footprint *a, const Footprint *b) {
    return std::make_tuple(-a->lines, -a->bytes, a) <
           std::make_tuple(-b->lines, -b->bytes, b);
  });
  for (unsigned i = 0; i < kNumBuffers; ++i) {
    if (i >= order.size()) {
      row.zeros(18);
      continue;
    }
    const Footprint &buffer = *order[i];
    row.oneHot(buffer.reads && buffer.writes ? 2 : buffer.writes ? 1 : 0, 3);
    double sizes[] = {buffer.bytes, buffer.uniqueBytes[0], buffer.lines,
                      buffer.uniqueLines[0]};
    for (double size : sizes)
      row.number(size);
    ReuseInfo reuse = computeReuse(infos, index, buffer);
    row.oneHot(static_cast<unsigned>(reuse.kind), 3);
    row.number(reuse.iterations);
    row.number(reuse.bytes);
    row.number(reuse.count);
    for (double size : sizes)
      row.number(reuse.kind == Reuse::None ? size * 2 : size / reuse.count);
    row.number(buffer.stride);
  }
}

/// Operations of one iteration; a multiply-add is two.
static double countFlops(const OpCounts &ops) {
  double sum = ops.boolOps + ops.selectOps;
  for (double count : ops.floats)
    sum += count;
  for (double count : ops.ints)
    sum += count;
  return sum + ops.floats[OpCounts::Mad] + ops.ints[OpCounts::Mad];
}

/// Operations a byte of the working set as the nest is seen from inside out,
/// sampled evenly over the logarithm of the operations done.
static void writeIntensity(RowWriter &row, const StatementInfo &info) {
  double flops = countFlops(info.statement->ops);
  if (flops == 0)
    return row.zeros(kNumIntensity);
  SmallVector<std::pair<double, double>, 16> curve; // (log2 ops, ops a byte)
  for (size_t level = info.trips.size(); level-- > 0;) {
    double ops = flops * info.trips[level];
    double bytes = std::max(workingSet(info, level), 1.0);
    curve.push_back({std::log2(ops), ops / bytes});
  }
  double first = curve.front().first, last = curve.back().first;
  size_t right = 0;
  for (unsigned i = 0; i < kNumIntensity; ++i) {
    double x = first + (last - first) * i / (kNumIntensity - 1);
    while (right + 1 < curve.size() && curve[right].first < x)
      ++right;
    auto [x1, y1] = curve[right];
    auto [x0, y0] = curve[right == 0 ? 0 : right - 1];
    double t = x1 > x0 ? std::min((x - x0) / (x1 - x0), 1.0) : 1;
    row.number(y0 + (y1 - y0) * t);
  }
}

static void writeAllocation(RowWriter &row, const StatementInfo &info) {
  const StatementDesc &statement = *info.statement;
  if (statement.allocationBytes == 0)
    return row.zeros(4);
  size_t depth =
      std::min<size_t>(statement.allocationDepth, statement.loops.size());
  double inner = info.trips[depth], outer = info.trips[0] / inner;
  row.number(statement.allocationBytes);
  row.number(statement.allocationBytes * outer);
  row.number(outer);
  row.number(inner);
}

FeatureMatrix mlir::ansor::computeFeatures(const NestDesc &program,
                                           int64_t cacheLine) {
  SmallVector<StatementInfo, 4> infos;
  for (const StatementDesc &statement : program.statements)
    infos.push_back(analyze(statement, cacheLine));
  FeatureMatrix matrix;
  matrix.data.resize(infos.size() * kNumFeatures);
  for (size_t i = 0; i < infos.size(); ++i) {
    float *begin = matrix.data.data() + i * kNumFeatures;
    RowWriter row(begin);
    writeCompute(row, infos[i]);
    writeBuffers(row, infos, i);
    writeIntensity(row, infos[i]);
    writeAllocation(row, infos[i]);
    row.number(infos[i].trips.front());
    row.number(program.statements[i].loops.size());
    row.number(program.statements[i].unrollLimit);
    assert(row.position() == begin + kNumFeatures && "columns are missing");
  }
  return matrix;
}
