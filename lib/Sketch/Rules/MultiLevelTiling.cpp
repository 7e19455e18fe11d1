//===- MultiLevelTiling.cpp - Multi-level tiling ----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The nest of an anchor, from the outermost:
//
//   S0  scf.forall over tiles T0 of the parallel loops
//   S1  scf.for over tiles T1; the initial value is computed here
//   R0  scf.for over tiles of the reductions
//   S2  scf.for over tiles T2 (the register tile), and with it
//   R1  scf.for over the innermost tiles of the reductions
//
// With T1 = T2 and R0 as long as the reduction, a register tile is initialised,
// accumulated and (if the consumer is computed at S1) consumed without leaving
// the registers.
//
//===----------------------------------------------------------------------===//

#include "MultiLevelTiling.h"
#include "ansor/IR/AnsorDialect.h"
#include "mlir/Dialect/Affine/Analysis/AffineStructures.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ansor;

/// Innermost tile of the paper's space.
static constexpr int64_t kAnsorMaxInnermost = 64;
/// Outermost indices of a transposed copy that are made at once.
static constexpr int64_t kCopySlice = 32;

namespace {
/// Builds one nest, part by part.
class NestBuilder {
public:
  NestBuilder(const SketchContext &context, SketchState &state,
              unsigned anchor, const MultiLevelOptions &options)
      : context(context), state(state), anchor(anchor),
        stage(options.columns ? options.columns->product
                              : context.graph.getStage(anchor)),
        options(options) {}

  void build() {
    nest.root = options.consumer ? options.consumer->stage : anchor;
    makeTiles();
    if (options.borders.empty())
      addParts(/*split=*/0, /*from=*/-1, /*rest=*/false, {});
    else
      addBorderParts();
    state.addNest(std::move(nest));
    if (options.consumer)
      for (unsigned between : llvm::reverse(options.consumer->between))
        (void)fuseWithConsumers(context, state, between);
    SmallVector<TileSize> cache = spatial[1];
    for (unsigned loop : stage.reductionLoops())
      cache[loop] = reduction[0][loop];
    addTileConstraints(context, state, stage, innerTiles({}), cache);
    if (options.columns)
      addColumnsConstraint();
  }

private:
  void makeTiles();
  void addParts(unsigned split, int from, bool rest,
                SmallVector<unsigned> whole);
  void addBorderParts();
  int addSplit(int from, bool rest, unsigned loop, int64_t at);
  void addPart(int from, bool rest, ArrayRef<unsigned> whole);
  void addCacheRead(int root, int anchorFrom);
  void addPack(int body);
  int addColumns(int root, int anchorFrom);
  void addColumnsConstraint();

  /// The loop that vectors lie along, or -1.
  int vectorLoop() const {
    return options.lane >= 0 ? options.lane : stage.contiguousLoop();
  }

  /// Tiles of the innermost body; loops in `whole` are not cut.
  SmallVector<TileSize> innerTiles(ArrayRef<unsigned> whole) {
    SmallVector<TileSize> tiles = cutTiles(2, whole);
    for (unsigned loop : stage.reductionLoops())
      tiles[loop] = reduction[1][loop];
    return tiles;
  }

  static SmallVector<TileSize> without(ArrayRef<TileSize> tiles,
                                       ArrayRef<unsigned> whole) {
    SmallVector<TileSize> result(tiles);
    for (unsigned loop : whole)
      result[loop] = TileSize(0);
    return result;
  }

  /// The tiles `level` of the parallel loops.
  SmallVector<TileSize> cutTiles(unsigned level, ArrayRef<unsigned> whole) {
    SmallVector<TileSize> tiles = without(spatial[level], whole);
    if (level > 0)
      for (auto [loop, size] : fixed)
        tiles[loop] = TileSize(size);
    return tiles;
  }

  /// The same of the root's loops.
  SmallVector<TileSize> rootTiles(unsigned level, ArrayRef<unsigned> whole) {
    SmallVector<TileSize> tiles = cutTiles(level, whole);
    return options.consumer ? consumerTiles(*options.consumer, tiles) : tiles;
  }

  int addStep(Step::Kind kind, unsigned index, int from, int scope,
              ArrayRef<TileSize> sizes) {
    Step step;
    step.kind = kind;
    step.stage = index;
    step.from = from;
    step.scope = scope;
    step.sizes.assign(sizes.begin(), sizes.end());
    nest.steps.push_back(std::move(step));
    return static_cast<int>(nest.steps.size()) - 1;
  }

