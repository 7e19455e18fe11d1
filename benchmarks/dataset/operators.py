#!/usr/bin/env python3
#===- operators.py - Operators to learn from ------------------*- python -*-===//
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""The operators that the data set is measured on, as linalg on tensors: those
of OSDI 2020's evaluation at batch 1, smaller and odd shapes of them, and
kinds that it lacks. operators() yields (kind, name, text)."""

def tensor(shape):
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}f32>"


class Body:
    """Collects the lines of a function and numbers its values."""

    def __init__(self):
        self.lines, self.args, self.count = ["%zero = arith.constant 0.0 : f32"], [], 0

    def arg(self, *shape):
        self.args.append(f"%a{len(self.args)}: {tensor(shape)}")
        return f"%a{len(self.args) - 1}", shape

    def new(self):
        self.count += 1
        return f"%v{self.count}"

    def empty(self, shape):
        value = self.new()
        self.lines.append(f"{value} = tensor.empty() : {tensor(shape)}")
        return value

    def fill(self, shape, value="0.0"):
        constant, empty, result = self.new(), self.empty(shape), self.new()
        self.lines.append(f"{constant} = arith.constant {value} : f32")
        self.lines.append(f"{result} = linalg.fill ins({constant} : f32) "
                          f"outs({empty} : {tensor(shape)}) -> {tensor(shape)}")
        return result

    def pad(self, source, low, high):
        value, shape = source
        if not any(low) and not any(high):
            return source
        padded = tuple(a + b + c for a, b, c in zip(low, shape, high))
        result = self.new()
        indices = ", ".join(f"%i{d}: index" for d in range(len(shape)))
        self.lines.append(
            f"{result} = tensor.pad {value} low[{', '.join(map(str, low))}] "
            f"high[{', '.join(map(str, high))}] {{\n^bb0({indices}):\n"
            f"tensor.yield %zero : f32\n}} : {tensor(shape)} to {tensor(padded)}")
        return result, padded

    def named(self, op, attrs, ins, shape, init=None):
        init, result = init or self.fill(shape), self.new()
        values = ", ".join(v for v, _ in ins)
        types = ", ".join(tensor(s) for _, s in ins)
        self.lines.append(f"{result} = linalg.{op} {attrs} ins({values} : {types}) "
                          f"outs({init} : {tensor(shape)}) -> {tensor(shape)}")
        return result, shape

    def generic(self, loops, kinds, ins, shape, outmap, lines, init=None):
        """ins: (value, map results); lines: of the body over %x0, ... and %o."""
        init, result = init or self.empty(shape), self.new()
        maps = [f"affine_map<({loops}) -> ({m})>" for _, m in ins]
        maps.append(f"affine_map<({loops}) -> ({outmap})>")
        iterators = ", ".join('"reduction"' if k == "r" else '"parallel"' for k in kinds)
        arguments = ", ".join(f"%x{i}: f32" for i in range(len(ins)))
        values = ", ".join(v for (v, _), _ in ins)
        types = ", ".join(tensor(s) for (_, s), _ in ins)
        inputs = f"ins({values} : {types}) " if ins else ""
        self.lines.append(
            f"{result} = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
            f"iterator_types = [{iterators}]}} {inputs}outs({init} : {tensor(shape)}) {{\n"
            f"^bb0({arguments}{', ' if ins else ''}%o: f32):\n" + "\n".join(lines) +
            f"\n}} -> {tensor(shape)}")
        return result, shape

    def text(self, result):
        value, shape = result
        return (f"func.func @op({', '.join(self.args)}) -> {tensor(shape)} {{\n" +
                "\n".join(self.lines) + f"\nreturn {value} : {tensor(shape)}\n}}\n")


MUL_ADD = ["%m = arith.mulf %x0, %x1 : f32", "%s = arith.addf %o, %m : f32",
           "linalg.yield %s : f32"]


def window(extent, kernel, stride, pad, dilation=1):
    return (extent + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1


def strides(stride, dilation, rank):
    return (f"{{dilations = dense<{dilation}> : vector<{rank}xi64>, "
            f"strides = dense<{stride}> : vector<{rank}xi64>}}")


def conv(rank, extents, ci, co, k, s=1, p=0, d=1, epilogue=False, depth_kernel=None):
    body = Body()
    kernel = [k] * rank
    image = body.pad(body.arg(1, *extents, ci), [0] + [p] * rank + [0], [0] + [p] * rank + [0])
    filter = body.arg(*kernel, ci, co)
    out = (1, *(window(e, k, s, p, d) for e in extents), co)
    op = {1: "conv_1d_nwc_wcf", 2: "conv_2d_nhwc_hwcf", 3: "conv_3d_ndhwc_dhwcf"}[rank]
    result = body.named(op, strides(s, d, rank), [image, filter], out)
    if epilogue:
        scale, shift = body.arg(co), body.arg(co)
        result = body.generic("n, h, w, c", "pppp",
                              [(result, "n, h, w, c"), (scale, "c"), (shift, "c")], out,
                              "n, h, w, c",
                              ["%m = arith.mulf %x0, %x1 : f32", "%s = arith.addf %m, %x2 : f32",
                               "%r = arith.maximumf %s, %zero : f32", "linalg.yield %r : f32"])
    return body.text(result)


def grouped(extent, ci, co, k, s, p, groups=4):
    body = Body()
    image = body.pad(body.arg(1, extent, extent, groups, ci // groups), [0, p, p, 0, 0],
                     [0, p, p, 0, 0])
    filter = body.arg(k, k, groups, ci // groups, co // groups)
    o = window(extent, k, s, p)
    out = (1, o, o, groups, co // groups)
    return body.text(body.generic(
        "n, h, w, g, f, r, s, c", "ppppprrr",
        [(image, f"n, h * {s} + r, w * {s} + s, g, c"), (filter, "r, s, g, c, f")], out,
        "n, h, w, g, f", MUL_ADD, body.fill(out)))


def transposed(extent, ci, co, k=4, s=2, p=1):
    """Zeros between the elements, then a convolution."""
    body = Body()
    value, shape = body.arg(1, extent, extent, ci)
    spread = (extent - 1) * s + 1
    low, wide = k - 1 - p, (extent - 1) * s + 1 + 2 * (k - 1 - p)
    zeros, result = body.fill((1, wide, wide, ci)), body.new()
    body.lines.append(
        f"{result} = tensor.insert_slice {value} into {zeros}[0, {low}, {low}, 0] "
        f"[1, {extent}, {extent}, {ci}] [1, {s}, {s}, 1] : {tensor(shape)} into "
        f"{tensor((1, wide, wide, ci))}")
    out = (1, wide - k + 1, wide - k + 1, co)
    filter = body.arg(k, k, ci, co)
    return body.text(body.named("conv_2d_nhwc_hwcf", strides(1, 1, 2),
                                [(result, (1, wide, wide, ci)), filter], out))


def depthwise(extent, c, k, s, p, epilogue=False):
    body = Body()
    image = body.pad(body.arg(1, extent, extent, c), [0, p, p, 0], [0, p, p, 0])
    o = window(extent, k, s, p)
    out = (1, o, o, c)
    result = body.named("depthwise_conv_2d_nhwc_hwc", strides(s, 1, 2),
                        [image, body.arg(k, k, c)], out)
    if epilogue:
        result = body.generic("n, h, w, c", "pppp", [(result, "n, h, w, c")], out, "n, h, w, c",
                              ["%six = arith.constant 6.0 : f32",
                               "%a = arith.maximumf %x0, %zero : f32",
                               "%b = arith.minimumf %a, %six : f32", "linalg.yield %b : f32"])
    return body.text(result)


def capsule(extent, ci, co, k, s, p):
    body = Body()
    image = body.pad(body.arg(1, extent, extent, 4, 4, ci), [0, p, p, 0, 0, 0],
                     [0, p, p, 0, 0, 0])
    filter = body.arg(k, k, 4, 4, ci, co)
    o = window(extent, k, s, p)
    out = (1, o, o, 4, 4, co)
    return body.text(body.generic(
        "n, h, w, i, j, f, r, s, l, c", "pppppprrrr",
        [(image, f"n, h * {s} + r, w * {s} + s, i, l, c"), (filter, "r, s, l, j, c, f")], out,
        "n, h, w, i, j, f", MUL_ADD, body.fill(out)))


def matmul(n, m, k, epilogue=None):
    body = Body()
    out = (n, m)
    result = body.named("matmul", "", [body.arg(n, k), body.arg(k, m)], out)
    if epilogue:
        tail = {"relu": ["%r = arith.maximumf %s, %zero : f32"],
                "tanh": ["%r = math.tanh %s : f32"]}[epilogue]
        result = body.generic("i, j", "pp", [(result, "i, j"), (body.arg(m), "j")], out, "i, j",
                              ["%s = arith.addf %x0, %x1 : f32"] + tail +
                              ["linalg.yield %r : f32"])
    return body.text(result)


def matvec(n, k):
    body = Body()
    return body.text(body.named("matvec", "", [body.arg(n, k), body.arg(k)], (n,)))


def norm(n, m):
    body = Body()
    total = body.generic("i, j", "rr", [(body.arg(n, m), "i, j")], (), "",
                         ["%m = arith.mulf %x0, %x0 : f32", "%s = arith.addf %o, %m : f32",
                          "linalg.yield %s : f32"], body.fill(()))
    return body.text(body.generic("", "", [(total, "")], (), "",
                                  ["%r = math.sqrt %x0 : f32", "linalg.yield %r : f32"]))


def softmax_of(body, source, shape):
    rank = len(shape)
    loops = ", ".join(f"d{d}" for d in range(rank))
    rows = ", ".join(f"d{d}" for d in range(rank - 1))
    reduce, pointwise = "p" * (rank - 1) + "r", "p" * rank
    largest = body.generic(loops, reduce, [(source, loops)], shape[:-1], rows,
                           ["%m = arith.maximumf %o, %x0 : f32", "linalg.yield %m : f32"],
                           body.fill(shape[:-1], "0xFF800000"))
    power = body.generic(loops, pointwise, [(source, loops), (largest, rows)], shape, loops,
                         ["%d = arith.subf %x0, %x1 : f32", "%e = math.exp %d : f32",
                          "linalg.yield %e : f32"])
    total = body.generic(loops, reduce, [(power, loops)], shape[:-1], rows,
                         ["%s = arith.addf %o, %x0 : f32", "linalg.yield %s : f32"],
                         body.fill(shape[:-1]))
    return body.generic(loops, pointwise, [(power, loops), (total, rows)], shape, loops,
                        ["%q = arith.divf %x0, %x1 : f32", "linalg.yield %q : f32"])


def softmax(*shape):
    body = Body()
    return body.text(softmax_of(body, body.arg(*shape), shape))


def layer_norm(n, m):
    body = Body()
    x, gamma, beta = body.arg(n, m), body.arg(m), body.arg(m)
    scale = f"%scale = arith.constant {1.0 / m:.9e} : f32"
    mean = body.generic("i, j", "pr", [(x, "i, j")], (n,), "i",
                        ["%s = arith.addf %o, %x0 : f32", "linalg.yield %s : f32"],
                        body.fill((n,)))
    square = body.generic("i, j", "pr", [(x, "i, j"), (mean, "i")], (n,), "i",
                          [scale, "%u = arith.mulf %x1, %scale : f32",
                           "%d = arith.subf %x0, %u : f32", "%q = arith.mulf %d, %d : f32",
                           "%s = arith.addf %o, %q : f32", "linalg.yield %s : f32"],
                          body.fill((n,)))
    return body.text(body.generic(
        "i, j", "pp", [(x, "i, j"), (mean, "i"), (square, "i"), (gamma, "j"), (beta, "j")],
        (n, m), "i, j",
        [scale, "%eps = arith.constant 1.0e-05 : f32", "%u = arith.mulf %x1, %scale : f32",
         "%v = arith.mulf %x2, %scale : f32", "%d = arith.subf %x0, %u : f32",
         "%e = arith.addf %v, %eps : f32", "%r = math.rsqrt %e : f32",
         "%n = arith.mulf %d, %r : f32", "%g = arith.mulf %n, %x3 : f32",
         "%b = arith.addf %g, %x4 : f32", "linalg.yield %b : f32"]))


def attention_scores(seq, heads, dim, with_softmax):
    """TBS: a batch of products of two transposed operands, then softmax."""
    body = Body()
    q, k = body.arg(seq, heads, dim), body.arg(seq, heads, dim)
    out = (heads, seq, seq)
    result = body.generic("h, i, j, d", "pppr", [(q, "i, h, d"), (k, "j, h, d")], out,
                          "h, i, j", MUL_ADD, body.fill(out))
    return body.text(softmax_of(body, result, out) if with_softmax else result)


def pooling(kind, extent, c, k, s, p=0):
    body = Body()
    image = body.arg(1, extent, extent, c)
    if p:
        image = body.pad(image, [0, p, p, 0], [0, p, p, 0])
    o = window(extent, k, s, p)
    out = (1, o, o, c)
    empty = body.empty((k, k))
    init = "0xFF800000" if kind == "max" else "0.0"
    return body.text(body.named(f"pooling_nhwc_{kind}", strides(s, 1, 2),
                                [image, (empty, (k, k))], out, body.fill(out, init)))


def reduce_rows(n, m, transposed=False):
    body = Body()
    x = body.arg(m, n) if transposed else body.arg(n, m)
    return body.text(body.generic("i, j", "pr", [(x, "j, i" if transposed else "i, j")], (n,),
                                  "i", ["%s = arith.addf %o, %x0 : f32",
                                        "linalg.yield %s : f32"], body.fill((n,))))


def elementwise(n, m, function=None):
    body = Body()
    lines = ["%s = arith.addf %x0, %x1 : f32"]
    lines += [f"%r = math.{function} %s : f32"] if function else \
        ["%r = arith.maximumf %s, %zero : f32"]
    return body.text(body.generic("i, j", "pp",
                                  [(body.arg(n, m), "i, j"), (body.arg(m), "j")], (n, m),
                                  "i, j", lines + ["linalg.yield %r : f32"]))


def transpose(n, m):
    body = Body()
    return body.text(body.generic("i, j", "pp", [(body.arg(m, n), "j, i")], (n, m), "i, j",
                                  ["linalg.yield %x0 : f32"]))


def operators():
    """(kind, name, text) of each operator; a kind is left out as a whole."""
    def c2d(shapes, **more):
        return [(shape, conv(2, [shape[0]] * 2, *shape[1:], **more)) for shape in shapes]

    table = {
        "C1D": [(s, conv(1, [s[0]], *s[1:])) for s in
                [(256, 64, 128, 3, 2, 1), (128, 128, 256, 1, 2, 0), (64, 256, 256, 5, 1, 2),
                 (32, 512, 512, 3, 1, 1), (100, 48, 80, 3, 1, 1)]],
        "C2D": c2d([(224, 3, 64, 7, 2, 3), (56, 64, 64, 1, 1, 0), (14, 256, 256, 3, 1, 1),
                    (7, 512, 512, 3, 1, 1), (28, 96, 40, 3, 1, 1), (31, 17, 33, 3, 1, 1),
                    (56, 64, 64, 3, 1, 1), (28, 128, 256, 1, 2, 0)]),
        "C3D": [(s, conv(3, [s[0], s[1], s[1]], *s[2:])) for s in
                [(8, 28, 16, 32, 3, 1, 1), (4, 14, 64, 64, 3, 1, 1), (8, 28, 32, 64, 1, 2, 0)]],
        "GMM": [(s, matmul(*s)) for s in
                [(128, 128, 128), (512, 32, 512), (512, 512, 512), (1024, 1024, 1024),
                 (97, 131, 211), (128, 768, 768), (1, 1000, 512), (33, 48, 1024),
                 (256, 1000, 64)]],
        "GRP": [(s, grouped(*s)) for s in
                [(56, 64, 128, 3, 2, 1), (14, 256, 256, 3, 1, 1), (7, 512, 512, 3, 1, 1)]],
        "DIL": c2d([(56, 64, 64, 1, 1, 0), (14, 256, 256, 3, 1, 2), (28, 64, 64, 3, 2, 1)], d=2),
        "DEP": [(s, depthwise(*s)) for s in
                [(112, 32, 3, 1, 1), (112, 64, 3, 2, 1), (14, 512, 3, 2, 1), (7, 1024, 3, 1, 1),
                 (37, 45, 5, 1, 2)]] +
               [(("relu6", 56, 144, 3, 1, 1), depthwise(56, 144, 3, 1, 1, True))],
        "T2D": [(s, transposed(*s)) for s in
                [(4, 512, 256), (8, 256, 128), (16, 128, 64), (32, 64, 3)]],
        "CAP": [(s, capsule(*s)) for s in [(16, 8, 16, 3, 2, 1), (8, 16, 16, 3, 1, 1)]],
        "NRM": [(s, norm(*s)) for s in [(256, 256), (512, 512), (1024, 1024)]],
        "ConvLayer": c2d([(224, 3, 64, 7, 2, 3), (56, 64, 64, 3, 2, 1), (28, 128, 256, 1, 2, 0),
                          (7, 512, 512, 3, 1, 1), (15, 40, 56, 3, 1, 1)], epilogue=True),
        "TBS": [((*s, t), attention_scores(*s, t)) for s, t in
                [((128, 12, 64), True), ((64, 12, 128), True), ((128, 12, 64), False)]],
        "dense": [(s, matmul(*s)) for s in
                  [(128, 512, 128, "relu"), (64, 3072, 768, "tanh"), (1, 256, 1024, "relu"),
                   (50, 70, 90, "relu")]],
        "matvec": [(s, matvec(*s)) for s in [(1024, 1024), (777, 333), (128, 4096)]],
        "softmax": [(s, softmax(*s)) for s in [(128, 128), (12, 31), (1000, 1000), (4096, 32)]],
        "layernorm": [(s, layer_norm(*s)) for s in [(128, 768), (512, 64), (33, 1000)]],
        "pooling": [(s, pooling(*s)) for s in
                    [("max", 56, 64, 2, 2), ("sum", 7, 512, 7, 1), ("max", 28, 96, 3, 2, 1)]],
        "reduce": [(s, reduce_rows(*s)) for s in
                   [(512, 512), (33, 4000), (1000, 128, True), (64, 4096, True)]],
        "elementwise": [(s, elementwise(*s)) for s in
                        [(512, 512), (128, 3072, "tanh"), (100, 333, "exp")]],
        "transpose": [(s, transpose(*s)) for s in [(512, 512), (100, 1000)]],
    }
    for kind, entries in table.items():
        for shape, text in entries:
            yield kind, "-".join([kind] + [str(x) for x in shape]), text


if __name__ == "__main__":
    for kind, name, text in operators():
        print(f"// {kind} {name}\n{text}")
