//===- Explanation.cpp - Numbers of schedules and their code ----*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Task/Task.h"
#include "ansor/Transforms/Explain.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::ansor;

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static double countBytes(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return 0;
  Type element = shaped.getElementType();
  double bits = 64; // an index
  if (auto complex = dyn_cast<ComplexType>(element))
    bits = 2 * complex.getElementType().getIntOrFloatBitWidth();
  else if (element.isIntOrFloat())
    bits = element.getIntOrFloatBitWidth();
  for (int64_t extent : shaped.getShape())
    bits *= ShapedType::isDynamic(extent) ? 1 : extent;
  return bits / 8;
}

/// Whether `value` is only a place for results.
static bool isOnlyWritten(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    if (isa<bufferization::MaterializeInDestinationOp>(use.getOwner()))
      return true;
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return op && op.isDpsInit(&use) && !op.payloadUsesValueFromOperand(&use);
  });
}

/// How much faster than multiply-adds of f32 those of `func` can be.
static double findPeakScale(func::FuncOp func, const TargetInfo &target) {
  double scale = 1;
  func.walk([&](linalg::LinalgOp op) {
    if (op.getNumDpsInputs() < 2 || op.getNumReductionLoops() == 0)
      return;
    auto first = getElementTypeOrSelf(op.getDpsInputOperand(0)->get());
    auto second = getElementTypeOrSelf(op.getDpsInputOperand(1)->get());
    auto hasAny = [&](ArrayRef<StringRef> names) {
      return llvm::any_of(names, [&](StringRef name) {
        return hasFeature(target, name);
      });
    };
    if (first.isF64())
      scale = 0.5;
    else if (first.isInteger(8) && second.isInteger(8) &&
             hasAny({"avx512vnni", "avxvnni", "dotprod"}))
      scale = 4;
    else if (first.isBF16() && second.isBF16() && hasAny({"avx512bf16", "bf16"}))
      scale = 2;
  });
  return scale;
}

llvm::MapVector<StringRef, TaskExplanation>
ansor::describeTaskWork(ModuleOp module, const TargetInfo &target) {
  llvm::MapVector<StringRef, TaskExplanation> tasks;
  for (auto func : module.getOps<func::FuncOp>()) {
    auto key = func->getAttrOfType<StringAttr>(kTaskAttr);
    if (!key || func.isExternal())
      continue;
    TaskExplanation &task = tasks[func.getName()];
    task.name = func.getName().str();
    task.key = key.getValue().str();
    if (auto weight = func->getAttrOfType<IntegerAttr>(kWeightAttr))
      task.calls = weight.getInt();
    task.flops = countFlops(func);
    for (BlockArgument argument : func.getArguments())
      if (!isOnlyWritten(argument))
        task.bytes += countBytes(argument.getType());
    for (Type type : func.getResultTypes())
      task.bytes += countBytes(type);
    task.peakScale = findPeakScale(func, target);
  }
  return tasks;
}

