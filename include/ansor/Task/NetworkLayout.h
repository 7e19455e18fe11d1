//===- NetworkLayout.h - Layout of a network's tensors ----------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which dimension the tensors of a network are contiguous along. Front ends
// give images channel by channel or pixel by pixel. With the channels last,
// 1x1 convolutions are plain matrix products, and vectors of all others,
// of pooling and of elementwise ops, lie along channels, which divide well.
//
// In: a module before its tasks are extracted. Out: the same with
//
//   - convolutions (by their maps, of whatever name, rank and grouping) reading
//     and writing images with the channels last, and filters in the order
//     window, channels of the image, channels of the result;
//   - what is between them (elementwise ops, reductions and pooling over
//     pixels, contractions over channels, padding, reshapes, slices,
//     concatenations) in the same layout;
//   - linalg.transpose where a tensor is needed in both forms: at arguments and
//     results, and at ops that can't follow. Those of weights are marked
//     `ansor.prepack`: they are done once (see Weights.h).
//
// A connected part is converted if its convolutions do enough work for each
// element that is transposed in a call.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_TASK_NETWORKLAYOUT_H
#define ANSOR_TASK_NETWORKLAYOUT_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace mlir::ansor {

enum class NetworkLayout {
  Keep,        ///< as the front end gives it
  ChannelsLast ///< as above
};

/// "keep" or "channels-last".
std::optional<NetworkLayout> parseNetworkLayout(StringRef text);

/// Attribute of a module whose layout was converted, and of a library of such
/// ones: "channels-last".
inline constexpr StringLiteral kNetworkLayoutAttr = "ansor.layout";

/// The layout that `module` was converted to.
NetworkLayout getNetworkLayout(ModuleOp module);

/// Notes on `module`, or a library, that its layout is `layout`.
void noteNetworkLayout(ModuleOp module, NetworkLayout layout);

/// Converts the functions of `module`, which has no tasks yet, unless it was
/// converted before. Returns the number of ops that have another layout now, and
/// notes `layout` on the module if there are some. With `always`, also where it
/// doesn't pay.
unsigned convertLayouts(ModuleOp module, NetworkLayout layout,
                        bool always = false);

} // namespace mlir::ansor

#endif // ANSOR_TASK_NETWORKLAYOUT_H
