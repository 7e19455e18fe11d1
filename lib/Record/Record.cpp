//===- Record.cpp - The record log ------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading and writing of the log: one JSON object a line. The format is
// described in docs/RecordFormat.md; change both, and kRecordVersion, together.
//
//===----------------------------------------------------------------------===//

#include "ansor/Record/Record.h"
#include "ansor/Support/Files.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::ansor;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

std::string ansor::candidateId(StringRef sketch, const json::Value &decisions) {
  if (sketch.empty())
    return "";
  // llvm::json prints the keys of an object in their sorted order.
  return llvm::formatv("{0} {1}", sketch, decisions).str();
}

/// Compilers' messages may quote bytes that are not UTF-8.
static std::string text(StringRef value) {
  return json::isUTF8(value) ? value.str() : json::fixUTF8(value);
}

static std::string print(json::Object object) {
  std::string line;
  llvm::raw_string_ostream os(line);
  os << json::Value(std::move(object));
  return line;
}

static std::string taskLine(const Task &task, const TargetInfo &target) {
  json::Object object{{"kind", "task"},
                {"version", kRecordVersion},
                {"key_version", kTaskKeyVersion},
                {"mlir", LLVM_VERSION_STRING},
                {"key", task.key},
                {"name", text(task.name)},
                {"weight", task.weight},
                {"flops", task.flops},
                {"target", target.toJSON()},
                {"ir", text(task.module)}};
  return print(std::move(object));
}

static std::string trialLine(const TrialRecord &trial, StringRef kind) {
  json::Object object{{"kind", kind},
                      {"version", kRecordVersion},
                      {"task", trial.taskKey},
                      {"sketch", trial.sketch},
                      {"decisions", trial.decisions},
                      {"error", stringify(trial.error)},
                      {"build_s", trial.buildSeconds},
                      {"run_s", trial.runSeconds},
                      {"seed", trial.seed},
                      {"trial", trial.trial},
                      {"threads", trial.threads}};
  if (trial.coldBytes > 0)
    object["cold_bytes"] = trial.coldBytes;
  if (trial.round >= 0)
    object["round"] = trial.round;
  if (!trial.sketchHash.empty())
    object["sketch_hash"] = trial.sketchHash;
  if (!trial.message.empty())
    object["message"] = text(trial.message);
  if (trial.error == ErrorKind::None) {
    object["times_s"] = json::Array(trial.seconds);
    object["median_s"] = trial.median;
    object["max_error"] = trial.maxError;
  }
  return print(std::move(object));
}

std::vector<std::pair<StringRef, double>> RunRecord::steps() const {
  return {{"extract", extract}, {"sketch", sketch}, {"sample", sample},
          {"score", score},     {"train", train},   {"build", build},
          {"run", run},         {"check", check}};
}

static std::string runLine(const RunRecord &run) {
  json::Object seconds{{"total", run.total}};
  for (auto [step, value] : run.steps())
    seconds[step] = value;
  return print(json::Object{{"kind", "run"},
                            {"version", kRecordVersion},
                            {"seed", run.seed},
                            {"trials", run.trials},
                            {"scored", run.scored},
                            {"interrupted", run.interrupted},
                            {"seconds", std::move(seconds)}});
}

/// Reads the fields of one line; the first problem is kept.
namespace {
class Fields {
public:
  explicit Fields(const json::Object &object) : object(object) {}

  std::string string(StringRef key, bool required = true) {
    if (std::optional<StringRef> value = object.getString(key))
      return value->str();
    missing(key, "a string", required);
    return "";
  }
  int64_t integer(StringRef key, bool required = true, int64_t other = 0) {
    if (std::optional<int64_t> value = object.getInteger(key))
      return *value;
    missing(key, "an integer", required);
    return other;
  }
  uint64_t uinteger(StringRef key) {
    const json::Value *value = object.get(key);
    std::optional<uint64_t> number =
        value ? value->getAsUINT64() : std::nullopt;
    if (!number)
      missing(key, "an integer that is not negative", true);
    return number.value_or(0);
  }
  double number(StringRef key, bool required = true, double other = 0) {
    if (std::optional<double> value = object.getNumber(key))
      return *value;
    missing(key, "a number", required);
    return other;
  }
  void missing(StringRef key, StringRef what, bool required) {
    bool present = object.get(key) != nullptr;
    if (problem.empty() && (required || present))
      problem = llvm::formatv(present ? "field \"{0}\" must be {1}"
                                      : "field \"{0}\", {1}, is missing",
                              key, what)
                    .str();
  }

  const json::Object &object;
  std::string problem;
};
} // namespace

