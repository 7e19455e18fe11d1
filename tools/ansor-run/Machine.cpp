//===- Machine.cpp - What the machine can do --------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "ansor/Measure/Builder.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::ansor;

/// Seconds of one call of @main in the module `text`.
static FailureOr<double> timeProgram(StringRef text, MLIRContext &context,
                                     const TargetInfo &target, StringRef stem,
                                     const RunRequest &run) {
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  std::string error;
  func::FuncOp entry = module ? findEntry(*module, "", error) : nullptr;
  if (!entry)
    return failure();
  CPULoweringOptions options;
  options.parallel = false;
  options.strictFP = true; // every operation stays as it is
  BuildResult built =
      buildArtifact(*module, describeForMeasuring(entry), target, options,
                    int64_t(1) << 30, (stem + "machine").str());
  if (built.error != ErrorKind::None)
    return emitError(UnknownLoc::get(&context))
           << "can't measure the machine: " << built.message;
  auto answer = run(llvm::json::Object{{"id", 0},
                                       {"artifact", built.artifact},
                                       {"manifest", built.manifest},
                                       {"repeats", 5},
                                       {"threads", 1},
                                       {"budget", 1}});
  if (failed(answer))
    return failure();
  double least = answer->getNumber("median").value_or(0);
  if (const llvm::json::Array *seconds = answer->getArray("seconds"))
    for (const llvm::json::Value &value : *seconds)
      least = std::min(least, value.getAsNumber().value_or(least));
  if (least <= 0)
    return emitError(UnknownLoc::get(&context))
           << "can't measure the machine: it took no time";
  return least;
}

/// "%a0, %a1, …" with `format` for each of `count`.
static std::string repeat(int64_t count,
                          llvm::function_ref<std::string(int64_t)> make,
                          StringRef separator) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += (i ? separator.str() : "") + make(i);
  return text;
}

/// A loop whose iterations carry `chains` vectors, each changed by `step`;
/// their sum is stored.
static std::string makeLoop(int64_t chains, StringRef vector,
                            const std::string &loop,
                            llvm::function_ref<std::string(int64_t)> step) {
  auto name = [](StringRef prefix) {
    return [=](int64_t i) { return (prefix + Twine(i)).str(); };
  };
  std::string types =
      repeat(chains, [&](int64_t) { return vector.str(); }, ", ");
  std::string text =
      "%r:" + std::to_string(chains) + " = " + loop + " iter_args(" +
      repeat(chains,
             [](int64_t i) { return "%c" + std::to_string(i) + " = %init"; },
             ", ") +
      ") -> (" + types + ") {\n" + repeat(chains, step, "\n") + "\nscf.yield " +
      repeat(chains, name("%n"), ", ") + " : " + types + "\n}\n%s0 = arith.addf %r#0, %init : " +
      vector.str() + "\n";
  for (int64_t i = 1; i < chains; ++i)
    text += ("%s" + Twine(i) + " = arith.addf %s" + Twine(i - 1) + ", %r#" +
             Twine(i) + " : " + vector + "\n")
                .str();
  return text + "vector.store %s" + std::to_string(chains - 1) +
         ", %out[%zero] : memref<64xf32>, " + vector.str() + "\n";
}

static std::string makeProgram(StringRef arguments, StringRef vector,
                               const std::string &body) {
  return ("func.func @main(" + arguments +
          "%out: memref<64xf32>) {\n%zero = arith.constant 0 : index\n"
          "%one = arith.constant 1 : index\n"
          "%init = vector.load %out[%zero] : memref<64xf32>, " +
          vector + "\n" + body + "return\n}\n")
      .str();
}

FailureOr<MachineRates> ansor::measureMachine(MLIRContext &context,
                                              const TargetInfo &target,
                                              int threads, StringRef stem,
                                              const RunRequest &run) {
  int64_t lanes = std::min<int64_t>(target.lanes(32), 64);
  std::string vector = "vector<" + std::to_string(lanes) + "xf32>";
  MachineRates rates;

  // Enough chains to hide the latency of a multiply-add, and registers left.
  int64_t chains = std::max<int64_t>(target.vectorRegisters - 6, 2);
  chains = std::min<int64_t>(chains, 24);
  constexpr int64_t kSteps = 100000;
  auto seconds = timeProgram(
      makeProgram(
          "", vector,
          "%end = arith.constant " + std::to_string(kSteps) + " : index\n" +
              makeLoop(chains, vector, "scf.for %i = %zero to %end step %one",
                       [&](int64_t i) {
                         std::string n = std::to_string(i);
                         return "%n" + n + " = vector.fma %c" + n +
                                ", %init, %init : " + vector;
                       })),
      context, target, stem, run);
  if (failed(seconds))
    return failure();
  rates.flops = double(kSteps) * chains * lanes * 2 / *seconds * threads;

  // Reads of a buffer that fits half into the level, or not into any.
  auto measureRead = [&](int64_t bytes) -> FailureOr<double> {
    constexpr int64_t kLoads = 8;
    int64_t step = kLoads * lanes;
    int64_t elements = std::max<int64_t>(bytes / 4 / step, 1) * step;
    int64_t rounds = std::max<int64_t>((int64_t(8) << 20) / bytes, 1);
    std::string type = "memref<" + std::to_string(elements) + "xf32>";
    std::string nest =
        "%rounds = arith.constant " + std::to_string(rounds) +
        " : index\n%size = arith.constant " + std::to_string(elements) +
        " : index\n%step = arith.constant " + std::to_string(step) +
        " : index\nscf.for %k = %zero to %rounds step %one {\n" +
        makeLoop(kLoads, vector, "scf.for %i = %zero to %size step %step",
                 [&](int64_t i) {
                   std::string n = std::to_string(i);
                   return "%o" + n + " = arith.constant " +
                          std::to_string(i * lanes) + " : index\n%p" + n +
                          " = arith.addi %i, %o" + n + " : index\n%v" + n +
                          " = vector.load %data[%p" + n + "] : " + type + ", " +
                          vector + "\n%n" + n + " = arith.addf %c" + n + ", %v" +
                          n + " : " + vector;
                 }) +
        "}\n";
    auto time = timeProgram(makeProgram("%data: " + type + ", ", vector, nest),
                            context, target, stem, run);
    if (failed(time))
      return failure();
    return double(elements) * 4 * rounds / *time;
  };
  constexpr int64_t kLargest = int64_t(8) << 20; // the last one may be shared
  auto l2 = measureRead(target.l2 / 2);
  auto l3 = measureRead(std::min(target.l3 / 2, kLargest));
  auto memory = measureRead(std::max<int64_t>(2 * target.l3, 64 << 20));
  if (failed(l2) || failed(l3) || failed(memory))
    return failure();
  rates.l2 = *l2 * threads;
  rates.l3 = *l3 * threads;
  rates.memory = *memory;
  return rates;
}
