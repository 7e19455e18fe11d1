//===- LocalMeasurer.cpp - Builders and runners here ------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A batch is built by all builders at once, and then run one candidate at a
// time while nothing builds. The unscheduled program of each task is built and
// run first, once, for the check.
//
//===----------------------------------------------------------------------===//

#include "ansor/Measure/Measure.h"
#include "ansor/Measure/WorkerPool.h"
#include "ansor/Support/Stopwatch.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <cmath>
#include <csignal>
#include <limits>
#include <sys/wait.h>
#include <thread>

using namespace mlir;
using namespace mlir::ansor;

/// The unscheduled program runs plain loops: it gets more time than a
/// candidate.
static constexpr double kReferenceBuildSeconds = 120;
static constexpr double kReferenceRunSeconds = 300;
/// Making the inputs and comparing the results of a large program takes long,
/// however fast it is: the time limit of a run grows by this multiple of what
/// that took for the reference.
static constexpr double kDataFactor = 4;

/// Program and first arguments of a runner.
using RunnerCommand = std::pair<std::string, std::vector<std::string>>;

namespace {
class LocalMeasurer : public Measurer {
public:
  LocalMeasurer(const MeasureOptions &options, StringRef builder,
                const RunnerCommand &runner, StringRef workDir,
                bool ownsWorkDir);
  ~LocalMeasurer() override;

  std::vector<MeasureResult> measure(ArrayRef<MeasureInput> inputs) override {
    return measure(inputs, /*passes=*/1);
  }
  std::vector<MeasureResult> compare(ArrayRef<MeasureInput> inputs,
                                     unsigned passes) override {
    return measure(inputs, passes);
  }
  MeasureCost getCost() const override { return cost; }
  void interrupt() override {
    builders.interrupt();
    runners.interrupt();
  }

private:
  struct Artifact {
    std::string library, manifest;
  };
  struct Reference {
    ErrorKind error = ErrorKind::None;
    std::string message;
    std::string path;
    double dataSeconds = 0; ///< to make the inputs and move the values
  };

  std::vector<MeasureResult> measure(ArrayRef<MeasureInput> inputs,
                                     unsigned passes);
  std::string newPath(StringRef stem) {
    return (workDir + "/" + stem + Twine(counter++)).str();
  }
  void makeReferences(ArrayRef<MeasureInput> inputs);
  std::vector<MeasureResult> build(ArrayRef<const MeasureInput *> inputs,
                                   bool reference, double timeout,
                                   std::vector<Artifact> &artifacts);
  llvm::json::Object runRequest(const Artifact &artifact);
  void runReference(const Artifact &artifact, Reference &reference);
  void run(const Artifact &artifact, const Reference &reference, bool check,
           MeasureResult &result);
  llvm::json::Object readRunReply(const WorkerReply &reply,
                                  MeasureResult &result, double timeout);

  MeasureOptions options;
  std::string workDir;
  bool ownsWorkDir;
  WorkerPool builders, runners;
  std::map<std::string, Reference> references; ///< by task key
  int64_t counter = 0;
  int64_t cpu = -1; ///< that the first runner timed on
  MeasureCost cost;
};
} // namespace

static std::string toLine(llvm::json::Value value) {
  std::string line;
  llvm::raw_string_ostream(line) << value;
  return line;
}

static std::string firstLine(StringRef text) {
  return text.ltrim().take_until([](char c) { return c == '\n'; }).str();
}

static std::string formatSeconds(double seconds) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", seconds);
  return text + " s";
}

static WorkerPoolOptions builderOptions(const MeasureOptions &options,
                                        StringRef program, StringRef workDir) {
  WorkerPoolOptions pool;
  pool.program = program.str();
  pool.args = {"--memory=" + std::to_string(options.memoryLimit)};
  pool.count = options.builders > 0
                   ? options.builders
                   : std::max(1u, std::thread::hardware_concurrency());
  pool.logPrefix = (workDir + "/builder").str();
  // Contexts keep every type and attribute that they ever saw.
  int64_t limit = std::min<int64_t>(options.memoryLimit / 2, int64_t(1) << 30);
  pool.recycle = [limit](StringRef line) {
    auto reply = llvm::json::parse(line);
    if (!reply) {
      llvm::consumeError(reply.takeError());
      return true;
    }
    const llvm::json::Object *object = reply->getAsObject();
    return !object || object->getInteger("rss").value_or(0) > limit;
  };
  return pool;
}

