//===- WorkerPool.cpp - Child processes that serve requests -----*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Measure/WorkerPool.h"
#include "llvm/ADT/StringExtras.h"
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace mlir::ansor;

extern char **environ;

static double now() {
  std::chrono::duration<double> time =
      std::chrono::steady_clock::now().time_since_epoch();
  return time.count();
}

std::string WorkerReply::describeEnd() const {
  if (WIFSIGNALED(waitStatus)) {
    int signal = WTERMSIG(waitStatus);
    return "killed by signal " + std::to_string(signal) + " (" +
           strsignal(signal) + ")";
  }
  return "exited with code " + std::to_string(WEXITSTATUS(waitStatus));
}

//===----------------------------------------------------------------------===//
// Spawning
//===----------------------------------------------------------------------===//

struct WorkerPool::Child {
  pid_t pid = 0; ///< 0: not running
  int in = -1, out = -1;
  std::string log;
  off_t logOffset = 0; ///< where the request's output begins
  std::string pending, received;
  Session session;
  // The request at work.
  bool busy = false;
  size_t request = 0;
  double begin = 0;
};

/// A child asks for death with its parent *thread*; so one thread that lives
/// as long as the pool starts them all.
struct WorkerPool::Spawner {
  Spawner() : thread([this] { loop(); }) {}
  ~Spawner() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      stopping = true;
    }
    changed.notify_all();
    thread.join();
  }

  bool start(Child &child, const WorkerPoolOptions &options) {
    std::unique_lock<std::mutex> lock(mutex);
    job = &child;
    jobOptions = &options;
    changed.notify_all();
    changed.wait(lock, [this] { return !job; });
    return child.pid > 0;
  }

private:
  void loop() {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return stopping || job; });
      if (stopping)
        return;
      spawn(*job, *jobOptions);
      job = nullptr;
      changed.notify_all();
    }
  }

  static void spawn(Child &child, const WorkerPoolOptions &options);

  std::mutex mutex;
  std::condition_variable changed;
  Child *job = nullptr;
  const WorkerPoolOptions *jobOptions = nullptr;
  bool stopping = false;
  std::thread thread;
};

void WorkerPool::Spawner::spawn(Child &child,
                                const WorkerPoolOptions &options) {
  child.pid = 0;
  // A socket, so that writing to a dead child raises no SIGPIPE.
  int input[2], output[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) != 0)
    return;
  if (pipe2(output, O_CLOEXEC) != 0) {
    close(input[0]);
    close(input[1]);
    return;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, child.log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC | O_APPEND,
                                   0644);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                            POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none, defaults;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigemptyset(&defaults);
  for (int signal : {SIGINT, SIGTERM, SIGPIPE, SIGXCPU, SIGSEGV, SIGABRT})
    sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);

  std::vector<std::string> args = {options.program};
  args.insert(args.end(), options.prefix.begin(), options.prefix.end());
  args.push_back("--parent=" + std::to_string(getpid()));
  args.insert(args.end(), options.args.begin(), options.args.end());
  std::vector<char *> argv;
  for (std::string &arg : args)
    argv.push_back(arg.data());
  argv.push_back(nullptr);
  pid_t pid;
  int failed = posix_spawn(&pid, options.program.c_str(), &actions, &attributes,
                           argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(input[1]);
  close(output[1]);
  if (failed) {
    close(input[0]);
    close(output[0]);
    return;
  }
  child.pid = pid;
  child.in = input[0];
  child.out = output[0];
  fcntl(child.in, F_SETFL, O_NONBLOCK);
  fcntl(child.out, F_SETFL, O_NONBLOCK);
  child.logOffset = 0;
  child.pending.clear();
  child.received.clear();
  child.session = Session();
}

//===----------------------------------------------------------------------===//
// WorkerPool
//===----------------------------------------------------------------------===//

WorkerPool::WorkerPool(WorkerPoolOptions givenOptions)
    : options(std::move(givenOptions)) {
  for (int i = 0; i < std::max(1, options.count); ++i) {
    children.push_back(std::make_unique<Child>());
    children.back()->log = options.logPrefix + std::to_string(i) + ".err";
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
    wakeRead = ends[0];
    wakeWrite = ends[1];
  }
  spawner = std::make_unique<Spawner>();
}

WorkerPool::~WorkerPool() {
  for (auto &child : children)
    stop(*child, nullptr);
  spawner.reset();
  if (wakeRead >= 0) {
    close(wakeRead);
    close(wakeWrite);
  }
}

void WorkerPool::interrupt() {
  interrupted = true;
  // What a signal interrupted may be about to look at its own error.
  int before = errno;
  char byte = 0;
  if (wakeWrite >= 0)
    (void)!write(wakeWrite, &byte, 1);
  errno = before;
}

bool WorkerPool::start(Child &child) { return spawner->start(child, options); }

