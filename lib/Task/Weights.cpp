//===- Weights.cpp - What is the same in every call -------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Task/Weights.h"
#include "ansor/IR/AnsorDialect.h"
#include "ansor/Support/Structured.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;
using namespace mlir::ansor;

//===----------------------------------------------------------------------===//
// What a weight is
//===----------------------------------------------------------------------===//

static bool isStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() > 0;
}

static ValueKind classifyConstant(Attribute value) {
  if (isa<DenseResourceElementsAttr>(value))
    return ValueKind::Weight;
  auto dense = dyn_cast<DenseElementsAttr>(value);
  return dense && !dense.isSplat() && isStaticTensor(dense.getType())
             ? ValueKind::Weight
             : ValueKind::Neutral;
}

/// Ops that give the same results for the same operands, and do nothing else.
static bool isComputation(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, call.getCalleeAttr());
    return callee && callee->hasAttr(kTaskAttr);
  }
  bool known = isa<linalg::LinalgOp>(op) || op->getNumRegions() == 0;
  return known && isMemoryEffectFree(op) &&
         llvm::all_of(op->getResultTypes(), isStaticTensor);
}

ValueKind ansor::classifyValue(Value value,
                               DenseMap<Value, ValueKind> &known) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  auto note = [&](ValueKind kind) { return known[value] = kind; };
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto func = dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp());
    bool weight = func && func.isPublic() && arg.getOwner()->isEntryBlock() &&
                  isStaticTensor(arg.getType()) &&
                  func.getArgAttr(arg.getArgNumber(), kWeightAttr);
    return note(weight ? ValueKind::Weight : ValueKind::Data);
  }
  Operation *op = value.getDefiningOp();
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant)))
    return note(classifyConstant(constant));
  if (isa<tensor::EmptyOp>(op) && isStaticTensor(value.getType()))
    return note(ValueKind::Neutral);
  if (!isComputation(op))
    return note(ValueKind::Data);
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  ValueKind kind = ValueKind::Neutral;
  for (Value operand : used) {
    ValueKind other = classifyValue(operand, known);
    if (other == ValueKind::Data)
      return note(other);
    if (other == ValueKind::Weight)
      kind = other;
  }
  return note(kind);
}

ValueKind ansor::classifyValue(Value value) {
  DenseMap<Value, ValueKind> known;
  return classifyValue(value, known);
}

LogicalResult ansor::markWeights(func::FuncOp func, StringRef list) {
  int64_t count = func.getNumArguments();
  SmallVector<StringRef> parts;
  list.split(parts, ',');
  for (StringRef part : parts) {
    auto [from, to] = part.trim().split('-');
    int64_t first, last;
    bool good = !from.getAsInteger(10, first);
    if (part.contains('-') && to.empty())
      last = count - 1;
    else if (part.contains('-'))
      good = good && !to.getAsInteger(10, last);
    else
      last = first;
    if (!good)
      return func.emitError("weights '")
             << list << "': expected numbers of arguments and ranges of them, "
             << "as in 1,3-5 or 2-, got '" << part << "'";
    if (first < 0 || last < first || last >= count)
      return func.emitError("weights '")
             << list << "': '" << part << "' is not within the " << count
             << " arguments of @" << func.getSymName();
    for (int64_t i = first; i <= last; ++i)
      if (isa<RankedTensorType>(func.getArgument(i).getType()))
        func.setArgAttr(i, kWeightAttr, UnitAttr::get(func.getContext()));
  }
  return success();
}

LogicalResult ansor::markWeights(ModuleOp module, StringRef list) {
  SmallVector<func::FuncOp> open;
  for (auto func : module.getOps<func::FuncOp>())
    if (func.isPublic() && !func.isExternal())
      open.push_back(func);
  if (open.size() != 1)
    return module.emitError()
           << "weights '" << list << "' are those of the only public function, "
           << "but the module has " << open.size()
           << ": mark the arguments by {" << kWeightAttr << "} instead";
  return markWeights(open.front(), list);
}

bool ansor::hasWeights(func::FuncOp func) {
  return llvm::any_of(llvm::seq(func.getNumArguments()), [&](unsigned i) {
    return func.getArgAttr(i, kWeightAttr) != Attribute();
  });
}

