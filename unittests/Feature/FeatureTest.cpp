//===- FeatureTest.cpp - Features against hand counts -----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Feature/Feature.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace mlir::ansor;

namespace {
/// A row by the names of its columns, numbers transformed back.
class Row {
public:
  Row(const FeatureMatrix &matrix, unsigned row) {
    for (unsigned c = 0; c < kNumFeatures; ++c)
      raw[getFeatureNames()[c].str()] = matrix.data[row * kNumFeatures + c];
  }
  /// A column as it is stored.
  double stored(const std::string &name) const {
    EXPECT_TRUE(raw.count(name)) << name;
    return raw.count(name) ? raw.at(name) : NAN;
  }
  /// The number x of which sign(x) * log2(|x| + 1) is stored.
  double operator[](const std::string &name) const {
    double value = stored(name);
    return std::copysign(std::exp2(std::abs(value)) - 1, value);
  }

private:
  std::map<std::string, float> raw;
};
} // namespace

/// Relative error that a float of a logarithm costs.
#define EXPECT_COUNT(row, name, value)                                         \
  EXPECT_NEAR((row)[name], value, 1e-5 * (std::abs(double(value)) + 1)) << name

static StatementDesc makeStatement(std::vector<int64_t> extents) {
  StatementDesc statement;
  for (auto [i, extent] : llvm::enumerate(extents)) {
    LoopDesc loop;
    loop.extent = extent;
    loop.id = i;
    statement.loops.push_back(loop);
  }
  return statement;
}

/// An access with one list of coefficients a dimension.
static AccessDesc makeAccess(int buffer, std::vector<int64_t> shape,
                             std::vector<std::vector<int64_t>> coefficients,
                             bool reads, bool writes) {
  AccessDesc access;
  access.buffer = buffer;
  access.shape = std::move(shape);
  access.reads = reads;
  access.writes = writes;
  for (auto &row : coefficients)
    access.coefficients.insert(access.coefficients.end(), row.begin(),
                               row.end());
  return access;
}

/// C[i, j] += A[i, k] * B[k, j] of 64 x 64 x 64 floats, i and j tiled by 16:
/// loops i0 (4), j0 (4), k (64), i1 (16), j1 (16).
static NestDesc makeMatmul() {
  StatementDesc statement = makeStatement({4, 4, 64, 16, 16});
  statement.loops[2].kind = LoopDesc::Reduction;
  statement.ops.floats[OpCounts::Mad] = 1;
  statement.accesses = {
      makeAccess(0, {64, 64}, {{16, 0, 0, 1, 0}, {0, 16, 0, 0, 1}}, true, true),
      makeAccess(1, {64, 64}, {{16, 0, 0, 1, 0}, {0, 0, 1, 0, 0}}, true, false),
      makeAccess(2, {64, 64}, {{0, 0, 1, 0, 0}, {0, 16, 0, 0, 1}}, true,
                 false)};
  NestDesc program;
  program.statements.push_back(statement);
  return program;
}

