//===- Record.h - Records of trials -----------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The append-only log of a tuning run, JSON lines (docs/RecordFormat.md): a
// task line once, then one line a trial. Any run resumes, trains and replays
// from it. A torn last line is dropped; several processes may append.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_RECORD_RECORD_H
#define ANSOR_RECORD_RECORD_H

#include "ansor/Measure/Measure.h"
#include "ansor/Task/Task.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace mlir::ansor {

/// Version of the file format; a file of another version is refused.
inline constexpr int kRecordVersion = 1;

struct TrialRecord {
  std::string taskKey;
  std::string sketch;              ///< name of the sketch, "s0"
  llvm::json::Value decisions = nullptr; ///< as DesignSpace::toJSON gives it
  ErrorKind error = ErrorKind::None;
  std::string message;
  std::vector<double> seconds;
  double median = 0;
  double buildSeconds = 0, runSeconds = 0;
  uint64_t seed = 0;               ///< of the search
  int64_t trial = 0;               ///< number of the trial in its task, from 0
  int threads = 1;
};

struct RecordLog {
  struct TaskLine {
    Task task;
    TargetInfo target;
  };
  std::vector<TaskLine> tasks;
  std::vector<TrialRecord> trials;
  bool droppedTornLine = false;
};

/// Reads a whole log. A missing file is an empty log. `error` names the line
/// and what is wrong with it if the file isn't a log of this version.
FailureOr<RecordLog> loadRecords(StringRef path, std::string &error);

/// Appends to a log. Each line is written by one write() and flushed.
class RecordWriter {
public:
  static FailureOr<std::unique_ptr<RecordWriter>> open(StringRef path,
                                                       std::string &error);
  ~RecordWriter();
  void append(const Task &task, const TargetInfo &target);
  void append(const TrialRecord &trial);

private:
  explicit RecordWriter(int fd) : fd(fd) {}
  int fd;
};

/// A measurer that answers from a log, without a device: a trial is found by
/// task key and script. What the log lacks is a Device error.
struct BestEntry {
  std::string taskKey;
  std::string sketch;
  std::string script;   ///< decided script, as text
  double median = 0;
  double reference = 0; ///< seconds of the unscheduled program; 0 unknown
  int64_t trials = 0;
};

/// Writes the best schedule of each task as a transform library: constants
/// folded, one named sequence a task (with `ansor.task`, key, speed-up, trials
/// and target as attributes), and a `@__transform_main` that dispatches by key.
LogicalResult writeLibrary(StringRef path, ArrayRef<BestEntry> entries,
                           const TargetInfo &target, MLIRContext *context,
                           std::string &error);

/// Applies the library at `path` to the task functions of `module`. Tasks that
/// the library lacks are left, with a remark. Fails, located, and with the
/// module unchanged, if the file isn't a library or a schedule doesn't fit.
LogicalResult applyLibrary(ModuleOp module, StringRef path,
                           unsigned *applied = nullptr);

} // namespace mlir::ansor

#endif // ANSOR_RECORD_RECORD_H