  const SketchContext &context;
  SketchState &state;
  unsigned anchor;
  const Stage &stage; ///< the anchor, or what is left of it
  const MultiLevelOptions &options;
  Nest nest;
  SmallVector<TileSize> spatial[3], reduction[2];
  /// Of the part that is built: register tiles of loops that no knob cuts.
  SmallVector<std::pair<unsigned, int64_t>> fixed;
};
} // namespace

int64_t mlir::ansor::productGroup(const Stage &stage, unsigned loop) {
  if (stage.reads.size() != 2)
    return 1;
  bool along = false;
  int64_t bits = 0;
  for (const StageRead &read : stage.reads) {
    bits = std::max(bits, read.elementBits);
    along |= read.map.getNumResults() > 0 &&
             read.map.getResults().back() ==
                 getAffineDimExpr(loop, read.map.getContext());
  }
  int64_t group = bits > 0 ? stage.elementBits / bits : 1;
  return along && group > 1 && stage.loops[loop].extent % group == 0 ? group
                                                                     : 1;
}

void NestBuilder::makeTiles() {
  unsigned numLoops = stage.loops.size();
  bool ansor = context.space == SpaceKind::Ansor;
  int64_t max = ansor ? kAnsorMaxInnermost : 0;
  int vectorLoop = ansor ? -1 : this->vectorLoop();
  for (auto &tiles : spatial)
    tiles.resize(numLoops);
  for (auto &tiles : reduction)
    tiles.resize(numLoops);
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    if (!stage.loops[loop].reduction) {
      int64_t extent = stage.loops[loop].extent;
      for (auto [index, at] : options.splits)
        if (index == loop)
          extent = at;
      for (const Border &border : options.borders)
        if (border.loop == loop)
          extent -= border.low + border.high;
      bool isCut = llvm::any_of(options.borders, [&](const Border &border) {
        return border.loop == loop;
      });
      // A row without its border is seldom a multiple of anything.
      if (isCut && static_cast<int>(loop) == vectorLoop)
        continue;
      int64_t multiple = 1;
      if (static_cast<int>(loop) == vectorLoop) {
        multiple = context.target.lanes(stage.elementBits);
        while (multiple > 1 && extent % multiple)
          multiple /= 2;
      }
      for (unsigned level = 0; level < 3; ++level)
        spatial[level][loop] =
            addTileKnob(state, stage, loop, level, 3, multiple,
                        level == 2 ? max : 0, extent);
    } else if (stage.reorderable) {
      int64_t group = ansor ? 1 : productGroup(stage, loop);
      for (unsigned level = 0; level < 2; ++level)
        reduction[level][loop] = addTileKnob(state, stage, loop, level, 2,
                                             group, level == 1 ? max : 0);
    }
  }
}

/// Splits `loop` of the anchor at the root; gives the step.
int NestBuilder::addSplit(int from, bool rest, unsigned loop, int64_t at) {
  int step = addStep(Step::Kind::Split, nest.root, from, -1, {});
  nest.steps[step].rest = rest;
  nest.steps[step].splitAt = at;
  nest.steps[step].splitLoop = loop;
  if (options.consumer)
    nest.steps[step].splitLoop =
        llvm::find(options.consumer->anchorLoop, loop) -
        options.consumer->anchorLoop.begin();
  return step;
}

/// Register tiles of a border, along the loops that it isn't a border of.
static int64_t borderTile(int64_t extent) {
  for (int64_t size : {4, 3, 2})
    if (extent % size == 0)
      return size;
  return 1;
}

