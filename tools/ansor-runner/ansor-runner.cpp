//===- ansor-runner.cpp - Checks and times an artifact ----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads one request a line on standard input and answers each by one line on
// standard output; docs/MeasureProtocol.md says what they hold. It links no
// MLIR and no LLVM, so that it runs on any board; only it loads an OpenMP
// runtime. It is meant to die with what it runs: whoever starts it sets limits.
//
//===----------------------------------------------------------------------===//

#include "ansor/Runtime/Check.h"
#include "ansor/Runtime/Limits.h"
#include "ansor/Runtime/Profile.h"
#include "ansor/Runtime/Timing.h"
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <unistd.h>

using namespace ansor::runtime;

static const char kHelp[] =
    "usage: ansor-runner [--memory=BYTES] [--stack=BYTES] [--cpu=SECONDS]\n"
    "                    [--parent=PID]\n"
    "Checks and times compiled tasks. Reads requests from standard input, one\n"
    "line of JSON each, and answers each with one line:\n"
    "  {\"id\": 1, \"artifact\": \"lib.so\", \"manifest\": \"lib.json\", "
    "\"seed\": 0,\n"
    "   \"write_reference\": \"ref.bin\"}          computes the reference\n"
    "  {\"id\": 2, \"artifact\": \"lib.so\", \"manifest\": \"lib.json\", "
    "\"seed\": 0,\n"
    "   \"reference\": \"ref.bin\", \"threads\": 1}  checks and times\n"
    "Kernels use two threads or more where they are parallel: see "
    "\"threads\".\n"
    "All members are in docs/MeasureProtocol.md.\n";

namespace {
struct Failure {
  const char *kind = nullptr; ///< as the measurer's error kinds are written
  std::string message;
};
} // namespace

/// The manifest: in the request, or in the file that it names.
static bool readManifest(const Json &request, Manifest &manifest,
                         Failure &failure) {
  Json parsed;
  const Json *json = &request["manifest"];
  if (json->isString()) {
    std::ifstream file(json->asString());
    std::stringstream text;
    text << file.rdbuf();
    std::string error;
    if (!file || !Json::parse(text.str(), parsed, error)) {
      failure = {"device", "can't read the manifest " + json->asString() +
                               (error.empty() ? "" : ": " + error)};
      return false;
    }
    json = &parsed;
  }
  std::string error;
  if (!Manifest::parse(*json, request["dynamic"].asInt(3), request["shapes"],
                       manifest, error)) {
    failure = {"device", error};
    return false;
  }
  double limit = request["max_argument_bytes"].asDouble(1.5e9);
  if (manifest.totalBytes() > limit) {
    failure = {"too-large", "the arguments need " +
                                std::to_string(int64_t(manifest.totalBytes())) +
                                " bytes, more than " +
                                std::to_string(int64_t(limit))};
    return false;
  }
  return true;
}

/// Checks runs on fresh copies, over different leftovers in memory; a parallel
/// kernel more often, as a race shows by chance.
static bool check(const Json &request, const Reference &reference,
                  const Call &inputs, Call &call, int threads, Json &answer,
                  Failure &failure) {
  Comparison comparison;
  double begin = now();
  // A race shows by chance: short kernels run more often.
  int least = threads > 1 ? 4 : 2, most = threads > 1 ? 64 : 2;
  for (int run = 0; run < most; ++run) {
    double spent = now() - begin;
    if ((run > 0 && spent > request["check_budget"].asDouble(0.5)) ||
        (run >= least && spent > 0.05))
      break;
    call.copyFrom(inputs);
    unsigned char byte = run % 2 ? 0xfe : 0x7f;
    call.poison(byte);
    poisonAllocations(byte);
    setCrashContext(request["id"].asInt(), "checking");
    call.run();
    poisonAllocations(0);
    std::vector<Output> outputs;
    std::string error;
    if (!call.collect(outputs, error)) {
      failure = {"wrong-result", error};
      return false;
    }
    compare(reference, outputs, comparison);
    if (!comparison.passes())
      break;
  }
  answer.set("max_error", std::min(comparison.worst, 1e300));
  answer.set("abs_error", std::min(comparison.error, 1e300));
  answer.set("tolerance", comparison.tolerance);
  answer.set("compared", int64_t(comparison.compared));
  if (!reference.note.empty())
    answer.set("note", reference.note);
  if (!comparison.passes()) {
    failure = {"wrong-result", comparison.message};
    return false;
  }
  return true;
}

