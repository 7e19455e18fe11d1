//===- RowWise.cpp - Chains of reductions over the same rows ----*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage whose producers reduce along some loops and are read back along them
// (a normalisation): all of it is computed row by row. Only loops that every
// producer follows are tiled, so that nothing is computed twice.
//
//===----------------------------------------------------------------------===//

#include "../Rules.h"
#include <map>

using namespace mlir;
using namespace mlir::ansor;

/// Vectors of one row that straight code may keep, in sizes of the register
/// file: what does not fit is spilled, which the first-level cache hides.
static constexpr int64_t kRegisterFiles = 2;

/// With so many rows for each core nothing but row by row is tried.
static constexpr int64_t kRowsPerCore = 4;

namespace {
/// A root and its producers that are computed with its rows.
struct Rows {
  SmallVector<unsigned> stages; ///< producers, last first
  /// For each loop of each stage (by index), the root's loop that it follows.
  llvm::DenseMap<unsigned, SmallVector<int>> follows;
  SmallVector<unsigned> loops; ///< loops of the root that all follow
  int64_t count = 1;           ///< of rows
};
} // namespace

/// For each loop of `producer`, the root's loop that it follows as `stage`
/// reads it.
static SmallVector<int> propagate(ArrayRef<int> follows, const StageRead &read,
                                  const Stage &producer) {
  SmallVector<int> result(producer.loops.size(), -1);
  if (producer.op->getNumResults() != 1)
    return result;
  for (auto [written, asked] : llvm::zip_equal(producer.write.getResults(),
                                               read.map.getResults())) {
    auto to = dyn_cast<AffineDimExpr>(written);
    auto from = dyn_cast<AffineDimExpr>(asked);
    if (to && from)
      result[to.getPosition()] = follows[from.getPosition()];
  }
  return result;
}

static std::optional<Rows> findRows(const SketchContext &context,
                                    const SketchState &state, unsigned root) {
  const TaskGraph &graph = context.graph;
  const Stage &rootStage = graph.getStage(root);
  if (!rootStage.structured || !rootStage.write)
    return std::nullopt;
  Rows rows;
  SmallVector<int> own(rootStage.loops.size(), -1);
  for (unsigned loop : rootStage.spatialLoops())
    own[loop] = loop;
  rows.follows[root] = own;
  bool readBack = false;
  for (unsigned index = root; index-- > 0;) {
    const Stage &stage = graph.getStage(index);
    if (state.status[index] != StageStatus::Open || !stage.structured ||
        stage.initializer || stage.barrier || stage.output ||
        stage.consumers.empty() || !stage.write)
      continue;
    if (!llvm::all_of(stage.consumers, [&](unsigned consumer) {
          return rows.follows.count(consumer);
        }))
      continue;
    std::optional<SmallVector<int>> follows;
    for (unsigned consumer : stage.consumers)
      for (const StageRead &read : graph.getStage(consumer).reads) {
        if (read.producer != static_cast<int>(index))
          continue;
        SmallVector<int> here =
            propagate(rows.follows[consumer], read, stage);
        if (!follows)
          follows = here;
        // Readers that ask for different tiles: for all of the loop.
        for (auto [loop, other] : llvm::zip_equal(*follows, here))
          loop = loop == other ? loop : -1;
        const Stage &reader = graph.getStage(consumer);
        for (unsigned loop = 0; loop < reader.loops.size(); ++loop)
          readBack |= stage.reduces && !stage.needsTiling &&
                      reader.loops[loop].extent > 1 &&
                      !read.map.isFunctionOfDim(loop);
      }
    if (!follows)
      continue;
    rows.follows[index] = *follows;
    rows.stages.push_back(index);
  }
  if (!readBack)
    return std::nullopt;
  for (unsigned loop : rootStage.spatialLoops()) {
    const StageLoop &info = rootStage.loops[loop];
    bool all = llvm::all_of(rows.stages, [&](unsigned index) {
      const Stage &stage = graph.getStage(index);
      return stage.inlinable ||
             llvm::count(rows.follows[index], static_cast<int>(loop)) == 1;
    });
    if (info.extent > 1 && info.tileable && all) {
      rows.loops.push_back(loop);
      rows.count *= info.extent;
    }
  }
  if (rows.loops.empty())
    return std::nullopt;
  return rows;
}

namespace {
/// Builds the nest of a root and its rows.
class RowsBuilder {
public:
  RowsBuilder(const SketchContext &context, const SketchState &start,
              unsigned root, const Rows &rows)
      : context(context), state(start), root(root), rows(rows) {}

