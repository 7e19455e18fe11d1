//===- Kernel.cpp - Loading and calling an artifact -------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Runtime/Kernel.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <numeric>

using namespace ansor::runtime;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// A model's function may be called "main": its own calls must not end in ours.
static void *openArtifact(const std::string &path) {
  int mode = RTLD_NOW | RTLD_LOCAL;
#ifdef RTLD_DEEPBIND
  mode |= RTLD_DEEPBIND;
#endif
  return dlopen(path.c_str(), mode);
}

Entry ansor::runtime::loadEntry(const std::string &path,
                                const std::string &name,
                                const std::string &openmp, std::string &error) {
  void *handle = openArtifact(path);
  if (!handle) {
    error = dlerror();
    if (error.find("__kmpc_") == std::string::npos &&
        error.find("omp_") == std::string::npos &&
        error.find("libomp") == std::string::npos)
      return nullptr;
    // Its symbols stay visible for the artifact.
    bool loaded =
        !openmp.empty() && dlopen(openmp.c_str(), RTLD_NOW | RTLD_GLOBAL);
    for (const char *library : {
             "libomp.so.5",
             "libomp.so",
#ifdef ANSOR_OPENMP_LIBRARY
             ANSOR_OPENMP_LIBRARY,
#endif
         })
      loaded = loaded || dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    if (loaded)
      handle = openArtifact(path);
    if (!handle) {
      const char *reason = dlerror();
      error = reason ? reason : error;
      if (!loaded)
        error += " (no OpenMP runtime was found: install libomp5 or name it by "
                 "\"openmp\")";
      return nullptr;
    }
  }
  std::string symbol = name + "_packed";
  auto entry = reinterpret_cast<Entry>(dlsym(handle, symbol.c_str()));
  if (!entry)
    error = path + " has no entry '" + symbol + "'";
  return entry;
}

Workspace ansor::runtime::findWorkspace(const std::string &path,
                                        const std::string &name) {
  Workspace workspace;
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  void *function =
      handle ? dlsym(handle, (name + "_workspace").c_str()) : nullptr;
  if (function)
    reinterpret_cast<void (*)(Workspace *)>(function)(&workspace);
  return workspace;
}

void ansor::runtime::setThreads(int threads) {
  // The artifact may have brought a runtime as its own dependency.
  void *function = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
  for (const char *library : {"libomp.so.5", "libomp.so", "libgomp.so.1"}) {
    if (function)
      break;
    if (void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD))
      function = dlsym(handle, "omp_set_num_threads");
  }
  if (function)
    reinterpret_cast<void (*)(int)>(function)(threads);
}

//===----------------------------------------------------------------------===//
// Calling
//===----------------------------------------------------------------------===//

namespace {
/// Words of a descriptor: allocated, aligned, offset, sizes, strides.
struct Descriptor {
  explicit Descriptor(int64_t *words, size_t rank) : words(words), rank(rank) {}
  char *aligned() const { return reinterpret_cast<char *>(words[1]); }
  int64_t offset() const { return words[2]; }
  int64_t size(size_t i) const { return words[3 + i]; }
  int64_t stride(size_t i) const { return words[3 + rank + i]; }
  int64_t *words;
  size_t rank;
};
} // namespace

/// The descriptor of a dense array at `data`.
static std::vector<int64_t> describeDense(const ValueSpec &spec, void *data) {
  int64_t address = reinterpret_cast<int64_t>(data);
  std::vector<int64_t> words = {address, address, 0};
  words.insert(words.end(), spec.shape.begin(), spec.shape.end());
  size_t rank = spec.shape.size();
  words.resize(3 + 2 * rank);
  int64_t stride = 1;
  for (size_t i = rank; i-- > 0; stride *= spec.shape[i])
    words[3 + rank + i] = stride;
  return words;
}

static bool hasKnownSize(const ValueSpec &spec) {
  return spec.isMemref && std::all_of(spec.shape.begin(), spec.shape.end(),
                                      [](int64_t size) { return size > 0; });
}

