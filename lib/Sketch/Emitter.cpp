//===- Emitter.cpp - Sketches as transform scripts --------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nests are printed producers first. A nest that is complete is a loop, which
// the greedy fusion of a later nest can't pull in: so a stage is computed with
// its first consumer only if a rule wanted it so.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "ansor/IR/AnsorDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::ansor;

static constexpr StringLiteral kHandle = "!transform.any_op";
static constexpr StringLiteral kParam = "!transform.param<i64>";

/// "s1.d0.l2" -> "%s1_d0_l2".
static std::string valueOf(StringRef knob) {
  std::string name = "%" + knob.str();
  std::replace(name.begin(), name.end(), '.', '_');
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

static void printDomain(raw_ostream &os, const KnobDomain &domain) {
  os << "{kind = \"" << stringify(domain.kind) << "\", stage = " << domain.stage
     << " : i64";
  if (domain.kind == KnobKind::Tile) {
    os << ", loop = " << domain.loop << " : i64, level = " << domain.level
       << " : i64, levels = " << domain.levels
       << " : i64, extent = " << domain.extent << " : i64, policy = \""
       << (domain.policy == TilePolicy::Divisor ? "divisor" : "remainder")
       << "\"";
    if (domain.multipleOf != 1)
      os << ", multiple_of = " << domain.multipleOf << " : i64";
    if (domain.max)
      os << ", max = " << domain.max << " : i64";
  } else {
    os << ", values = [";
    llvm::interleaveComma(domain.values, os,
                          [&](int64_t value) { os << value << " : i64"; });
    os << "]";
  }
  os << "}";
}

static void printConstraints(raw_ostream &os, const SketchState &state,
                             MLIRContext *context) {
  os << "[";
  llvm::interleave(
      state.constraints, os,
      [&](const SketchConstraint &constraint) {
        os << "\n  {name = \"" << constraint.name << "\", reason = "
           << StringAttr::get(context, constraint.reason)
           << ", max = " << constraint.max << " : i64, terms = [";
        llvm::interleaveComma(constraint.terms, os, [&](const auto &term) {
          os << "{";
          if (term.coefficient != 1)
            os << "coefficient = " << term.coefficient << " : i64, ";
          os << "knobs = [";
          llvm::interleaveComma(term.knobs, os, [&](StringRef knob) {
            os << '"' << knob << '"';
          });
          os << "]}";
        });
        os << "]}";
      },
      ",");
  os << "]";
}

namespace {
/// Prints the steps of one nest and remembers their handles.
class NestPrinter {
public:
  NestPrinter(raw_ostream &os, const TaskGraph &graph, const Nest &nest,
              unsigned number)
      : os(os), graph(graph), nest(nest), number(number) {}

  void print() {
    for (auto [index, step] : llvm::enumerate(nest.steps))
      printStep(index, step);
  }

private:
  struct Handles {
    std::string op;   ///< the tiled op, empty if the step printed nothing
    std::string rest; ///< the second part of a split
    std::string loop; ///< its innermost loop, empty likewise
  };

  /// The op handle that `step` starts from, matched now if need be.
  std::string target(const Step &step, unsigned index) {
    if (step.rest)
      return handles[step.from].rest;
    for (int from = step.from; from >= 0;) {
      if (!handles[from].op.empty())
        return handles[from].op;
      // A step without loops left the op where it was.
      const Step &previous = nest.steps[from];
      if (previous.rest)
        return handles[previous.from].rest;
      if (previous.from < 0)
        return match(step.stage, previous.scope, index);
      from = previous.from;
    }
    return match(step.stage, step.scope, index);
  }

  std::string match(unsigned stage, int scope, unsigned index) {
    std::string name = "%n" + std::to_string(number) + "_m" +
                       std::to_string(index);
    os << "    " << name << " = transform.structured.match attributes {"
       << kStageAttr << " = " << graph.getStage(stage).tag << " : i64} in "
       << scopeHandle(scope) << " : (" << kHandle << ") -> " << kHandle << "\n";
    return name;
  }

  std::string scopeHandle(int scope) {
    while (scope >= 0) {
      if (!handles[scope].loop.empty())
        return handles[scope].loop;
      const Step &step = nest.steps[scope];
      scope = step.from >= 0 ? step.from : step.scope;
    }
    return "%func";
  }

  void printStep(unsigned index, const Step &step) {
    handles.emplace_back();
    unsigned numLoops = llvm::count_if(
        step.sizes, [](const TileSize &size) { return !size.isZero(); });
    if (step.kind == Step::Kind::Split)
      return printSplit(index, step);
    if (step.kind != Step::Kind::Text && numLoops == 0) {
      if (step.vectorize)
        annotate(target(step, index), kVectorizeAttr);
      return;
    }
    std::string prefix =
        "%n" + std::to_string(number) + "_" + std::to_string(index);
    if (step.kind == Step::Kind::Text)
      return printText(index, step, prefix);
    std::string op = target(step, index);
    if (step.repeated) {
      os << "    transform.foreach " << op << " : " << kHandle << " {\n"
         << "    ^bb0(" << prefix << "_each: " << kHandle << "):\n";
      op = prefix + "_each";
    }
    bool forall = step.kind == Step::Kind::FuseForall;
    unsigned numLoopHandles = forall ? 1 : numLoops;
    os << "    " << prefix << ", " << prefix << "_l:" << numLoopHandles
       << " = transform.structured."
       << (step.kind == Step::Kind::Tile ? "tile_using_for" : "fuse") << " "
       << op << " tile_sizes [";
    llvm::interleaveComma(step.sizes, os, [&](const TileSize &size) {
      if (size.knob.empty())
        os << size.value;
      else
        os << valueOf(size.knob);
    });
    os << "]";
    if (!step.order.empty()) {
      os << (step.kind == Step::Kind::Tile ? " interchange = ["
                                           : " interchange [");
      llvm::interleaveComma(step.order, os);
      os << "]";
    }
    if (forall)
      os << (step.mergeSlices ? " {apply_cleanup, use_forall}"
                              : " {use_forall}");
    os << " : (" << kHandle;
    for (const TileSize &size : step.sizes)
      if (!size.knob.empty())
        os << ", " << kParam;
    os << ") -> (" << kHandle;
    for (unsigned i = 0; i < numLoopHandles; ++i)
      os << ", " << kHandle;
    os << ")\n";
    std::string loop = prefix + "_l#" + std::to_string(numLoopHandles - 1);
    if (forall)
      annotate(loop, kParallelAttr);
    if (step.vectorize)
      annotate(prefix, kVectorizeAttr);
    if (!step.unroll.empty())
      os << "    transform.annotate " << loop << " \"" << kUnrollAttr
         << "\" = " << valueOf(step.unroll) << " : " << kHandle << ", "
         << kParam << "\n";
    if (step.repeated) {
      os << "    }\n";
      return;
    }
    handles.back().op = prefix;
    handles.back().loop = loop;
  }

  void printSplit(unsigned index, const Step &step) {
    std::string op = target(step, index);
    std::string prefix =
        "%n" + std::to_string(number) + "_" + std::to_string(index);
    os << "    " << prefix << "_parts = transform.structured.split " << op
       << " after " << step.splitAt << " {dimension = " << step.splitLoop
       << "} : " << kHandle << "\n"
       << "    " << prefix << ":2 = transform.split_handle " << prefix
       << "_parts : (" << kHandle << ") -> (" << kHandle << ", " << kHandle
       << ")\n";
    handles.back().op = prefix + "#0";
    handles.back().rest = prefix + "#1";
  }

  void printText(unsigned index, const Step &step, StringRef prefix) {
    std::string text = step.text;
    std::pair<StringRef, std::string> substitutions[] = {
        {"{op}", StringRef(text).contains("{op}") ? target(step, index) : ""},
        {"{loop}", scopeHandle(step.from >= 0 ? step.from : step.scope)},
        {"{tile}", step.sizes.empty() ? "" : valueOf(step.sizes.front().knob)},
        {"{result}", prefix.str()}};
    for (auto &[key, value] : substitutions)
      for (size_t at = 0; (at = text.find(key.str(), at)) != std::string::npos;
           at += value.size())
        text.replace(at, key.size(), value);
    os << "    " << text << "\n";
    if (StringRef(step.text).contains("{result}"))
      handles.back().op = prefix.str();
    if (StringRef(step.text).contains("{result}_rest"))
      handles.back().rest = (prefix + "_rest").str();
  }

  void annotate(StringRef handle, StringRef attribute) {
    os << "    transform.annotate " << handle << " \"" << attribute
       << "\" : " << kHandle << "\n";
  }

  raw_ostream &os;
  const TaskGraph &graph;
  const Nest &nest;
  unsigned number;
  SmallVector<Handles> handles;
};
} // namespace

std::string mlir::ansor::emitScript(const SketchContext &context,
                                    const SketchState &state, StringRef name) {
  std::string script;
  llvm::raw_string_ostream os(script);
  StringRef key = context.graph.getKey();
  MLIRContext *mlirContext = context.graph.getTask().getContext();
  std::string symbol = (key + "_" + name).str();
  for (char &c : symbol)
    if (!llvm::isAlnum(c) && c != '_')
      c = '_';

  os << "module attributes {transform.with_named_sequence, " << kSketchAttr
     << " = \"" << name << "\", " << kDerivationAttr << " = [";
  llvm::interleaveComma(state.derivation, os,
                        [&](StringRef rule) { os << '"' << rule << '"'; });
  os << "], " << kConstraintsAttr << " = ";
  printConstraints(os, state, mlirContext);
  os << "} {\n"
     << "  transform.named_sequence @__transform_main(%module: " << kHandle
     << " {transform.readonly}) {\n"
     << "    %tasks = transform.structured.match ops{[\"func.func\"]} "
        "attributes {"
     << kTaskAttr << " = " << StringAttr::get(mlirContext, key)
     << "} in %module : (" << kHandle << ") -> " << kHandle << "\n"
     << "    transform.foreach %tasks : " << kHandle << " {\n"
     << "    ^bb0(%task: " << kHandle << "):\n"
     << "      transform.include @" << symbol
     << " failures(propagate) (%task) : (" << kHandle << ") -> ()\n"
     << "    }\n    transform.yield\n  }\n"
     << "  transform.named_sequence @" << symbol << "(%func: " << kHandle
     << " {transform.readonly}) {\n";
  for (const SketchKnob &knob : state.knobs) {
    os << "    " << valueOf(knob.name) << " = transform.tune.knob<\""
       << knob.name << "\"> options = ";
    printDomain(os, knob.domain);
    os << " -> " << kParam << "\n";
  }
  unsigned number = 0;
  for (const Nest &nest : llvm::reverse(state.nests))
    NestPrinter(os, context.graph, nest, number++).print();
  if (llvm::any_of(state.nests, [](const Nest &nest) { return nest.foldPads; }))
    os << "    transform.apply_patterns to %func {\n"
          "      transform.apply_patterns.ansor.fold_pads\n    } : "
       << kHandle << "\n";
  os << "    transform.yield\n  }\n}\n";
  return script;
}
