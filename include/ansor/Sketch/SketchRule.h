//===- SketchRule.h - Derivation rules --------------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of derivation rules (OSDI 2020, table 1), and what they build.
//
// A derivation visits the stages of a task from the last to the first. For each
// it asks the rules in the order of the registry; a rule that matches makes new
// states of the current one. A state holds loop nests: lists of tiling steps
// that the emitter prints as transform ops. Rules of users come first.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_SKETCH_SKETCHRULE_H
#define ANSOR_SKETCH_SKETCHRULE_H

#include "ansor/IR/KnobDomain.h"
#include "ansor/Sketch/Sketch.h"
#include "ansor/Sketch/TaskGraph.h"
#include "ansor/Target/Target.h"
#include <functional>
#include <memory>
#include <string>

namespace mlir::ansor {

/// A tile size: a knob, or a constant. Constant 0 leaves the loop alone.
struct TileSize {
  std::string knob;
  int64_t value = 0;

  TileSize() = default;
  TileSize(int64_t value) : value(value) {}
  TileSize(std::string knob) : knob(std::move(knob)) {}
  bool isZero() const { return knob.empty() && value == 0; }
};

/// One tiling of one op. Steps refer to earlier ones of their nest by index.
struct Step {
  enum class Kind {
    FuseForall, ///< an scf.forall over tiles, producers fused into it
    Fuse,       ///< scf.for loops, producers fused into them
    Tile,       ///< scf.for loops, producers stay outside
    Split,      ///< the op becomes two, before and from iteration `splitAt`
    Text        ///< `text`, printed as it is (rules of users)
  };
  Kind kind = Kind::Tile;
  unsigned stage = 0;
  /// The step whose tiled op is tiled further, or -1.
  int from = -1;
  /// Without `from`: the step in whose innermost loop the stage is looked for,
  /// or -1 for the function.
  int scope = -1;
  /// `from` is a split, and its second part is meant, or a text that makes
  /// "{result}_rest".
  bool rest = false;
  SmallVector<TileSize> sizes; ///< one a loop of the stage
  SmallVector<int64_t> order;  ///< loops from the outermost, or empty
  bool vectorize = false;      ///< the tiled op becomes vector code
  /// The op occurs several times in the scope: each is tiled.
  bool repeated = false;
  std::string unroll;          ///< knob of the innermost loop's unrolling
  /// FuseForall: what is tiled is a part of a split, whose slices have to be
  /// merged before producers are seen behind them.
  bool mergeSlices = false;
  /// Kind Split: the loop and the iteration.
  unsigned splitLoop = 0;
  int64_t splitAt = 0;
  /// Kind Text: "{op}" is the op, "{loop}" the innermost loop around it,
  /// "{result}" a fresh name, and the beginning of others, "{tile}" the first of
  /// `sizes`, which is a knob.
  std::string text;
};

/// A stage that is computed inside a nest. A stage of a nest in several parts
/// is a member once for each.
struct NestMember {
  unsigned stage = 0;
  /// The step in whose innermost loop it and its producers are.
  int scope = -1;
  /// The innermost tile of each of its loops.
  SmallVector<TileSize> tile;
  /// Several stages of the nest use it, so that it may occur several times.
  bool repeated = false;
  /// Greedy fusion does not see the stage that computes its initial value.
  bool initialOutside = false;
};

/// The loops around one root stage and all that is computed inside them.
struct Nest {
  unsigned root = 0; ///< the stage that is tiled first
  std::vector<Step> steps;
  std::vector<NestMember> members;
  /// Tiles pad what they read, and tiles that need no padding read the tensor
  /// as it is.
  bool foldPads = false;
};

/// sum of coefficient * product of knobs <= max; see Space/DesignSpace.h.
struct SketchConstraint {
  struct Term {
    int64_t coefficient = 1;
    SmallVector<std::string> knobs;
  };
  std::string name, reason;
  SmallVector<Term> terms;
  int64_t max = 0;
};

struct SketchKnob {
  std::string name;
  KnobDomain domain;
};

/// What has been decided about a stage.
enum class StageStatus {
  Open,  ///< not visited
  Root,  ///< root of a nest
  Fused, ///< computed inside a nest
  Alone  ///< left as it is
};

struct SketchState {
  SmallVector<StageStatus> status;
  SmallVector<int> nestOf; ///< nest of each stage, or -1
  std::vector<Nest> nests; ///< in order of derivation: consumers first
  std::vector<SketchKnob> knobs;
  std::vector<SketchConstraint> constraints;
  SmallVector<std::string> derivation;

