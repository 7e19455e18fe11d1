//===- Files.cpp - Reading and writing of files -----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Support/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

using namespace mlir;
using namespace mlir::ansor;
namespace fs = llvm::sys::fs;

/// Far more than our own formats have, far less than the stack takes.
static constexpr int kMaxNesting = 100;

LogicalResult
ansor::writeFile(StringRef path,
                 llvm::function_ref<void(raw_ostream &)> print,
                 std::string &error) {
  fs::file_status status;
  bool isNew = fs::status(path, status) == std::errc::no_such_file_or_directory;
  bool replace = path != "-" && (isNew || fs::is_regular_file(status));
  SmallString<128> target(path);
  std::error_code code;
  if (replace && !isNew)
    code = fs::real_path(path, target);
  std::string place = target.str().str();
  if (replace)
    place += ".tmp-" + std::to_string(llvm::sys::Process::getProcessId());
  bool opened = false;
  if (!code) {
    llvm::raw_fd_ostream file(
        place, code, replace ? fs::CD_CreateAlways : fs::CD_OpenExisting,
        fs::FA_Write, fs::OF_None);
    if (!code) {
      opened = true;
      print(file);
      file.flush();
      code = file.error();
      file.clear_error();
    }
  }
  if (!code && replace) {
    if (!isNew)
      (void)fs::setPermissions(place, status.permissions());
    code = fs::rename(place, target);
  }
  if (!code)
    return success();
  if (replace && opened)
    (void)fs::remove(place);
  error = ("cannot write '" + path + "': " + code.message()).str();
  return failure();
}

llvm::Expected<llvm::json::Value> ansor::parseJson(StringRef text) {
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"')
      quoted = !quoted;
    else if (quoted && c == '\\')
      ++i;
    else if (!quoted && (c == '[' || c == '{'))
      deepest = std::max(deepest, ++depth);
    else if (!quoted && (c == ']' || c == '}'))
      --depth;
  }
  if (deepest > kMaxNesting)
    return llvm::createStringError("nested more than " + Twine(kMaxNesting) +
                                   " deep");
  return llvm::json::parse(text);
}
