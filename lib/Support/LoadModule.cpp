//===- LoadModule.cpp - Reading input modules -------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/Support/LoadModule.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::ansor;

static constexpr llvm::StringLiteral kBytecodeMagic("ML\xefR");

std::string ansor::adviseForDialect(StringRef dialect, StringRef text) {
  if (llvm::is_contained({"stablehlo", "chlo", "mhlo", "vhlo"}, dialect))
    return "StableHLO is lowered to linalg by `torch-mlir-opt FILE --inline "
           "--symbol-dce --stablehlo-legalize-to-linalg --canonicalize --cse`; "
           "if loops (while) are left, by `iree-opt FILE --pass-pipeline="
           "'builtin.module(iree-stablehlo-input-transformation-pipeline)'`";
  bool onnx = text.contains("\"onnx.") || text.contains("onnx_meta");
  if (dialect == "onnx" || (dialect.starts_with("torch") && onnx))
    return "ONNX is lowered to linalg by `torch-mlir-import-onnx MODEL.onnx -o "
           "FILE` and `torch-mlir-opt FILE --pass-pipeline='builtin.module("
           "torch-onnx-to-torch-backend-pipeline,torch-backend-to-linalg-on-"
           "tensors-backend-pipeline,canonicalize,cse)'`";
  if (dialect.starts_with("torch"))
    return "Torch ops are lowered to linalg by torch_mlir.fx."
           "export_and_import(…, output_type=\"linalg-on-tensors\"), or by "
           "`torch-mlir-opt FILE --pass-pipeline='builtin.module(torch-backend-"
           "to-linalg-on-tensors-backend-pipeline,canonicalize,cse)'`";
  if (dialect == "tosa")
    return "TOSA is lowered to linalg by `mlir-opt FILE --pass-pipeline="
           "'builtin.module(func.func(tosa-optional-decompositions,tosa-infer-"
           "shapes,tosa-make-broadcastable,tosa-to-linalg-named,tosa-layerwise-"
           "constant-fold),func.func(tosa-to-linalg,tosa-to-arith,tosa-to-"
           "tensor,tosa-to-scf),canonicalize,cse)'`";
  if (dialect == "tm_tensor" || dialect == "iree_linalg_ext")
    return "sort, topk, scan and scatter have no form in linalg: leave them "
           "out of the exported function, or lower StableHLO by "
           "`torch-mlir-opt FILE --inline --symbol-dce --stablehlo-legalize-to-"
           "linalg --canonicalize --cse`, which has one for cumulative sums";
  bool needsHAL = text.contains("hal.") || text.contains("iree_linalg_ext.");
  if (dialect == "util" && !needsHAL)
    return "dumps of IREE parse as functions after `sed -E 's/util\\.func "
           "(public|private)/func.func \\1/; s/util\\.return/return/' FILE`";
  if (llvm::is_contained({"util", "hal", "flow", "stream", "vm", "iree_input"},
                         dialect) ||
      dialect.starts_with("iree"))
    return "this is IREE's own IR, behind linalg: take the model's StableHLO "
           "or ONNX text and lower it by `torch-mlir-opt FILE "
           "--stablehlo-legalize-to-linalg` or --pass-pipeline='builtin.module("
           "torch-onnx-to-torch-backend-pipeline,torch-backend-to-linalg-on-"
           "tensors-backend-pipeline)'";
  if (llvm::is_contained({"tf", "tfl", "tf_executor", "xla"}, dialect))
    return "TensorFlow's dialects are lowered by `tf-opt` or `tf-mlir-"
           "translate` to StableHLO, and that by `torch-mlir-opt FILE "
           "--stablehlo-legalize-to-linalg`";
  return "";
}

/// The dialect of the quoted op name that ends at `location` in `text`.
static StringRef quotedDialectAt(LocationAttr location, StringRef text) {
  auto place = dyn_cast<FileLineColLoc>(location);
  if (!place)
    return {};
  for (unsigned line = 1; line < place.getLine(); ++line)
    text = text.split('\n').second;
  text = text.take_front(place.getColumn() - 1).rtrim();
  text.consume_back("\"");
  StringRef name = text.rsplit('"').second;
  return name.contains('.') ? name.split('.').first : StringRef();
}

