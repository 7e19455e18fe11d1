//===- Limits.h - Limits of a child process ---------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a child does to itself at its start, so that it can harm nobody: limits
// on memory, stack and time, death with its parent, and a report of a crash
// in place of silence.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_RUNTIME_LIMITS_H
#define ANSOR_RUNTIME_LIMITS_H

#include <cstdint>
#include <string>

namespace ansor::runtime {

/// Bytes and seconds; 0 leaves a limit as it is. No core is dumped.
void setLimits(int64_t memory, int64_t stack, int64_t cpuSeconds);

/// Asks for SIGKILL when the parent dies. Exits at once if it is dead already,
/// that is, if the parent isn't `parent` any more (0: don't look).
void dieWithParent(int parent);

/// Keeps standard output for the answers: what anything else prints there goes
/// to standard error. Returns the descriptor to answer on.
int reserveOutput();

/// Writes `line` and a newline to that descriptor.
void answer(const std::string &line);

/// Reports a fatal signal by one line of JSON on standard output, {"id", "ok":
/// false, "error": "run-crash" or "too-large", "message"}, and exits with code
/// 3. An overflow of the calling thread's stack, and an access after memory ran
/// out, are "too-large".
void reportCrashes();

/// What the report of a crash says: the request that is worked on, and the
/// phase of it.
void setCrashContext(int64_t id, const char *phase);

/// Handles `--parent=`, `--memory=`, `--stack=` and `--cpu=` (true if `arg` is
/// one of them).
bool parseLimitArgument(const std::string &arg);

} // namespace ansor::runtime

#endif // ANSOR_RUNTIME_LIMITS_H