static RecordLog::TaskLine parseTask(Fields &fields) {
  RecordLog::TaskLine line;
  if (fields.integer("key_version") != kTaskKeyVersion &&
      fields.problem.empty())
    fields.problem = llvm::formatv(
        "its task keys are of version {0}, this build's of version {1}: "
        "tune into a new file",
        fields.integer("key_version"), kTaskKeyVersion);
  line.task.key = fields.string("key");
  line.task.name = fields.string("name");
  line.task.weight = fields.integer("weight");
  line.task.flops = fields.number("flops");
  line.task.module = fields.string("ir");
  if (const json::Value *target = fields.object.get("target")) {
    FailureOr<TargetInfo> info = TargetInfo::fromJSON(*target);
    if (succeeded(info))
      line.target = *info;
    else if (fields.problem.empty())
      fields.problem = "field \"target\" doesn't describe a target";
  } else {
    fields.missing("target", "an object", true);
  }
  return line;
}

static TrialRecord parseTrial(Fields &fields) {
  TrialRecord trial;
  trial.taskKey = fields.string("task");
  trial.sketch = fields.string("sketch");
  trial.sketchHash = fields.string("sketch_hash", /*required=*/false);
  if (const json::Value *decisions = fields.object.get("decisions"))
    trial.decisions = *decisions;
  std::string kind = fields.string("error");
  if (std::optional<ErrorKind> error = parseErrorKind(kind))
    trial.error = *error;
  else if (fields.problem.empty())
    fields.problem = "unknown error kind \"" + kind + "\"";
  trial.message = fields.string("message", /*required=*/false);
  trial.buildSeconds = fields.number("build_s", false);
  trial.runSeconds = fields.number("run_s", false);
  trial.seed = fields.uinteger("seed");
  trial.trial = fields.integer("trial");
  trial.round = fields.integer("round", /*required=*/false, -1);
  trial.threads = fields.integer("threads");
  trial.coldBytes = fields.integer("cold_bytes", /*required=*/false);
  if (trial.error != ErrorKind::None)
    return trial;
  trial.median = fields.number("median_s");
  trial.maxError = fields.number("max_error", false);
  if (!(trial.median > 0) && fields.problem.empty())
    fields.problem = "field \"median_s\" must be positive";
  const json::Array *times = fields.object.getArray("times_s");
  if (!times)
    fields.missing("times_s", "an array of numbers", true);
  else
    for (const json::Value &time : *times) {
      if (std::optional<double> seconds = time.getAsNumber())
        trial.seconds.push_back(*seconds);
      else
        fields.missing("times_s", "an array of numbers", true);
    }
  return trial;
}

static RunRecord parseRun(Fields &fields) {
  RunRecord run;
  run.seed = fields.uinteger("seed");
  run.trials = fields.integer("trials");
  run.scored = fields.integer("scored", /*required=*/false);
  run.interrupted =
      fields.object.getBoolean("interrupted").value_or(false);
  const json::Object *object = fields.object.getObject("seconds");
  if (!object) {
    fields.missing("seconds", "an object", true);
    return run;
  }
  Fields seconds(*object);
  std::pair<StringRef, double *> steps[] = {
      {"extract", &run.extract}, {"sketch", &run.sketch},
      {"sample", &run.sample},   {"score", &run.score},
      {"train", &run.train},     {"build", &run.build},
      {"run", &run.run},         {"check", &run.check},
      {"total", &run.total}};
  for (auto [name, value] : steps)
    *value = seconds.number(name);
  if (fields.problem.empty())
    fields.problem = seconds.problem;
  return run;
}

/// Reads one line into `log`; the problem, if there is one.
static std::string parseLine(StringRef line, RecordLog &log) {
  llvm::Expected<json::Value> value = parseJson(line);
  if (!value)
    return "not a JSON object (" + llvm::toString(value.takeError()) + ")";
  const json::Object *object = value->getAsObject();
  std::optional<StringRef> kind =
      object ? object->getString("kind") : std::nullopt;
  if (!kind || !llvm::is_contained({"task", "trial", "final", "run"}, *kind))
    return "not a line of a record log (no \"kind\" of \"task\", \"trial\", "
           "\"final\" or \"run\")";

  Fields fields(*object);
  int64_t version = fields.integer("version");
  if (!fields.problem.empty())
    return fields.problem;
  if (version != kRecordVersion)
    return llvm::formatv("format version {0}, but this build reads version "
                         "{1}: tune into a new file",
                         version, kRecordVersion);
  if (*kind == "task") {
    RecordLog::TaskLine task = parseTask(fields);
    if (fields.problem.empty() && !log.findTask(task.task.key))
      log.tasks.push_back(std::move(task));
  } else if (*kind == "run") {
    RunRecord run = parseRun(fields);
    if (fields.problem.empty())
      log.runs.push_back(std::move(run));
  } else {
    TrialRecord trial = parseTrial(fields);
    if (fields.problem.empty())
      (*kind == "trial" ? log.trials : log.finals).push_back(std::move(trial));
  }
  return fields.problem;
}

const RecordLog::TaskLine *RecordLog::findTask(StringRef key) const {
  for (const TaskLine &line : tasks)
    if (line.task.key == key)
      return &line;
  return nullptr;
}

static std::string advice(StringRef path) {
  return "; '" + path.str() +
         "' is not a record log that this build can use: give another file, "
         "or move this one away";
}

