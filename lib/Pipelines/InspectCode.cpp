//===- InspectCode.cpp - What generated code looks like ---------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the innermost loops of generated code look like, read from assembly:
// LLVM says in comments which block is of which loop, and which instructions
// spill, alike for all targets.
//
//===----------------------------------------------------------------------===//

#include "ansor/Pipelines/Pipelines.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::ansor;

namespace {
/// A block of assembly, or all blocks of a loop.
struct Piece {
  std::string loop; ///< header of the loop that it is of; empty: none
  bool isInnerHeader = false;
  int64_t spills = 0, reloads = 0, calls = 0, instructions = 0;
  /// Arithmetic instructions by the bits of their registers.
  std::map<int64_t, int64_t> arithmetic;
  llvm::StringSet<> multiplyAdds, sums; ///< registers that accumulate

  void add(const Piece &other) {
    spills += other.spills;
    reloads += other.reloads;
    calls += other.calls;
    instructions += other.instructions;
    for (auto [bits, count] : other.arithmetic)
      arithmetic[bits] += count;
    for (const auto &entry : other.multiplyAdds)
      multiplyAdds.insert(entry.getKey());
    for (const auto &entry : other.sums)
      sums.insert(entry.getKey());
  }
  int64_t numArithmetic() const {
    int64_t sum = 0;
    for (auto [bits, count] : arithmetic)
      sum += count;
    return sum;
  }
};
} // namespace

static bool startsWithAny(StringRef text, ArrayRef<StringRef> prefixes) {
  return llvm::any_of(prefixes, [&](StringRef p) { return text.starts_with(p); });
}

/// Sums of products, in the mnemonics of both machines.
static bool isMultiplyAdd(StringRef mnemonic) {
  mnemonic.consume_front("v");
  return startsWithAny(mnemonic, {"fmadd", "fmsub", "fnmadd", "fnmsub", "fmla",
                                  "fmls", "fmlal", "mla", "pdpbusd", "pdpwssd",
                                  "dpbf16", "sdot", "udot", "usdot", "bfdot",
                                  "smlal", "umlal"});
}

/// Arithmetic on values, not on addresses.
static bool isArithmetic(StringRef mnemonic) {
  if (isMultiplyAdd(mnemonic))
    return true;
  if (mnemonic.consume_front("v") || mnemonic.starts_with("p"))
    return startsWithAny(mnemonic, {"add", "sub", "mul", "div", "max", "min",
                                    "sqrt", "padd", "psub", "pmul", "pmax",
                                    "pmin", "pmadd", "scalef", "rndscale"});
  return startsWithAny(mnemonic, {"addp", "adds", "subp", "subs", "mulp",
                                  "muls", "divp", "divs", "maxp", "maxs",
                                  "minp", "mins", "fadd", "fsub", "fmul",
                                  "fdiv", "fmax", "fmin", "fneg"}) &&
         mnemonic != "adds" && mnemonic != "subs";
}

static bool isSum(StringRef mnemonic) {
  return mnemonic.contains("add") || mnemonic.contains("max") ||
         mnemonic.contains("min");
}

static bool isCall(StringRef mnemonic) {
  return mnemonic == "call" || mnemonic == "callq" || mnemonic == "bl" ||
         mnemonic == "blr";
}

/// Bits of the values in `operands`: a vector register's, or a scalar's.
static int64_t findBits(StringRef mnemonic, StringRef operands) {
  if (operands.contains("%xmm") || operands.contains("%ymm") ||
      operands.contains("%zmm")) {
    if (mnemonic.ends_with("ss"))
      return 32;
    if (mnemonic.ends_with("sd") && !mnemonic.contains("pdpbus"))
      return 64;
    if (mnemonic.ends_with("sh"))
      return 16;
    return operands.contains("%zmm") ? 512 : operands.contains("%ymm") ? 256 : 128;
  }
  SmallVector<StringRef> names;
  operands.split(names, ',');
  for (StringRef name : names) {
    name = name.trim();
    // v3.4s, and s3.
    if (name.starts_with("v") && name.contains('.'))
      return name.contains(".2s") || name.contains(".4h") ||
                     name.contains(".8b")
                 ? 64
                 : 128;
    if (name.size() > 1 && llvm::isDigit(name[1])) {
      if (name[0] == 's')
        return 32;
      if (name[0] == 'd')
        return 64;
      if (name[0] == 'h')
        return 16;
    }
  }
  return 0;
}