  /// Tiles of rows; with `whole`, each row is one piece of straight code, else
  /// each stage runs over it in pieces of its own. False if rows are too long.
  bool build(bool whole);
  SketchState take() { return std::move(state); }

private:
  bool isRow(unsigned index, unsigned loop) const {
    int follows = rows.follows.find(index)->second[loop];
    return follows >= 0 &&
           llvm::is_contained(rows.loops, static_cast<unsigned>(follows));
  }
  /// Read by rows that it does not follow.
  bool isShared(unsigned index) const {
    return llvm::any_of(rows.loops, [&](unsigned loop) {
      return !llvm::is_contained(rows.follows.find(index)->second,
                                 static_cast<int>(loop));
    });
  }
  bool boundRows();
  void addShared(unsigned index);
  void addMember(unsigned index, bool whole);
  void mergeCopies(int step);

  const SketchContext &context;
  SketchState state;
  unsigned root;
  const Rows &rows;
  SmallVector<TileSize> inner; ///< of the root's loops
  /// By extent and multiple: the tile of plain stages along the row.
  std::map<std::pair<int64_t, int64_t>, TileSize> pieces;
  int rowsStep = 0;
  bool hasContraction = false;
  Nest nest;
};
} // namespace

/// Whole rows become straight code on vectors that stay in registers.
bool RowsBuilder::boundRows() {
  int64_t most = 1, lanes = context.target.lanes(32);
  SmallVector<unsigned> stages = {root};
  stages.append(rows.stages);
  for (unsigned index : stages) {
    if (isShared(index))
      continue;
    const Stage &stage = context.graph.getStage(index);
    // A contraction wants register tiles and loops around them.
    if (stage.needsTiling && stage.reduces)
      return false;
    int64_t points = 1;
    for (auto [loop, info] : llvm::enumerate(stage.loops))
      if (!isRow(index, loop))
        points *= info.extent;
    most = std::max(most, points);
    lanes = std::min(lanes, context.target.lanes(stage.elementBits));
  }
  int64_t vectors = llvm::divideCeil(most, lanes),
          bound = kRegisterFiles * context.target.vectorRegisters;
  if (vectors > bound)
    return false;
  SketchConstraint constraint;
  constraint.name = "row-registers";
  constraint.reason = "the rows of one piece of straight code fit in the "
                      "registers, or nearly";
  SketchConstraint::Term term;
  term.coefficient = vectors;
  for (unsigned loop : rows.loops)
    term.knobs.push_back(inner[loop].knob);
  constraint.terms.push_back(term);
  constraint.max = bound;
  state.addConstraint(std::move(constraint));
  return true;
}

/// Computes stage `index`, which several rows read whole, once for the parallel
/// tile: what the rows ask for is there then, and no inner level computes it.
void RowsBuilder::addShared(unsigned index) {
  const Stage &stage = context.graph.getStage(index);
  SmallVector<TileSize> tile(stage.loops.size());
  for (unsigned loop = 0; loop < stage.loops.size(); ++loop) {
    // Along what is written, and along what is read.
    bool contiguous = static_cast<int>(loop) == stage.contiguousLoop();
    for (const StageRead &read : stage.reads)
      contiguous |= read.map.getNumResults() > 0 &&
                    read.map.getResults().back() ==
                        getAffineDimExpr(loop, read.map.getContext());
    if (stage.loops[loop].extent > 1)
      tile[loop] = contiguous ? vectorMultiple(context, stage, loop) : 1;
  }
  Step step;
  step.kind = Step::Kind::Tile;
  step.stage = index;
  step.scope = 0;
  step.sizes = tile;
  step.vectorize = true;
  nest.members.push_back({index, 0, tile, false, false});
  nest.steps.push_back(std::move(step));
}