/// Cuts the borders off, loop after loop, and adds the nest of each and of what
/// is left. A border has the whole extent of the loops that are cut later.
void NestBuilder::addBorderParts() {
  struct Part {
    int from;
    bool rest;
    size_t border; ///< index of the border that it is; else their number
  };
  SmallVector<Part> parts;
  int from = -1;
  bool rest = false;
  for (auto [index, border] : llvm::enumerate(options.borders)) {
    int64_t middle =
        stage.loops[border.loop].extent - border.low - border.high;
    if (border.low) {
      from = addSplit(from, rest, border.loop, border.low);
      parts.push_back({from, false, index});
      rest = true;
    }
    if (border.high) {
      from = addSplit(from, rest, border.loop, middle);
      parts.push_back({from, true, index});
      rest = false;
    }
  }
  parts.push_back({from, rest, options.borders.size()});
  if (!options.consumer) {
    int text = addStep(Step::Kind::Text, nest.root, -1, -1, {});
    nest.steps[text].text =
        "transform.apply_patterns to %func {\n      "
        "transform.apply_patterns.ansor.split_initial_values\n    } : "
        "!transform.any_op";
  }
  for (const Part &part : parts) {
    SmallVector<unsigned> whole;
    fixed.clear();
    for (auto [index, border] : llvm::enumerate(options.borders)) {
      if (index < part.border)
        continue;
      whole.push_back(border.loop);
      if (index > part.border &&
          static_cast<int>(border.loop) != stage.contiguousLoop())
        fixed.emplace_back(border.loop,
                           borderTile(stage.loops[border.loop].extent));
    }
    addPart(part.from, part.rest, whole);
  }
  fixed.clear();
  nest.foldPads = true;
}

/// Splits loop after loop, and adds the nest of each part.
void NestBuilder::addParts(unsigned split, int from, bool rest,
                           SmallVector<unsigned> whole) {
  if (split == options.splits.size())
    return addPart(from, rest, whole);
  auto [loop, at] = options.splits[split];
  int step = addSplit(from, rest, loop, at);
  addParts(split + 1, step, /*rest=*/false, whole);
  whole.push_back(loop);
  addParts(split + 1, step, /*rest=*/true, whole);
}

/// Makes a contiguous copy of an operand for each parallel tile. If a stage
/// computes the operand, its result is that copy; it is tiled at once, so that
/// no inner level computes it again.
void NestBuilder::addCacheRead(int root, int anchorFrom) {
  const StageRead &read = *llvm::find_if(stage.reads, [&](const auto &read) {
    return static_cast<int>(read.operand) == options.cacheRead;
  });
  if (read.producer < 0) {
    int copy = addStep(Step::Kind::Text, anchor, anchorFrom,
                       anchorFrom < 0 ? root : -1, {});
    nest.steps[copy].text =
        "{result} = transform.get_operand {op}[" +
        std::to_string(read.operand) +
        "] : (!transform.any_op) -> !transform.any_value\n    "
        "transform.structured.promote_tensor {result} : !transform.any_value";
    return;
  }
  const Stage &producer = context.graph.getStage(read.producer);
  SmallVector<TileSize> tiles =
      followTiles(context, producer, read.map, innerTiles({}));
  if (permutesOnly(producer)) {
    // Slices of the copy, of any size: the code generator makes blocks of them
    // that it transposes in registers.
    tiles.assign(producer.loops.size(), TileSize(0));
    for (auto [loop, info] : llvm::enumerate(producer.loops))
      if (info.extent > 1) {
        int64_t size = std::min(info.extent, kCopySlice);
        while (info.extent % size)
          --size;
        tiles[loop] = size;
        break;
      }
  }
  int step = addStep(Step::Kind::Tile, read.producer, -1, root, tiles);
  nest.steps[step].vectorize = true;
  nest.members.push_back(
      {static_cast<unsigned>(read.producer), root, tiles, false, false});
}

/// Lets the tiled anchor read an operand from panels.
void NestBuilder::addPack(int body) {
  unsigned loop = vectorLoop();
  int step = addStep(Step::Kind::Text, anchor, body, -1, spatial[2][loop]);
  nest.steps[step].text =
      "transform.ansor.pack_operand {op}[" + std::to_string(options.pack) +
      "] loop " + std::to_string(loop) +
      " tile {tile} : !transform.any_op, !transform.param<i64>";
}

/// Copies the windows of an operand for each parallel tile; gives the step that
/// makes the anchor a product of the copy.
int NestBuilder::addColumns(int root, int anchorFrom) {
  const Columns &columns = *options.columns;
  int step = addStep(Step::Kind::Text, anchor, anchorFrom,
                     anchorFrom < 0 ? root : -1, {});
  std::string &text = nest.steps[step].text;
  text = "{result}, {result}_rest = transform.ansor.im2col {op}[" +
         std::to_string(columns.operand) + "] group " +
         std::to_string(columns.group);
  if (columns.lane >= 0)
    text += " lane " + std::to_string(columns.lane);
  // The tag stands for other loops from here on.
  text += " : (!transform.any_op) -> (!transform.any_op, !transform.any_op)"
          "\n    {result}_tag = transform.param.constant " +
          std::to_string(stage.tag) +
          " : i64 -> !transform.param<i64>\n    transform.annotate {result} \"" +
          kStageAttr.str() +
          "\" = {result}_tag : !transform.any_op, !transform.param<i64>";
  int copy = addStep(Step::Kind::Tile, anchor, step, -1, columns.copyTile);
  nest.steps[copy].rest = true;
  nest.steps[copy].vectorize = true;
  return step;
}