/// The register that an instruction of `operands` writes, if it also reads it:
/// the last one on x86, the first one on AArch64.
static StringRef findAccumulator(StringRef mnemonic, StringRef operands) {
  bool isX86 = operands.contains('%');
  if (isX86) {
    StringRef last = operands.rsplit(',').second.split('{').first.trim();
    if (isMultiplyAdd(mnemonic) ||
        operands.rsplit(',').first.contains(last))
      return last;
    return "";
  }
  auto [first, rest] = operands.split(',');
  first = first.trim();
  return isMultiplyAdd(mnemonic) || rest.contains(first) ? first : "";
}

static void readInstruction(StringRef line, Piece &piece) {
  StringRef code = line, comment;
  for (StringRef mark : {"# ", "// "})
    if (size_t at = line.find(mark); at != StringRef::npos) {
      code = line.take_front(at);
      comment = line.drop_front(at);
      break;
    }
  code = code.trim();
  size_t end = code.find_first_of(" \t");
  StringRef mnemonic = code.take_front(end);
  StringRef operands =
      end == StringRef::npos ? StringRef() : code.drop_front(end).trim();
  ++piece.instructions;
  piece.spills += comment.contains("Spill");
  piece.reloads += comment.contains("Reload");
  piece.calls += isCall(mnemonic);
  if (!isArithmetic(mnemonic))
    return;
  int64_t bits = findBits(mnemonic, operands);
  if (bits == 0)
    return;
  ++piece.arithmetic[bits];
  StringRef accumulator = findAccumulator(mnemonic, operands);
  if (accumulator.empty())
    return;
  if (isMultiplyAdd(mnemonic))
    piece.multiplyAdds.insert(accumulator);
  else if (isSum(mnemonic))
    piece.sums.insert(accumulator);
}

/// The name in ".LBB3_5:" or "# %bb.4:"; empty if no block begins here.
static StringRef findBlock(StringRef line) {
  if (line.starts_with(".LBB") || line.starts_with("LBB"))
    return line.take_until([](char c) { return c == ':'; })
        .drop_front(line.find("BB"));
  for (StringRef mark : {"# %bb.", "// %bb."})
    if (line.starts_with(mark))
      return line.take_until([](char c) { return c == ':'; });
  return "";
}

CodeStats ansor::inspectAssembly(StringRef assembly) {
  std::vector<Piece> blocks;
  SmallVector<StringRef> lines;
  assembly.split(lines, '\n');
  std::string name;
  for (StringRef line : lines) {
    StringRef block = findBlock(line);
    bool isLabel = !line.empty() && !llvm::isSpace(line[0]);
    if (!block.empty() || (isLabel && line.contains(':'))) {
      name = block.str();
      blocks.emplace_back();
    }
    if (blocks.empty())
      continue;
    Piece &piece = blocks.back();
    if (line.contains("This Inner Loop Header")) {
      piece.isInnerHeader = true;
      piece.loop = name;
    } else if (line.contains("in Loop: Header=")) {
      piece.loop = line.split("Header=").second.split(' ').first.str();
    }
    StringRef text = line.trim();
    bool isCode = !isLabel && !text.empty() && llvm::isAlpha(text[0]);
    if (isCode)
      readInstruction(line, piece);
  }

  llvm::MapVector<StringRef, Piece> loops;
  Piece all;
  for (const Piece &block : blocks) {
    all.add(block);
    if (block.isInnerHeader)
      loops[block.loop];
  }
  for (const Piece &block : blocks)
    if (auto it = loops.find(block.loop); it != loops.end())
      it->second.add(block);

  CodeStats stats;
  stats.innerLoops = int64_t(loops.size());
  const Piece *main = &all;
  Piece inner;
  for (auto &[header, loop] : loops) {
    inner.add(loop);
    if (main == &all || loop.numArithmetic() > main->numArithmetic())
      main = &loop;
  }
  const Piece &counted = loops.empty() ? all : inner;
  stats.spills = counted.spills;
  stats.reloads = counted.reloads;
  stats.calls = counted.calls;
  if (!main->arithmetic.empty())
    stats.vectorBits = main->arithmetic.rbegin()->first;
  stats.arithmetic = main->numArithmetic();
  stats.instructions = main->instructions;
  stats.accumulators = int64_t(
      main->multiplyAdds.empty() ? main->sums.size() : main->multiplyAdds.size());
  return stats;
}