double TaskExplanation::getBound(const MachineRates &rates,
                                 const TargetInfo &target) const {
  double rate = bytes <= double(target.l2)   ? rates.l2
                : bytes <= double(target.l3) ? rates.l3
                                             : rates.memory;
  return std::max(rates.flops > 0 ? flops / (rates.flops * peakScale) : 0,
                  rate > 0 ? bytes / rate : 0);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

void ansor::explainCode(func::FuncOp func, const TargetInfo &target,
                        TaskExplanation &task) {
  auto module = func->getParentOfType<ModuleOp>();
  OwningOpRef<ModuleOp> alone = ModuleOp::create(func.getLoc());
  for (NamedAttribute attr : module->getDiscardableAttrs())
    (*alone)->setDiscardableAttr(attr.getName(), attr.getValue());
  (*alone)->removeDiscardableAttr("transform.with_named_sequence");
  func::FuncOp copy = func.clone();
  copy.setPublic();
  alone->push_back(copy);

  ScopedDiagnosticHandler handler(func.getContext(), [&](Diagnostic &diagnostic) {
    if (task.error.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      task.error = diagnostic.str();
    return success();
  });
  func.getContext()->loadDialect<DLTIDialect, LLVM::LLVMDialect>();
  attachTarget(*alone, target);
  CPULoweringOptions options;
  options.parallel = false;
  SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("ansor-explain", "s", path)) {
    task.error = "no temporary file can be made";
    return;
  }
  llvm::FileRemover remover(path);
  if (failed(lowerToCPU(*alone, options)) ||
      failed(emitObject(*alone, path, options))) {
    if (task.error.empty())
      task.error = "it can't be compiled";
    return;
  }
  auto assembly = llvm::MemoryBuffer::getFile(path);
  if (!assembly) {
    task.error = "its assembly can't be read";
    return;
  }
  task.code = inspectAssembly((*assembly)->getBuffer());
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static bool isComputeBound(const TaskExplanation &task,
                           const MachineRates &rates, double bound) {
  return rates.flops > 0 &&
         task.flops / (rates.flops * task.peakScale) >= bound;
}

void ansor::printExplanations(ArrayRef<TaskExplanation> tasks,
                              const MachineRates &rates,
                              const TargetInfo &target, raw_ostream &os) {
  if (rates.flops > 0)
    os << llvm::format("machine: %.1f GFLOP/s; reads %.1f GB/s from the second "
                       "cache, %.1f from the last, %.1f from memory\n",
                       rates.flops * 1e-9, rates.l2 * 1e-9, rates.l3 * 1e-9,
                       rates.memory * 1e-9);
  for (const TaskExplanation &task : tasks) {
    os << task.name << " " << task.key
       << (task.schedule.empty() ? ", unscheduled"
                                 : ", scheduled by " + task.schedule);
    if (task.calls != 1)
      os << ", called " << task.calls << " times";
    os << llvm::format("\n  work: %.6g operations, %.6g bytes\n", task.flops,
                       task.bytes);
    double bound = task.getBound(rates, target);
    if (bound > 0)
      os << llvm::format("  bound: %.4g ms, by %s\n", bound * 1e3,
                         isComputeBound(task, rates, bound) ? "operations"
                                                            : "bytes");
    if (task.seconds > 0)
      os << llvm::format("  time: %.4g ms", task.seconds * 1e3);
    if (task.seconds > 0 && bound > 0)
      os << llvm::format(", %.0f%% of the bound", 100 * bound / task.seconds);
    if (task.seconds > 0)
      os << "\n";
    if (!task.error.empty()) {
      os << "  no code: " << task.error << "\n";
      continue;
    }
    const CodeStats &code = task.code;
    os << "  code: " << code.innerLoops << " innermost loops; the main one has "
       << code.arithmetic << " arithmetic of " << code.instructions
       << " instructions, ";
    if (code.vectorBits == 0)
      os << "none on vectors";
    else
      os << "on up to " << code.vectorBits << " bits, " << code.accumulators
         << " accumulators";
    os << "\n  in innermost loops: " << code.spills << " spills, "
       << code.reloads << " reloads, " << code.calls << " calls\n";
  }
}

llvm::json::Value ansor::explanationsToJSON(ArrayRef<TaskExplanation> tasks,
                                            const MachineRates &rates,
                                            const TargetInfo &target) {
  auto orNull = [](double value) {
    return value > 0 ? llvm::json::Value(value) : llvm::json::Value(nullptr);
  };
  llvm::json::Array array;
  for (const TaskExplanation &task : tasks) {
    double bound = task.getBound(rates, target);
    llvm::json::Object object{
        {"task", task.name},
        {"key", task.key},
        {"calls", task.calls},
        {"flops", task.flops},
        {"bytes", task.bytes},
        {"bound_ms", orNull(bound * 1e3)},
        {"ms", orNull(task.seconds * 1e3)},
        {"share", orNull(task.seconds > 0 ? bound / task.seconds : 0)}};
    if (!task.schedule.empty())
      object["schedule"] = task.schedule;
    if (bound > 0)
      object["bound_by"] =
          isComputeBound(task, rates, bound) ? "operations" : "bytes";
    const CodeStats &code = task.code;
    if (task.error.empty())
      object["code"] = llvm::json::Object{{"inner_loops", code.innerLoops},
                                          {"vector_bits", code.vectorBits},
                                          {"accumulators", code.accumulators},
                                          {"arithmetic", code.arithmetic},
                                          {"instructions", code.instructions},
                                          {"spills", code.spills},
                                          {"reloads", code.reloads},
                                          {"calls", code.calls}};
    else
      object["error"] = task.error;
    array.push_back(std::move(object));
  }
  return llvm::json::Object{
      {"machine",
       llvm::json::Object{{"gflops", orNull(rates.flops * 1e-9)},
                          {"l2_gbs", orNull(rates.l2 * 1e-9)},
                          {"l3_gbs", orNull(rates.l3 * 1e-9)},
                          {"memory_gbs", orNull(rates.memory * 1e-9)}}},
      {"tasks", std::move(array)}};
}