TEST(Features, MatmulByHand) {
  FeatureMatrix matrix = computeFeatures(makeMatmul());
  ASSERT_EQ(matrix.rows(), 1u);
  Row row(matrix, 0);
  // 64^3 iterations, each a multiply-add and three accesses of four bytes.
  EXPECT_COUNT(row, "float_mad", 262144);
  EXPECT_COUNT(row, "float_mul", 0);
  EXPECT_COUNT(row, "float_addsub", 0);
  EXPECT_COUNT(row, "outer_prod", 262144);
  EXPECT_COUNT(row, "num_loops", 5);
  EXPECT_COUNT(row, "unroll_limit", 0);
  EXPECT_COUNT(row, "alloc_size", 0);
  for (const char *buffer : {"b0", "b1", "b2"}) {
    std::string name = buffer;
    EXPECT_COUNT(row, name + ".bytes", 1048576);
    // 64 x 64 floats are 16 KiB, 256 lines.
    EXPECT_COUNT(row, name + ".unique_bytes", 16384);
    EXPECT_COUNT(row, name + ".unique_lines", 256);
    // C and B: j1 moves by one float, so 16 iterations share a line. A: j1
    // doesn't move it (one load for 16 iterations), and i1 jumps a row. Both
    // make 64^3 / 16 transfers, so that the order is that of the accesses.
    EXPECT_COUNT(row, name + ".lines", 16384);
    EXPECT_EQ(row.stored(name + ".reuse.loop"), 1);
    EXPECT_EQ(row.stored(name + ".reuse.serial"), 0);
    EXPECT_EQ(row.stored(name + ".reuse.none"), 0);
  }
  // C, an accumulator, is reused by k: after the 256 iterations of i1 and j1,
  // which touch 16 x 16 floats of C, 16 of A and 16 of B.
  EXPECT_EQ(row.stored("b0.access.read_write"), 1);
  EXPECT_COUNT(row, "b0.stride", 1);
  EXPECT_COUNT(row, "b0.reuse_count", 64);
  EXPECT_COUNT(row, "b0.reuse_distance_iterations", 256);
  EXPECT_COUNT(row, "b0.reuse_distance_bytes", 1024 + 64 + 64);
  EXPECT_COUNT(row, "b0.bytes_per_reuse", 1048576 / 64);
  EXPECT_COUNT(row, "b0.unique_bytes_per_reuse", 256);
  EXPECT_COUNT(row, "b0.lines_per_reuse", 256);
  EXPECT_COUNT(row, "b0.unique_lines_per_reuse", 4);
  // A is reused by j1: in the next iteration, after one float of each.
  EXPECT_EQ(row.stored("b1.access.read"), 1);
  EXPECT_COUNT(row, "b1.stride", 64);
  EXPECT_COUNT(row, "b1.reuse_count", 16);
  EXPECT_COUNT(row, "b1.reuse_distance_iterations", 1);
  EXPECT_COUNT(row, "b1.reuse_distance_bytes", 12);
  // B is reused by i1: after the 16 iterations of j1, which touch 16 floats of
  // C, one of A and 16 of B.
  EXPECT_EQ(row.stored("b2.access.read"), 1);
  EXPECT_COUNT(row, "b2.stride", 1);
  EXPECT_COUNT(row, "b2.reuse_count", 16);
  EXPECT_COUNT(row, "b2.reuse_distance_iterations", 16);
  EXPECT_COUNT(row, "b2.reuse_distance_bytes", 64 + 4 + 64);
  // There is no fourth buffer.
  EXPECT_EQ(row.stored("b3.access.read"), 0);
  EXPECT_EQ(row.stored("b3.bytes"), 0);
  EXPECT_EQ(row.stored("b3.reuse.none"), 0);
  // One iteration: 2 operations on 12 bytes. All: 2 * 64^3 on 48 KiB.
  EXPECT_COUNT(row, "intensity_0", 2.0 / 12);
  EXPECT_COUNT(row, "intensity_9", 524288.0 / 49152);
  // The logarithm of the operations goes from 1 to 19 in steps of 2. i1 and j1
  // do 2 * 16 * 16 (log2 9, sample 4).
  EXPECT_COUNT(row, "intensity_4", 512.0 / 1152);
  // With k and j0 it is log2 17, sample 8: 16 x 64 of C and A, and all of B.
  EXPECT_COUNT(row, "intensity_8", 131072.0 / (4096 + 4096 + 16384));
}

TEST(Features, NumbersAreLogarithms) {
  Row row(computeFeatures(makeMatmul()), 0);
  EXPECT_FLOAT_EQ(row.stored("float_mad"), std::log2(262145.0f));
  EXPECT_EQ(row.stored("float_cmp"), 0);
  EXPECT_EQ(row.stored("vec_type.none"), 1);
  EXPECT_EQ(row.stored("is_gpu"), 0);
  EXPECT_EQ(row.stored("vthread"), 0);
}

TEST(Features, IntegerOpsCountInTheIntensity) {
  NestDesc program = makeMatmul();
  OpCounts &ops = program.statements[0].ops;
  std::swap(ops.floats[OpCounts::Mad], ops.ints[OpCounts::Mad]);
  Row row(computeFeatures(program), 0);
  EXPECT_COUNT(row, "float_mad", 0);
  EXPECT_COUNT(row, "int_mad", 262144);
  EXPECT_COUNT(row, "intensity_9", 524288.0 / 49152);
}

TEST(Features, CacheLineSize) {
  Row row(computeFeatures(makeMatmul(), /*cacheLine=*/128), 0);
  // A's rows are 64 floats apart, two lines: as before, a line an iteration.
  // So A has most lines.
  EXPECT_COUNT(row, "b0.lines", 16384);
  EXPECT_COUNT(row, "b0.stride", 64);
  EXPECT_COUNT(row, "b1.lines", 8192);
  EXPECT_COUNT(row, "b1.unique_lines", 128);
}

