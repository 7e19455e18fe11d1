//===- WorkerPool.h - Child processes that serve requests -------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Persistent children that answer one line of text for each line they get. A
// child that dies, or is killed because it takes too long, is replaced; the
// request that it worked on is answered by how it ended.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_MEASURE_WORKERPOOL_H
#define ANSOR_MEASURE_WORKERPOOL_H

#include "mlir/Support/LLVM.h"
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mlir::ansor {

/// How a request was answered.
struct WorkerReply {
  enum class Status {
    Line,        ///< `line` holds the answer
    Timeout,     ///< the child was killed
    Died,        ///< the child ended before it answered
    Interrupted, ///< by interrupt()
    NotStarted   ///< no child could be started
  };
  Status status = Status::Interrupted;
  std::string line;
  std::string stderrText; ///< what the child wrote to standard error since the
                          ///< request, cut to a few kilobytes
  int waitStatus = 0;     ///< of a child that died
  double seconds = 0;

  /// "killed by signal 11 (Segmentation fault)" or "exited with code 1".
  std::string describeEnd() const;
};

struct WorkerPoolOptions {
  std::string program;           ///< path
  /// In front of all other arguments: what `program`, which starts the worker,
  /// takes.
  std::vector<std::string> prefix;
  std::vector<std::string> args; ///< besides `--parent=PID`
  int count = 1;                 ///< children
  std::string logPrefix;         ///< path prefix of files for standard error
  /// Replace a child after each request.
  bool fresh = false;
  /// Asked after each answer: replace the child that gave it?
  std::function<bool(StringRef line)> recycle;
};

class WorkerPool {
public:
  explicit WorkerPool(WorkerPoolOptions options);
  ~WorkerPool();

  /// A child as requests see it: what it was told before.
  struct Session {
    std::vector<std::string> known;
  };
  /// Makes the line of request `index` for a child. It must be one line.
  using MakeRequest =
      std::function<std::string(size_t index, Session &session)>;

  /// Serves requests 0 … count-1, as many at once as there are children;
  /// replies come in order. A request may take `timeout` seconds.
  std::vector<WorkerReply> run(size_t count, double timeout,
                               const MakeRequest &makeRequest);

  /// Ends the children and makes run() return. May be called from any thread
  /// and from a signal handler. It is for good.
  void interrupt();

private:
  struct Child;
  struct Spawner;
  bool start(Child &child);
  void stop(Child &child, WorkerReply *reply);
  void drain();

  WorkerPoolOptions options;
  std::vector<std::unique_ptr<Child>> children;
  std::unique_ptr<Spawner> spawner;
  int wakeRead = -1, wakeWrite = -1;
  std::atomic<bool> interrupted{false};
};

} // namespace mlir::ansor

#endif // ANSOR_MEASURE_WORKERPOOL_H
