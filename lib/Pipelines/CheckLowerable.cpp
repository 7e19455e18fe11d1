//===- CheckLowerable.cpp - See Passes.td -----------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/Pipelines/Passes.h"
#include "ansor/Target/Target.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace mlir::ansor {
#define GEN_PASS_DEF_CHECKLOWERABLEPASS
#define GEN_PASS_DEF_CHECKSIZEPASS
#include "ansor/Pipelines/Passes.h.inc"
} // namespace mlir::ansor

using namespace mlir;
using namespace mlir::ansor;

/// Bytes that a process can address, at most; sizes that are computed from
/// larger ones would overflow.
static constexpr double kAddressable = 0x1p47;

/// Why a value of `type` can't be lowered, or an empty string.
static std::string reasonAgainst(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type); shaped && shaped.hasRank()) {
    Type element = shaped.getElementType();
    double bytes = element.isIntOrFloat()
                       ? std::max(1.0, element.getIntOrFloatBitWidth() / 8.0)
                       : 8;
    // Also the strides of an empty tensor are products of its sizes.
    for (int64_t size : shaped.getShape())
      if (!ShapedType::isDynamic(size))
        bytes *= double(std::max<int64_t>(size, 1));
    if (bytes > kAddressable)
      return "larger than any memory";
  }
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (tensor.getEncoding())
      return "tensor type with an encoding: the code generation knows dense "
             "tensors only; convert it to a dense tensor first";
    return reasonAgainst(tensor.getElementType());
  }
  if (isa<UnrankedTensorType>(type))
    return "unranked tensor: give the tensor a rank first";
  if (auto fp = dyn_cast<FloatType>(type))
    if (fp.getWidth() < 16)
      return "no arithmetic on such a float type in LLVM: widen it to f16 or "
             "f32 first";
  return {};
}

/// Whether the data of `attr` was left out of the text.
static bool isElided(Attribute attr) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(attr);
  return resource && !resource.getRawHandle().getBlob();
}

namespace {
struct CheckLowerablePass
    : public ansor::impl::CheckLowerablePassBase<CheckLowerablePass> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>(
        [&](Operation *op) -> WalkResult {
          if (op->getDialect() && op->getDialect()->getNamespace() == "transform")
            return WalkResult::skip();
          if (op != getOperation() && isa<ModuleOp>(op)) {
            if (op->hasAttr("transform.with_named_sequence")) // A script.
              return WalkResult::skip();
            return op->emitOpError(
                "can't be lowered: it is a module in a module; move its "
                "functions to the outer one");
          }
          auto func = dyn_cast<func::FuncOp>(op);
          if (func && func.getName().starts_with("llvm."))
            return op->emitOpError("can't be lowered: names that begin with "
                                   "'llvm.' are LLVM's own; rename it");
          if (func)
            for (Type type : func.getArgumentTypes())
              if (std::string why = reasonAgainst(type); !why.empty())
                return op->emitOpError("can't be lowered: ") << type << ": "
                                                             << why;
          for (Type type : op->getResultTypes())
            if (std::string why = reasonAgainst(type); !why.empty())
              return op->emitOpError("can't be lowered: ")
                     << type << ": " << why;
          for (NamedAttribute attr : op->getAttrs())
            if (isElided(attr.getValue()))
              return op->emitOpError(
                  "can't be lowered: the data of its constant was elided from "
                  "the text; print the module with all resources");
          return WalkResult::advance();
        });
    if (result.wasInterrupted() || failed(verifyTarget(getOperation())))
      signalPassFailure();
  }
};

struct CheckSizePass : public ansor::impl::CheckSizePassBase<CheckSizePass> {
  using CheckSizePassBase::CheckSizePassBase;
  void runOnOperation() override {
    int64_t count = 0;
    getOperation()->walk([&](Operation *) { ++count; });
    if (count <= maxOperations)
      return;
    getOperation()->emitError("generated code is too large: ")
        << count << " operations, the limit is " << maxOperations.getValue()
        << "; use smaller tiles or less unrolling";
    signalPassFailure();
  }
};
} // namespace
