#===- problem.py - Rows in the terms of peers -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""What a row computes in the terms of deep-learning frameworks: few kinds of
operators, operands channels first. Peers get their operands in the layout that
they like: converting is not timed."""
from dataclasses import dataclass, field

import numpy as np

from . import values


@dataclass
class Problem:
    """op: conv, deconv, matmul, norm, softmax, layernorm, scores or network
    (whose weights peers take from networks.py or its .onnx). `inputs`
    change from call to call, `weights` are constant; `restore` brings a result
    into the shape and layout of the row."""
    op: str
    inputs: dict
    weights: dict
    restore: callable
    attributes: dict = field(default_factory=dict)


def _network(row, arrays):
    inputs = [arrays[a.name] for a in row.args if a.role == "data"]
    return Problem("network", {f"x{i}": x for i, x in enumerate(inputs)}, {},
                   lambda out: out, {"name": row.name, "stem": row.sizes["stem"]})


def contiguous(array, axes):
    return np.ascontiguousarray(array.transpose(axes))


def describe(row):
    arrays = values.arguments(row)
    return globals()["_" + row.kind](row, arrays)


def _gemm(row, arrays):
    ep = row.sizes.get("ep", "")
    b = arrays["b"]
    if row.sizes.get("form") == "nt":
        b = b.T
    constant = row.sizes.get("b_role") == "weight"
    weights = {"b": b} if constant else {}
    if "bias" in arrays:
        weights["bias"] = arrays["bias"]
    inputs = {"a": arrays["a"]} if constant else {"a": arrays["a"], "b": b}
    return Problem("matmul", inputs, weights, lambda out: out,
                   {"ep": ep, "types": row.sizes.get("types", ("f32", "f32"))})


def _spatial(values, rank):
    return [values] * rank if isinstance(values, int) else list(values)


def _conv(row, arrays):
    s = row.sizes
    rank, n, ci, co = len(s["size"]), s.get("n", 1), s["ci"], s["co"]
    x, w, out = arrays["x"], arrays["w"], arrays["out"]
    depthwise = s.get("depthwise", False)
    groups = ci if depthwise else s.get("groups", 1)
    spatial = list(range(1, 1 + rank))
    if row.layout == "nchw":
        x = x.reshape(n, ci, *s["size"])
        w = w.reshape(co, ci // groups, *w.shape[-rank:])

        def restore(result):
            return result.reshape(out.shape)
    else:
        x = contiguous(x.reshape(n, *s["size"], ci), [0, rank + 1, *spatial])
        k = list(range(rank))
        if depthwise:
            w = contiguous(w, [rank, *k])[:, None]
        elif groups > 1:
            w = contiguous(w, [rank, rank + 2, rank + 1, *k])
            w = w.reshape(co, ci // groups, *w.shape[-rank:])
        else:
            w = contiguous(w, [rank + 1, rank, *k])

        def restore(result):
            return contiguous(result, [0, *range(2, 2 + rank), 1]).reshape(out.shape)
    weights = {"w": w, **{v: arrays[v] for v in ("bias", "scale", "offset")
                          if v in arrays}}
    return Problem("conv", {"x": x}, weights, restore,
                   {"rank": rank, "stride": _spatial(s["s"], rank),
                    "pad": _spatial(s["p"], rank),
                    "dilation": [s.get("d", 1)] * rank, "groups": groups,
                    "ep": s.get("ep", "")})


def _t2d(row, arrays):
    s = row.sizes
    x, w = arrays["x"], arrays["w"]
    if row.layout == "nchw":
        w = contiguous(w[:, :, ::-1, ::-1], [1, 0, 2, 3])
        restore = lambda out: out
    else:
        x = contiguous(x, [0, 3, 1, 2])
        w = contiguous(w[::-1, ::-1], [2, 3, 0, 1])
        restore = lambda out: contiguous(out, [0, 2, 3, 1])
    return Problem("deconv", {"x": x}, {"w": w}, restore,
                   {"stride": s["s"], "pad": s["p"]})


def _cap(row, arrays):
    # Rows of the matrices join the batch, columns the channels.
    s = row.sizes
    n, cap, co = s.get("n", 1), s["cap"], s["co"]
    h, w = s["size"]
    x = contiguous(arrays["x"], [0, 4, 3, 5, 1, 2])
    x = x.reshape(n * cap, s["ci"] * cap, h, w)
    f = contiguous(arrays["w"], [3, 5, 2, 4, 0, 1])
    f = f.reshape(co * cap, s["ci"] * cap, s["k"], s["k"])

    def restore(out):
        oh, ow = out.shape[2:]
        return contiguous(out.reshape(n, cap, co, cap, oh, ow), [0, 4, 5, 2, 1, 3])
    return Problem("conv", {"x": x}, {"w": f}, restore,
                   {"rank": 2, "stride": [s["s"]] * 2, "pad": [s["p"]] * 2,
                    "dilation": [1, 1], "groups": 1, "ep": ""})


def _nrm(row, arrays):
    return Problem("norm", {"x": arrays["x"]}, {},
                   lambda out: out.reshape(arrays["out"].shape))


def _softmax(row, arrays):
    return Problem("softmax", {"x": arrays["x"]}, {}, lambda out: out)


def _layernorm(row, arrays):
    return Problem("layernorm", {"x": arrays["x"]},
                   {"gamma": arrays["gamma"], "beta": arrays["beta"]},
                   lambda out: out)


def _tbs(row, arrays):
    shape = arrays["q"].shape
    return Problem("scores", {"q": arrays["q"], "k": arrays["k"]}, {},
                   lambda out: out, {"rank": len(shape)})
