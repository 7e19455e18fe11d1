//===- FeatureNames.cpp - Names of the columns ------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Feature/Feature.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace mlir::ansor;

/// The names in the order in which computeFeatures writes the columns.
static std::vector<std::string> makeNames() {
  std::vector<std::string> names;
  auto add = [&](const Twine &prefix, ArrayRef<StringRef> suffixes) {
    for (StringRef suffix : suffixes)
      names.push_back((prefix + suffix).str());
  };
  for (StringRef type : {"float_", "int_"})
    add(type,
        {"mad", "addsub", "mul", "divmod", "cmp", "mathfunc", "otherfunc"});
  add("", {"bool_op", "select_op"});
  for (StringRef annotation : {"vec", "unroll", "parallel"}) {
    add(annotation, {"_num", "_prod", "_len"});
    add(annotation + "_type.",
        {"none", "inner_spatial", "middle_spatial", "outer_spatial",
         "inner_reduce", "middle_reduce", "outer_reduce", "mixed"});
  }
  add("", {"is_gpu", "block_x", "block_y", "block_z", "thread_x", "thread_y",
           "thread_z", "vthread"});
  for (unsigned i = 0; i < 5; ++i)
    add("b" + Twine(i) + ".",
        {"access.read", "access.write", "access.read_write", "bytes",
         "unique_bytes", "lines", "unique_lines", "reuse.loop", "reuse.serial",
         "reuse.none", "reuse_distance_iterations", "reuse_distance_bytes",
         "reuse_count", "bytes_per_reuse", "unique_bytes_per_reuse",
         "lines_per_reuse", "unique_lines_per_reuse", "stride"});
  for (unsigned i = 0; i < 10; ++i)
    add("intensity_" + Twine(i), {""});
  add("", {"alloc_size", "alloc_total", "alloc_outer_prod", "alloc_inner_prod",
           "outer_prod", "num_loops", "unroll_limit"});
  return names;
}

ArrayRef<StringRef> mlir::ansor::getFeatureNames() {
  static const std::vector<std::string> names = makeNames();
  static const std::vector<StringRef> refs(names.begin(), names.end());
  assert(refs.size() == kNumFeatures && "a name a column");
  return refs;
}
