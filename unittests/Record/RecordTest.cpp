//===- RecordTest.cpp - Tests of the record log -----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Record/Record.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::ansor;

namespace {

class RecordTest : public ::testing::Test {
protected:
  RecordTest() {
    SmallString<128> name;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("record", "jsonl", name));
    path = std::string(name);
    llvm::sys::fs::remove(path);
    task.key = "a1-0123456789abcdef";
    task.name = "task_0";
    task.weight = 3;
    task.flops = 1.5e9;
    task.module = "module {\n  // \"text\"\n}\n";
    target.name = "test";
    target.cores = 2;
  }
  ~RecordTest() override { llvm::sys::fs::remove(path); }

  std::unique_ptr<RecordWriter> open() {
    std::string error;
    auto writer = RecordWriter::open(path, error);
    EXPECT_TRUE(succeeded(writer)) << error;
    return succeeded(writer) ? std::move(*writer) : nullptr;
  }

  RecordLog load() {
    std::string error;
    FailureOr<RecordLog> log = loadRecords(path, error);
    EXPECT_TRUE(succeeded(log)) << error;
    return succeeded(log) ? std::move(*log) : RecordLog();
  }

  /// The message with which the file is refused.
  std::string refusal() {
    std::string error;
    EXPECT_TRUE(failed(loadRecords(path, error)));
    std::string before = read(), other;
    EXPECT_TRUE(failed(RecordWriter::open(path, other)));
    EXPECT_EQ(error, other);
    EXPECT_EQ(before, read()) << "a refused file must stay as it is";
    return error;
  }

  void write(StringRef text) {
    std::error_code code;
    llvm::raw_fd_ostream os(path, code);
    os << text;
  }
  std::string read() {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }

  TrialRecord makeTrial(int64_t number) {
    TrialRecord trial;
    trial.taskKey = task.key;
    trial.sketch = "s0";
    trial.sketchHash = "beef";
    trial.decisions =
        llvm::json::Object{{"s1.d0", llvm::json::Array{128, 8}}, {"a", number}};
    trial.seconds = {0.1 + 1e-17 * number, 0.2, 1.0 / 3};
    trial.median = 0.2;
    trial.maxError = 0.25;
    trial.buildSeconds = 0.5;
    trial.seed = ~uint64_t(0);
    trial.trial = number;
    trial.threads = 2;
    trial.coldBytes = 3 << 20;
    return trial;
  }

  std::string path;
  Task task;
  TargetInfo target;
};

TEST_F(RecordTest, MissingFileIsAnEmptyLog) {
  RecordLog log = load();
  EXPECT_TRUE(log.tasks.empty() && log.trials.empty());
  EXPECT_FALSE(log.droppedTornLine);
}

TEST_F(RecordTest, RoundTrip) {
  auto writer = open();
  ASSERT_TRUE(succeeded(writer->append(task, target)));
  ASSERT_TRUE(succeeded(writer->append(makeTrial(0))));
  TrialRecord failed = makeTrial(1);
  failed.error = ErrorKind::WrongResult;
  failed.message = "element [3]: 1 != 2 \xff";
  failed.seconds.clear();
  ASSERT_TRUE(succeeded(writer->append(failed)));
  TrialRecord reference;
  reference.taskKey = task.key;
  reference.seconds = {2.5};
  reference.median = 2.5;
  ASSERT_TRUE(succeeded(writer->append(reference)));
  // The task's line is written once.
  ASSERT_TRUE(succeeded(writer->append(task, target)));
  ASSERT_TRUE(succeeded(writer->sync()));

  RecordLog log = load();
  ASSERT_EQ(log.tasks.size(), 1u);
  EXPECT_EQ(log.tasks[0].task.key, task.key);
  EXPECT_EQ(log.tasks[0].task.module, task.module);
  EXPECT_EQ(log.tasks[0].task.weight, 3);
  EXPECT_EQ(log.tasks[0].task.flops, 1.5e9);
  EXPECT_EQ(log.tasks[0].target.toJSON(), target.toJSON());
  EXPECT_EQ(log.findTask(task.key), &log.tasks[0]);
  EXPECT_EQ(log.findTask("a1-0"), nullptr);

  ASSERT_EQ(log.trials.size(), 3u);
  TrialRecord expected = makeTrial(0);
  const TrialRecord &trial = log.trials[0];
  EXPECT_EQ(trial.seconds, expected.seconds); // to the last bit
  EXPECT_EQ(trial.median, expected.median);
  EXPECT_EQ(trial.maxError, expected.maxError);
  EXPECT_EQ(trial.decisions, expected.decisions);
  EXPECT_EQ(trial.sketchHash, "beef");
  EXPECT_EQ(trial.seed, expected.seed);
  EXPECT_EQ(trial.threads, 2);
  EXPECT_EQ(trial.coldBytes, 3 << 20);
  EXPECT_FALSE(trial.isReference());
  EXPECT_EQ(log.trials[1].error, ErrorKind::WrongResult);
  EXPECT_EQ(log.trials[1].trial, 1);
  EXPECT_TRUE(StringRef(log.trials[1].message).starts_with("element [3]"));
  EXPECT_TRUE(std::isinf(log.trials[1].median));
  EXPECT_TRUE(log.trials[2].isReference());
  EXPECT_EQ(log.trials[2].median, 2.5);
}