/// Bounds the copy of a parallel tile.
void NestBuilder::addColumnsConstraint() {
  const Columns &columns = *options.columns;
  SketchConstraint bound;
  bound.name = "columns";
  bound.reason = "the windows that a parallel tile copies fit in the "
                 "second-level cache";
  SketchConstraint::Term term;
  auto read = llvm::find_if(stage.reads, [&](const StageRead &read) {
    return read.operand == columns.operand;
  });
  term.coefficient = columns.rowElements * read->elementBits / 8;
  for (unsigned loop : columns.rowLoops)
    if (!spatial[0][loop].knob.empty())
      term.knobs.push_back(spatial[0][loop].knob);
  bound.terms.push_back(std::move(term));
  bound.max = context.target.l2;
  if (!bound.terms.front().knobs.empty())
    state.addConstraint(std::move(bound));
}

void NestBuilder::addPart(int from, bool rest, ArrayRef<unsigned> whole) {
  // S0. A part that no loop cuts still is a tile.
  SmallVector<TileSize> parallel = rootTiles(0, whole);
  if (llvm::all_of(parallel, [](const TileSize &tile) { return tile.isZero(); }))
    for (unsigned loop = 0; loop < parallel.size(); ++loop) {
      unsigned followed =
          options.consumer ? options.consumer->anchorLoop[loop] : loop;
      for (auto [index, at] : options.splits)
        if (index == followed)
          parallel[loop] = TileSize(stage.loops[index].extent - at);
      for (const Border &border : options.borders)
        if (border.loop == followed)
          parallel[loop] = TileSize(stage.loops[followed].extent);
    }
  int root = addStep(Step::Kind::FuseForall, nest.root, from, -1, parallel);
  nest.steps[root].rest = rest;
  nest.steps[root].mergeSlices = from >= 0;
  int anchorFrom = options.fuseLevel == 0 ? root : -1;
  if (options.cacheRead >= 0 && whole.empty())
    addCacheRead(root, anchorFrom);
  if (options.columns) {
    int product = addColumns(root, anchorFrom);
    if (anchorFrom >= 0)
      anchorFrom = product;
  }
  // S1, at the consumer if it is computed here.
  int scope;
  if (options.fuseLevel == 2)
    scope = root = addStep(Step::Kind::Fuse, nest.root, root, -1,
                           rootTiles(1, whole));
  else
    scope = anchorFrom = addStep(Step::Kind::Fuse, anchor, anchorFrom,
                                 anchorFrom < 0 ? root : -1,
                                 cutTiles(1, whole));
  // A buffer of its own instead of the result's.
  if (options.cacheWrite)
    for (unsigned producer : stage.producers)
      if (context.graph.getStage(producer).initializer) {
        int buffer = addStep(Step::Kind::Text, producer, -1, scope, {});
        nest.steps[buffer].text =
            "{result} = transform.get_operand {op}[" +
            std::to_string(
                context.graph.getStage(producer).op->getNumOperands() - 1) +
            "] : (!transform.any_op) -> !transform.any_value\n    "
            "transform.structured.promote_tensor {result} : "
            "!transform.any_value";
      }

  // R0, then S2 and R1 at once.
  int outer = addStep(Step::Kind::Tile, anchor, anchorFrom,
                      anchorFrom < 0 ? scope : -1, reduction[0]);
  SmallVector<TileSize> inner = innerTiles(whole);
  int body = addStep(Step::Kind::Tile, anchor, outer, -1, inner);
  nest.steps[body].order = spatialFirst(stage);
  nest.steps[body].vectorize = true;
  if (stage.reduces) {
    KnobDomain unroll;
    unroll.kind = KnobKind::Unroll;
    unroll.stage = stage.tag;
    if (context.space == SpaceKind::Ansor)
      unroll.values = {0, 16, 64, 512};
    else
      unroll.values = {0, 2, 4, 8, 16};
    nest.steps[body].unroll = ("s" + Twine(stage.tag) + ".unroll").str();
    state.addKnob(nest.steps[body].unroll, unroll);
  }
  // What is left of a split loop reads the operand as it is.
  if (options.pack >= 0 && !llvm::is_contained(whole, unsigned(vectorLoop())))
    addPack(body);
  if (options.consumer) {
    // The consumer, register tile by register tile.
    SmallVector<TileSize> tiles = rootTiles(2, whole);
    int consumer = addStep(Step::Kind::Tile, nest.root, root, -1, tiles);
    nest.steps[consumer].vectorize = true;
    nest.members.push_back({nest.root, root, tiles, false, false});
  }
  // The parts of a split anchor accumulate into slices of the initial value.
  bool initialOutside = !options.consumer && !options.splits.empty();
  nest.members.push_back({anchor, scope, inner, false, initialOutside});
}