/// The nest of stage `index` inside a tile of rows.
void RowsBuilder::addMember(unsigned index, bool whole) {
  const Stage &stage = context.graph.getStage(index);
  bool contraction = stage.needsTiling && stage.reduces;
  SmallVector<TileSize> tile(stage.loops.size()), body(stage.loops.size());
  for (auto [loop, info] : llvm::enumerate(stage.loops)) {
    if (isRow(index, loop)) {
      body[loop] = inner[rows.follows.find(index)->second[loop]];
      continue;
    }
    if (whole || (info.reduction && !stage.reorderable))
      continue;
    bool vectors = contraction
                       ? static_cast<int>(loop) == stage.contiguousLoop()
                       : loop + 1 == stage.loops.size();
    int64_t multiple = vectors ? vectorMultiple(context, stage, loop) : 1;
    // Stages over the same row go through it in the same pieces.
    TileSize *piece = contraction ? nullptr : &pieces[{info.extent, multiple}];
    if (piece && !piece->isZero())
      tile[loop] = *piece;
    else
      tile[loop] = addTileKnob(state, stage, loop, 0, 1, multiple);
    if (piece)
      *piece = tile[loop];
    body[loop] = tile[loop];
  }
  Step step;
  step.kind = Step::Kind::Tile;
  step.stage = index;
  step.from = index == root ? rowsStep : -1;
  step.scope = index == root ? -1 : rowsStep;
  step.sizes = tile;
  if (contraction)
    step.order = spatialFirst(stage);
  step.vectorize = true;
  step.repeated = index != root && isRepeated(context, nest, index);
  nest.members.push_back({index, rowsStep, body, step.repeated, false});
  nest.steps.push_back(std::move(step));
  unsigned before = state.constraints.size();
  addTileConstraints(context, state, index, body, body);
  // Contractions share the tile of rows: it may not give each one accumulators
  // enough, so only the first asks for them.
  if (contraction && std::exchange(hasContraction, true))
    state.constraints.erase(
        std::remove_if(state.constraints.begin() + before,
                       state.constraints.end(),
                       [](const SketchConstraint &constraint) {
                         return constraint.name == "accumulators";
                       }),
        state.constraints.end());
}

/// Greedy fusion makes a copy of a producer for each of its users: one is kept.
void RowsBuilder::mergeCopies(int step) {
  Step merge;
  merge.kind = Step::Kind::Text;
  merge.stage = root;
  merge.from = step;
  merge.text = "transform.apply_cse to {loop} : !transform.any_op";
  nest.steps.push_back(merge);
}

bool RowsBuilder::build(bool whole) {
  const Stage &rootStage = context.graph.getStage(root);
  SmallVector<TileSize> outer(rootStage.loops.size());
  inner.resize(rootStage.loops.size());
  for (unsigned loop : rows.loops) {
    outer[loop] = addTileKnob(state, rootStage, loop, 0, 2);
    inner[loop] = addTileKnob(state, rootStage, loop, 1, 2);
  }
  if (whole && !boundRows())
    return false;
  nest.root = root;
  Step parallel;
  parallel.kind = Step::Kind::FuseForall;
  parallel.stage = root;
  parallel.sizes = outer;
  nest.steps.push_back(parallel);
  SmallVector<unsigned> shared, members = {root};
  for (unsigned index : rows.stages)
    (isShared(index) ? shared : members).push_back(index);
  if (!shared.empty())
    mergeCopies(0);
  for (unsigned index : shared)
    addShared(index);
  Step fewRows;
  fewRows.kind = Step::Kind::Fuse;
  fewRows.stage = root;
  fewRows.from = 0;
  fewRows.sizes = inner;
  rowsStep = nest.steps.size();
  nest.steps.push_back(fewRows);
  mergeCopies(rowsStep);
  for (unsigned index : members)
    addMember(index, whole);
  state.addNest(std::move(nest));
  return true;
}

namespace {
class RowWiseRule : public SketchRule {
public:
  StringRef getName() const override { return "row-wise"; }

  Match match(const SketchContext &context, const SketchState &state,
              unsigned index) const override {
    std::optional<Rows> rows = findRows(context, state, index);
    if (!rows)
      return Match::Skip;
    // Stage by stage, each passes through memory: only for want of rows.
    return rows->count >= kRowsPerCore * context.target.cores
               ? Match::ApplyAndSkipRest
               : Match::Apply;
  }

  void apply(const SketchContext &context, const SketchState &state,
             unsigned root,
             std::vector<Successor> &successors) const override {
    Rows rows = *findRows(context, state, root);
    for (bool whole : {true, false}) {
      RowsBuilder builder(context, state, root, rows);
      if (!builder.build(whole))
        continue;
      SketchState next = builder.take();
      next.derivation.push_back(whole ? "rows(whole)" : "rows(pieces)");
      successors.emplace_back(std::move(next), static_cast<int>(root) - 1);
    }
  }
};
} // namespace

std::unique_ptr<SketchRule> mlir::ansor::createRowWiseRule() {
  return std::make_unique<RowWiseRule>();
}
