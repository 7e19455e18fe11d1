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
#include "ansor/Task/NetworkLayout.h"
#include "ansor/Task/Task.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringSet.h"
#include <limits>

namespace mlir::ansor {

/// Version of the file format; a file of another version is refused.
inline constexpr int kRecordVersion = 1;

/// One measured candidate. A record with an empty `sketch` is the unscheduled
/// program, the reference of its task; it is not a trial.
struct TrialRecord {
  std::string taskKey;
  std::string sketch;     ///< name of the sketch, "s0"
  std::string sketchHash; ///< of the undecided script: another one is another
                          ///< space, even under the same name
  llvm::json::Value decisions = nullptr; ///< as DesignSpace::toJSON gives it
  ErrorKind error = ErrorKind::None;
  std::string message;
  std::vector<double> seconds;
  double median = std::numeric_limits<double>::infinity(); ///< of `seconds`
  double maxError = 0; ///< largest error of the check, relative to tolerance
  double buildSeconds = 0, runSeconds = 0;
  uint64_t seed = 0; ///< of the search
  int64_t trial = 0; ///< number of the trial in its task, from 0
  int64_t round = -1; ///< number of the round in its task, from 0; -1 unknown
  int threads = 1;   ///< of the measured code
  /// Bytes that the copies of its weights took (MeasureOptions::coldBytes); 0:
  /// it has no weights, or they stayed in the caches.
  int64_t coldBytes = 0;

  bool isReference() const { return sketch.empty(); }
};

/// Where the time of a run went: wall seconds.
struct RunRecord {
  uint64_t seed = 0;
  int64_t trials = 0; ///< made by this run, not the resumed ones
  int64_t scored = 0; ///< candidates that were described for a score
  bool interrupted = false;
  double extract = 0, sketch = 0, sample = 0, score = 0, train = 0, build = 0,
         run = 0, check = 0, total = 0;

  /// Name and seconds of each step, in the order above, without the total.
  std::vector<std::pair<StringRef, double>> steps() const;
};

/// The name of a candidate, unique in its task: "s0 {\"s2.d0\":[128,8]}", or
/// the empty string for the unscheduled program.
std::string candidateId(StringRef sketch, const llvm::json::Value &decisions);

struct RecordLog {
  struct TaskLine {
    Task task;
    TargetInfo target;
  };
  std::vector<TaskLine> tasks; ///< one a key: the first line wins
  std::vector<TrialRecord> trials;
  /// Candidates that were measured again at the end of a run, against each
  /// other. `trial` is the number of trials of their task then.
  std::vector<TrialRecord> finals;
  std::vector<RunRecord> runs;
  bool droppedTornLine = false;

  const TaskLine *findTask(StringRef key) const;
};

/// Reads a whole log. A missing or empty file is an empty log. `error` names
/// the line, what is wrong with it and what to do, if the file can't be read
/// or isn't a log of this version. Nothing is changed on disk.
FailureOr<RecordLog> loadRecords(StringRef path, std::string &error);

/// Appends to a log. A line is written by one write() under an exclusive lock
/// of the file, so that several processes may append; a torn line that a
/// killed writer left behind is removed first.
class RecordWriter {
public:
  /// Opens or creates `path`. Fails if the file is no log of this version.
  static FailureOr<std::unique_ptr<RecordWriter>> open(StringRef path,
                                                       std::string &error);
  ~RecordWriter();
  /// Writes the task's line, once per writer and key.
  LogicalResult append(const Task &task, const TargetInfo &target);
  LogicalResult append(const TrialRecord &trial);
  LogicalResult appendFinal(const TrialRecord &trial);
  LogicalResult append(const RunRecord &run);
  /// Flushes to the disk what was appended.
  LogicalResult sync();
  /// Message of the last failure.
  StringRef getError() const { return error; }

private:
  RecordWriter(int fd, StringRef path) : fd(fd), path(path) {}
  LogicalResult writeLine(std::string line);

  int fd;
  std::string path, error;
  llvm::StringSet<> written; ///< keys of the task lines
};

/// A measurer that answers from `log`, without a device: a trial is found by
/// task key and candidate, its first record counts; comparisons are answered by
/// the last finals. What the log lacks is a Device error.
std::unique_ptr<Measurer> createReplayMeasurer(RecordLog log);

/// The best schedule of a task.
struct BestEntry {
  std::string taskKey;
  std::string sketch;
  std::string script; ///< decided script; empty: the task stays unscheduled
  double median = 0;    ///< seconds; 0: predicted, not measured
  double reference = 0; ///< seconds of the unscheduled program; 0 unknown
  int64_t trials = 0;
};

/// What was done to modules before their tasks were extracted. A library notes
/// it, for the same to be done where it is applied.
struct Preparation {
  std::string dynamicSizes; ///< see Task/Sizes.h; empty: none
  NetworkLayout layout = NetworkLayout::Keep;
};

/// What was done to `module`, or to those that the library `module` is for.
Preparation getPreparation(ModuleOp module);

/// Builds the transform library of `entries`: constants folded, one named
/// sequence a task (with key, sketch, speed-up, trials and target as
/// attributes), and a `@__transform_main` that dispatches by key.
FailureOr<OwningOpRef<ModuleOp>> buildLibrary(ArrayRef<BestEntry> entries,
                                              const TargetInfo &target,
                                              MLIRContext *context,
                                              std::string &error,
                                              const Preparation &prepared = {});

/// Writes that library; the file at `path` is replaced as a whole.
LogicalResult writeLibrary(StringRef path, ArrayRef<BestEntry> entries,
                           const TargetInfo &target, MLIRContext *context,
                           std::string &error, const Preparation &prepared = {});

/// Extracts the tasks of `module` as they were for the library at `path`, with
/// what was done before. Emits and fails if it can't be read.
LogicalResult extractForLibrary(ModuleOp module, StringRef path,
                                const ExtractOptions &options = {});

/// What applying a library did to a task function.
struct AppliedSchedule {
  std::string task;     ///< symbol of the function
  std::string schedule; ///< name of the sequence; empty: none
  std::string note;     ///< why there is none
  double medianMs = 0;  ///< time when it was tuned; 0: not known
};

/// Functions by what a library had for them.
struct ApplyCounts {
  unsigned applied = 0; ///< a schedule
  unsigned kept = 0;    ///< the note that the unscheduled program is the best
  unsigned missing = 0; ///< nothing
  unsigned dynamic = 0; ///< nothing, and their extents are dynamic
  unsigned once = 0;    ///< nothing, and they run on weights alone
  std::vector<AppliedSchedule> functions; ///< each of them
};

/// Applies `library` to the task functions of `module`. Tasks that it lacks
/// are left, with a remark. Fails, located, and with the module unchanged, if
/// it isn't a library of this key version or a schedule doesn't fit. `applied`
/// counts the functions that got a schedule.
LogicalResult applyLibrary(ModuleOp module, ModuleOp library,
                           unsigned *applied = nullptr,
                           ApplyCounts *counts = nullptr);

/// The same with the library read from `path`.
LogicalResult applyLibrary(ModuleOp module, StringRef path,
                           unsigned *applied = nullptr,
                           ApplyCounts *counts = nullptr);

} // namespace mlir::ansor

#endif // ANSOR_RECORD_RECORD_H