void mlir::ansor::addMultiLevelNest(const SketchContext &context,
                                    SketchState &state, unsigned anchor,
                                    const MultiLevelOptions &options) {
  NestBuilder(context, state, anchor, options).build();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Stages that the multi-level rules take.
static bool isAnchor(const Stage &stage) {
  return stage.needsTiling && stage.hasTileableLoop(/*reduction=*/false);
}

/// Rows of a register tile that are worth a remainder: with four vectors in
/// each, enough accumulators to hide the latency of a multiply-add.
static constexpr int64_t kGoodRows = 6;

/// Where to cut loops of `stage` so that good tiles divide what is before.
static SmallVector<std::pair<unsigned, int64_t>>
chooseSplits(const SketchContext &context, unsigned anchor,
             const std::optional<MatchedConsumer> &consumer) {
  const Stage &stage = context.graph.getStage(anchor);
  SmallVector<std::pair<unsigned, int64_t>> splits;
  const Stage &root =
      consumer ? context.graph.getStage(consumer->stage) : stage;
  if (root.op->getNumResults() != 1)
    return splits;
  int vectorLoop = stage.contiguousLoop();
  SmallVector<unsigned> spatial = stage.spatialLoops();
  // The row loop: the innermost besides the vectors'.
  for (unsigned loop : llvm::reverse(spatial)) {
    const StageLoop &info = stage.loops[loop];
    if (static_cast<int>(loop) == vectorLoop || info.extent == 1)
      continue;
    int64_t at = info.extent - info.extent % kGoodRows;
    bool window = llvm::any_of(stage.reads, [&](const StageRead &read) {
      return llvm::any_of(read.map.getResults(), [&](AffineExpr expr) {
        return !isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(loop);
      });
    });
    if (!window && info.tileable && info.multipleOf == 1 &&
        info.extent > 2 * kGoodRows && at != info.extent)
      splits.emplace_back(loop, at);
    break;
  }
  if (vectorLoop >= 0) {
    const StageLoop &info = stage.loops[vectorLoop];
    int64_t lanes = context.target.lanes(stage.elementBits);
    int64_t unit = info.extent >= 8 * lanes ? 4 * lanes : lanes;
    if (!info.reduction && info.tileable && info.multipleOf == 1 &&
        info.extent > lanes && info.extent % lanes)
      splits.emplace_back(vectorLoop, info.extent - info.extent % unit);
  }
  return splits;
}

/// The operand that a parallel tile of the anchor should copy if vectors lie
/// along `lane`: one that is contiguous along it, is used for each row, and does
/// not stay in the first-level cache as a whole, or has to be transposed anyway.
static int chooseCacheRead(const SketchContext &context, unsigned anchor,
                           int lane) {
  const Stage &stage = context.graph.getStage(anchor);
  if (lane < 0 || !stage.reduces)
    return -1;
  for (const StageRead &read : stage.reads) {
    bool reused = llvm::any_of(stage.spatialLoops(), [&](unsigned loop) {
      return stage.loops[loop].extent > 1 && !read.map.isFunctionOfDim(loop);
    });
    bool contiguous =
        read.map.getNumResults() > 1 &&
        read.map.getResults().back() ==
            getAffineDimExpr(lane, read.map.getContext());
    auto type = cast<RankedTensorType>(
        stage.op->getOperand(read.operand).getType());
    bool large = type.getNumElements() * read.elementBits / 8 >
                 context.target.l1;
    bool permuted = false;
    if (read.producer >= 0) {
      const Stage &producer = context.graph.getStage(read.producer);
      if (!producer.elementwise || producer.initializer || producer.barrier ||
          producer.output || producer.consumers.size() != 1 ||
          producer.op->getNumResults() != 1)
        continue;
      permuted = permutesOnly(producer);
    }
    if (reused && contiguous && (large || permuted) &&
        read.map.isProjectedPermutation())
      return read.operand;
  }
  return -1;
}

/// The operand that the anchor should read from panels if vectors lie along
/// `lane`: one that each row uses again, and that is read in short pieces far
/// apart. It exists before the task's loops, apart from a permutation, which
/// packing does away with.
static int choosePack(const SketchContext &context, unsigned anchor, int lane) {
  const Stage &stage = context.graph.getStage(anchor);
  if (lane < 0 || !stage.reduces || !stage.loops[lane].tileable ||
      stage.loops[lane].multipleOf != 1)
    return -1;
  for (const StageRead &read : stage.reads) {
    bool reused = llvm::any_of(stage.spatialLoops(), [&](unsigned loop) {
      return stage.loops[loop].extent > 1 && !read.map.isFunctionOfDim(loop);
    });
    bool reduced = llvm::any_of(stage.reductionLoops(), [&](unsigned loop) {
      return stage.loops[loop].extent > 1 && read.map.isFunctionOfDim(loop);
    });
    if (!reused || !reduced || !read.map.isProjectedPermutation() ||
        !read.map.isFunctionOfDim(lane))
      continue;
    bool permuted = false;
    if (read.producer >= 0) {
      const Stage &producer = context.graph.getStage(read.producer);
      permuted = permutesOnly(producer) && producer.reads.front().producer < 0;
      if (!permuted)
        continue;
    }
    bool contiguous =
        read.map.getResults().back() ==
        getAffineDimExpr(lane, read.map.getContext());
    auto type =
        cast<RankedTensorType>(stage.op->getOperand(read.operand).getType());
    bool large = type.getNumElements() * read.elementBits / 8 >
                 context.target.l1;
    if (type.hasStaticShape() && (large || permuted || !contiguous))
      return read.operand;
  }
  return -1;
}

/// Loops besides the one that the result is contiguous along that vectors may
/// lie along: an operand's dimensions were permuted for it.
static SmallVector<unsigned> findOtherLanes(const SketchContext &context,
                                            unsigned anchor) {
  const Stage &stage = context.graph.getStage(anchor);
  SmallVector<unsigned> lanes;
  for (const StageRead &read : stage.reads) {
    if (read.producer < 0 || !permutesOnly(context.graph.getStage(read.producer)) ||
        !stage.reduces)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(read.map.getResults().back());
    if (!dim)
      continue;
    unsigned loop = dim.getPosition();
    bool alone = llvm::all_of(stage.reads, [&](const StageRead &other) {
      return other.operand == read.operand ||
             !other.map.isFunctionOfDim(loop);
    });
    if (alone && !stage.loops[loop].reduction &&
        static_cast<int>(loop) != stage.contiguousLoop())
      lanes.push_back(loop);
  }
  return lanes;
}

/// Iterations of an anchor a padded element: with more of them the padding
/// doesn't matter.
static constexpr double kBorderWork = 64;
/// Vectors in a row that is cut by a border.
static constexpr int64_t kMaxRowVectors = 8;

SmallVector<Border>
mlir::ansor::findBorders(const SketchContext &context, unsigned anchor,
                         const std::optional<MatchedConsumer> &consumer) {
  const Stage &stage = context.graph.getStage(anchor);
  const Stage &root =
      consumer ? context.graph.getStage(consumer->stage) : stage;
  SmallVector<Border> borders;
  if (root.op->getNumResults() != 1)
    return borders;
  const StageRead *read = llvm::find_if(stage.reads, [&](const auto &read) {
    return read.producer >= 0 && context.graph.getStage(read.producer).pad;
  });
  if (read == stage.reads.end())
    return borders;
  const Stage &producer = context.graph.getStage(read->producer);
  auto pad = cast<tensor::PadOp>(producer.op);
  double iterations = 1;
  for (const StageLoop &loop : stage.loops)
    iterations *= loop.extent;
  int64_t lanes = context.target.lanes(stage.elementBits);
  if (producer.consumers.size() != 1 || producer.output ||
      !pad.getResultType().hasStaticShape() ||
      iterations > kBorderWork * pad.getResultType().getNumElements())
    return borders;
  for (int64_t dim = 0; dim < pad.getResultType().getRank(); ++dim) {
    int64_t low = pad.getStaticLow()[dim], high = pad.getStaticHigh()[dim];
    if (ShapedType::isDynamic(low) || ShapedType::isDynamic(high) || low < 0 ||
        high < 0)
      return {};
    if (low == 0 && high == 0)
      continue;
    // The subscript is step * loop + 0 … window.
    int loop = -1;
    int64_t step = 0, window = 0;
    SmallVector<int64_t> flat;
    AffineExpr expr = read->map.getResult(dim);
    if (failed(getFlattenedAffineExpr(expr, stage.loops.size(), 0, &flat)) ||
        flat.size() != stage.loops.size() + 1 || flat.back() != 0)
      return {};
    for (auto [index, info] : llvm::enumerate(stage.loops)) {
      if (flat[index] == 0)
        continue;
      if (flat[index] < 0 || (!info.reduction && loop >= 0))
        return {};
      if (info.reduction) {
        window += flat[index] * (info.extent - 1);
      } else {
        loop = index;
        step = flat[index];
      }
    }
    // Rows that are cut by a border stay whole, in registers.
    if (loop < 0 ||
        (loop == stage.contiguousLoop() &&
         stage.loops[loop].extent > kMaxRowVectors * lanes) ||
        !stage.loops[loop].tileable || stage.loops[loop].multipleOf != 1 ||
        llvm::any_of(borders, [&](const Border &border) {
          return static_cast<int>(border.loop) == loop;
        }))
      return {};
    Border border;
    border.loop = loop;
    int64_t extent = stage.loops[loop].extent;
    int64_t last = pad.getResultType().getDimSize(dim) - 1 - high - window;
    int64_t end = last < 0 ? 0 : std::min(extent, last / step + 1);
    border.low = (low + step - 1) / step;
    border.high = extent - end;
    // Something has to be left, and a loop of one iteration has no knob.
    if (end - border.low < 2)
      return {};
    if (border.low || border.high)
      borders.push_back(border);
  }
  return borders;
}

std::string mlir::ansor::describe(const Border &border, const Stage &stage) {
  return ("border(s" + Twine(stage.tag) + ".d" + Twine(border.loop) + " " +
          Twine(border.low) + " " + Twine(border.high) + ")")
      .str();
}

/// True if a stage computes the initial value of `anchor` and nothing else.
static bool isInitialized(const SketchContext &context, const Stage &anchor) {
  return llvm::any_of(anchor.producers, [&](unsigned producer) {
    const Stage &initial = context.graph.getStage(producer);
    return initial.initializer && initial.consumers.size() == 1;
  });
}

/// Adds the variants that read an operand from panels, at the level that keeps
/// the accumulators in registers.
static void addPackedVariants(const SketchContext &context, unsigned anchor,
                              const std::optional<MatchedConsumer> &consumer,
                              SmallVectorImpl<MultiLevelOptions> &variants) {
  MultiLevelOptions packed = variants.front();
  packed.pack = choosePack(context, anchor,
                           context.graph.getStage(anchor).contiguousLoop());
  if (packed.pack >= 0) {
    variants.push_back(packed);
    packed.splits = chooseSplits(context, anchor, consumer);
    if (!packed.splits.empty())
      variants.push_back(packed);
  }
  packed.splits.clear();
  for (unsigned lane : findOtherLanes(context, anchor)) {
    packed.lane = lane;
    packed.pack = choosePack(context, anchor, lane);
    if (packed.pack >= 0)
      variants.push_back(packed);
  }
}

/// Adds one successor for each way to build the nest of `anchor`.
static void addVariants(const SketchContext &context, const SketchState &state,
                        unsigned anchor,
                        const std::optional<MatchedConsumer> &consumer,
                        int next, std::vector<SketchRule::Successor> &out) {
  SmallVector<MultiLevelOptions, 4> variants;
  SmallVector<unsigned> levels =
      consumer ? SmallVector<unsigned>{2, 1} : SmallVector<unsigned>{0};
  for (unsigned level : levels) {
    MultiLevelOptions base;
    base.consumer = consumer;
    base.fuseLevel = level;
    variants.push_back(base);
  }
  if (context.space == SpaceKind::Full) {
    // Both at the level that keeps the accumulators in registers.
    MultiLevelOptions best = variants.front();
    int cacheRead = chooseCacheRead(
        context, anchor, context.graph.getStage(anchor).contiguousLoop());
    auto splits = chooseSplits(context, anchor, consumer);
    if (cacheRead >= 0) {
      MultiLevelOptions copy = best;
      copy.cacheRead = cacheRead;
      variants.push_back(copy);
    }
    if (!splits.empty()) {
      MultiLevelOptions cut = best;
      cut.splits = splits;
      variants.push_back(cut);
      if (cacheRead >= 0) {
        cut.cacheRead = cacheRead;
        variants.push_back(cut);
      }
    }
  }
  if (context.space == SpaceKind::Full) {
    MultiLevelOptions cut = variants.front();
    cut.borders = findBorders(context, anchor, consumer);
    if (!cut.borders.empty())
      variants.push_back(cut);
  }
  if (context.space == SpaceKind::Full)
    for (unsigned lane : findOtherLanes(context, anchor)) {
      MultiLevelOptions other = variants.front();
      other.lane = lane;
      other.cacheRead = chooseCacheRead(context, anchor, lane);
      if (other.cacheRead >= 0)
        variants.push_back(other);
    }
  // "Add cache write" (OSDI 2020): an anchor that nobody follows accumulates
  // into a buffer of its own, which is copied to the result.
  if (!consumer && isInitialized(context, context.graph.getStage(anchor))) {
    variants.emplace_back();
    variants.back().cacheWrite = true;
  }
  if (context.space == SpaceKind::Full) {
    addPackedVariants(context, anchor, consumer, variants);
    if (auto columns = findColumns(context, anchor)) {
      MultiLevelOptions copied = variants.front();
      copied.columns = std::move(columns);
      variants.push_back(std::move(copied));
    }
  }
  for (const MultiLevelOptions &options : variants) {
    SketchState successor = state;
    int64_t tag = context.graph.getStage(anchor).tag;
    auto note = [&](const Twine &text) {
      successor.derivation.push_back(text.str());
    };
    if (options.fuseLevel)
      note("level(" + Twine(options.fuseLevel) + ")");
    if (options.lane >= 0)
      note("lanes(s" + Twine(tag) + ".d" + Twine(options.lane) + ")");
    if (options.cacheRead >= 0)
      note("cache-read(s" + Twine(tag) + "." + Twine(options.cacheRead) + ")");
    if (options.pack >= 0)
      note("pack(s" + Twine(tag) + "." + Twine(options.pack) + ")");
    if (options.columns)
      note("columns(s" + Twine(tag) + "." + Twine(options.columns->operand) +
           ")");
    if (options.cacheWrite)
      note("cache-write(s" + Twine(tag) + ")");
    for (auto [loop, at] : options.splits)
      note("split(s" + Twine(tag) + ".d" + Twine(loop) + " at " + Twine(at) +
           ")");
    for (const Border &border : options.borders)
      note(describe(border, context.graph.getStage(anchor)));
    addMultiLevelNest(context, successor, anchor, options);
    out.emplace_back(std::move(successor), next);
  }
}

namespace {
/// Multi-level tiling: the anchor is the root of its nest.
class TileRule : public SketchRule {
public:
  StringRef getName() const override { return "tile"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    return isAnchor(context.graph.getStage(index)) ? Match::ApplyAndSkipRest
                                                   : Match::Skip;
  }

  void apply(const SketchContext &context, const SketchState &state,
             unsigned index,
             std::vector<Successor> &successors) const override {
    addVariants(context, state, index, std::nullopt,
                static_cast<int>(index) - 1, successors);
  }
};

/// Multi-level tiling that the consumer follows: at two levels. The rule
/// takes anchor and consumer when the consumer is visited.
class TileAndFuseRule : public SketchRule {
public:
  StringRef getName() const override { return "tile-and-fuse"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    return findAnchor(context, state, index, isAnchor)
               ? Match::ApplyAndSkipRest
               : Match::Skip;
  }

  void apply(const SketchContext &context, const SketchState &state,
             unsigned index,
             std::vector<Successor> &successors) const override {
    auto found = findAnchor(context, state, index, isAnchor);
    addVariants(context, state, found->first, found->second,
                static_cast<int>(index) - 1, successors);
  }
};
} // namespace

std::unique_ptr<SketchRule> mlir::ansor::createTileRule() {
  return std::make_unique<TileRule>();
}

std::unique_ptr<SketchRule> mlir::ansor::createTileAndFuseRule() {
  return std::make_unique<TileAndFuseRule>();
}
