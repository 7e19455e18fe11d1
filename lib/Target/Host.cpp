//===- Host.cpp - Detection of the host -------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llvm/TargetParser/Host.h"
#include "LLVMTarget.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <thread>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

using namespace mlir;
using namespace mlir::ansor;

/// Processors that this process may run on, and the first of them.
static std::pair<int64_t, int> countCores() {
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set))
        return {CPU_COUNT(&set), cpu};
#endif
  return {std::max(1u, std::thread::hardware_concurrency()), 0};
}

/// The first line of a file of sysfs; empty if it can't be read.
static std::string readLine(const Twine &path) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(path);
  if (!buffer)
    return "";
  return (*buffer)->getBuffer().split('\n').first.trim().str();
}

/// "32K" as bytes; 0 if it is no size.
static int64_t parseSize(StringRef text) {
  int64_t scale = 1;
  if (text.consume_back("K"))
    scale = 1024;
  else if (text.consume_back("M"))
    scale = 1024 * 1024;
  int64_t value = 0;
  if (text.getAsInteger(10, value) || value < 0)
    return 0;
  return value * scale;
}

/// Data cache sizes of one processor, by level; 0 where unknown.
static void readCaches(int cpu, int64_t (&sizes)[3], int64_t &line) {
  for (int index = 0; index < 8; ++index) {
    std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                         "/cache/index" + std::to_string(index);
    std::string type = readLine(folder + "/type");
    if (type != "Data" && type != "Unified")
      continue;
    int64_t level = 0;
    if (StringRef(readLine(folder + "/level")).getAsInteger(10, level) ||
        level < 1 || level > 3)
      continue;
    sizes[level - 1] = parseSize(readLine(folder + "/size"));
    if (int64_t read = parseSize(readLine(folder + "/coherency_line_size")))
      line = read;
  }
#ifdef _SC_LEVEL1_DCACHE_SIZE
  // The C library asks the processor itself.
  const int names[3] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                        _SC_LEVEL3_CACHE_SIZE};
  for (int level = 0; level < 3; ++level)
    if (sizes[level] == 0)
      sizes[level] = std::max(0L, sysconf(names[level]));
  if (line == 0)
    line = std::max(0L, sysconf(_SC_LEVEL1_DCACHE_LINESIZE));
#endif
}

static TargetInfo detect() {
  TargetInfo target;
  target.name = "host";
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  if (!isKnownCPU(target.triple, target.cpu))
    target.cpu = "generic";
  llvm::StringMap<bool> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features[feature.getKey()] = feature.getValue();
  target.features = getExtraFeatures(target.triple, target.cpu, features);
  deriveVectors(target);

  auto [cores, cpu] = countCores();
  target.cores = cores;
  int64_t sizes[3] = {}, line = 0;
  readCaches(cpu, sizes, line);
  if (sizes[0])
    target.l1 = sizes[0];
  if (sizes[0] || sizes[1] || sizes[2]) {
    target.l2 = sizes[1] ? sizes[1] : target.l1;
    target.l3 = sizes[2] ? sizes[2] : target.l2;
  }
  if (line)
    target.cacheLine = line;
  return target;
}

TargetInfo mlir::ansor::detectHostTarget() {
  static const TargetInfo host = detect();
  return host;
}
