//===- Kernel.h - Loading and calling an artifact ---------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An artifact is a shared object with an entry `void <entry>_packed(void **)`:
// a pointer for each result (to a memref descriptor or scalar that the callee
// fills), then one for each argument. A result's descriptor that points to
// memory already asks for the result there; a callee may still give another
// buffer, which is the caller's then.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_RUNTIME_KERNEL_H
#define ANSOR_RUNTIME_KERNEL_H

#include "ansor/Runtime/Inputs.h"

namespace ansor::runtime {

/// Loads `path` and finds the entry; null with `error` set if it can't. An
/// OpenMP runtime is loaded first if the artifact calls one.
using Entry = void (*)(void **);
Entry loadEntry(const std::string &path, const std::string &name,
                const std::string &openmp, std::string &error);

/// Memory that an artifact keeps between calls.
struct Workspace {
  void *data = nullptr;
  int64_t bytes = 0;
};
/// That of an artifact that was loaded; empty if it has none.
Workspace findWorkspace(const std::string &path, const std::string &name);

/// Sets the number of threads of the OpenMP runtime, if one is loaded.
void setThreads(int threads);

/// A dense copy of what a call gave.
struct Output {
  std::string name; ///< "result 0", "argument 3"
  ElementType type;
  std::vector<int64_t> shape;
  std::vector<char> data;

  size_t components() const { return data.size() / type.bytes; }
};

/// The memory of a call. Every element of `arguments` is written by fill()
/// before it is read.
class Call {
public:
  /// With `prepack`, `entry` takes what that makes of the arguments (see
  /// PrepackSpec).
  Call(const Manifest &manifest, Entry entry, Workspace workspace = {},
       Entry prepack = nullptr);
  ~Call() { releaseResults(); }
  Call(const Call &) = delete;

  /// Fills all arguments anew.
  void fill(const Draw &draw);
  /// Copies the arguments of `other`, which has the same manifest.
  void copyFrom(const Call &other);
  /// Copies those that a call may have written: all but weights, which are left
  /// where they are in the caches. The first time, weights too.
  void refreshFrom(const Call &other);
  /// Fills what a call has to write before it reads it with `byte`: results
  /// and the workspace.
  void poison(unsigned char byte);
  /// Packs the weights among the arguments, if anything does. Before the first
  /// run, and whenever weights have changed.
  void packWeights();
  /// Gives each call from now on the next of several copies of the weights,
  /// packed or not, of at most `bytes` bytes together: weights are then as far
  /// from the processor as in a network that has so many. Their values are
  /// those of now. Returns the number of copies; with 1 nothing changes.
  size_t spreadWeights(size_t bytes);
  /// Calls the entry. Results of the last call are freed.
  void run() {
    releaseResults();
    giveResults();
    if (numCopies > 1)
      takeNextCopy();
    entry(packed.data());
    hasResults = true;
  }
  /// Results and destinations; all arguments if there are neither. Fails with
  /// `error` if memory behind an argument was written.
  bool collect(std::vector<Output> &outputs, std::string &error) const;

private:
  /// Copies of one weight.
  struct Copies {
    Buffer memory;
    size_t stride; ///< bytes from one to the next
    std::vector<int64_t> *descriptor; ///< that calls get
  };
  void releaseResults();
  void giveResults();
  void takeNextCopy();
  void addCopies(const Buffer &weight, std::vector<int64_t> &descriptor);

  const Manifest &manifest;
  Entry entry, prepack;
  Workspace workspace;
  std::vector<Buffer> arguments;
  bool filled = false; ///< the arguments have been written
  std::vector<Buffer> results; ///< empty where the size isn't known
  std::vector<std::vector<int64_t>> given; ///< descriptors of `results`
  /// Descriptors (or scalars), as words.
  std::vector<std::vector<int64_t>> descriptors;
  std::vector<void *> packed;
  std::vector<Buffer> weights; ///< packed ones
  std::vector<std::vector<int64_t>> weightDescriptors;
  std::vector<Copies> copies;
  size_t numCopies = 1, nextCopy = 0, copyStep = 1;
  bool hasResults = false;
};

} // namespace ansor::runtime

#endif // ANSOR_RUNTIME_KERNEL_H
