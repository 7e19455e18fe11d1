//===- ansor-builder.cpp - Builds candidates --------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A persistent child of the measurer: reads one request a line on standard
// input and answers each by one line on standard output, as
// docs/MeasureProtocol.md says. It may crash on a candidate without harm.
//
//===----------------------------------------------------------------------===//

#include "ansor/Measure/Builder.h"
#include "ansor/Runtime/Limits.h"
#include "ansor/Support/Files.h"
#include "llvm/Support/MemoryBuffer.h"
#include <iostream>
#include <unistd.h>

using namespace mlir;
using namespace mlir::ansor;

static const char kHelp[] =
    "usage: ansor-builder [--memory=BYTES] [--stack=BYTES] [--cpu=SECONDS]\n"
    "                     [--parent=PID]\n"
    "Builds scheduled tasks. Reads requests from standard input, one line of\n"
    "JSON each, and answers each with one line:\n"
    "  {\"id\": 1, \"task\": \"KEY\", \"module\": \"...\", \"script\": "
    "\"...\",\n"
    "   \"output\": \"PATH\"}\n"
    "writes PATH.so and PATH.json. A task's module is sent once. All members\n"
    "are in docs/MeasureProtocol.md.\n";

/// Memory of this process, in bytes.
static int64_t residentBytes() {
  auto file = llvm::MemoryBuffer::getFileAsStream("/proc/self/statm");
  if (!file)
    return 0;
  int64_t pages = 0;
  SmallVector<StringRef> fields;
  (*file)->getBuffer().split(fields, ' ');
  if (fields.size() > 1)
    fields[1].getAsInteger(10, pages);
  return pages * sysconf(_SC_PAGESIZE);
}

static BuildResult handle(const llvm::json::Object &request,
                          CandidateBuilder &builder) {
  BuildResult result;
  auto fail = [&](ErrorKind kind, std::string message) {
    result.error = kind;
    result.message = std::move(message);
    return result;
  };
  StringRef key = request.getString("task").value_or("");
  StringRef output = request.getString("output").value_or("");
  if (output.empty())
    return fail(ErrorKind::Device, "bad request: expected \"output\"");
  std::string error;
  if (auto module = request.getString("module"))
    if (failed(builder.addTask(key, *module, error)))
      return fail(ErrorKind::Device, "the task's module: " + error);
  if (!builder.hasTask(key))
    return fail(ErrorKind::Device, "unknown task '" + key.str() +
                                       "': its first request needs \"module\"");
  TargetInfo target = detectHostTarget();
  if (const llvm::json::Value *json = request.get("target")) {
    auto parsed = TargetInfo::fromJSON(*json);
    if (failed(parsed))
      return fail(ErrorKind::Device, "bad request: \"target\" is none");
    target = *parsed;
  }
  CPULoweringOptions options;
  options.parallel = request.getBoolean("parallel").value_or(true);
  options.strictFP = request.getBoolean("strict").value_or(false);
  options.vectorize = request.getBoolean("vectorize").value_or(true);
  if (request.getString("vectorize") == StringRef("large"))
    options.vectorize = builder.getWork(key) > kLargeWork;
  return builder.build(
      key, request.getString("script").value_or(""), target, options,
      request.getInteger("max_object").value_or(8 << 20), output);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    if (StringRef(argv[i]) == "--help") {
      llvm::outs() << kHelp;
      return 0;
    }
    if (!::ansor::runtime::parseLimitArgument(argv[i])) {
      llvm::errs() << "ansor-builder: unknown argument '" << argv[i] << "'\n"
                   << kHelp;
      return 1;
    }
  }
  ::ansor::runtime::reserveOutput();
  CandidateBuilder builder;
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line.empty())
      continue;
    BuildResult result;
    int64_t id = 0;
    auto parsed = parseJson(line);
    if (!parsed) {
      result.error = ErrorKind::Device;
      result.message = "bad request: " + llvm::toString(parsed.takeError());
    } else if (const llvm::json::Object *request = parsed->getAsObject()) {
      id = request->getInteger("id").value_or(0);
      result = handle(*request, builder);
    } else {
      result.error = ErrorKind::Device;
      result.message = "bad request: expected an object";
    }
    llvm::json::Object answer{{"id", id},
                              {"ok", result.error == ErrorKind::None},
                              {"seconds", result.seconds},
                              {"rss", residentBytes()}};
    if (result.error == ErrorKind::None) {
      answer["artifact"] = result.artifact;
      answer["manifest"] = result.manifest;
      answer["object_bytes"] = result.objectBytes;
    } else {
      answer["error"] = stringify(result.error);
      answer["message"] = llvm::json::fixUTF8(result.message);
    }
    std::string text;
    llvm::raw_string_ostream(text) << llvm::json::Value(std::move(answer));
    ::ansor::runtime::answer(text);
  }
  return 0;
}