/// The dialect that a parser's or verifier's message says is not registered.
static StringRef unregisteredDialect(Diagnostic &diagnostic,
                                     StringRef message, StringRef text) {
  // "Dialect `x' not found for custom op 'x.y'"
  StringRef rest = message;
  if (rest.consume_front("Dialect `"))
    return rest.take_until([](char c) { return c == '\''; });
  if (!message.contains("unregistered dialect"))
    return {};
  // "`!"x"<"…">` type created with unregistered dialect",
  // "#"x"<"…"> : … attribute created with unregistered dialect"
  size_t begin = message.find('"');
  if (begin != StringRef::npos &&
      (message.substr(0, begin).ends_with("!") ||
       message.substr(0, begin).ends_with("#")))
    return message.substr(begin + 1).take_until(
        [](char c) { return c == '"'; });
  // "operation being parsed with an unregistered dialect"
  if (message.starts_with("operation being parsed"))
    return quotedDialectAt(diagnostic.getLocation(), text);
  // "#x<…> attribute created …", "unregistered dialect … 'x.y'"
  begin = message.find_first_of("'#!");
  return message.substr(begin + 1).take_while(
      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

static bool isBytecode(StringRef text) {
  return text.starts_with(kBytecodeMagic);
}

/// Text of the producer in a bytecode header: magic, a variable length
/// version, a string that ends in NUL.
static StringRef bytecodeProducer(StringRef text) {
  StringRef rest = text.drop_front(kBytecodeMagic.size());
  // Versions are below 64, so their encoding is one byte.
  rest = rest.drop_front(std::min<size_t>(1, rest.size()));
  return rest.take_until([](char c) { return c == '\0'; }).take_front(64);
}

static std::string adviseForBytecode(StringRef text) {
  return "this is bytecode written by '" + bytecodeProducer(text).str() +
         "', and this tool reads that of MLIR " + LLVM_VERSION_STRING +
         " and older ones: print it as text with the tool that wrote it "
         "(`mlir-opt FILE -o FILE.mlir`)";
}

/// Advice about a diagnostic, and the dialect it is about; both empty if the
/// diagnostic is about something else.
static std::pair<std::string, std::string>
adviseForDiagnostic(Diagnostic &diagnostic, StringRef text) {
  std::string message = diagnostic.str();
  std::string dialect = unregisteredDialect(diagnostic, message, text).str();
  if (dialect.empty())
    return {};
  std::string advice = adviseForDialect(dialect, text);
  if (advice.empty())
    advice = "'" + dialect +
             "' is no dialect of MLIR " LLVM_VERSION_STRING
             ": lower it to linalg on tensors with the tool that printed it";
  return {dialect, advice};
}

std::string ansor::adviseForInput(llvm::MemoryBufferRef buffer,
                                  const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string advice;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (advice.empty())
      advice = adviseForDiagnostic(diagnostic, buffer.getBuffer()).second;
    return success();
  });
  ParserConfig config(&context);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(buffer.getBuffer(), config);
  if (!module && isBytecode(buffer.getBuffer()))
    return adviseForBytecode(buffer.getBuffer());
  return module ? "" : advice;
}

/// Refuses ops that parse, but stand before linalg.
static LogicalResult checkDialects(ModuleOp module, StringRef text) {
  WalkResult result = module.walk([&](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    if (dialect != "tosa")
      return WalkResult::advance();
    op->emitError() << "this is '" << dialect << "', not linalg on tensors: "
                    << adviseForDialect(dialect, text);
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Finds resources without data (printed elided).
static LogicalResult checkResources(ModuleOp module,
                                    const LoadOptions &options) {
  Operation *first = nullptr;
  std::string name;
  module.walk([&](Operation *op) {
    for (NamedAttribute attr : op->getAttrs()) {
      auto resource = dyn_cast<DenseResourceElementsAttr>(attr.getValue());
      if (!resource || resource.getRawHandle().getBlob())
        continue;
      first = op;
      name = resource.getRawHandle().getKey().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (!first)
    return success();
  InFlightDiagnostic diagnostic =
      options.needsData ? first->emitError() : first->emitWarning();
  diagnostic << "the data of resource '" << name
             << "' is not in the file (it was elided when it was printed)";
  if (options.needsData)
    diagnostic.attachNote()
        << "print the module again with its data: without "
           "--mlir-elide-resource-strings-if-larger, or with "
           "get_asm(large_resource_limit=…) unset";
  return failure(options.needsData);
}

FailureOr<OwningOpRef<ModuleOp>>
ansor::loadModule(StringRef path, MLIRContext &context,
                  const LoadOptions &options) {
  // An error about a module would print all of it.
  context.printOpOnDiagnostic(false);
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &message);
  if (!file) {
    llvm::errs() << "error: " << message << "\n";
    return failure();
  }
  std::string name = file->getBufferIdentifier().str();
  auto sourceMgr = std::make_shared<llvm::SourceMgr>();
  StringRef text = file->getBuffer();
  sourceMgr->AddNewSourceBuffer(std::move(file), SMLoc());
  SourceMgrDiagnosticHandler printer(*sourceMgr, &context);

  if (text.trim().empty()) {
    emitError(FileLineColLoc::get(&context, name, 1, 1),
              "the file is empty; expected a module with linalg on tensors");
    return failure();
  }

  // Errors that advice can replace are kept back, and all those of bytecode.
  OwningOpRef<ModuleOp> module;
  std::optional<Location> where;
  std::string dialect, advice, bytecodeError;
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (isBytecode(text)) {
        if (bytecodeError.empty())
          bytecodeError = diagnostic.str();
        return success();
      }
      auto [name, found] = adviseForDiagnostic(diagnostic, text);
      if (found.empty())
        return failure();
      if (advice.empty()) {
        where = diagnostic.getLocation();
        dialect = name;
        advice = found;
      }
      return success();
    });
    module = parseSourceFile<ModuleOp>(sourceMgr, ParserConfig(&context));
  }
  if (!module) {
    if (isBytecode(text))
      emitError(FileLineColLoc::get(&context, name, 1, 1))
          << adviseForBytecode(text) << " (" << bytecodeError << ")";
    else if (where)
      emitError(*where) << "this is '" << dialect
                        << "', not linalg on tensors: " << advice;
    return failure();
  }
  if (failed(checkDialects(*module, text)) ||
      failed(checkResources(*module, options)))
    return failure();
  return std::move(module);
}