  /// Adds a knob unless one of that name exists; returns a tile of it.
  TileSize addKnob(StringRef name, KnobDomain domain);
  void addConstraint(SketchConstraint constraint);
  /// Index of the new nest.
  unsigned addNest(Nest nest);
};

struct SketchContext {
  const TaskGraph &graph;
  const TargetInfo &target;
  SpaceKind space = SpaceKind::Full;
};

class SketchRule {
public:
  enum class Match { Skip, Apply, ApplyAndSkipRest };
  /// A state, and the stage that is visited next in it (-1: complete).
  using Successor = std::pair<SketchState, int>;

  virtual ~SketchRule();
  /// Name in derivations: "tile".
  virtual StringRef getName() const = 0;
  virtual Match match(const SketchContext &context, const SketchState &state,
                      unsigned stage) const = 0;
  virtual void apply(const SketchContext &context, const SketchState &state,
                     unsigned stage,
                     std::vector<Successor> &successors) const = 0;
};

using SketchRules = std::vector<std::unique_ptr<SketchRule>>;

/// Adds a rule to every later derivation, in front of the built-in ones and
/// behind those added before.
void registerSketchRule(std::function<std::unique_ptr<SketchRule>()> factory);

/// The registered rules, then the built-in ones for `space`.
SketchRules getSketchRules(SpaceKind space);

//===----------------------------------------------------------------------===//
// Helpers for rules
//===----------------------------------------------------------------------===//

/// Knob "s<tag>.d<loop>.l<level>" of a loop with `levels` tile levels, for its
/// first `extent` iterations (0: all). Returns constant 0 for a loop that is
/// never cut.
TileSize addTileKnob(SketchState &state, const Stage &stage, unsigned loop,
                     unsigned level, unsigned levels, int64_t multipleOf = 1,
                     int64_t max = 0, int64_t extent = 0,
                     TilePolicy policy = TilePolicy::Divisor);

/// How a loop is cut: tiles are multiples of `multipleOf`, and the outermost
/// ones need not divide the extent with policy "remainder".
struct LoopCut {
  TilePolicy policy = TilePolicy::Divisor;
  int64_t multipleOf = 1;
};

/// Cuts of all loops of `stage`, vectors lying along `vectorLoop` (or -1).
/// Sizes that divide are preferred: a loop gets remainders if hardly any of its
/// divisors makes a good tile, and all loops do if there is little to choose
/// from altogether.
SmallVector<LoopCut> chooseCuts(const SketchContext &context,
                                const Stage &stage, int vectorLoop);

/// The same knob after `cut`; levels but the outermost divide what is outside
/// of them.
TileSize addTileKnob(SketchState &state, const Stage &stage, unsigned loop,
                     unsigned level, unsigned levels, const LoopCut &cut);

/// The number of elements that the innermost tile of `loop` is a multiple of:
/// the largest power of two up to the vector lanes that divides the extent.
int64_t vectorMultiple(const SketchContext &context, const Stage &stage,
                       unsigned loop);

/// The loops from the outermost: those that aren't reductions, then those that
/// are. Empty if that is their order already.
SmallVector<int64_t> spatialFirst(const Stage &stage);

/// Bounds for `stage` when its innermost tile is `body` and the data of `cache`
/// is reused: accumulators in registers, footprint in the cache, size of the
/// body, number of iterations.
void addTileConstraints(const SketchContext &context, SketchState &state,
                        const Stage &stage, ArrayRef<TileSize> body,
                        ArrayRef<TileSize> cache);
void addTileConstraints(const SketchContext &context, SketchState &state,
                        unsigned stage, ArrayRef<TileSize> body,
                        ArrayRef<TileSize> cache);

/// Tiles of `stage`, whose result a user with the given `tiles` reads at map
/// `read`. Loops that no tile follows get one vector's length, or 1.
SmallVector<TileSize> followTiles(const SketchContext &context,
                                  const Stage &stage, AffineMap read,
                                  ArrayRef<TileSize> tiles);

/// True if `stage` has several users in `nest`, or a user that has.
bool isRepeated(const SketchContext &context, const Nest &nest,
                unsigned stage);

/// Computes `stage` in each nest that holds a consumer, tiled as the consumer
/// is. Fails if some consumer is in no nest.
LogicalResult fuseWithConsumers(const SketchContext &context,
                                SketchState &state, unsigned stage);

/// The last open stage that `accept` takes and whose matched consumer is
/// `consumer`.
std::optional<std::pair<unsigned, MatchedConsumer>>
findAnchor(const SketchContext &context, const SketchState &state,
           unsigned consumer, function_ref<bool(const Stage &)> accept);

/// Tiles of the consumer's loops that follow `tiles` of the anchor's.
SmallVector<TileSize> consumerTiles(const MatchedConsumer &consumer,
                                    ArrayRef<TileSize> tiles);

} // namespace mlir::ansor

#endif // ANSOR_SKETCH_SKETCHRULE_H