TEST(Features, AnnotationsAndPositions) {
  NestDesc program = makeMatmul();
  std::vector<LoopDesc> &loops = program.statements[0].loops;
  loops[0].annotation = loops[1].annotation = LoopDesc::Parallel;
  loops[2].annotation = loops[3].annotation = LoopDesc::Unrolled;
  loops[2].copies = 8;
  loops[3].copies = 16;
  loops[4].annotation = LoopDesc::Vectorized;
  program.statements[0].unrollLimit = 1024;
  Row row(computeFeatures(program), 0);
  EXPECT_COUNT(row, "parallel_num", 2);
  EXPECT_COUNT(row, "parallel_prod", 16);
  EXPECT_COUNT(row, "parallel_len", 4);
  EXPECT_EQ(row.stored("parallel_type.outer_spatial"), 1);
  EXPECT_COUNT(row, "unroll_num", 2);
  EXPECT_COUNT(row, "unroll_prod", 128);
  EXPECT_COUNT(row, "unroll_len", 16);
  EXPECT_EQ(row.stored("unroll_type.mixed"), 1); // k and i1
  EXPECT_COUNT(row, "vec_num", 1);
  EXPECT_COUNT(row, "vec_prod", 16);
  EXPECT_COUNT(row, "vec_len", 16);
  EXPECT_EQ(row.stored("vec_type.inner_spatial"), 1);
  EXPECT_EQ(row.stored("vec_type.none"), 0);
  EXPECT_COUNT(row, "unroll_limit", 1024);

  auto positionOf = [&](size_t loop, LoopDesc::Kind kind) {
    NestDesc changed = makeMatmul();
    changed.statements[0].loops[loop].annotation = LoopDesc::Unrolled;
    changed.statements[0].loops[loop].kind = kind;
    Row row(computeFeatures(changed), 0);
    std::string found;
    for (const char *name :
         {"none", "inner_spatial", "middle_spatial", "outer_spatial",
          "inner_reduce", "middle_reduce", "outer_reduce", "mixed"})
      if (row.stored(std::string("unroll_type.") + name) == 1)
        found += name;
    return found;
  };
  EXPECT_EQ(positionOf(0, LoopDesc::Spatial), "outer_spatial");
  EXPECT_EQ(positionOf(1, LoopDesc::Spatial), "middle_spatial");
  EXPECT_EQ(positionOf(3, LoopDesc::Spatial), "middle_spatial");
  EXPECT_EQ(positionOf(4, LoopDesc::Spatial), "inner_spatial");
  EXPECT_EQ(positionOf(2, LoopDesc::Reduction), "inner_reduce"); // the only one
  EXPECT_EQ(positionOf(1, LoopDesc::Reduction), "outer_reduce"); // before k
  EXPECT_EQ(positionOf(2, LoopDesc::Mixed), "mixed");
}

TEST(Features, GPULoops) {
  NestDesc program = makeMatmul();
  std::vector<LoopDesc> &loops = program.statements[0].loops;
  loops[0].annotation = LoopDesc::BlockY;
  loops[1].annotation = LoopDesc::BlockX;
  loops[4].annotation = LoopDesc::ThreadX;
  Row row(computeFeatures(program), 0);
  EXPECT_EQ(row.stored("is_gpu"), 1);
  EXPECT_COUNT(row, "block_x", 4);
  EXPECT_COUNT(row, "block_y", 4);
  EXPECT_COUNT(row, "block_z", 1);
  EXPECT_COUNT(row, "thread_x", 16);
  EXPECT_COUNT(row, "thread_y", 1);
  EXPECT_COUNT(row, "vthread", 1);
  EXPECT_COUNT(row, "parallel_num", 0);
}

/// T[8 x 16] is written in a loop of 10 trips and read by a second statement
/// in the same loop, which writes R[10, 8, 16].
static NestDesc makeProducerConsumer() {
  NestDesc program;
  StatementDesc producer = makeStatement({10, 8, 16});
  producer.accesses = {
      makeAccess(0, {8, 16}, {{0, 1, 0}, {0, 0, 1}}, false, true)};
  producer.allocationBytes = 512;
  producer.allocationDepth = 1;
  StatementDesc consumer = makeStatement({10, 8, 16});
  consumer.loops[1].id = 11;
  consumer.loops[2].id = 12;
  consumer.ops.floats[OpCounts::AddSub] = 1;
  consumer.accesses = {
      makeAccess(1, {10, 8, 16}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, false,
                 true),
      makeAccess(0, {8, 16}, {{0, 1, 0}, {0, 0, 1}}, true, false)};
  program.statements = {producer, consumer};
  return program;
}