TEST_F(RecordTest, TornLastLineIsDroppedAndRepaired) {
  {
    auto writer = open();
    ASSERT_TRUE(succeeded(writer->append(task, target)));
    ASSERT_TRUE(succeeded(writer->append(makeTrial(0))));
    ASSERT_TRUE(succeeded(writer->append(makeTrial(1))));
  }
  std::string whole = read();
  // Torn at every byte of the last line.
  size_t lastLine = StringRef(whole).drop_back().rfind('\n') + 1;
  for (size_t size = lastLine + 1; size < whole.size(); ++size) {
    write(StringRef(whole).take_front(size));
    RecordLog log = load();
    bool complete = size == whole.size() - 1; // only the newline is missing
    ASSERT_EQ(log.trials.size(), complete ? 2u : 1u);
    EXPECT_EQ(log.droppedTornLine, !complete);
    ASSERT_TRUE(succeeded(open()->append(makeTrial(7))));
    log = load();
    EXPECT_FALSE(log.droppedTornLine);
    ASSERT_EQ(log.trials.size(), complete ? 3u : 2u);
    EXPECT_EQ(log.trials.back().trial, 7);
  }
  // Torn in its first line: an empty log.
  write(StringRef(whole).take_front(40));
  EXPECT_TRUE(load().droppedTornLine);
  ASSERT_TRUE(succeeded(open()->append(task, target)));
  EXPECT_EQ(load().tasks.size(), 1u);
}

TEST_F(RecordTest, ForeignFilesAreRefused) {
  write("hello\n");
  EXPECT_NE(refusal().find(path + ":1: not a JSON object"), std::string::npos);
  write("hello"); // no newline: still no torn log
  EXPECT_NE(refusal().find(":1: not a JSON object"), std::string::npos);
  write("{\"i\": [], \"r\": [], \"v\": \"v0.6\"}\n");
  EXPECT_NE(refusal().find("not a line of a record log"), std::string::npos);
  write("{\"i\": [], \"r\": [], \"v\": \"v0.6\"}");
  EXPECT_NE(refusal().find("not a line of a record log"), std::string::npos);
  EXPECT_NE(refusal().find("give another file"), std::string::npos);
}