Call::Call(const Manifest &manifest, Entry entry, Workspace workspace,
           Entry prepack)
    : manifest(manifest), entry(entry), prepack(prepack), workspace(workspace) {
  for (const ValueSpec &spec : manifest.results) {
    results.push_back(hasKnownSize(spec) ? Buffer(spec.bytes()) : Buffer());
    given.push_back(results.back().data()
                        ? describeDense(spec, results.back().data())
                        : std::vector<int64_t>(3 + 2 * spec.shape.size()));
  }
  descriptors = given;
  for (const ValueSpec &spec : manifest.args) {
    arguments.emplace_back(spec.bytes());
    descriptors.push_back(
        spec.isMemref ? describeDense(spec, arguments.back().data())
                      : std::vector<int64_t>());
  }
  for (size_t i = 0; i < descriptors.size(); ++i) {
    size_t results = manifest.results.size();
    bool isScalar = i >= results && !manifest.args[i - results].isMemref;
    packed.push_back(isScalar
                         ? static_cast<void *>(arguments[i - results].data())
                         : descriptors[i].data());
  }
  if (!prepack)
    return;
  for (const ValueSpec &spec : manifest.prepack.results) {
    weights.emplace_back(spec.bytes());
    weightDescriptors.push_back(describeDense(spec, weights.back().data()));
  }
  size_t numResults = manifest.results.size();
  std::vector<void *> args(packed.begin() + numResults, packed.end());
  packed.resize(numResults);
  for (int number : manifest.prepack.runArgs)
    packed.push_back(number >= 0 ? args[number]
                                 : weightDescriptors[-1 - number].data());
}

void Call::packWeights() {
  if (!prepack)
    return;
  std::vector<void *> pointers;
  std::vector<std::vector<int64_t>> given = weightDescriptors;
  for (std::vector<int64_t> &descriptor : given)
    pointers.push_back(descriptor.data());
  for (int number : manifest.prepack.args)
    pointers.push_back(descriptors[manifest.results.size() + number].data());
  prepack(pointers.data());
  // It may have made a buffer of its own, or give back constant data.
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i][1] != weightDescriptors[i][1]) {
      std::memcpy(weights[i].data(), reinterpret_cast<void *>(given[i][1]),
                  weights[i].size());
      Dl_info info;
      if (!dladdr(reinterpret_cast<void *>(given[i][0]), &info))
        std::free(reinterpret_cast<void *>(given[i][0]));
    }
}

/// More copies than this of weights that are tiny help nobody.
static constexpr size_t kMaxCopies = 1 << 16;

static size_t roundToLines(size_t bytes) { return (bytes + 63) / 64 * 64; }

void Call::addCopies(const Buffer &weight, std::vector<int64_t> &descriptor) {
  size_t stride = roundToLines(weight.size());
  Buffer memory(stride * numCopies);
  for (size_t i = 0; i < numCopies; ++i)
    std::memcpy(memory.data() + i * stride, weight.data(), weight.size());
  copies.push_back({std::move(memory), stride, &descriptor});
}

size_t Call::spreadWeights(size_t bytes) {
  std::vector<std::pair<const Buffer *, std::vector<int64_t> *>> found;
  size_t numResults = manifest.results.size(), size = 0;
  auto add = [&](const Buffer &buffer, std::vector<int64_t> &descriptor) {
    found.push_back({&buffer, &descriptor});
    size += roundToLines(buffer.size());
  };
  // What calls get: the arguments, or some of these and all packed weights.
  for (size_t i = 0; i < arguments.size(); ++i)
    if (manifest.args[i].isWeight && arguments[i].size() &&
        std::find(packed.begin() + numResults, packed.end(),
                  descriptors[numResults + i].data()) != packed.end())
      add(arguments[i], descriptors[numResults + i]);
  for (size_t i = 0; i < weights.size(); ++i)
    add(weights[i], weightDescriptors[i]);
  copies.clear();
  numCopies = size ? std::min(std::max<size_t>(bytes / size, 1), kMaxCopies) : 1;
  if (numCopies == 1)
    return 1;
  for (auto [buffer, descriptor] : found)
    addCopies(*buffer, *descriptor);
  // Not in the order of addresses, which a processor would foresee: a step
  // near the golden ratio that meets every copy.
  copyStep = size_t(double(numCopies) * 0.618) | 1;
  while (std::gcd(copyStep, numCopies) != 1)
    copyStep += 2;
  return numCopies;
}

void Call::takeNextCopy() {
  nextCopy = (nextCopy + copyStep) % numCopies;
  for (Copies &weight : copies) {
    int64_t address = reinterpret_cast<int64_t>(weight.memory.data() +
                                                nextCopy * weight.stride);
    (*weight.descriptor)[0] = (*weight.descriptor)[1] = address;
  }
}

void Call::fill(const Draw &draw) {
  filled = true;
  for (unsigned i = 0; i < arguments.size(); ++i)
    fillArgument(manifest, i, draw, arguments[i].data());
}

void Call::copyFrom(const Call &other) {
  filled = true;
  for (size_t i = 0; i < arguments.size(); ++i)
    std::memcpy(arguments[i].data(), other.arguments[i].data(),
                arguments[i].size());
}