/// What `value` is in another shape.
static Value skipReshapes(Value value) {
  while (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
                         tensor::CastOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

namespace {
/// The calls of tasks in a module.
struct TaskCalls {
  explicit TaskCalls(ModuleOp module) {
    SymbolTable symbols(module);
    DenseMap<Value, ValueKind> kinds;
    module.walk([&](func::CallOp call) {
      auto task = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!task || !task->hasAttr(kTaskAttr))
        return;
      bool isOnce = llvm::all_of(call.getResults(), [&](Value result) {
        return classifyValue(result, kinds) == ValueKind::Weight;
      });
      (isOnce ? once : often).push_back({task, call});
    });
  }

  using Calls = SmallVector<std::pair<func::FuncOp, func::CallOp>>;
  Calls once;  ///< those on weights alone
  Calls often; ///< the others
};
} // namespace

DenseSet<Operation *> ansor::findTasksOfWeights(ModuleOp module) {
  TaskCalls calls(module);
  DenseSet<Operation *> found;
  for (auto [task, call] : calls.once)
    found.insert(task);
  for (auto [task, call] : calls.often)
    found.erase(task);
  return found;
}

int64_t ansor::countWeightBytes(ModuleOp module) {
  llvm::SetVector<Value> weights;
  auto addMarked = [&](func::FuncOp task, ValueRange values) {
    for (auto [i, value] : llvm::enumerate(values))
      if (task.getArgAttr(i, kWeightAttr) && isStaticTensor(value.getType()))
        weights.insert(skipReshapes(value));
  };
  TaskCalls calls(module);
  for (auto [task, call] : calls.often)
    addMarked(task, call.getOperands());
  if (calls.often.empty())
    for (auto task : module.getOps<func::FuncOp>())
      if (task->hasAttr(kTaskAttr))
        addMarked(task, task.getArguments());
  double bytes = 0;
  for (Value weight : weights) {
    auto type = cast<RankedTensorType>(weight.getType());
    if (type.getElementType().isIntOrFloat())
      bytes += double(type.getNumElements()) *
               llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  }
  return int64_t(std::min(bytes, 0x1p62));
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

namespace {
/// The elements of a constant, in order.
struct ConstantData {
  TypedAttr attr;
  ArrayRef<char> bytes;
  RankedTensorType type; ///< after reshapes
};
} // namespace

/// The constant that `value` is, in another shape at most.
static std::optional<ConstantData> getConstantData(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isStaticTensor(type) ||
      !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() % 8)
    return std::nullopt;
  value = skipReshapes(value);
  ConstantData data;
  data.type = type;
  if (!matchPattern(value, m_Constant(&data.attr)))
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(data.attr)) {
    if (dense.isSplat())
      return std::nullopt;
    data.bytes = dense.getRawData();
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(data.attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return std::nullopt;
    data.bytes = blob->getData();
  }
  int64_t bytes = type.getNumElements() * (type.getElementTypeBitWidth() / 8);
  if (int64_t(data.bytes.size()) != bytes)
    return std::nullopt;
  return data;
}

/// The elements of `data` with its dimension order[i] as number i.
static std::vector<char> permute(const ConstantData &data,
                                 ArrayRef<unsigned> order) {
  int64_t size = data.type.getElementTypeBitWidth() / 8;
  ArrayRef<int64_t> shape = data.type.getShape();
  size_t rank = shape.size();
  SmallVector<int64_t> strides(rank, size);
  for (size_t i = rank; i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  std::vector<char> moved(data.bytes.size());
  SmallVector<int64_t> index(rank, 0);
  int64_t from = 0;
  for (size_t to = 0; to < moved.size(); to += size) {
    std::copy_n(data.bytes.data() + from, size, moved.data() + to);
    for (size_t dim = rank; dim-- > 0;) {
      from += strides[order[dim]];
      if (++index[dim] < shape[order[dim]])
        break;
      from -= index[dim] * strides[order[dim]];
      index[dim] = 0;
    }
  }
  return moved;
}

/// For an op that permutes the dimensions of its input: the input's dimension
/// for each one of the result.
static std::optional<SmallVector<unsigned>> getOrder(Operation *op) {
  SmallVector<unsigned> order;
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    for (int64_t dim : transpose.getPermutation())
      order.push_back(dim);
    return order;
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  std::optional<AffineMap> permutation =
      generic ? getPermutation(generic) : std::nullopt;
  if (!permutation)
    return std::nullopt;
  for (AffineExpr dim : inversePermutation(*permutation).getResults())
    order.push_back(cast<AffineDimExpr>(dim).getPosition());
  return order;
}

/// The elements of `data` as `pack` lays them out, `padding` where it pads.
static std::vector<char> packData(const ConstantData &data, linalg::PackOp pack,
                                  ArrayRef<char> padding) {
  int64_t size = data.type.getElementTypeBitWidth() / 8;
  ArrayRef<int64_t> shape = data.type.getShape();
  ArrayRef<int64_t> packedShape = pack.getDestType().getShape();
  size_t rank = shape.size();
  SmallVector<int64_t> strides(packedShape.size(), size);
  for (size_t i = strides.size(); i-- > 1;)
    strides[i - 1] = strides[i] * packedShape[i];
  // Where an index of a dimension leads to, in bytes; they add up.
  std::vector<std::vector<int64_t>> places(rank);
  for (size_t dim = 0; dim < rank; ++dim) {
    size_t outer = dim;
    if (!pack.getOuterDimsPerm().empty())
      outer = llvm::find(pack.getOuterDimsPerm(), int64_t(dim)) -
              pack.getOuterDimsPerm().begin();
    size_t inner =
        llvm::find(pack.getInnerDimsPos(), int64_t(dim)) -
        pack.getInnerDimsPos().begin();
    bool tiled = inner < pack.getInnerDimsPos().size();
    int64_t tile = tiled ? pack.getStaticTiles()[inner] : 1;
    int64_t within = tiled ? strides[rank + inner] : 0;
    for (int64_t i = 0; i < shape[dim]; ++i)
      places[dim].push_back(i / tile * strides[outer] + i % tile * within);
  }
  int64_t bytes = pack.getDestType().getNumElements() * size;
  std::vector<char> moved(bytes);
  if (!padding.empty())
    for (int64_t to = 0; to < bytes; to += size)
      std::copy_n(padding.data(), size, moved.data() + to);
  const char *from = data.bytes.data();
  auto move = [&](auto &self, size_t dim, int64_t base) -> void {
    if (dim == rank) {
      std::copy_n(from, size, moved.data() + base);
      from += size;
      return;
    }
    for (int64_t place : places[dim])
      self(self, dim + 1, base + place);
  };
  move(move, 0, 0);
  return moved;
}

/// The bytes that `pack` pads with: none if it doesn't, nothing if they aren't
/// known.
static std::optional<SmallVector<char>> getPaddingBytes(linalg::PackOp pack) {
  if (!pack.getPaddingValue())
    return SmallVector<char>();
  TypedAttr value;
  if (!matchPattern(pack.getPaddingValue(), m_Constant(&value)))
    return std::nullopt;
  auto splat = DenseElementsAttr::get(
      RankedTensorType::get({1}, value.getType()), Attribute(value));
  return llvm::to_vector(splat.getRawData());
}

/// What `op` makes of a constant that it only moves.
static std::optional<std::vector<char>> moveData(Operation *op,
                                                 const ConstantData &data) {
  if (auto pack = dyn_cast<linalg::PackOp>(op)) {
    std::optional<SmallVector<char>> padding = getPaddingBytes(pack);
    if (!padding || !pack.getInnerTiles().empty())
      return std::nullopt;
    return packData(data, pack, *padding);
  }
  return permute(data, *getOrder(op));
}

void ansor::foldConstantLayouts(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  module.walk([&](Operation *op) {
    auto pack = dyn_cast<linalg::PackOp>(op);
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!pack && !(linalgOp && linalgOp.hasPureTensorSemantics() &&
                   getOrder(op)))
      return;
    std::optional<ConstantData> data = getConstantData(op->getOperand(0));
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!data || !type || !type.hasStaticShape() || type.getEncoding())
      return;
    std::optional<std::vector<char>> moved = moveData(op, *data);
    if (!moved)
      return;
    TypedAttr attr;
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(data->attr))
      attr = DenseResourceElementsAttr::get(
          type, resource.getRawHandle().getKey(),
          HeapAsmResourceBlob::allocateAndCopyWithAlign(*moved, 64));
    else
      attr = DenseElementsAttr::getFromRawBuffer(type, *moved);
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, attr);
  });
}