static void addTimes(const Json &request, Call &call, const Call &inputs,
                     int threads, Json &answer) {
  TimingOptions options;
  options.warmup = int(request["warmup"].asInt(options.warmup));
  options.repeats = int(request["repeats"].asInt(options.repeats));
  options.minRepeat = request["min_repeat"].asDouble(options.minRepeat);
  options.budget = request["budget"].asDouble(options.budget);
  options.flush = request["flush"].asBool();
  options.flushBytes =
      size_t(request["flush_bytes"].asInt(int64_t(options.flushBytes)));
  options.cpuTime = threads == 1;
  // Processors differ by who shares their core and caches: all candidates run
  // on the same one.
  int cpu = -1;
  if (threads == 1 && request["pin"].asBool(true))
    cpu = pinThread(int(request["cpu"].asInt(-1)));
  if (int64_t bytes = request["cold_bytes"].asInt(); bytes > 0) {
    setCrashContext(request["id"].asInt(), "copying the weights");
    answer.set("weight_copies", int64_t(call.spreadWeights(size_t(bytes))));
  }
  setCrashContext(request["id"].asInt(), "timing");
  Timing timing =
      timeKernel([&] { call.run(); }, [&] { call.refreshFrom(inputs); }, options);
  Json seconds = Json::array(), clock = Json::array();
  for (double value : timing.seconds)
    seconds.push(value);
  for (double value : timing.clock)
    clock.push(value);
  answer.set("seconds", seconds);
  answer.set("median", median(timing.seconds));
  answer.set("clock", clock);
  answer.set("iterations", int64_t(timing.iterations));
  answer.set("disturbed", timing.disturbed);
  if (cpu >= 0)
    answer.set("cpu", cpu);
}

/// Calls an artifact that was compiled for profiling until `budget` seconds are
/// over; adds the means of one call.
static void addProfile(const Json &request, Call &call, int threads,
                       Json &answer) {
  startProfile(size_t(request["profile"].asInt()), threads == 1);
  double begin = now(), budget = request["profile_budget"].asDouble(1);
  int64_t runs = 0;
  do {
    call.run();
    ++runs;
  } while (runs < 1000 && now() - begin < budget);
  Json profile = Json::array();
  for (const ProfileSlot &slot : getProfile()) {
    Json entry = Json::object();
    entry.set("calls", double(slot.calls) / double(runs));
    entry.set("seconds", slot.seconds / double(runs));
    profile.push(entry);
  }
  answer.set("profile", profile);
  answer.set("profile_runs", runs);
}