void Call::refreshFrom(const Call &other) {
  if (!filled)
    return copyFrom(other);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!manifest.args[i].isWeight)
      std::memcpy(arguments[i].data(), other.arguments[i].data(),
                  arguments[i].size());
}

void Call::poison(unsigned char byte) {
  for (Buffer &result : results)
    if (result.data())
      std::memset(result.data(), byte, result.size());
  if (workspace.data)
    std::memset(workspace.data, byte, size_t(workspace.bytes));
}

void Call::giveResults() {
  for (size_t i = 0; i < results.size(); ++i)
    std::copy(given[i].begin(), given[i].end(), descriptors[i].begin());
}

/// Copies a strided array into dense memory.
static void densify(const ValueSpec &spec, const Descriptor &descriptor,
                    size_t dim, const char *from, char *&to) {
  size_t bytes = spec.type.size();
  if (dim == spec.shape.size()) {
    std::memcpy(to, from, bytes);
    to += bytes;
    return;
  }
  int64_t size = descriptor.size(dim), stride = descriptor.stride(dim);
  if (dim + 1 == spec.shape.size() && stride == 1) {
    std::memcpy(to, from, bytes * size_t(size));
    to += bytes * size_t(size);
    return;
  }
  for (int64_t i = 0; i < size; ++i)
    densify(spec, descriptor, dim + 1, from + i * stride * int64_t(bytes), to);
}

bool Call::collect(std::vector<Output> &outputs, std::string &error) const {
  outputs.clear();
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i].guardIsIntact()) {
      error = "memory behind argument " + std::to_string(i) + " was written";
      return false;
    }
  for (size_t i = 0; i < weights.size(); ++i)
    if (!weights[i].guardIsIntact()) {
      error = "memory behind packed weight " + std::to_string(i) +
              " was written";
      return false;
    }
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].data() && !results[i].guardIsIntact()) {
      error = "memory behind result " + std::to_string(i) + " was written";
      return false;
    }
  for (size_t i = 0; i < manifest.results.size(); ++i) {
    const ValueSpec &spec = manifest.results[i];
    Output output;
    output.name = "result " + std::to_string(i);
    output.type = spec.type;
    if (!spec.isMemref) {
      output.data.resize(spec.type.size());
      std::memcpy(output.data.data(), descriptors[i].data(), spec.type.size());
    } else {
      Descriptor descriptor(const_cast<int64_t *>(descriptors[i].data()),
                            spec.shape.size());
      size_t count = 1;
      for (size_t d = 0; d < spec.shape.size(); ++d) {
        int64_t size = descriptor.size(d);
        if (size < 0 || (spec.shape[d] >= 0 && size != spec.shape[d])) {
          error = output.name + " has size " + std::to_string(size) +
                  " in dimension " + std::to_string(d);
          return false;
        }
        output.shape.push_back(size);
        count *= size_t(size);
      }
      output.data.resize(count * spec.type.size());
      char *to = output.data.data();
      if (count)
        densify(spec, descriptor, 0,
                descriptor.aligned() +
                    descriptor.offset() * int64_t(spec.type.size()),
                to);
    }
    outputs.push_back(std::move(output));
  }
  size_t first = manifest.args.size() - manifest.inits;
  if (manifest.inits == 0 && manifest.results.empty())
    first = 0; // a program on memrefs: any argument may be what it writes
  for (size_t i = first; i < manifest.args.size(); ++i) {
    if (!manifest.args[i].isMemref)
      continue;
    Output output;
    output.name = "argument " + std::to_string(i);
    output.type = manifest.args[i].type;
    output.shape = manifest.args[i].shape;
    output.data.assign(arguments[i].data(),
                       arguments[i].data() + arguments[i].size());
    outputs.push_back(std::move(output));
  }
  return true;
}

void Call::releaseResults() {
  if (!hasResults)
    return;
  hasResults = false;
  std::vector<void *> freed;
  for (size_t i = 0; i < manifest.results.size(); ++i) {
    if (!manifest.results[i].isMemref)
      continue;
    void *pointer = reinterpret_cast<void *>(descriptors[i][0]);
    // A result may be an argument, a packed weight, another result, or constant
    // data.
    bool owned = pointer &&
                 std::find(freed.begin(), freed.end(), pointer) == freed.end();
    for (const std::vector<Buffer> *buffers : {&arguments, &weights, &results})
      for (const Buffer &buffer : *buffers)
        owned = owned && pointer != buffer.data();
    for (const Copies &weight : copies)
      owned = owned && !weight.memory.contains(pointer);
    Dl_info info;
    if (owned && !dladdr(pointer, &info)) {
      std::free(pointer);
      freed.push_back(pointer);
    }
  }
}
