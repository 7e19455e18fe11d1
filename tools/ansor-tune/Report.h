//===- Report.h - What a tuning run tells -----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_ANSOR_TUNE_REPORT_H
#define TOOLS_ANSOR_TUNE_REPORT_H

#include "ansor/Search/Search.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::ansor {

/// Shows how a run goes: one line that is written over on a terminal, plain
/// lines otherwise.
class ProgressLine {
public:
  explicit ProgressLine(llvm::raw_ostream &os)
      : os(os), terminal(os.is_displayed()) {}
  void show(const TuneProgress &progress);
  void end();

private:
  llvm::raw_ostream &os;
  bool terminal, open = false;
};

/// The line's text: "3 tasks | trial 96/200 | best 1.2 ms (8.1x) | …".
std::string describeProgress(const TuneProgress &progress);

/// The table of tasks, errors with their first message, rejections, and where
/// the time went. `networks` are the names of the models.
void printReport(llvm::raw_ostream &os, const TuneResult &result,
                 ArrayRef<std::string> networks);

} // namespace mlir::ansor

#endif // TOOLS_ANSOR_TUNE_REPORT_H
