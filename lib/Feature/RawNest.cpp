//===- RawNest.cpp - Nests before unit loops are dropped --------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RawNest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::ansor;

void RawNest::forEachNumber(function_ref<void(int64_t &, bool)> fn) {
  for (RawStatement &statement : statements) {
    for (RawLoop &loop : statement.loops) {
      fn(loop.extent, true);
      fn(loop.unroll, true);
    }
    fn(statement.unroll, true);
    for (AccessDesc &access : statement.accesses) {
      for (int64_t &extent : access.shape)
        fn(extent, true);
      for (auto [index, coefficient] : llvm::enumerate(access.coefficients))
        fn(coefficient,
           statement.loops[index % statement.loops.size()].extent > 1);
    }
    for (int64_t &extent : statement.allocationShape)
      fn(extent, true);
  }
}

std::string RawNest::structure() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const RawStatement &statement : statements) {
    os << statement.name << ' ' << statement.numOuter << ' '
       << statement.vectorized << ' ' << statement.elementBytes << ' '
       << statement.allocationShape.size() << ' ' << statement.allocationDepth;
    for (const RawLoop &loop : statement.loops)
      os << " l" << loop.id << '.' << int(loop.kind) << '.'
         << int(loop.annotation);
    for (const AccessDesc &access : statement.accesses)
      os << " a" << access.buffer << '.' << access.elementBytes << '.'
         << access.reads << access.writes << access.indirect << '.'
         << access.shape.size();
    auto print = [&](ArrayRef<double> counts) {
      for (double count : counts)
        os << ' ' << count;
    };
    print(statement.ops.floats);
    print(statement.ops.ints);
    print({statement.ops.boolOps, statement.ops.selectOps});
    os << '\n';
  }
  return text;
}

size_t RawNest::countLoops() const {
  size_t count = 0;
  for (const RawStatement &statement : statements)
    count += statement.loops.size();
  return count;
}

/// Unrolls `loop` up to `limit` copies, if nothing else becomes of it.
static void unrollLoop(LoopDesc &loop, int64_t limit) {
  if (limit <= 1 || loop.annotation != LoopDesc::None)
    return;
  loop.annotation = LoopDesc::Unrolled;
  loop.copies = std::min(loop.extent, limit);
}

/// `ids` holds the new number of a loop by its old one, -1 for none yet.
static StatementDesc simplify(const RawStatement &raw,
                              SmallVectorImpl<int> &ids, int &numIds) {
  StatementDesc statement;
  statement.name = raw.name;
  statement.ops = raw.ops;
  SmallVector<unsigned, 12> kept;
  size_t numOuter = 0;
  int64_t unroll = 0;
  for (auto [l, loop] : llvm::enumerate(raw.loops)) {
    if (loop.extent <= 1)
      continue;
    kept.push_back(l);
    LoopDesc desc;
    desc.extent = loop.extent;
    if (size_t(loop.id) >= ids.size())
      ids.resize(loop.id + 1, -1);
    if (ids[loop.id] < 0)
      ids[loop.id] = numIds++;
    desc.id = ids[loop.id];
    desc.kind = loop.kind;
    desc.annotation = loop.annotation;
    desc.partial = loop.partial;
    unrollLoop(desc, loop.unroll);
    statement.loops.push_back(desc);
    if (l >= raw.numOuter)
      continue;
    ++numOuter;
    if (loop.unroll >= 0)
      unroll = loop.unroll;
    if (l < raw.allocationDepth)
      ++statement.allocationDepth;
  }
  statement.unrollLimit = raw.unroll >= 0 ? raw.unroll : unroll;
  size_t numLoops = kept.size();
  if (!raw.vectorized) {
    // A limit on the op is for its own loops, from the innermost outward.
    int64_t limit = std::max<int64_t>(raw.unroll, 0);
    for (size_t l = numLoops; l-- > numOuter;) {
      unrollLoop(statement.loops[l], limit);
      limit /= statement.loops[l].extent;
    }
  } else if (numLoops > numOuter) {
    statement.loops.back().annotation = LoopDesc::Vectorized;
  }

  size_t numRaw = raw.loops.size();
  statement.accesses.reserve(raw.accesses.size());
  for (const AccessDesc &access : raw.accesses) {
    AccessDesc &desc = statement.accesses.emplace_back();
    desc.buffer = access.buffer;
    desc.elementBytes = access.elementBytes;
    desc.reads = access.reads;
    desc.writes = access.writes;
    desc.indirect = access.indirect;
    desc.shape = access.shape;
    desc.coefficients.resize(access.shape.size() * numLoops);
    for (size_t d = 0, e = access.shape.size(); d < e; ++d)
      for (size_t l = 0; l < numLoops; ++l)
        desc.coefficients[d * numLoops + l] =
            access.coefficients[d * numRaw + kept[l]];
  }
  if (raw.elementBytes == 0) {
    statement.allocationDepth = 0;
    return statement;
  }
  statement.allocationBytes = raw.elementBytes;
  for (int64_t extent : raw.allocationShape)
    statement.allocationBytes =
        multiplySaturating(statement.allocationBytes, extent);
  return statement;
}

NestDesc mlir::ansor::simplify(const RawNest &raw) {
  NestDesc program;
  program.statements.reserve(raw.statements.size());
  SmallVector<int, 32> ids;
  int numIds = 0;
  for (const RawStatement &statement : raw.statements)
    program.statements.push_back(::simplify(statement, ids, numIds));
  return program;
}
