//===- Inputs.h - Arguments of a measured program ---------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an artifact takes and gives (its manifest), and the values that it is
// called with. Values depend only on the seed, the attempt, the argument's and
// the element's number, so that they are made anew rather than sent.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_RUNTIME_INPUTS_H
#define ANSOR_RUNTIME_INPUTS_H

#include "ansor/Runtime/Element.h"
#include "ansor/Runtime/Json.h"
#include <memory>
#include <vector>

namespace ansor::runtime {

struct ValueSpec {
  bool isMemref = true;
  bool isWeight = false; ///< the same in every call of a network
  ElementType type;
  std::vector<int64_t> shape; ///< -1 is dynamic until resolved

  int64_t elements() const;
  size_t bytes() const { return size_t(elements()) * type.size(); }
};

/// What the check must know of a program's arithmetic; the builder derives it
/// from the unscheduled IR.
struct CheckSpec {
  double terms = 1;       ///< roundings that one result goes through
  double accumulator = 0; ///< unit roundoff of the coarsest accumulation
  double storage = 0;     ///< unit roundoff of the coarsest stored value
  /// Inputs that are multiples of 2^-gridBits keep every sum exact; -1: none
  /// do, as the program rounds whatever it is given.
  int gridBits = -1;
  int64_t indexBound = 0; ///< integers index a dimension of this size; 0: none
};

/// How weights are packed, once before all calls.
struct PrepackSpec {
  std::string entry;              ///< packs; empty: nothing does
  std::vector<int> args;          ///< arguments that it takes
  std::vector<ValueSpec> results; ///< packed weights
  std::string run;                ///< is called in place of the entry
  /// Its arguments: that of the entry, or -1 - i for packed weight i.
  std::vector<int> runArgs;
};

struct Manifest {
  std::string entry;
  std::vector<ValueSpec> args, results;
  unsigned inits = 0; ///< the last so many arguments are destinations
  CheckSpec check;
  PrepackSpec prepack;

  /// Reads {"entry", "args", "results", "inits", "check", "prepack"}. Dynamic dimensions
  /// become `dynamicSize`, unless `shapes` (an array, null where not given)
  /// names all sizes of that argument.
  static bool parse(const Json &json, int64_t dynamicSize, const Json &shapes,
                    Manifest &manifest, std::string &error);
  /// Bytes of all arguments.
  double totalBytes() const;
};

/// One way to fill the arguments.
struct Draw {
  uint64_t seed = 0;
  /// Attempts go from the hardest values to the mildest: signed, with zeros;
  /// vectors positive, matrices scaled by their fan-in; all positive; the same
  /// scaled down.
  int attempt = 0;
  /// How the values are moved to see how much the results depend on them.
  enum class Move { None, Random, Magnitude, Relative } move = Move::None;
  double delta = 0; ///< relative size of the move
};
inline constexpr int kAttempts = 6;

/// Fills the array of argument `index`.
void fillArgument(const Manifest &manifest, unsigned index, const Draw &draw,
                  void *data);

/// Memory of one argument or result, 64-byte aligned, with guard bytes behind.
class Buffer {
public:
  Buffer() = default;
  explicit Buffer(size_t bytes);
  char *data() const { return aligned; }
  size_t size() const { return bytes; }
  bool contains(const void *pointer) const {
    const char *byte = static_cast<const char *>(pointer);
    return byte >= aligned && byte < aligned + bytes;
  }
  /// Whether nothing was written behind the end.
  bool guardIsIntact() const;

private:
  std::unique_ptr<char[]> storage;
  char *aligned = nullptr;
  size_t bytes = 0;
};

} // namespace ansor::runtime

#endif // ANSOR_RUNTIME_INPUTS_H