TEST_F(RecordTest, FinalsAndRunsRoundTrip) {
  RunRecord run;
  run.seed = 7;
  run.trials = 64;
  run.scored = 4000;
  run.interrupted = true;
  run.extract = 0.1;
  run.build = 1.5;
  run.check = 0.25;
  run.total = 3.5;
  {
    auto writer = open();
    ASSERT_TRUE(succeeded(writer->append(task, target)));
    TrialRecord final = makeTrial(0);
    final.trial = 64;
    final.round = -1;
    ASSERT_TRUE(succeeded(writer->appendFinal(final)));
    ASSERT_TRUE(succeeded(writer->append(run)));
  }
  RecordLog log = load();
  EXPECT_TRUE(log.trials.empty());
  ASSERT_EQ(log.finals.size(), 1u);
  EXPECT_EQ(log.finals[0].trial, 64);
  EXPECT_EQ(log.finals[0].round, -1);
  EXPECT_EQ(log.finals[0].decisions, makeTrial(0).decisions);
  ASSERT_EQ(log.runs.size(), 1u);
  EXPECT_EQ(log.runs[0].seed, 7u);
  EXPECT_EQ(log.runs[0].trials, 64);
  EXPECT_EQ(log.runs[0].scored, 4000);
  EXPECT_TRUE(log.runs[0].interrupted);
  EXPECT_EQ(log.runs[0].steps(), run.steps());
  EXPECT_EQ(log.runs[0].total, 3.5);

  std::string whole = read();
  auto at = whole.find("\"check\":");
  ASSERT_NE(at, std::string::npos);
  write(whole.replace(at, 9, "\"chuck\":"));
  EXPECT_NE(refusal().find("field \"check\", a number, is missing"),
            std::string::npos);
}

TEST_F(RecordTest, DamagedLinesAreNamed) {
  {
    auto writer = open();
    ASSERT_TRUE(succeeded(writer->append(task, target)));
    ASSERT_TRUE(succeeded(writer->append(makeTrial(0))));
  }
  std::string whole = read();
  write("\n" + whole + "{\"kind\":\"trial\",\n" + whole);
  EXPECT_NE(refusal().find(path + ":4: not a JSON object"), std::string::npos);
  auto replaced = [&](StringRef from, StringRef to) {
    std::string text = whole;
    size_t at = text.rfind(from.str());
    EXPECT_NE(at, std::string::npos);
    text.replace(at, from.size(), to.str());
    write(text);
    return refusal();
  };
  EXPECT_NE(replaced("\"version\":1", "\"version\":9")
                .find(":2: format version 9, but this build reads version 1"),
            std::string::npos);
  EXPECT_NE(replaced("\"key_version\":1", "\"key_version\":9")
                .find(":1: its task keys are of version 9"),
            std::string::npos);
  EXPECT_NE(replaced("\"error\":\"none\"", "\"error\":\"nine\"")
                .find("unknown error kind \"nine\""),
            std::string::npos);
  EXPECT_NE(replaced("\"threads\":2", "\"threads\":\"2\"")
                .find("field \"threads\" must be an integer"),
            std::string::npos);
  EXPECT_NE(replaced("\"seed\"", "\"sead\"")
                .find("field \"seed\", an integer that is not negative, is "
                      "missing"),
            std::string::npos);
  EXPECT_NE(replaced("\"median_s\":0.2", "\"median_s\":-1")
                .find("\"median_s\" must be positive"),
            std::string::npos);
}

TEST_F(RecordTest, DirectoriesAndUnwritablePlacesAreRefused) {
  std::string error;
  EXPECT_TRUE(failed(loadRecords("/", error)));
  EXPECT_NE(error.find("not a regular file"), std::string::npos);
  EXPECT_TRUE(failed(RecordWriter::open("/nowhere/log.jsonl", error)));
  EXPECT_NE(error.find("cannot open the record log '/nowhere/log.jsonl'"),
            std::string::npos);
}

