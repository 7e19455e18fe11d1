#===- te_rows.py - Rows as TE programs -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Rows as TVM's tensor expressions, in the layouts of the row (NHWC), all
operands arguments. Returns the tensors in the order of the row's arguments."""
import tvm
from tvm import te, tirx, topi


def build(row):
    maker = globals().get("_" + row.kind)
    if maker is None or row.layout != "nhwc":
        raise ValueError(f"no TE form of {row.kind} {row.layout}")
    return te.create_prim_func(maker(row))


def _placeholders(row):
    kinds = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8",
             "i32": "int32"}
    return [te.placeholder(a.shape, name=a.name, dtype=kinds[a.dtype])
            for a in row.args[:-1]]


def _epilogue(value, vectors, ep):
    if not ep:
        return value
    rank = len(value.shape)

    def at(index):
        x = value(*index) + vectors[0][index[rank - 1]]
        if ep == "bn_relu":
            x = x * vectors[1][index[rank - 1]] + vectors[2][index[rank - 1]]
        if ep == "bias_gelu":
            return x * 0.5 * (1.0 + tirx.erf(x * 0.707106769))
        return tirx.max(x, tirx.const(0.0, "float32"))
    return te.compute(value.shape, lambda *i: at(i), name="epilogue")


def _gemm(row):
    a, b, *vectors = _placeholders(row)
    M, N, K, n = row.M, row.N, row.K, row.sizes.get("n", 1)
    out = {"f32": "float32", "i32": "int32"}[row.sizes.get("types", ("f32", "f32"))[1]]
    k = te.reduce_axis((0, K), name="k")
    if n > 1:
        y = te.compute((n, M, N), lambda s, i, j: te.sum(a[s, i, k] * b[s, k, j], k))
    else:
        nt = row.sizes.get("form") == "nt"
        y = te.compute((M, N), lambda i, j: te.sum(
            a[i, k].astype(out) * (b[j, k] if nt else b[k, j]).astype(out), k),
            name="product")
    return [a, b, *vectors, _epilogue(y, vectors, row.sizes.get("ep", ""))]


def _conv(row):
    s = row.sizes
    x, w, *vectors = _placeholders(row)
    out = row.args[-1].shape
    rank = len(s["size"])

    def each(key):
        return [s[key]] * rank if isinstance(s[key], int) else list(s[key])
    stride, pad, d = each("s"), each("p"), s.get("d", 1)
    amounts = [0, *pad] + [0] * (len(x.shape) - 1 - rank)
    p = topi.nn.pad(x, amounts, amounts, name="padded") if any(pad) else x
    axes = [te.reduce_axis((0, k), name=f"k{i}") for i, k in enumerate(each("k"))]

    def window(index):
        return [o * t + r * d for o, t, r in zip(index[1:1 + rank], stride, axes)]
    if s.get("depthwise"):
        y = te.compute(out, lambda *i: te.sum(
            p(i[0], *window(i), i[-1]) * w(*axes, i[-1]), axes), name="conv")
    elif s.get("groups", 1) > 1:
        c = te.reduce_axis((0, s["ci"] // s["groups"]), name="c")
        y = te.compute(out, lambda *i: te.sum(
            p(i[0], *window(i), i[-2], c) * w(*axes, i[-2], c, i[-1]), [*axes, c]),
            name="conv")
    else:
        c = te.reduce_axis((0, s["ci"]), name="c")
        y = te.compute(out, lambda *i: te.sum(
            p(i[0], *window(i), c) * w(*axes, c, i[-1]), [*axes, c]), name="conv")
    return [x, w, *vectors, _epilogue(y, vectors, s.get("ep", ""))]


def _t2d(row):
    s = row.sizes
    x, w = _placeholders(row)
    n, oh, ow, co = row.args[-1].shape
    low, st = s["k"] - 1 - s["p"], s["s"]
    h, width = s["size"]
    spread = te.compute(
        (n, oh + s["k"] - 1, ow + s["k"] - 1, s["ci"]),
        lambda b, i, j, c: tirx.if_then_else(
            tirx.all(i >= low, (i - low) % st == 0, (i - low) // st < h,
                     j >= low, (j - low) % st == 0, (j - low) // st < width),
            x[b, (i - low) // st, (j - low) // st, c], tirx.const(0.0, "float32")),
        name="spread")
    kh, kw = (te.reduce_axis((0, s["k"]), name=m) for m in ("kh", "kw"))
    c = te.reduce_axis((0, s["ci"]), name="c")
    return [x, w, te.compute((n, oh, ow, co), lambda b, i, j, f: te.sum(
        spread[b, i + kh, j + kw, c] * w[kh, kw, c, f], [kh, kw, c]), name="deconv")]


def _cap(row):
    s = row.sizes
    x, w = _placeholders(row)
    p, st = s["p"], s["s"]
    amounts = [0, p, p, 0, 0, 0]
    padded = topi.nn.pad(x, amounts, amounts, name="padded") if p else x
    kh, kw = (te.reduce_axis((0, s["k"]), name=m) for m in ("kh", "kw"))
    c = te.reduce_axis((0, s["ci"]), name="c")
    m = te.reduce_axis((0, s["cap"]), name="m")
    return [x, w, te.compute(row.args[-1].shape, lambda b, h, v, f, i, j: te.sum(
        padded[b, h * st + kh, v * st + kw, c, i, m] * w[kh, kw, c, f, m, j],
        [kh, kw, c, m]), name="capsule")]


def _nrm(row):
    (x,) = _placeholders(row)
    n, M, N = x.shape
    i, j = te.reduce_axis((0, M), name="i"), te.reduce_axis((0, N), name="j")
    total = te.compute((n,), lambda b: te.sum(x[b, i, j] * x[b, i, j], [i, j]),
                       name="total")
    return [x, te.compute((n,), lambda b: te.sqrt(total[b]), name="norm")]


def _softmax(row):
    (x,) = _placeholders(row)
    return [x, topi.nn.softmax(x, axis=-1)]


def _layernorm(row):
    x, gamma, beta = _placeholders(row)
    return [x, gamma, beta, topi.nn.layer_norm(x, gamma, beta, [1], 1e-5)]


def _tbs(row):
    q, k = _placeholders(row)
    out = row.args[-1].shape
    lead = len(out) - 3
    d = te.reduce_axis((0, row.dim), name="d")

    def swap(value, name):
        shape = [*value.shape[:lead], value.shape[lead + 1], value.shape[lead],
                 value.shape[lead + 2]]
        return te.compute(shape, lambda *i: value(*i[:lead], i[lead + 1], i[lead],
                                                  i[lead + 2]), name=name)
    a, b = swap(q, "q_t"), swap(k, "k_t")
    scores = te.compute(out, lambda *i: te.sum(
        a(*i[:-1], d) * b(*i[:-2], i[-1], d), d), name="scores")
    return [q, k, topi.nn.softmax(scores, axis=-1)]
