//===- Limits.cpp - Limits of a child process -------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Runtime/Limits.h"
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

using namespace ansor::runtime;

static void setLimit(int resource, int64_t value) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0)
    return;
  rlim_t wanted = rlim_t(value);
  if (limit.rlim_max != RLIM_INFINITY && wanted > limit.rlim_max)
    wanted = limit.rlim_max;
  limit.rlim_cur = wanted;
  setrlimit(resource, &limit);
}

void ansor::runtime::setLimits(int64_t memory, int64_t stack,
                               int64_t cpuSeconds) {
  setLimit(RLIMIT_CORE, 0);
  if (memory > 0)
    setLimit(RLIMIT_AS, memory);
  if (stack > 0)
    setLimit(RLIMIT_STACK, stack);
  if (cpuSeconds > 0)
    setLimit(RLIMIT_CPU, cpuSeconds);
}

void ansor::runtime::dieWithParent(int parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (parent > 0 && getppid() != parent)
    _exit(1);
}

static int output = STDOUT_FILENO;

int ansor::runtime::reserveOutput() {
  int copy = dup(STDOUT_FILENO);
  if (copy >= 0) {
    output = copy;
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  return output;
}

static void writeAll(const char *text, size_t length) {
  while (length > 0) {
    ssize_t n = write(output, text, length);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      _exit(1); // nobody listens any more
    text += n;
    length -= size_t(n);
  }
}

void ansor::runtime::answer(const std::string &line) {
  std::string text = line + "\n";
  writeAll(text.data(), text.size());
}

//===----------------------------------------------------------------------===//
// Crashes
//===----------------------------------------------------------------------===//

static volatile int64_t crashId = 0;
static const char *volatile crashPhase = "";
static char *stackTop = nullptr;

void ansor::runtime::setCrashContext(int64_t id, const char *phase) {
  crashId = id;
  crashPhase = phase;
  errno = 0;
}

static void writeReport(const char *kind, const char *what) {
  char line[512];
  int length =
      std::snprintf(line, sizeof(line),
                    "{\"id\": %lld, \"ok\": false, \"error\": \"%s\", "
                    "\"message\": \"%s while "
                    "%s\"}\n",
                    (long long)crashId, kind, what, (const char *)crashPhase);
  writeAll(line, std::min(size_t(length), sizeof(line) - 1));
  _exit(3);
}

/// The stack may grow to its limit, and code may step over what lies behind;
/// the system keeps at least 128 MB below the stack free.
static bool isStackOverflow(const void *address) {
  rlimit limit;
  getrlimit(RLIMIT_STACK, &limit);
  const char *at = static_cast<const char *>(address);
  size_t reach = (limit.rlim_cur == RLIM_INFINITY ? size_t(8) << 20
                                                  : size_t(limit.rlim_cur)) +
                 (size_t(112) << 20);
  return at < stackTop && size_t(stackTop - at) < reach;
}

static void onCrash(int signal, siginfo_t *info, void *) {
  int lastError = errno;
  bool isAccess = signal == SIGSEGV || signal == SIGBUS;
  if (isAccess && isStackOverflow(info->si_addr))
    writeReport("too-large", "the stack overflowed");
  // The last call that failed did so for lack of memory, and its null pointer
  // (or a place near it) is used now.
  if (isAccess && lastError == ENOMEM)
    writeReport("too-large", "memory ran out");
  switch (signal) {
  case SIGSEGV:
    writeReport("run-crash", "segmentation fault");
  case SIGBUS:
    writeReport("run-crash", "bus error");
  case SIGFPE:
    writeReport("run-crash", "arithmetic exception (division by zero?)");
  case SIGILL:
    writeReport("run-crash", "illegal instruction");
  case SIGABRT:
    if (lastError == ENOMEM)
      writeReport("too-large", "memory ran out");
    writeReport("run-crash", "abort");
  case SIGXCPU:
    writeReport("run-timeout", "the limit on processor time was reached");
  default:
    writeReport("run-crash", "fatal signal");
  }
}

void ansor::runtime::reportCrashes() {
  char here;
  stackTop = &here + (256 << 10); // main's frame and the environment
  static char alternative[64 << 10];
  stack_t stack = {};
  stack.ss_sp = alternative;
  stack.ss_size = sizeof(alternative);
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = onCrash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int signal :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGXCPU})
    sigaction(signal, &action, nullptr);
  std::set_new_handler([] { writeReport("too-large", "memory ran out"); });
}

bool ansor::runtime::parseLimitArgument(const std::string &arg) {
  size_t equal = arg.find('=');
  if (equal == std::string::npos)
    return false;
  std::string name = arg.substr(0, equal);
  const char *text = arg.c_str() + equal + 1;
  char *end = nullptr;
  errno = 0;
  int64_t value = std::strtoll(text, &end, 10);
  if (end == text || *end || errno == ERANGE || value < 0 ||
      !std::isdigit((unsigned char)*text))
    return false;
  if (name == "--parent")
    dieWithParent(int(value));
  else if (name == "--memory")
    setLimits(value, 0, 0);
  else if (name == "--stack")
    setLimits(0, value, 0);
  else if (name == "--cpu")
    setLimits(0, 0, value);
  else
    return false;
  return true;
}