static bool handle(const Json &request, Json &answer, Failure &failure) {
  int64_t id = request["id"].asInt();
  setCrashContext(id, "loading");
  Manifest manifest;
  if (!readManifest(request, manifest, failure))
    return false;
  int64_t asked = request["threads"].asInt(1), repeats = request["repeats"].asInt(5);
  if (asked < 1 || asked > 1024 || repeats < 0 || repeats > 1000000) {
    failure = {"device", "bad request: threads must be from 1 to 1024, and "
                         "repeats from 0 to 1000000"};
    return false;
  }
  int threads = int(asked);
  // The OpenMP runtime reads these once, when it is loaded.
  setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
  if (threads > 1 && request["pin"].asBool(true)) {
    setenv("OMP_PROC_BIND", "close", 0);
    setenv("OMP_PLACES", "cores", 0);
  }
  if (int64_t stack = request["thread_stack"].asInt())
    setenv("OMP_STACKSIZE", (std::to_string(stack) + "B").c_str(), 0);
  std::string error;
  const PrepackSpec &prepack = manifest.prepack;
  const std::string &name =
      prepack.entry.empty() ? manifest.entry : prepack.run;
  Entry entry = loadEntry(request["artifact"].asString(), name,
                          request["openmp"].asString(), error);
  Entry pack = nullptr;
  if (entry && !prepack.entry.empty()) {
    pack = loadEntry(request["artifact"].asString(), prepack.entry,
                     request["openmp"].asString(), error);
    entry = pack ? entry : nullptr;
  }
  if (!entry) {
    failure = {"device", error};
    return false;
  }
  setThreads(threads);

  Reference reference;
  const double loading = now();
  double begin = 0, saving = 0;
  const std::string &toWrite = request["write_reference"].asString();
  const std::string &toRead = request["reference"].asString();
  reference.draw.seed = uint64_t(request["seed"].asInt());
  reference.draw.attempt = int(request["attempt"].asInt());
  if (!toWrite.empty()) {
    if (pack) {
      failure = {"device", "a reference packs no weights"};
      return false;
    }
    setCrashContext(id, "computing the reference");
    if (!makeReference(manifest, entry, reference.draw.seed,
                       reference.draw.attempt, reference, error)) {
      failure = {"device", error};
      return false;
    }
    const std::string &wide = request["wide_artifact"].asString();
    if (!wide.empty()) {
      Entry other = loadEntry(wide, manifest.entry,
                              request["openmp"].asString(), error);
      if (!other || !refineReference(manifest, other, reference, error)) {
        failure = {"device", error};
        return false;
      }
    }
    begin = now();
    if (!reference.save(toWrite, error)) {
      failure = {"device", error};
      return false;
    }
    saving = now() - begin;
    answer.set("attempt", reference.draw.attempt);
    answer.set("exact", reference.exact);
    answer.set("reference_seconds", reference.seconds);
    if (!reference.note.empty())
      answer.set("note", reference.note);
  } else if (!toRead.empty() && !Reference::load(toRead, reference, error)) {
    failure = {"device", error};
    return false;
  }

  setCrashContext(id, "filling the arguments");
  Workspace workspace = findWorkspace(request["artifact"].asString(), name);
  Call inputs(manifest, entry), call(manifest, entry, workspace, pack);
  begin = now();
  inputs.fill(reference.draw);
  // Memory that was never written is one page of zeros, and always near.
  call.copyFrom(inputs);
  if (pack) {
    setCrashContext(id, "packing the weights");
    double start = now();
    call.packWeights();
    answer.set("prepack_seconds", now() - start);
  }
  if (!toWrite.empty())
    answer.set("data_seconds", saving + now() - begin);
  if (!toRead.empty()) {
    bool right =
        check(request, reference, inputs, call, threads, answer, failure);
    answer.set("check_seconds", now() - loading);
    if (!right)
      return false;
  }
  if (request["repeats"].asInt(5) > 0 &&
      reference.seconds <= request["time_below"].asDouble(1e300))
    addTimes(request, call, inputs, threads, answer);
  if (request["profile"].asInt() > 0)
    addProfile(request, call, threads, answer);
  return true;
}

/// Keeps freed memory in the process, as the allocators of frameworks do: else
/// the pages of a kernel's larger buffers are given back and faulted in again
/// with every call.
static void keepFreedMemory() {
#ifdef M_MMAP_THRESHOLD
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--help")) {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (!parseLimitArgument(argv[i])) {
      std::fprintf(stderr, "ansor-runner: unknown argument '%s'\n%s", argv[i],
                   kHelp);
      return 1;
    }
  }
  keepFreedMemory();
  reserveOutput();
  reportCrashes();
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line.empty())
      continue;
    Json request, answer = Json::object();
    Failure failure;
    std::string error;
    bool good = Json::parse(line, request, error);
    if (!good)
      failure = {"device", "bad request: " + error};
    answer.set("id", request["id"].asInt());
    good = good && handle(request, answer, failure);
    answer.set("ok", good);
    if (!good) {
      answer.set("error", failure.kind);
      answer.set("message", failure.message);
    }
    ansor::runtime::answer(answer.dump());
  }
  return 0;
}
