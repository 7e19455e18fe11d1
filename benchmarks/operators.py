#!/usr/bin/env python3
#===- operators.py - The operators that are measured ----------*- python -*-===//
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""The rows of the benchmark, and their inputs as linalg on tensors.

    operators.py --list [--set library|paper|layers|types|all] [--batch 16]
    operators.py --out DIR [--set all] [--rows c2d_56,gmm512] [--layout nchw]

writes DIR/<row>.mlir. A row is a kind of operator with its sizes; from it come
the module, the arguments (in the module's order, the destination last), the
floating-point operations and the bytes that must move at least once. Peers
build their own form of it from the same sizes.
"""
import argparse
import math
import os
from dataclasses import dataclass, field, replace

BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1, "i32": 4, "i64": 8}


@dataclass(frozen=True)
class Argument:
    """An argument of the module. Roles: data, weight (constant in a model),
    out (the destination)."""
    name: str
    shape: tuple
    dtype: str = "f32"
    role: str = "data"

    @property
    def type(self):
        return tensor(self.shape, self.dtype)

    @property
    def bytes(self):
        return math.prod(self.shape) * BYTES[self.dtype]


@dataclass(frozen=True)
class Row:
    """An operator with its sizes. `kind` is one of KINDS; `sizes` holds what
    that kind reads; `layout` is nhwc or nchw (convolutions)."""
    name: str
    kind: str
    sizes: dict = field(hash=False)
    layout: str = "nhwc"

    def __getattr__(self, key):
        try:
            return self.__dict__["sizes"][key]
        except KeyError:
            raise AttributeError(key) from None

    @property
    def batch(self):
        return self.sizes.get("n", 1)

    @property
    def args(self):
        return KINDS[self.kind](self).args

    @property
    def result_shape(self):
        made = KINDS[self.kind](self)
        return getattr(made, "result_shape", None) or made.args[-1].shape

    @property
    def flops(self):
        return KINDS[self.kind](self).flops

    @property
    def bytes(self):
        return sum(a.bytes for a in self.args)

    def text(self, constants=None, destination=True):
        """The module. `constants` gives arguments by name as arrays, which
        become constants; without `destination` that is no argument either."""
        return KINDS[self.kind](self).text(constants or {}, destination)


#===------------------------------------------------------------------------===#
# Text of modules
#===------------------------------------------------------------------------===#


def tensor(shape, dtype="f32"):
    return f"tensor<{''.join(f'{d}x' for d in shape)}{dtype}>"


def affine_map(rank, results):
    """Of dimensions (numbers) or expressions (text)."""
    dims = ", ".join(f"d{i}" for i in range(rank))
    exprs = ", ".join(r if isinstance(r, str) else f"d{r}" for r in results)
    return f"affine_map<({dims}) -> ({exprs})>"


class Module:
    """Collects the arguments and operations of a function `main`."""

    def __init__(self, flops):
        self.flops = flops
        self.args, self.lines, self.count = [], [], 0
        self.result = None

    def arg(self, name, shape, dtype="f32", role="data"):
        self.args.append(Argument(name, tuple(shape), dtype, role))
        return f"%{name}"

    def add(self, text, prefix="v"):
        self.count += 1
        name = f"%{prefix}{self.count}"
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, value, dtype="f32"):
        return self.add(f"arith.constant {value} : {dtype}", "c")

    def zeros(self, shape, dtype="f32", out=None):
        zero = self.constant("0" if dtype.startswith("i") else "0.0", dtype)
        return self.fill(zero, shape, dtype, out)

    def fill(self, value, shape, dtype="f32", out=None):
        out = out or self.empty(shape, dtype)
        type = tensor(shape, dtype)
        return self.add(f"linalg.fill ins({value} : {dtype}) "
                        f"outs({out} : {type}) -> {type}")

    def empty(self, shape, dtype="f32"):
        return self.add(f"tensor.empty() : {tensor(shape, dtype)}")

    def pad(self, value, shape, amounts):
        """Pads each dimension by the same amount on both sides, with zero."""
        if not any(amounts):
            return value, tuple(shape)
        zero = self.constant("0.0")
        padded = tuple(s + 2 * p for s, p in zip(shape, amounts))
        index = ", ".join(f"%i{i}: index" for i in range(len(shape)))
        low = ", ".join(map(str, amounts))
        return self.add(
            f"tensor.pad {value} low[{low}] high[{low}] {{\n"
            f"    ^bb0({index}):\n      tensor.yield {zero} : f32\n"
            f"  }} : {tensor(shape)} to {tensor(padded)}"), padded

    def named(self, op, ins, in_types, out, out_type, attributes=""):
        return self.add(f"linalg.{op}{attributes} ins({', '.join(ins)} : "
                        f"{', '.join(in_types)}) outs({out} : {out_type}) "
                        f"-> {out_type}")

    def generic(self, maps, iterators, ins, in_types, out, out_type, body):
        """`body` is a list of lines over %a0, %a1, … and %o; the last one is
        what is yielded, with its type."""
        def element(type):
            return type[:-1].split("x")[-1] if "x" in type else type[7:-1]
        block = ", ".join([f"%a{i}: {element(t)}" for i, t in enumerate(in_types)]
                          + [f"%o: {element(out_type)}"])
        names = ", ".join(f'"{ {"p": "parallel", "r": "reduction"}[i]}"'
                          for i in iterators)
        lines = [f"      {line}" for line in body[:-1]]
        lines.append(f"      linalg.yield {body[-1]}")
        return self.add(
            "linalg.generic {\n      indexing_maps = ["
            + ",\n                       ".join(maps)
            + f"],\n      iterator_types = [{names}]}}\n"
            f"      ins({', '.join(ins)} : {', '.join(in_types)})\n"
            f"      outs({out} : {out_type}) {{\n    ^bb0({block}):\n"
            + "\n".join(lines) + f"\n    }} -> {out_type}")

    def contraction(self, maps, iterators, ins, in_types, out, out_type):
        """Sum of products."""
        return self.generic(maps, iterators, ins, in_types, out, out_type,
                            ["%m = arith.mulf %a0, %a1 : f32",
                             "%s = arith.addf %o, %m : f32", "%s : f32"])

    def text(self, constants, destination):
        args, lines, blobs = [], [], []
        for a in self.args:
            if a.name in constants:
                lines.append(f"%{a.name} = arith.constant "
                             f"dense_resource<{a.name}> : {a.type}")
                # Four bytes of alignment, then the data.
                data = constants[a.name].tobytes().hex()
                blobs.append(f'{a.name}: "0x40000000{data}"')
            elif a.role == "out" and not destination:
                lines.append(f"%{a.name} = tensor.empty() : {a.type}")
            else:
                args.append(f"%{a.name}: {a.type}")
        type = self.args[-1].type
        body = "\n".join(f"  {line}" for line in lines + self.lines)
        text = (f"func.func @main({(',' + chr(10) + ' ' * 16).join(args)})\n"
                f"    -> {type} {{\n{body}\n  return {self.result} : {type}\n}}\n")
        if blobs:
            text += "{-# dialect_resources: { builtin: {\n"
            text += ",\n".join(blobs) + "\n} } #-}\n"
        return text


def epilogue(m, value, shape, channel, kind, out):
    """A bias, batch normalisation, relu or gelu over dimension `channel`."""
    if kind == "":
        return value
    type, rank = tensor(shape), len(shape)
    channels = (shape[channel],)
    vectors = {"bias": ["bias"], "bn": ["bias", "scale", "offset"]}[
        "bn" if kind == "bn_relu" else "bias"]
    names = [m.arg(v, channels, role="weight") for v in vectors]
    body = ["%x0 = arith.addf %a0, %a1 : f32"]
    last = "%x0"
    constants = {}
    if kind == "bn_relu":
        body += ["%x1 = arith.mulf %x0, %a2 : f32",
                 "%x2 = arith.addf %x1, %a3 : f32"]
        last = "%x2"
    if kind in ("bias_relu", "bn_relu"):
        zero = m.constant("0.0")
        body.append(f"%r = arith.maximumf {last}, {zero} : f32")
        last = "%r"
    if kind == "bias_gelu":
        half, one, root = (m.constant(c) for c in
                           ("0.5", "1.0", "0.707106769"))
        body += [f"%g0 = arith.mulf {last}, {root} : f32",
                 "%g1 = math.erf %g0 : f32",
                 f"%g2 = arith.addf %g1, {one} : f32",
                 f"%g3 = arith.mulf {last}, {half} : f32",
                 "%g4 = arith.mulf %g3, %g2 : f32"]
        last = "%g4"
    identity = affine_map(rank, range(rank))
    maps = [identity] + [affine_map(rank, [channel])] * len(names) + [identity]
    return m.generic(maps, "p" * rank, [value, *names],
                     [type] + [tensor(channels)] * len(names), out, type,
                     body + [f"{last} : f32"])


def finish(m, out_shape, dtype="f32"):
    """Declares the destination; called once all other arguments are."""
    m.arg("out", out_shape, dtype, "out")
    return m


#===------------------------------------------------------------------------===#
# Kinds
#===------------------------------------------------------------------------===#


def gemm(row):
    """M, N, K, and optionally n (batch), types (of operands and of the sum), ep,
    form (nt: B is given transposed), b_role."""
    s = row.sizes
    b = s.get("n", 1)
    in_type, out_type = s.get("types", ("f32", "f32"))
    M, N, K = s["M"], s["N"], s["K"]
    lead = (b,) if b > 1 else ()
    m = Module(2 * b * M * N * K)
    transposed = s.get("form") == "nt"
    a_shape = lead + (M, K)
    b_shape = lead + ((N, K) if transposed else (K, N))
    o_shape = lead + (M, N)
    a, w = m.arg("a", a_shape, in_type), m.arg("b", b_shape, in_type,
                                               s.get("b_role", "data"))
    ep = s.get("ep", "")
    init = m.zeros(o_shape, out_type, None if ep else "%out")
    ins, types = [a, w], [tensor(a_shape, in_type), tensor(b_shape, in_type)]
    type = tensor(o_shape, out_type)
    if transposed:
        maps = [affine_map(3, [0, 2]), affine_map(3, [1, 2]), affine_map(3, [0, 1])]
        value = m.contraction(maps, "ppr", ins, types, init, type)
    else:
        op = "batch_matmul" if b > 1 else "matmul"
        value = m.named(op, ins, types, init, type)
    m.result = epilogue(m, value, o_shape, len(o_shape) - 1, ep, "%out")
    return finish(m, o_shape, out_type)


def out_size(size, k, s, p, d=1):
    return (size + 2 * p - d * (k - 1) - 1) // s + 1


def dense(values):
    return f"dense<[{', '.join(map(str, values))}]> : vector<{len(values)}xi64>"


def conv(row):
    """A convolution of any rank: n, size (spatial), ci, co, k, s, p, and
    optionally d, groups, depthwise (k, s, p are one number or one a
    dimension), ep."""
    s = row.sizes
    size = s["size"]
    rank = len(size)
    k, st, p = ([s[x]] * rank if isinstance(s[x], int) else list(s[x])
                for x in ("k", "s", "p"))
    d = [s.get("d", 1)] * rank
    n, ci, co, g = s.get("n", 1), s["ci"], s["co"], s.get("groups", 1)
    out = [out_size(*x) for x in zip(size, k, st, p, d)]
    depthwise = s.get("depthwise", False)
    flops = 2 * n * math.prod(out) * co * (1 if depthwise else ci // g) * math.prod(k)
    m = Module(flops)
    nchw = row.layout == "nchw"

    def data(spatial, channels):
        c = (g, channels // g) if g > 1 and not depthwise else (channels,)
        return (n, *c, *spatial) if nchw else (n, *spatial, *c)

    if depthwise:
        f_shape = (ci, *k) if nchw else (*k, ci)
    elif g > 1:
        f_shape = ((g, co // g, ci // g, *k) if nchw
                   else (*k, g, ci // g, co // g))
    else:
        f_shape = (co, ci, *k) if nchw else (*k, ci, co)
    x_shape, o_shape = data(size, ci), data(out, co)
    x = m.arg("x", x_shape)
    w = m.arg("w", f_shape, role="weight")
    first = len(x_shape) - rank if nchw else 1
    amounts = [0] * len(x_shape)
    amounts[first:first + rank] = p
    x, x_shape = m.pad(x, x_shape, amounts)
    ep = s.get("ep", "")
    init = m.zeros(o_shape, out=None if ep else "%out")
    ins, types, type = [x, w], [tensor(x_shape), tensor(f_shape)], tensor(o_shape)
    attributes = f" {{dilations = {dense(d)}, strides = {dense(st)}}}"
    letters = {1: "w", 2: "hw", 3: "dhw"}[rank]
    if depthwise:
        op = (f"depthwise_conv_{rank}d_nc{letters}_c{letters}" if nchw else
              f"depthwise_conv_{rank}d_n{letters}c_{letters}c")
        value = m.named(op, ins, types, init, type, attributes)
    elif g > 1:
        value = grouped(m, nchw, rank, st, d, ins, types, init, type)
    else:
        op = (f"conv_{rank}d_nc{letters}_fc{letters}" if nchw else
              f"conv_{rank}d_n{letters}c_{letters}cf")
        value = m.named(op, ins, types, init, type, attributes)
    channel = 1 if nchw else len(o_shape) - 1
    m.result = epilogue(m, value, o_shape, channel, ep, "%out")
    return finish(m, o_shape)


def grouped(m, nchw, rank, st, d, ins, types, init, type):
    """n, out, g, f in the destination's order, then k, c."""
    if nchw:
        n, g, f = 0, 1, 2
        o = list(range(3, 3 + rank))
        order = [n, g, f, *o]
    else:
        n, o, g, f = 0, list(range(1, 1 + rank)), 1 + rank, 2 + rank
        order = [n, *o, g, f]
    first = len(order)
    k = list(range(first, first + rank))
    c = first + rank

    def scaled(dim, by):
        return f"d{dim}" if by == 1 else f"d{dim} * {by}"
    window = [f"{scaled(a, s)} + {scaled(b, t)}" for a, b, s, t in zip(o, k, st, d)]
    loops = c + 1
    x_map = [n, g, c, *window] if nchw else [n, *window, g, c]
    f_map = [g, f, c, *k] if nchw else [*k, g, c, f]
    maps = [affine_map(loops, r) for r in (x_map, f_map, order)]
    return m.contraction(maps, "p" * first + "r" * (rank + 1), ins, types, init,
                         type)


def transposed_conv(row):
    """n, size, ci, co, k, s, p: the image is spread by zeros, then convolved
    with the filter, which is given turned by 180 degrees."""
    s = row.sizes
    n, (h, w), ci, co = s.get("n", 1), s["size"], s["ci"], s["co"]
    k, st, p = s["k"], s["s"], s["p"]
    out = [(x - 1) * st - 2 * p + k for x in (h, w)]
    # Only products with a value of the image count.
    taps = [sum(1 for o in range(e) for t in range(k)
                if (o + p - t) % st == 0 and 0 <= (o + p - t) // st < x)
            for e, x in zip(out, (h, w))]
    m = Module(2 * n * ci * co * taps[0] * taps[1])
    nchw = row.layout == "nchw"
    data = (lambda sp, c: (n, c, *sp)) if nchw else (lambda sp, c: (n, *sp, c))
    x_shape, o_shape = data((h, w), ci), data(out, co)
    f_shape = (co, ci, k, k) if nchw else (k, k, ci, co)
    x = m.arg("x", x_shape)
    weight = m.arg("w", f_shape, role="weight")
    low = k - 1 - p
    spread = data([(e - 1) * st + 1 + 2 * low for e in (h, w)], ci)
    zeros = m.zeros(spread)
    if nchw:
        offsets, strides = (0, 0, low, low), (1, 1, st, st)
    else:
        offsets, strides = (0, low, low, 0), (1, st, st, 1)
    text = ["[" + ", ".join(map(str, v)) + "]" for v in (offsets, x_shape, strides)]
    x = m.add(f"tensor.insert_slice {x} into {zeros}{' '.join(text)} : "
              f"{tensor(x_shape)} into {tensor(spread)}")
    init = m.zeros(o_shape, out="%out")
    op = "conv_2d_nchw_fchw" if nchw else "conv_2d_nhwc_hwcf"
    m.result = m.named(op, [x, weight], [tensor(spread), tensor(f_shape)], init,
                       tensor(o_shape),
                       f" {{dilations = {dense([1, 1])}, strides = {dense([1, 1])}}}")
    return finish(m, o_shape)


def capsule(row):
    """n, size, ci, co, k, s, p, cap: a convolution of matrices."""
    s = row.sizes
    n, (h, w), ci, co, cap = s.get("n", 1), s["size"], s["ci"], s["co"], s["cap"]
    k, st, p = s["k"], s["s"], s["p"]
    oh, ow = out_size(h, k, st, p), out_size(w, k, st, p)
    m = Module(2 * n * oh * ow * co * cap ** 3 * k * k * ci)
    x_shape = (n, h, w, ci, cap, cap)
    f_shape = (k, k, ci, co, cap, cap)
    o_shape = (n, oh, ow, co, cap, cap)
    x, weight = m.arg("x", x_shape), m.arg("w", f_shape, role="weight")
    x, x_shape = m.pad(x, x_shape, (0, p, p, 0, 0, 0))
    init = m.zeros(o_shape, out="%out")
    # n h w co i j | kh kw ci c
    window = [f"d1 * {st} + d6" if st > 1 else "d1 + d6",
              f"d2 * {st} + d7" if st > 1 else "d2 + d7"]
    maps = [affine_map(10, [0, *window, 8, 4, 9]),
            affine_map(10, [6, 7, 8, 3, 9, 5]), affine_map(10, range(6))]
    m.result = m.contraction(maps, "p" * 6 + "r" * 4, [x, weight],
                             [tensor(x_shape), tensor(f_shape)], init,
                             tensor(o_shape))
    return finish(m, o_shape)


def norm(row):
    """n, M, N: the root of the sum of squares of each matrix."""
    s = row.sizes
    n, M, N = s.get("n", 1), s["M"], s["N"]
    m = Module(2 * n * M * N)
    x = m.arg("x", (n, M, N))
    init = m.zeros((n,))
    total = m.generic([affine_map(3, [0, 1, 2]), affine_map(3, [0])], "prr", [x],
                      [tensor((n, M, N))], init, tensor((n,)),
                      ["%m = arith.mulf %a0, %a0 : f32",
                       "%s = arith.addf %o, %m : f32", "%s : f32"])
    m.result = m.generic([affine_map(1, [0])] * 2, "p", [total], [tensor((n,))],
                         "%out", tensor((n,)),
                         ["%r = math.sqrt %a0 : f32", "%r : f32"])
    return finish(m, (n,))


def softmax_op(m, value, shape, out="%out"):
    type = tensor(shape)
    return m.add(f"linalg.softmax dimension({len(shape) - 1}) "
                 f"ins({value} : {type}) outs({out} : {type}) -> {type}")


def softmax(row):
    """M, N: over the last dimension."""
    shape = (row.sizes["M"], row.sizes["N"])
    m = Module(4 * math.prod(shape))
    x = m.arg("x", shape)
    m.result = softmax_op(m, x, shape)
    return finish(m, shape)


def layer_norm(row):
    """M, N: over the last dimension, with scale and offset."""
    M, N = row.sizes["M"], row.sizes["N"]
    m = Module(8 * M * N)
    x = m.arg("x", (M, N))
    gamma = m.arg("gamma", (N,), role="weight")
    beta = m.arg("beta", (N,), role="weight")
    count, epsilon = m.constant(f"{float(N):.1f}"), m.constant("1.0e-5")
    zeros = m.zeros((M,))
    matrix, rows = affine_map(2, [0, 1]), affine_map(2, [0])
    columns = affine_map(2, [1])
    full, vector, width = tensor((M, N)), tensor((M,)), tensor((N,))
    total = m.generic([matrix, rows], "pr", [x], [full], zeros, vector,
                      ["%s = arith.addf %o, %a0 : f32", "%s : f32"])
    spread = m.generic([matrix, rows, rows], "pr", [x, total], [full, vector],
                       zeros, vector,
                       [f"%m = arith.divf %a1, {count} : f32",
                        "%d = arith.subf %a0, %m : f32",
                        "%q = arith.mulf %d, %d : f32",
                        "%s = arith.addf %o, %q : f32", "%s : f32"])
    m.result = m.generic(
        [matrix, rows, rows, columns, columns, matrix], "pp",
        [x, total, spread, gamma, beta], [full, vector, vector, width, width],
        "%out", full,
        [f"%m = arith.divf %a1, {count} : f32", "%d = arith.subf %a0, %m : f32",
         f"%v = arith.divf %a2, {count} : f32",
         f"%e = arith.addf %v, {epsilon} : f32", "%i = math.rsqrt %e : f32",
         "%n = arith.mulf %d, %i : f32", "%g = arith.mulf %n, %a3 : f32",
         "%b = arith.addf %g, %a4 : f32", "%b : f32"])
    return finish(m, (M, N))


def attention_scores(row):
    """n, seq, heads, dim: transposes, batch of products, softmax."""
    s = row.sizes
    n, seq, heads, dim = s.get("n", 1), s["seq"], s["heads"], s["dim"]
    m = Module(n * heads * seq * seq * (2 * dim + 4))
    lead = (n,) if n > 1 else ()
    b = len(lead)
    in_shape = (*lead, seq, heads, dim)
    q, key = m.arg("q", in_shape), m.arg("k", in_shape)

    def transpose(value, order):
        shape = tuple(in_shape[i] for i in order)
        out = m.empty(shape)
        return m.add(f"linalg.transpose ins({value} : {tensor(in_shape)}) "
                     f"outs({out} : {tensor(shape)}) "
                     f"permutation = [{', '.join(map(str, order))}]"), shape
    ahead = list(range(b))
    q, q_shape = transpose(q, [*ahead, b + 1, b, b + 2])
    key, k_shape = transpose(key, [*ahead, b + 1, b + 2, b])
    o_shape = (*lead, heads, seq, seq)
    init = m.zeros(o_shape)
    ins, types, type = [q, key], [tensor(q_shape), tensor(k_shape)], tensor(o_shape)
    if b == 0:
        scores = m.named("batch_matmul", ins, types, init, type)
    else:
        maps = [affine_map(5, [0, 1, 2, 4]), affine_map(5, [0, 1, 4, 3]),
                affine_map(5, [0, 1, 2, 3])]
        scores = m.contraction(maps, "ppppr", ins, types, init, type)
    m.result = softmax_op(m, scores, o_shape)
    return finish(m, o_shape)


def network(row):
    """stem: of the files that networks.py wrote."""
    import networks
    return networks.Network(row)


KINDS = {"network": network, "gemm": gemm, "conv": conv, "t2d": transposed_conv, "cap": capsule,
         "nrm": norm, "softmax": softmax, "layernorm": layer_norm,
         "tbs": attention_scores}


#===------------------------------------------------------------------------===#
# Rows
#===------------------------------------------------------------------------===#


def gmm(name, M, N, K, **more):
    return Row(name, "gemm", {"M": M, "N": N, "K": K, **more})


def conv_row(name, size, ci, co, k, s, p, **more):
    return Row(name, "conv", {"size": size, "ci": ci, "co": co, "k": k, "s": s,
                              "p": p, **more})


def square(size, rank=2):
    return (size,) * rank


def library_rows():
    """What libraries and compilers are good at: 22 rows at batch 1."""
    relu = {"ep": "bias_relu"}
    weight = {"b_role": "weight"}
    return [
        gmm("gmm512", 512, 512, 512),
        gmm("gmm1024", 1024, 1024, 1024),
        gmm("ffn_gelu", 128, 3072, 768, ep="bias_gelu", **weight),
        gmm("ffn_relu", 128, 3072, 768, ep="bias_relu", **weight),
        conv_row("c2d_56", square(56), 64, 64, 3, 1, 1, **relu),
        conv_row("c2d_28", square(28), 128, 128, 3, 1, 1, **relu),
        conv_row("c2d_14", square(14), 256, 256, 3, 1, 1, **relu),
        conv_row("c2d_7", square(7), 512, 512, 3, 1, 1, **relu),
        conv_row("c2d_1x1", square(56), 64, 256, 1, 1, 0, **relu),
        conv_row("c2d_7x7", square(224), 3, 64, 7, 2, 3, **relu),
        conv_row("c1d", (256,), 64, 128, 3, 2, 1),
        conv_row("c3d", (16, 56, 56), 64, 64, 3, 1, 1),
        conv_row("grp", square(56), 64, 64, 3, 1, 1, groups=4),
        conv_row("dil", square(56), 64, 64, 3, 1, 2, d=2),
        conv_row("dep112", square(112), 32, 32, 3, 1, 1, depthwise=True),
        conv_row("dep14", square(14), 512, 512, 3, 1, 1, depthwise=True),
        Row("t2d", "t2d", {"size": square(8), "ci": 512, "co": 256, "k": 4,
                           "s": 2, "p": 1}),
        Row("cap", "cap", {"size": square(16), "ci": 32, "co": 32, "k": 3,
                           "s": 2, "p": 1, "cap": 4}),
        Row("nrm", "nrm", {"M": 256, "N": 256}),
        Row("softmax", "softmax", {"M": 1536, "N": 128}),
        Row("tbs", "tbs", {"seq": 128, "heads": 12, "dim": 64}),
        Row("layernorm", "layernorm", {"M": 128, "N": 768}),
    ]


C2D = [((224, 224), 3, 64, 7, 2, 3), ((56, 56), 64, 64, 1, 1, 0),
       ((14, 14), 256, 256, 3, 1, 1), ((7, 7), 512, 512, 3, 1, 1)]


def paper_rows(batch=1):
    """The ten operators of the paper's evaluation, four shapes each; where the
    paper's text and its published artifact differ, the one that is possible
    (GRP) or the text (NRM)."""
    rows = []
    b = {"n": batch} if batch > 1 else {}

    def add(op, index, kind, sizes):
        tail = f"_b{batch}" if batch > 1 else ""
        rows.append(Row(f"p_{op}_{index}{tail}", kind, {**sizes, **b}))

    def convs(op, shapes, **more):
        for i, (size, ci, co, k, s, p) in enumerate(shapes, 1):
            add(op, i, "conv", {"size": size, "ci": ci, "co": co, "k": k, "s": s,
                                "p": p, **more})
    convs("c1d", [((256,), 64, 128, 3, 2, 1), ((128,), 128, 256, 1, 2, 0),
                  ((64,), 256, 256, 5, 1, 2), ((32,), 512, 512, 3, 1, 1)])
    convs("c2d", C2D)
    convs("c3d", [((16, *size), *rest) for size, *rest in C2D])
    for i, (M, N, K) in enumerate(
            [(128, 128, 128), (512, 32, 512), (512, 512, 512),
             (1024, 1024, 1024)], 1):
        tail = f"_b{batch}" if batch > 1 else ""
        rows.append(Row(f"p_gmm_{i}{tail}", "gemm",
                        {"M": M, "N": N, "K": K, **b}))
    convs("grp", [((56, 56), 64, 128, 3, 2, 1), *C2D[1:]], groups=4)
    dilated = [(size, ci, co, k, s, p) for size, ci, co, k, s, p in C2D]
    convs("dil", dilated, d=2)
    for i, (size, c, k, s, p) in enumerate(
            [(112, 32, 3, 1, 1), (112, 64, 3, 2, 1), (14, 512, 3, 2, 1),
             (7, 1024, 3, 1, 1)], 1):
        add("dep", i, "conv", {"size": square(size), "ci": c, "co": c, "k": k,
                               "s": s, "p": p, "depthwise": True})
    for i, (size, ci, co) in enumerate(
            [(4, 512, 256), (8, 256, 128), (16, 128, 64), (32, 64, 3)], 1):
        add("t2d", i, "t2d", {"size": square(size), "ci": ci, "co": co, "k": 4,
                              "s": 2, "p": 1})
    for i, (size, ci, co, s) in enumerate(
            [(16, 32, 32, 2), (8, 32, 32, 1), (16, 8, 16, 2), (8, 16, 16, 1)], 1):
        add("cap", i, "cap", {"size": square(size), "ci": ci, "co": co, "k": 3,
                              "s": s, "p": 1, "cap": 4})
    for i, size in enumerate([256, 512, 1024, 4096], 1):
        add("nrm", i, "nrm", {"M": size, "N": size})
    return rows


def layer_rows(batch=1):
    """ConvLayer (convolution, batch normalisation, relu) and TBS."""
    b = {"n": batch} if batch > 1 else {}
    tail = f"_b{batch}" if batch > 1 else ""
    rows = [conv_row(f"convlayer_{i}{tail}", *shape, ep="bn_relu", **b)
            for i, shape in enumerate(
                [C2D[0], ((56, 56), 64, 64, 3, 2, 1), ((28, 28), 128, 256, 1, 2, 0),
                 C2D[3]], 1)]
    rows += [Row(f"tbs_{i}{tail}", "tbs",
                 {"seq": s, "heads": h, "dim": d, **b})
             for i, (s, h, d) in enumerate(
                 [(128, 12, 64), (128, 16, 64), (64, 12, 128), (128, 12, 128)], 1)]
    return rows


def type_rows():
    """Other element types, odd sizes, a transposed operand."""
    rows = [gmm(f"gmm512_{t}", 512, 512, 512, types=(t, acc))
            for t, acc in (("f16", "f32"), ("bf16", "f32"), ("i8", "i32"))]
    rows += [gmm("gmm512_relu", 512, 512, 512, ep="bias_relu"),
             gmm("gmm500", 500, 500, 500), gmm("gmm509", 509, 509, 509),
             gmm("gmm1x1000", 1, 1000, 512),
             gmm("gmm512_nt", 512, 512, 512, form="nt")]
    rows += [replace(conv_row(f"c2d_{size}_nchw", square(size), c, c, 3, 1, 1,
                              ep="bias_relu"), layout="nchw")
             for size, c in ((56, 64), (28, 128), (14, 256), (7, 512))]
    return rows


SETS = {"library": lambda batch: library_rows(), "paper": paper_rows,
        "layers": layer_rows, "types": lambda batch: type_rows()}


def select(sets="library", names=(), batch=1, layout=None):
    """The rows of the sets (comma-separated, or all) with these names, or all."""
    chosen = list(SETS) if sets == "all" or names else sets.split(",")
    rows = {}
    for s in chosen:
        if s not in SETS:
            raise SystemExit(f"no set '{s}': one of {', '.join(SETS)}, all")
        for row in SETS[s](batch):
            rows.setdefault(row.name, row)
    if batch > 1 and names:
        for s in chosen:
            for row in SETS[s](1):
                rows.setdefault(row.name, row)
    unknown = [n for n in names if n not in rows]
    if unknown:
        raise SystemExit(f"no row {', '.join(unknown)}; --list names them")
    result = [rows[n] for n in names] if names else list(rows.values())
    if layout:
        result = [replace(r, layout=layout) if r.kind in ("conv", "t2d") else r
                  for r in result]
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", help="folder to write into")
    parser.add_argument("--list", action="store_true", help="print the rows")
    parser.add_argument("--set", default="library",
                        help="library, paper, layers, types, all")
    parser.add_argument("--rows", default="", help="names, comma-separated")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--layout", choices=["nhwc", "nchw"])
    args = parser.parse_args()
    rows = select(args.set, [r for r in args.rows.split(",") if r], args.batch,
                  args.layout)
    if args.out:
        os.makedirs(args.out, exist_ok=True)
    for row in rows:
        if args.list:
            print(f"{row.name:16} {row.flops / 1e6:10.2f} MFLOP "
                  f"{row.bytes / 1e6:9.3f} MB  "
                  + " ".join(a.type[7:-1] for a in row.args))
        if args.out:
            with open(os.path.join(args.out, row.name + ".mlir"), "w") as file:
                file.write(row.text())


if __name__ == "__main__":
    main()
