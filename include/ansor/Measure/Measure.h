//===- Measure.h - Measuring candidates -------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds, checks and times candidates in child processes (design decisions 5
// and 6 in docs/Architecture.md). A candidate that fails costs one trial, and
// is counted under its error kind; it can't harm the caller.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_MEASURE_MEASURE_H
#define ANSOR_MEASURE_MEASURE_H

#include "ansor/Target/Target.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mlir::ansor {

enum class ErrorKind {
  None,         ///< timed, and right
  Illegal,      ///< a constraint or verifier rejected it
  Transform,    ///< the script failed
  BuildTimeout, ///< building took too long
  BuildCrash,   ///< the builder died or failed
  TooLarge,     ///< IR, object, stack or memory above the limit
  RunTimeout,   ///< running took too long
  RunCrash,     ///< the runner died
  WrongResult,  ///< values differ from the unscheduled program's
  Device        ///< the device or runner could not be used
};
/// "none", "illegal", "transform", "build-timeout", …
StringRef stringify(ErrorKind kind);
std::optional<ErrorKind> parseErrorKind(StringRef text);

/// One program to measure.
struct MeasureInput {
  std::string taskKey;    ///< key of the task
  std::string taskModule; ///< text of a module with the task's function
  std::string script;     ///< decided transform script; empty: unscheduled
  std::string candidate;  ///< its name in records (candidateId in Record.h)
};

struct MeasureResult {
  ErrorKind error = ErrorKind::None;
  std::string message;         ///< first message of the failure
  std::vector<double> seconds; ///< one a repeat; empty on failure
  double median = 0;           ///< of `seconds`; infinity on failure
  double maxError = 0;         ///< largest error found by the check, relative
                               ///< to its tolerance (<= 1 passes)
  double buildSeconds = 0, runSeconds = 0; ///< what it cost
  std::optional<int64_t> coldBytes; ///< that it was measured with, if another
                                    ///< number than was asked for
  bool ofReference = false;    ///< the failure is that of the unscheduled
                               ///< program: no candidate can be checked
};

struct MeasureOptions {
  TargetInfo target;
  int threads = 1;                        ///< threads the measured code may use
  int builders = 0;                       ///< builder processes; 0: one a core
  double buildTimeout = 15;               ///< seconds
  double runTimeout = 10;                 ///< seconds
  int64_t memoryLimit = int64_t(4) << 30; ///< bytes, a child
  int64_t stackLimit = 8 << 20;           ///< bytes, a child's threads
  int64_t maxObjectBytes = 8 << 20;
  int warmup = 1;
  int repeats = 5;                ///< medians are taken over these
  double minRepeatSeconds = 0.005; ///< a repeat runs the kernel this long
  bool flushCache = false;
  /// Weights of a task (its arguments that are marked) are as cold as in a
  /// network of weights of so many bytes: each call takes other copies. 0: they
  /// are the same in each call, and stay in the caches.
  int64_t coldBytes = 0;
  bool strictFP = false; ///< forbid reassociation and contraction
  bool check = true;     ///< compare with the unscheduled program
  uint64_t seed = 0;     ///< of the inputs
  std::string toolDir;   ///< where ansor-builder and ansor-runner are;
                         ///< empty: beside the running program
  std::string runner;    ///< command that starts a runner; see findRunner
  std::string workDir;   ///< for artifacts; empty: a temporary directory
};

/// Wall seconds that measuring took.
struct MeasureCost {
  double build = 0; ///< building candidates
  double run = 0;   ///< starting runners and timing
  double check = 0; ///< references, inputs, and comparing results
};

/// Measures batches. Results come in the order of the inputs.
class Measurer {
public:
  virtual ~Measurer();
  virtual std::vector<MeasureResult> measure(ArrayRef<MeasureInput> inputs) = 0;
  /// Measures `inputs` against each other: all of them in turn, `passes` times,
  /// so that a machine that drifts doesn't decide. `seconds` holds the median
  /// of each pass, `median` is theirs.
  virtual std::vector<MeasureResult> compare(ArrayRef<MeasureInput> inputs,
                                             unsigned passes);
  /// What was spent since the start; zeros if it isn't known.
  virtual MeasureCost getCost() const { return {}; }
  /// Ends children at once, from a signal handler's flag; measure() returns.
  virtual void interrupt() {}
};

/// What several passes over one program give together, see compare(): at least
/// one. The first failure, if there is one.
MeasureResult mergePasses(ArrayRef<MeasureResult> passes);

/// The path of one of this project's programs: in `toolDir`, or if that is
/// empty beside the running program or on the path. Fails with `error`.
FailureOr<std::string> findTool(StringRef name, StringRef toolDir,
                                std::string &error);

/// The program that starts a runner for `target`, and its first arguments: the
/// words of `command` ("qemu-aarch64 -L /usr/aarch64-linux-gnu ansor-runner"),
/// or if it is empty, ansor-runner as findTool finds it. Fails if there is no
/// command and the target is no machine of this kind.
FailureOr<std::pair<std::string, std::vector<std::string>>>
findRunner(StringRef command, StringRef toolDir, const TargetInfo &target,
           std::string &error);

/// Builders and runners on this machine. Fails with `error` if the tools can't
/// be started.
FailureOr<std::unique_ptr<Measurer>>
createLocalMeasurer(const MeasureOptions &options, std::string &error);

} // namespace mlir::ansor

#endif // ANSOR_MEASURE_MEASURE_H
