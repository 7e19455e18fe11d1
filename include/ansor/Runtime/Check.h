//===- Check.h - The check of results ---------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares what a candidate gives with what the unscheduled program gives.
//
// The tolerance of each element comes from the program itself: the reference
// is run again on inputs moved by as much as rounding in another order of
// evaluation would move intermediate values (unit roundoff times the root of
// the number of roundings), and results may differ by a small multiple of what
// that changes. So a sum may be reassociated, and the sine of a large sum is
// not compared at all, while a missing term is seen. Where the inputs can be
// chosen so that no operation rounds (multiples of a power of two through sums
// and products), nothing is moved and results must agree to the last bits.
// Elements that depend on uninitialised memory are found, and are not
// compared.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_RUNTIME_CHECK_H
#define ANSOR_RUNTIME_CHECK_H

#include "ansor/Runtime/Kernel.h"

namespace ansor::runtime {

/// Values and tolerances of one seed.
struct Reference {
  Draw draw;
  bool exact = false;
  double seconds = 0; ///< of the fastest run
  std::string note;   ///< what limits the check, if anything
  std::vector<Output> outputs;
  /// One for each component; infinity: not to be compared.
  std::vector<std::vector<float>> tolerances;

  bool save(const std::string &path, std::string &error) const;
  static bool load(const std::string &path, Reference &reference,
                   std::string &error);
};

/// Runs the unscheduled program until its results are finite and not all
/// chaotic, starting at attempt `firstAttempt`.
bool makeReference(const Manifest &manifest, Entry entry, uint64_t seed,
                   int firstAttempt, Reference &reference, std::string &error);

/// Replaces the values of `reference` by those of `wide`, the same program in
/// higher precision, if its tolerances leave hardly anything to check. How far
/// the program itself is from these tells how far another right one can be:
/// tolerances that are looser shrink to that.
bool refineReference(const Manifest &manifest, Entry wide,
                     Reference &reference, std::string &error);

/// The tolerances of `base`, given results on moved inputs.
std::vector<float> computeTolerance(const Output &base,
                                    const std::vector<Output> &moved,
                                    const CheckSpec &spec, bool exact);

struct Comparison {
  double worst = 0;     ///< largest error divided by its tolerance
  double error = 0;     ///< that error
  double tolerance = 0; ///< and its tolerance
  size_t compared = 0;
  std::string message; ///< where and what, if worst > 1

  bool passes() const { return worst <= 1; }
};

/// Compares `outputs` with the reference, accumulating into `comparison`. A
/// NaN matches a NaN only.
void compare(const Reference &reference, const std::vector<Output> &outputs,
             Comparison &comparison);

/// Fills memory that is allocated from now on with a byte, so that a program
/// that reads what it never wrote is seen; 0 ends it.
void poisonAllocations(unsigned char byte);

} // namespace ansor::runtime

#endif // ANSOR_RUNTIME_CHECK_H