/// What the child wrote to its standard error since `offset`.
static std::string readLog(const std::string &path, off_t offset) {
  constexpr size_t kMaxBytes = 8192;
  std::string text(kMaxBytes, '\0');
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return {};
  ssize_t n = pread(file, text.data(), kMaxBytes, offset);
  close(file);
  text.resize(n > 0 ? size_t(n) : 0);
  return text;
}

/// Kills the child with its process group, and tells `reply` how it ended.
void WorkerPool::stop(Child &child, WorkerReply *reply) {
  if (child.pid <= 0)
    return;
  // A child that ended by itself is reaped with its own status.
  int status = 0;
  bool ended = waitpid(child.pid, &status, WNOHANG) == child.pid;
  kill(-child.pid, SIGKILL);
  if (!ended)
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
      ;
  close(child.in);
  close(child.out);
  child.pid = 0;
  child.busy = false;
  if (reply) {
    reply->waitStatus = status;
    reply->stderrText = readLog(child.log, child.logOffset);
  }
}

void WorkerPool::drain() {
  char buffer[64];
  while (wakeRead >= 0 && read(wakeRead, buffer, sizeof(buffer)) > 0)
    ;
}

/// Sends what the child takes. False if it is gone.
static bool flush(int socket, std::string &pending) {
  while (!pending.empty()) {
    ssize_t n = send(socket, pending.data(), pending.size(), MSG_NOSIGNAL);
    if (n < 0)
      return errno == EAGAIN || errno == EINTR;
    pending.erase(0, size_t(n));
  }
  return true;
}

/// Reads what is there. False at the end of the file.
static bool receive(int pipe, std::string &received) {
  char buffer[16384];
  while (true) {
    ssize_t n = read(pipe, buffer, sizeof(buffer));
    if (n > 0)
      received.append(buffer, size_t(n));
    else if (n < 0 && errno == EINTR)
      continue;
    else
      return n < 0 && errno == EAGAIN;
  }
}

std::vector<WorkerReply> WorkerPool::run(size_t count, double timeout,
                                         const MakeRequest &makeRequest) {
  using Status = WorkerReply::Status;
  std::vector<WorkerReply> replies(count);
  drain();
  size_t next = 0, open = count;

  auto finish = [&](Child &child, Status status) {
    WorkerReply &reply = replies[child.request];
    reply.status = status;
    reply.seconds = now() - child.begin;
    child.busy = false;
    --open;
    return &reply;
  };
  auto dispatch = [&](Child &child) {
    child.request = next++;
    child.begin = now();
    // One that died while it was idle is no fault of this request.
    if (child.pid > 0 && !receive(child.out, child.received))
      stop(child, nullptr);
    child.received.clear();
    if (child.pid <= 0 && !start(child)) {
      finish(child, Status::NotStarted);
      return;
    }
    child.busy = true;
    child.begin = now();
    int log = ::open(child.log.c_str(), O_RDONLY | O_CLOEXEC);
    child.logOffset = log < 0 ? 0 : lseek(log, 0, SEEK_END);
    if (log >= 0)
      close(log);
    child.pending += makeRequest(child.request, child.session);
    child.pending += '\n';
    // A failure to write shows as the end of the child's output.
    flush(child.in, child.pending);
  };

  while (open > 0) {
    if (interrupted) {
      for (auto &child : children)
        stop(*child, nullptr);
      break;
    }
    for (auto &child : children)
      if (!child->busy && next < count)
        dispatch(*child);

    std::vector<pollfd> polls = {{wakeRead, POLLIN, 0}};
    double wait = 1;
    for (auto &child : children) {
      if (!child->busy)
        continue;
      polls.push_back({child->out, POLLIN, 0});
      if (!child->pending.empty())
        polls.push_back({child->in, POLLOUT, 0});
      wait = std::min(wait, child->begin + timeout - now());
    }
    if (open == 0)
      break;
    poll(polls.data(), polls.size(), std::max(0, int(wait * 1000) + 1));

    for (auto &child : children) {
      if (!child->busy)
        continue;
      flush(child->in, child->pending);
      bool alive = receive(child->out, child->received);
      size_t end = child->received.find('\n');
      if (end != std::string::npos) {
        WorkerReply *reply = finish(*child, Status::Line);
        reply->line = child->received.substr(0, end);
        child->received.erase(0, end + 1);
        if (options.fresh || !alive ||
            (options.recycle && options.recycle(reply->line)))
          stop(*child, reply);
        continue;
      }
      if (!alive) {
        WorkerReply *reply = finish(*child, Status::Died);
        stop(*child, reply);
        continue;
      }
      if (now() - child->begin > timeout) {
        WorkerReply *reply = finish(*child, Status::Timeout);
        stop(*child, reply);
      }
    }
  }
  return replies;
}