TEST(Features, SerialReuse) {
  FeatureMatrix matrix = computeFeatures(makeProducerConsumer());
  ASSERT_EQ(matrix.rows(), 2u);
  Row producer(matrix, 0), consumer(matrix, 1);
  // The consumer comes before the next iteration of the shared loop.
  EXPECT_EQ(producer.stored("b0.access.write"), 1);
  EXPECT_EQ(producer.stored("b0.reuse.serial"), 1);
  EXPECT_EQ(producer.stored("b0.reuse.loop"), 0);
  EXPECT_COUNT(producer, "b0.reuse_count", 2);
  EXPECT_COUNT(producer, "b0.reuse_distance_iterations", 128);
  EXPECT_COUNT(producer, "b0.reuse_distance_bytes", 512);
  // 1280 writes of four bytes, to 512 bytes.
  EXPECT_COUNT(producer, "b0.bytes", 5120);
  EXPECT_COUNT(producer, "b0.unique_bytes", 512);
  EXPECT_COUNT(producer, "b0.bytes_per_reuse", 2560);
  EXPECT_COUNT(producer, "intensity_9", 0);
  EXPECT_COUNT(producer, "alloc_size", 512);
  EXPECT_COUNT(producer, "alloc_total", 5120);
  EXPECT_COUNT(producer, "alloc_outer_prod", 10);
  EXPECT_COUNT(producer, "alloc_inner_prod", 128);
  // R is touched once: no reuse, and sizes count twice.
  EXPECT_EQ(consumer.stored("b0.access.write"), 1);
  EXPECT_EQ(consumer.stored("b0.reuse.none"), 1);
  EXPECT_COUNT(consumer, "b0.reuse_count", 0);
  EXPECT_COUNT(consumer, "b0.bytes", 5120);
  EXPECT_COUNT(consumer, "b0.bytes_per_reuse", 10240);
  EXPECT_COUNT(consumer, "b0.unique_lines_per_reuse", 160);
  EXPECT_EQ(consumer.stored("b1.reuse.serial"), 1);
  EXPECT_COUNT(consumer, "b1.reuse_distance_bytes", 512 + 512);
  EXPECT_COUNT(consumer, "alloc_size", 0);
}

/// Unique bytes and lines, transfers and stride of a lone read.
static Row readOnly(std::vector<int64_t> extents, AccessDesc access) {
  NestDesc program;
  program.statements.push_back(makeStatement(std::move(extents)));
  program.statements[0].accesses.push_back(std::move(access));
  return Row(computeFeatures(program), 0);
}

TEST(Features, StridedAccess) {
  // Every other element of 64: 32 floats, on all four lines.
  Row row = readOnly({32}, makeAccess(0, {64}, {{2}}, true, false));
  EXPECT_COUNT(row, "b0.bytes", 128);
  EXPECT_COUNT(row, "b0.unique_bytes", 128);
  EXPECT_COUNT(row, "b0.unique_lines", 4);
  EXPECT_COUNT(row, "b0.lines", 4);
  EXPECT_COUNT(row, "b0.stride", 2);
  // Every 32nd: a line each, and no more lines than elements.
  row = readOnly({8}, makeAccess(0, {256}, {{32}}, true, false));
  EXPECT_COUNT(row, "b0.unique_bytes", 32);
  EXPECT_COUNT(row, "b0.unique_lines", 8);
  EXPECT_COUNT(row, "b0.lines", 8);
}

TEST(Features, SlidingWindow) {
  // in[2 * o + k], o of 7 and k of 3: elements 0 to 14, of 21 iterations.
  Row row = readOnly({7, 3}, makeAccess(0, {15}, {{2, 1}}, true, false));
  EXPECT_COUNT(row, "b0.bytes", 84);
  EXPECT_COUNT(row, "b0.unique_bytes", 60);
  EXPECT_COUNT(row, "b0.unique_lines", 1);
}

TEST(Features, RowsOfATile) {
  // 8 rows of 20 floats of a 64 x 64 buffer: two lines a row.
  Row row =
      readOnly({8, 20}, makeAccess(0, {64, 64}, {{1, 0}, {0, 1}}, true, false));
  EXPECT_COUNT(row, "b0.unique_bytes", 640);
  EXPECT_COUNT(row, "b0.unique_lines", 16);
  // 8 whole rows of 20 floats: 160 adjacent ones, ten lines.
  row =
      readOnly({8, 20}, makeAccess(0, {64, 20}, {{1, 0}, {0, 1}}, true, false));
  EXPECT_COUNT(row, "b0.unique_lines", 10);
}