static WorkerPoolOptions runnerOptions(const MeasureOptions &options,
                                       const RunnerCommand &command,
                                       StringRef workDir) {
  WorkerPoolOptions pool;
  pool.program = command.first;
  pool.prefix = command.second;
  pool.args = {"--memory=" + std::to_string(options.memoryLimit),
               "--stack=" + std::to_string(options.stackLimit)};
  pool.count = 1; // a kernel is timed alone
  pool.fresh = true;
  pool.logPrefix = (workDir + "/runner").str();
  return pool;
}

LocalMeasurer::LocalMeasurer(const MeasureOptions &options, StringRef builder,
                             const RunnerCommand &runner, StringRef workDir,
                             bool ownsWorkDir)
    : options(options), workDir(workDir), ownsWorkDir(ownsWorkDir),
      builders(builderOptions(options, builder, workDir)),
      runners(runnerOptions(options, runner, workDir)) {}

LocalMeasurer::~LocalMeasurer() {
  if (ownsWorkDir) {
    llvm::sys::fs::remove_directories(workDir);
    return;
  }
  for (auto &[key, reference] : references)
    llvm::sys::fs::remove(reference.path);
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

std::vector<MeasureResult>
LocalMeasurer::build(ArrayRef<const MeasureInput *> inputs, bool reference,
                     double timeout, std::vector<Artifact> &artifacts) {
  std::vector<std::string> outputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    outputs.push_back(newPath(reference ? "reference" : "candidate"));
  llvm::json::Value target = options.target.toJSON();

  auto replies = builders.run(
      inputs.size(), timeout, [&](size_t i, WorkerPool::Session &session) {
        const MeasureInput &input = *inputs[i];
        llvm::json::Object request{
            {"id", int64_t(i)},
            {"task", input.taskKey},
            {"script", reference ? "" : input.script},
            {"output", outputs[i]},
            {"target", target},
            {"max_object", options.maxObjectBytes},
            {"parallel", !reference && options.threads > 1},
            {"strict", options.strictFP}};
        // Plain loops are the oracle; a large task would take minutes.
        request["vectorize"] =
            reference ? llvm::json::Value("large") : llvm::json::Value(true);
        if (!llvm::is_contained(session.known, input.taskKey)) {
          request["module"] = input.taskModule;
          session.known.push_back(input.taskKey);
        }
        return toLine(std::move(request));
      });

  std::vector<MeasureResult> results(inputs.size());
  artifacts.assign(inputs.size(), {});
  for (auto [i, reply] : llvm::enumerate(replies)) {
    MeasureResult &result = results[i];
    result.buildSeconds = reply.seconds;
    switch (reply.status) {
    case WorkerReply::Status::Line:
      break;
    case WorkerReply::Status::Timeout:
      result.error = ErrorKind::BuildTimeout;
      result.message = "not built in " + formatSeconds(timeout);
      continue;
    case WorkerReply::Status::Died: {
      StringRef text(reply.stderrText);
      bool isMemory = text.contains("out of memory") ||
                      text.contains("bad_alloc") ||
                      text.contains("Allocation failed");
      result.error = isMemory ? ErrorKind::TooLarge : ErrorKind::BuildCrash;
      result.message = "the builder was " + reply.describeEnd() +
                       (text.trim().empty() ? "" : ": " + firstLine(text));
      continue;
    }
    case WorkerReply::Status::Interrupted:
      result.error = ErrorKind::Device;
      result.message = "interrupted";
      continue;
    case WorkerReply::Status::NotStarted:
      result.error = ErrorKind::Device;
      result.message = "no builder could be started";
      continue;
    }
    auto parsed = llvm::json::parse(reply.line);
    const llvm::json::Object *object = parsed ? parsed->getAsObject() : nullptr;
    if (!object) {
      if (!parsed)
        llvm::consumeError(parsed.takeError());
      result.error = ErrorKind::BuildCrash;
      result.message = "the builder answered no JSON: " + firstLine(reply.line);
      continue;
    }
    result.message = object->getString("message").value_or("").str();
    if (!object->getBoolean("ok").value_or(false)) {
      result.error = parseErrorKind(object->getString("error").value_or(""))
                         .value_or(ErrorKind::BuildCrash);
      continue;
    }
    artifacts[i].library = object->getString("artifact").value_or("").str();
    artifacts[i].manifest = object->getString("manifest").value_or("").str();
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

llvm::json::Object LocalMeasurer::runRequest(const Artifact &artifact) {
  return llvm::json::Object{
      {"id", 0},
      {"artifact", artifact.library},
      {"manifest", artifact.manifest},
      {"seed", int64_t(options.seed)},
      {"max_argument_bytes", double(options.memoryLimit) / 4}};
}

/// Reads what the runner says, or how it ended.
llvm::json::Object LocalMeasurer::readRunReply(const WorkerReply &reply,
                                               MeasureResult &result,
                                               double timeout) {
  result.runSeconds = reply.seconds;
  switch (reply.status) {
  case WorkerReply::Status::Line:
    break;
  case WorkerReply::Status::Timeout:
    result.error = ErrorKind::RunTimeout;
    result.message = "not run in " + formatSeconds(timeout);
    return {};
  case WorkerReply::Status::Died: {
    // The runner reports its crashes itself, unless a thread's stack overflows
    // or the system kills it for lack of memory.
    int signal = WIFSIGNALED(reply.waitStatus) ? WTERMSIG(reply.waitStatus) : 0;
    result.error = signal == SIGSEGV || signal == SIGKILL ? ErrorKind::TooLarge
                                                          : ErrorKind::RunCrash;
    result.message = "the runner was " + reply.describeEnd();
    if (signal == SIGSEGV)
      result.message += ": the stack of a thread overflowed";
    if (!StringRef(reply.stderrText).trim().empty())
      result.message += ": " + firstLine(reply.stderrText);
    return {};
  }
  case WorkerReply::Status::Interrupted:
    result.error = ErrorKind::Device;
    result.message = "interrupted";
    return {};
  case WorkerReply::Status::NotStarted:
    result.error = ErrorKind::Device;
    result.message = "no runner could be started";
    return {};
  }
  auto parsed = llvm::json::parse(reply.line);
  const llvm::json::Object *object = parsed ? parsed->getAsObject() : nullptr;
  if (!object) {
    if (!parsed)
      llvm::consumeError(parsed.takeError());
    result.error = ErrorKind::Device;
    result.message = "the runner answered no JSON: " + firstLine(reply.line);
    return {};
  }
  if (!object->getBoolean("ok").value_or(false)) {
    result.error = parseErrorKind(object->getString("error").value_or(""))
                       .value_or(ErrorKind::RunCrash);
    result.message = object->getString("message").value_or("").str();
    if (!StringRef(reply.stderrText).trim().empty() &&
        result.error == ErrorKind::RunCrash)
      result.message += ": " + firstLine(reply.stderrText);
  }
  return *object;
}

void LocalMeasurer::runReference(const Artifact &artifact,
                                 Reference &reference) {
  std::string path = newPath("values");
  // Values that make the program divide by zero kill the runner: the next
  // attempt is a milder one.
  MeasureResult result;
  for (int attempt = 0; attempt < 2; ++attempt) {
    result = MeasureResult();
    llvm::json::Object request = runRequest(artifact);
    request["write_reference"] = path;
    request["attempt"] = attempt;
    request["repeats"] = 0;
    auto replies = runners.run(1, kReferenceRunSeconds,
                               [&](size_t, WorkerPool::Session &) {
                                 return toLine(llvm::json::Object(request));
                               });
    llvm::json::Object reply =
        readRunReply(replies.front(), result, kReferenceRunSeconds);
    reference.dataSeconds = reply.getNumber("data_seconds").value_or(0);
    if (result.error != ErrorKind::RunCrash)
      break;
  }
  reference.error = result.error;
  if (result.error != ErrorKind::None)
    reference.message = "the unscheduled program failed: " + result.message;
  reference.path = path;
}

void LocalMeasurer::makeReferences(ArrayRef<MeasureInput> inputs) {
  std::vector<const MeasureInput *> missing;
  for (const MeasureInput &input : inputs)
    if (references.try_emplace(input.taskKey).second)
      missing.push_back(&input);
  if (missing.empty())
    return;
  std::vector<Artifact> artifacts;
  auto built =
      build(missing, /*reference=*/true, kReferenceBuildSeconds, artifacts);
  for (auto [i, input] : llvm::enumerate(missing)) {
    Reference &reference = references[input->taskKey];
    reference.error = built[i].error;
    reference.message = "the unscheduled program failed: " + built[i].message;
    if (built[i].error == ErrorKind::None)
      runReference(artifacts[i], reference);
    llvm::sys::fs::remove(artifacts[i].library);
    llvm::sys::fs::remove(artifacts[i].manifest);
  }
}

void LocalMeasurer::run(const Artifact &artifact, const Reference &reference,
                        bool check, MeasureResult &result) {
  llvm::json::Object request = runRequest(artifact);
  request["threads"] = options.threads;
  request["thread_stack"] = options.stackLimit;
  request["warmup"] = options.warmup;
  request["repeats"] = options.repeats;
  request["min_repeat"] = options.minRepeatSeconds;
  request["budget"] = options.runTimeout * 0.3;
  request["flush"] = options.flushCache;
  request["flush_bytes"] = 2 * std::max(options.target.l3, options.target.l2);
  request["cold_bytes"] = options.coldBytes;
  if (cpu >= 0)
    request["cpu"] = cpu;
  if (check)
    request["reference"] = reference.path;
  double timeout = options.runTimeout;
  if (reference.dataSeconds > 0.5)
    timeout += std::ceil(kDataFactor * reference.dataSeconds);
  auto replies = runners.run(1, timeout, [&](size_t, WorkerPool::Session &) {
    return toLine(llvm::json::Object(request));
  });
  llvm::json::Object reply =
      readRunReply(replies.front(), result, timeout);
  double checking = reply.getNumber("check_seconds").value_or(0);
  cost.check += checking;
  cost.run += result.runSeconds - checking;
  result.maxError = reply.getNumber("max_error").value_or(0);
  if (result.error != ErrorKind::None)
    return;
  if (const llvm::json::Array *seconds = reply.getArray("seconds"))
    for (const llvm::json::Value &value : *seconds)
      result.seconds.push_back(value.getAsNumber().value_or(0));
  if (result.seconds.empty()) {
    result.error = ErrorKind::Device;
    result.message = "the runner gave no times";
    return;
  }
  cpu = reply.getInteger("cpu").value_or(-1);
  result.median = reply.getNumber("median").value_or(
      std::numeric_limits<double>::infinity());
  result.message = reply.getString("note").value_or("").str();
}

std::vector<MeasureResult>
LocalMeasurer::measure(ArrayRef<MeasureInput> inputs, unsigned passes) {
  Stopwatch watch;
  if (options.check)
    makeReferences(inputs);
  const double checked = watch.seconds();
  cost.check += checked;
  std::vector<MeasureResult> results(inputs.size());
  std::vector<const MeasureInput *> toBuild;
  SmallVector<size_t> indices;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    const Reference &reference = references[input.taskKey];
    results[i].error = reference.error;
    results[i].message = reference.message;
    results[i].ofReference = reference.error != ErrorKind::None;
    if (results[i].ofReference)
      continue;
    toBuild.push_back(&input);
    indices.push_back(i);
  }
  std::vector<Artifact> artifacts;
  std::vector<MeasureResult> built =
      build(toBuild, /*reference=*/false, options.buildTimeout, artifacts);
  cost.build += watch.seconds() - checked;
  for (auto [i, index] : llvm::enumerate(indices))
    results[index] = std::move(built[i]);
  std::vector<std::vector<MeasureResult>> ofPass(indices.size());
  for (unsigned pass = 0; pass < passes; ++pass)
    for (auto [i, index] : llvm::enumerate(indices)) {
      MeasureResult &result = results[index];
      if (result.error != ErrorKind::None)
        continue;
      // What the first pass found right needs no second check.
      MeasureResult once;
      run(artifacts[i], references[inputs[index].taskKey],
          options.check && pass == 0, once);
      once.buildSeconds = result.buildSeconds;
      ofPass[i].push_back(once);
      if (once.error != ErrorKind::None)
        result = std::move(once);
    }
  for (auto [i, index] : llvm::enumerate(indices)) {
    if (results[index].error == ErrorKind::None)
      results[index] = mergePasses(ofPass[i]);
    llvm::sys::fs::remove(artifacts[i].library);
    llvm::sys::fs::remove(artifacts[i].manifest);
  }
  for (MeasureResult &result : results)
    if (result.error != ErrorKind::None)
      result.median = std::numeric_limits<double>::infinity();
  return results;
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

FailureOr<std::string> ansor::findTool(StringRef name, StringRef toolDir,
                                       std::string &error) {
  SmallVector<std::string> dirs;
  if (!toolDir.empty()) {
    dirs.push_back(toolDir.str());
  } else {
    std::string self = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
    StringRef dir = llvm::sys::path::parent_path(self);
    dirs.push_back(dir.str());
    dirs.push_back((dir + "/../bin").str());
    if (auto found = llvm::sys::findProgramByName(name))
      dirs.push_back(llvm::sys::path::parent_path(*found).str());
  }
  for (const std::string &dir : dirs) {
    std::string path = dir + "/" + name.str();
    if (llvm::sys::fs::can_execute(path))
      return path;
  }
  error = ("can't find the program '" + name + "' in " +
           llvm::join(dirs, ", ") + " or on the path")
              .str();
  return failure();
}

FailureOr<std::pair<std::string, std::vector<std::string>>>
ansor::findRunner(StringRef command, StringRef toolDir,
                  const TargetInfo &target, std::string &error) {
  SmallVector<StringRef> words;
  command.split(words, ' ', -1, /*KeepEmpty=*/false);
  if (words.empty()) {
    llvm::Triple triple(target.triple),
        host(llvm::sys::getDefaultTargetTriple());
    if (!target.triple.empty() && triple.getArch() != host.getArch()) {
      error = "this machine (" + host.getArchName().str() +
              ") can't run code for " + triple.getArchName().str() +
              ": say by --runner how to start a runner there, as in "
              "--runner=\"qemu-aarch64 -L /usr/aarch64-linux-gnu "
              "./ansor-runner\"";
      return failure();
    }
    auto runner = findTool("ansor-runner", toolDir, error);
    if (failed(runner))
      return failure();
    return std::make_pair(*runner, std::vector<std::string>());
  }
  auto program = llvm::sys::findProgramByName(words.front());
  if (!program) {
    error = "can't find the program '" + words.front().str() +
            "' that --runner names";
    return failure();
  }
  std::vector<std::string> arguments;
  for (StringRef word : llvm::drop_begin(words))
    arguments.push_back(word.str());
  return std::make_pair(*program, arguments);
}

FailureOr<std::unique_ptr<Measurer>>
ansor::createLocalMeasurer(const MeasureOptions &options, std::string &error) {
  auto builder = findTool("ansor-builder", options.toolDir, error);
  if (failed(builder))
    return failure();
  auto runner =
      findRunner(options.runner, options.toolDir, options.target, error);
  if (failed(runner))
    return failure();
  SmallString<128> workDir(options.workDir);
  std::error_code code =
      workDir.empty()
          ? llvm::sys::fs::createUniqueDirectory("ansor-measure", workDir)
          : llvm::sys::fs::create_directories(workDir);
  if (code) {
    error = "can't create the directory '" + workDir.str().str() +
            "': " + code.message();
    return failure();
  }
  std::unique_ptr<Measurer> measurer = std::make_unique<LocalMeasurer>(
      options, *builder, *runner, workDir, options.workDir.empty());
  return measurer;
}
