//===- Task.cpp - Tasks -----------------------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Task/Task.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Support/Hash.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::ansor;

std::string mlir::ansor::computeTaskKey(func::FuncOp task) {
  // The generic form, with neither aliases nor locations, of the function
  // without its name and attributes, but for the marks of weights. SSA names
  // are numbered by the printer.
  OwningOpRef<func::FuncOp> copy = task.clone();
  for (NamedAttribute attr : llvm::to_vector((*copy)->getDiscardableAttrs()))
    (*copy)->removeDiscardableAttr(attr.getName());
  copy->removeArgAttrsAttr();
  copy->removeResAttrsAttr();
  for (unsigned i = 0; i < task.getNumArguments(); ++i)
    if (task.getArgAttr(i, kWeightAttr))
      copy->setArgAttr(i, kWeightAttr, UnitAttr::get(task.getContext()));
  copy->setName("task");
  copy->setPrivate();
  std::string text;
  llvm::raw_string_ostream os(text);
  (*copy)->print(
      os,
      OpPrintingFlags().printGenericOpForm().useLocalScope().assumeVerified());
  return "a" + std::to_string(kTaskKeyVersion) + "-" + hashText(text);
}

std::string mlir::ansor::computeUnmarkedKey(func::FuncOp task) {
  OwningOpRef<func::FuncOp> copy = task.clone();
  copy->removeArgAttrsAttr();
  return computeTaskKey(*copy);
}

/// True for the attributes of a module that describe its target.
static bool describesTarget(StringRef name) {
  return name.starts_with("dlti.") || name.starts_with("llvm.") ||
         name.starts_with("ansor.target");
}

bool mlir::ansor::hasTasks(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp func) {
    return func->hasAttr(kTaskAttr);
  });
}

SmallVector<Task> mlir::ansor::collectTasks(ModuleOp module) {
  SmallVector<Task> tasks;
  for (auto func : module.getOps<func::FuncOp>()) {
    auto key = func->getAttrOfType<StringAttr>(kTaskAttr);
    if (!key || func.isDeclaration())
      continue;
    Task task;
    task.key = key.str();
    task.name = func.getName().str();
    if (auto weight = func->getAttrOfType<IntegerAttr>(kWeightAttr))
      task.weight = weight.getInt();
    task.flops = countFlops(func);

    OwningOpRef<ModuleOp> alone = ModuleOp::create(module.getLoc());
    for (NamedAttribute attr : module->getDiscardableAttrs())
      if (describesTarget(attr.getName()))
        (*alone)->setAttr(attr.getName(), attr.getValue());
    func::FuncOp copy = func.clone();
    copy.setPublic();
    alone->push_back(copy);
    llvm::raw_string_ostream os(task.module);
    alone->print(os);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

/// Scalar arithmetic operations of one execution of `op`.
static int countOps(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return 0;
  Type type = op->getResult(0).getType();
  // Indices only address; conversions and selections move data.
  if (isa<IndexType>(type) || isa<IndexType>(op->getOperand(0).getType()) ||
      isa<CastOpInterface, arith::SelectOp>(op))
    return 0;
  if (isa<math::FmaOp>(op))
    return 2;
  if (isa<complex::MulOp>(op))
    return 6;
  if (isa<complex::DivOp>(op))
    return 11;
  if (isa<complex::AddOp, complex::SubOp, complex::NegOp>(op))
    return 2;
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
}

double mlir::ansor::countFlops(Operation *op, int64_t dynamicSize) {
  auto product = [&](ArrayRef<int64_t> extents) {
    double points = 1;
    for (int64_t extent : extents)
      points *= double(ShapedType::isDynamic(extent) ? dynamicSize : extent);
    return points;
  };
  // Maximum, difference, exponential, sum and quotient.
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return 5 * product(softmax.getInputOperandType().getShape());
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return 0;
  int64_t ops = 0;
  op->walk([&](Operation *inner) { ops += countOps(inner); });
  return product(linalgOp.getStaticLoopRanges()) * double(ops);
}

double mlir::ansor::countFlops(func::FuncOp task) {
  double flops = 0;
  task.walk([&](Operation *op) { flops += countFlops(op); });
  return flops;
}