TEST(Features, Diagonal) {
  // in[i, i]: 16 elements of 16 x 16, not 256, each on its own line.
  Row row = readOnly({16}, makeAccess(0, {16, 16}, {{1}, {1}}, true, false));
  EXPECT_COUNT(row, "b0.unique_bytes", 64);
  EXPECT_COUNT(row, "b0.unique_lines", 16);
  EXPECT_COUNT(row, "b0.stride", 17);
}

TEST(Features, Gather) {
  // 100 reads anywhere in 1000 floats: a line each, at most all 63 lines.
  AccessDesc access = makeAccess(0, {1000}, {{0}}, true, false);
  access.indirect = true;
  Row row = readOnly({100}, access);
  EXPECT_COUNT(row, "b0.unique_bytes", 400);
  EXPECT_COUNT(row, "b0.lines", 100);
  EXPECT_COUNT(row, "b0.unique_lines", 63);
  EXPECT_COUNT(row, "b0.stride", 16);
  EXPECT_EQ(row.stored("b0.reuse.none"), 1);
}

TEST(Features, SameBufferTwice) {
  // x[i] * x[i] through two operands: two accesses, nothing new touched.
  AccessDesc access = makeAccess(0, {64}, {{1}}, true, false);
  NestDesc program;
  program.statements.push_back(makeStatement({64}));
  program.statements[0].accesses = {access, access};
  Row row(computeFeatures(program), 0);
  EXPECT_COUNT(row, "b0.bytes", 512);
  EXPECT_COUNT(row, "b0.unique_bytes", 256);
  EXPECT_COUNT(row, "b0.unique_lines", 4);
  EXPECT_EQ(row.stored("b1.access.read"), 0);
  // x[i] and x[63 - i] touch the same 64 elements.
  program.statements[0].accesses[1].coefficients[0] = -1;
  Row reversed(computeFeatures(program), 0);
  EXPECT_COUNT(reversed, "b0.unique_bytes", 256);
}

TEST(Features, FiveBuffersWithMostLines) {
  // Seven buffers of 4096 floats, read with strides of 1, 2, 4, … 64 floats:
  // from 16 on, each iteration is on a line of its own. Buffers 0 and 1 have
  // the fewest lines and are left out.
  NestDesc program;
  program.statements.push_back(makeStatement({64}));
  for (int b = 0; b < 7; ++b)
    program.statements[0].accesses.push_back(
        makeAccess(b, {4096}, {{int64_t(1) << b}}, true, false));
  Row row(computeFeatures(program), 0);
  // Ties go to the earlier access: strides 16, 32, 64, then 8 and 4.
  for (auto [i, stride] : llvm::enumerate(std::vector<int>{16, 32, 64, 8, 4}))
    EXPECT_COUNT(row, "b" + std::to_string(i) + ".stride", stride);
  EXPECT_COUNT(row, "b2.lines", 64);
  EXPECT_COUNT(row, "b3.lines", 32);
  EXPECT_COUNT(row, "b4.lines", 16);
}

TEST(Features, ScalarStatement) {
  // A statement without loops on a tensor without dimensions.
  NestDesc program;
  program.statements.push_back(makeStatement({}));
  program.statements[0].ops.floats[OpCounts::AddSub] = 1;
  program.statements[0].accesses = {makeAccess(0, {}, {}, true, true)};
  Row row(computeFeatures(program), 0);
  EXPECT_COUNT(row, "float_addsub", 1);
  EXPECT_COUNT(row, "b0.bytes", 4);
  EXPECT_COUNT(row, "b0.unique_lines", 1);
  EXPECT_COUNT(row, "intensity_0", 0.25);
  EXPECT_COUNT(row, "intensity_9", 0.25);
  EXPECT_COUNT(row, "outer_prod", 1);
  EXPECT_COUNT(row, "num_loops", 0);
}

TEST(Features, EmptyProgram) {
  FeatureMatrix matrix = computeFeatures(NestDesc());
  EXPECT_EQ(matrix.rows(), 0u);
  EXPECT_TRUE(matrix.data.empty());
}

TEST(Features, HugeExtentsStayFinite) {
  int64_t huge = int64_t(1) << 40;
  Row row =
      readOnly({huge, huge, huge},
               makeAccess(0, {huge, huge, huge},
                          {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, true, false));
  EXPECT_FLOAT_EQ(row.stored("b0.bytes"), 122);
  EXPECT_TRUE(std::isfinite(row.stored("b0.stride")));
}