TEST_F(RecordTest, ProcessesMayAppendTogether) {
  constexpr int kProcesses = 4, kTrials = 50;
  SmallVector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    pid_t child = ::fork();
    if (child == 0) {
      std::string error;
      auto writer = RecordWriter::open(path, error);
      if (failed(writer) || failed((*writer)->append(task, target)))
        ::_exit(1);
      for (int i = 0; i < kTrials; ++i)
        if (failed((*writer)->append(makeTrial(process * kTrials + i))))
          ::_exit(1);
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  RecordLog log = load();
  EXPECT_EQ(log.tasks.size(), 1u); // the first line of a key wins
  std::vector<int64_t> numbers;
  for (const TrialRecord &trial : log.trials)
    numbers.push_back(trial.trial);
  llvm::sort(numbers);
  ASSERT_EQ(numbers.size(), size_t(kProcesses * kTrials));
  for (int i = 0; i < kProcesses * kTrials; ++i)
    EXPECT_EQ(numbers[i], i);
}

TEST_F(RecordTest, KilledWritersLoseNoFinishedRecord) {
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  pid_t child = ::fork();
  if (child == 0) {
    std::string error;
    auto writer = RecordWriter::open(path, error);
    for (int64_t i = 0;; ++i) {
      if (failed((*writer)->append(makeTrial(i))))
        ::_exit(1);
      if (::write(pipes[1], &i, sizeof(i)) != sizeof(i))
        ::_exit(1);
    }
  }
  int64_t last = 0;
  while (last < 20)
    ASSERT_EQ(::read(pipes[0], &last, sizeof(last)), ssize_t(sizeof(last)));
  ::kill(child, SIGKILL);
  int status;
  ::waitpid(child, &status, 0);
  ::close(pipes[1]);
  for (int64_t next; ::read(pipes[0], &next, sizeof(next)) == sizeof(next);)
    last = next;
  ::close(pipes[0]);
  RecordLog log = load();
  ASSERT_GE(log.trials.size(), size_t(last + 1));
  for (auto [i, trial] : llvm::enumerate(log.trials))
    EXPECT_EQ(trial.trial, int64_t(i));
}

TEST_F(RecordTest, ReplayAnswersFromTheLog) {
  RecordLog log;
  log.trials = {makeTrial(0), makeTrial(1)};
  log.trials[1].error = ErrorKind::RunCrash;
  log.trials[1].message = "signal 11";
  log.trials[1].median = std::numeric_limits<double>::infinity();
  TrialRecord again = makeTrial(0);
  again.median = 9;
  log.trials.push_back(again); // the first record of a candidate counts
  TrialRecord reference;
  reference.taskKey = task.key;
  reference.median = 2.5;
  log.trials.push_back(reference);

  auto measurer = createReplayMeasurer(log);
  auto input = [&](const TrialRecord &trial) {
    return MeasureInput{trial.taskKey, "", "",
                        candidateId(trial.sketch, trial.decisions)};
  };
  auto results = measurer->measure({input(makeTrial(1)), input(makeTrial(0)),
                                    input(makeTrial(5)), input(reference)});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0].error, ErrorKind::RunCrash);
  EXPECT_EQ(results[0].message, "signal 11");
  EXPECT_EQ(results[1].error, ErrorKind::None);
  EXPECT_EQ(results[1].median, 0.2);
  EXPECT_EQ(results[2].error, ErrorKind::Device);
  EXPECT_EQ(results[3].median, 2.5);
}

TEST_F(RecordTest, ReplayedComparisonsAreTheLastFinals) {
  RecordLog log;
  log.trials = {makeTrial(0), makeTrial(1)};
  log.finals = {makeTrial(0), makeTrial(0)};
  log.finals[0].median = 7;
  log.finals[1].median = 8;
  auto measurer = createReplayMeasurer(log);
  auto input = [&](const TrialRecord &trial) {
    return MeasureInput{trial.taskKey, "", "",
                        candidateId(trial.sketch, trial.decisions)};
  };
  auto results =
      measurer->compare({input(makeTrial(0)), input(makeTrial(1))}, 3);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].median, 8);
  EXPECT_EQ(results[1].error, ErrorKind::Device);
}

TEST_F(RecordTest, CandidateIdIsCanonical) {
  llvm::json::Object ab{{"a", 1}, {"b", 2}}, ba{{"b", 2}, {"a", 1}};
  EXPECT_EQ(candidateId("s3", std::move(ab)), "s3 {\"a\":1,\"b\":2}");
  EXPECT_EQ(candidateId("s3", std::move(ba)), "s3 {\"a\":1,\"b\":2}");
  EXPECT_EQ(candidateId("", nullptr), "");
}

} // namespace
