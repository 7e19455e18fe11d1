//===- EmitObject.cpp - LLVM dialect to objects -----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ansor/Pipelines/Pipelines.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include <mutex>

using namespace mlir;
using namespace mlir::ansor;

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllAsmParsers();
  });
}

/// The machine to generate code for, or null with an error at `module`.
static std::unique_ptr<llvm::TargetMachine>
createMachine(ModuleOp module, const TargetInfo &target, int optLevel) {
  initializeTargets();
  std::string message;
  llvm::Triple triple(target.triple);
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!backend) {
    module.emitError("no code generator for the triple '")
        << target.triple << "': " << message;
    return nullptr;
  }
  llvm::CodeGenOptLevel level = optLevel >= 3   ? llvm::CodeGenOptLevel::Aggressive
                                : optLevel == 2 ? llvm::CodeGenOptLevel::Default
                                : optLevel == 1 ? llvm::CodeGenOptLevel::Less
                                                : llvm::CodeGenOptLevel::None;
  llvm::TargetOptions settings;
  settings.MCOptions.AsmVerbose = true; // loops and spills, for readers of .s
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, target.cpu, target.features, settings,
      llvm::Reloc::PIC_, std::nullopt, level));
  if (!machine)
    module.emitError("can't create the code generator for cpu '")
        << target.cpu << "'";
  return machine;
}

/// Sets what the code generator and the vectoriser of LLVM read from functions.
static void annotate(llvm::Module &module, const TargetInfo &target) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width",
                       std::to_string(target.vectorBits));
  }
}

/// Whether LLVM's optimiser has something to find in `function`: an innermost
/// loop on memory, or code without loops, that computes on scalars.
static bool hasScalarWork(llvm::Function &function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  auto isVector = [](const llvm::Instruction &inst) {
    auto *store = dyn_cast<llvm::StoreInst>(&inst);
    return isa<llvm::VectorType>(store ? store->getValueOperand()->getType()
                                       : inst.getType());
  };
  if (loops.empty())
    return llvm::any_of(llvm::instructions(function),
                        [](const llvm::Instruction &inst) {
                          return inst.getType()->isFloatingPointTy();
                        }) &&
           llvm::none_of(llvm::instructions(function), isVector);
  return llvm::any_of(loops.getLoopsInPreorder(), [&](llvm::Loop *loop) {
    if (!loop->isInnermost())
      return false;
    bool usesMemory = false;
    for (llvm::BasicBlock *block : loop->blocks())
      for (const llvm::Instruction &inst : *block) {
        if (isVector(inst))
          return false;
        usesMemory |= inst.mayReadOrWriteMemory();
      }
    return usesMemory;
  });
}

/// What cleans up code that is vector code already, unrolled as its schedule
/// says. The rest of LLVM's pipeline takes half of a candidate's build, and
/// finds nothing in such code but copying loops to unroll.
static constexpr StringLiteral kVectorCodePipeline =
    "cgscc(inline),"
    "function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine,"
    "loop-mssa(loop-rotate,licm),simplifycfg,instcombine),"
    "globaldce";

static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     int optLevel) {
  if (optLevel <= 0)
    return;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = optLevel > 1;
  tuning.SLPVectorization = optLevel > 1;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cam;
  llvm::ModuleAnalysisManager mam;
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cam, mam);
  llvm::OptimizationLevel level = optLevel >= 3   ? llvm::OptimizationLevel::O3
                                  : optLevel == 2 ? llvm::OptimizationLevel::O2
                                                  : llvm::OptimizationLevel::O1;
  llvm::ModulePassManager passes;
  bool hasScalars = llvm::any_of(module, [](llvm::Function &function) {
    return !function.isDeclaration() && hasScalarWork(function);
  });
  if (hasScalars ||
      llvm::errorToBool(builder.parsePassPipeline(passes, kVectorCodePipeline)))
    passes = builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, mam);
}

LogicalResult ansor::emitObject(ModuleOp module, StringRef path,
                                const CPULoweringOptions &options) {
  TargetInfo target = getTarget(module);
  std::unique_ptr<llvm::TargetMachine> machine =
      createMachine(module, target, options.optLevel);
  if (!machine)
    return failure();

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, "ansor");
  if (!llvmModule)
    return module.emitError("can't be translated to LLVM IR");
  // Without them llvm.memset is a byte loop and vectors are split.
  llvmModule->setTargetTriple(machine->getTargetTriple());
  llvmModule->setDataLayout(machine->createDataLayout());
  annotate(*llvmModule, target);
  optimize(*llvmModule, *machine, options.optLevel);

  std::error_code error;
  llvm::ToolOutputFile out(path, error, llvm::sys::fs::OF_None);
  if (error)
    return module.emitError("can't write '")
           << path << "': " << error.message();
  if (path.ends_with(".ll")) {
    llvmModule->print(out.os(), nullptr);
  } else {
    llvm::legacy::PassManager codegen;
    codegen.add(llvm::createTargetTransformInfoWrapperPass(
        machine->getTargetIRAnalysis()));
    if (machine->addPassesToEmitFile(codegen, out.os(), nullptr,
                                     path.ends_with(".s")
                                         ? llvm::CodeGenFileType::AssemblyFile
                                         : llvm::CodeGenFileType::ObjectFile))
      return module.emitError("the code generator can't write '")
             << path << "'";
    codegen.run(*llvmModule);
  }
  out.os().flush();
  if (std::error_code full = out.os().error()) {
    out.os().clear_error();
    return module.emitError("can't write '")
           << path << "': " << full.message();
  }
  out.keep();
  return success();
}

/// The linker for `triple`.
static FailureOr<std::string> findLinker(StringRef triple, std::string &error) {
  llvm::Triple target(triple), host(llvm::sys::getDefaultTargetTriple());
  // GNU ld starts in 4 ms; lld needs ten times as long.
  SmallVector<std::string> names = {"ld"};
  if (!triple.empty() && target.getArch() != host.getArch())
    names = {target.getArchName().str() + "-linux-gnu-ld", "ld.lld",
             "ld.lld-" + std::to_string(LLVM_VERSION_MAJOR)};
  for (StringRef name : names)
    if (auto linker = llvm::sys::findProgramByName(name))
      return *linker;
  error = "no linker '" + llvm::join(names, "', '") + "' on the path";
  return failure();
}

LogicalResult ansor::linkShared(ArrayRef<std::string> objects, StringRef path,
                                StringRef triple, std::string &error) {
  FailureOr<std::string> linker = findLinker(triple, error);
  if (failed(linker))
    return failure();
  SmallVector<StringRef> args = {*linker, "-shared", "-o", path};
  args.append(objects.begin(), objects.end());
  SmallString<128> log;
  if (std::error_code ec =
          llvm::sys::fs::createTemporaryFile("ansor-ld", "log", log)) {
    error = "can't create a temporary file: " + ec.message();
    return failure();
  }
  llvm::FileRemover remover(log);
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log),
                                          StringRef(log)};
  std::string message;
  int rc = llvm::sys::ExecuteAndWait(*linker, args, std::nullopt, redirects,
                                     /*SecondsToWait=*/60, /*MemoryLimit=*/0,
                                     &message);
  if (rc == 0)
    return success();
  error = message;
  if (auto text = llvm::MemoryBuffer::getFile(log))
    error += (*text)->getBuffer().str();
  if (error.empty())
    error = *linker + " gave no reason; is there space left for '" + path.str() +
            "'?";
  return failure();
}