FailureOr<RecordLog> ansor::loadRecords(StringRef path, std::string &error) {
  RecordLog log;
  llvm::sys::fs::file_status status;
  std::error_code code = llvm::sys::fs::status(path, status);
  if (code == std::errc::no_such_file_or_directory)
    return log;
  if (!code && !llvm::sys::fs::is_regular_file(status)) {
    error = "cannot use '" + path.str() + "' as a record log: it is not a "
            "regular file";
    return failure();
  }
  // Another process may append meanwhile: read, don't map.
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false,
                                            /*IsVolatile=*/true);
  if (!buffer) {
    error = "cannot read the record log '" + path.str() +
            "': " + buffer.getError().message();
    return failure();
  }

  StringRef rest = (*buffer)->getBuffer();
  for (size_t number = 1; !rest.empty(); ++number) {
    bool complete = rest.contains('\n');
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    if (line.trim().empty())
      continue;
    std::string problem = parseLine(line, log);
    if (problem.empty())
      continue;
    // What a killed writer leaves is the start of a line, which is not JSON
    // yet. The first line must look like ours, so that a foreign file isn't
    // taken for a torn log.
    if (!complete && StringRef(problem).starts_with("not a JSON") &&
        (number > 1 || StringRef("{\"").starts_with(line.take_front(2)))) {
      log.droppedTornLine = true;
      break;
    }
    error = (path + ":" + Twine(number) + ": " + problem + advice(path)).str();
    return failure();
  }
  return log;
}

//===----------------------------------------------------------------------===//
// RecordWriter
//===----------------------------------------------------------------------===//

namespace {
/// Holds the lock of a whole file.
struct FileLock {
  explicit FileLock(int fd) : fd(fd) {
    llvm::sys::RetryAfterSignal(-1, ::flock, fd, LOCK_EX);
  }
  ~FileLock() { ::flock(fd, LOCK_UN); }
  int fd;
};
} // namespace

/// Makes the file end with a newline; the lock must be held. A last line that
/// is whole gets one, a torn one is cut off: no writer is at work on it.
static LogicalResult repairTail(int fd) {
  struct stat status;
  if (::fstat(fd, &status) != 0)
    return failure();
  off_t end = status.st_size;
  char last = '\n';
  if (end > 0 && ::pread(fd, &last, 1, end - 1) != 1)
    return failure();
  if (last == '\n')
    return success();

  std::string tail;
  off_t start = end;
  while (start > 0) {
    char block[4096];
    size_t size = std::min<off_t>(sizeof(block), start);
    if (::pread(fd, block, size, start - size) != ssize_t(size))
      return failure();
    StringRef view(block, size);
    size_t newline = view.rfind('\n');
    StringRef part = newline == StringRef::npos ? view : view.substr(newline + 1);
    tail.insert(0, part.str());
    start -= part.size();
    if (newline != StringRef::npos)
      break;
  }
  RecordLog ignored;
  if (parseLine(tail, ignored).empty())
    return success(::write(fd, "\n", 1) == 1);
  return success(::ftruncate(fd, start) == 0);
}

FailureOr<std::unique_ptr<RecordWriter>>
RecordWriter::open(StringRef path, std::string &error) {
  // Refuse before anything is written: a file of another kind stays as it is.
  if (failed(loadRecords(path, error)))
    return failure();
  std::string name = path.str();
  int fd = llvm::sys::RetryAfterSignal(-1, ::open, name.c_str(),
                                       O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC,
                                       0666);
  if (fd < 0) {
    error = "cannot open the record log '" + name +
            "' for appending: " + llvm::sys::StrError();
    return failure();
  }
  std::unique_ptr<RecordWriter> writer(new RecordWriter(fd, path));
  return writer;
}

RecordWriter::~RecordWriter() {
  (void)sync();
  ::close(fd);
}

LogicalResult RecordWriter::writeLine(std::string line) {
  line += '\n';
  FileLock lock(fd);
  ssize_t size = -1;
  if (succeeded(repairTail(fd)))
    size = llvm::sys::RetryAfterSignal(-1, ::write, fd, line.data(), line.size());
  if (size == ssize_t(line.size()))
    return success();
  error = "cannot append to the record log '" + path + "': " +
          (size < 0 ? llvm::sys::StrError() : std::string("the disk is full"));
  return failure();
}

LogicalResult RecordWriter::append(const Task &task, const TargetInfo &target) {
  if (!written.insert(task.key).second)
    return success();
  return writeLine(taskLine(task, target));
}

LogicalResult RecordWriter::append(const TrialRecord &trial) {
  return writeLine(trialLine(trial, "trial"));
}

LogicalResult RecordWriter::appendFinal(const TrialRecord &trial) {
  return writeLine(trialLine(trial, "final"));
}

LogicalResult RecordWriter::append(const RunRecord &run) {
  return writeLine(runLine(run));
}

LogicalResult RecordWriter::sync() {
  if (::fsync(fd) == 0)
    return success();
  error = "cannot flush the record log '" + path +
          "': " + llvm::sys::StrError();
  return failure();
}
