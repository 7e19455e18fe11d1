#!/usr/bin/env python3
#===- check_values.py - Run a module and compare its values ---*- python -*-===//
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Runs a function of an MLIR module on made-up inputs and prints, or compares
with a file of expected values, what it returns.

    check_values.py MODULE.mlir [EXPECTED] [--function F] [--samples N]

Inputs are a rule, so that every tool can make the same ones. Argument n (from
0), element (i0, i1, …): h = 3n + 1 + 7 i0 + 5 i1 + 3 i2 + 2 i3 + 11 i4 + 13 i5.
Floats: ((h mod 13) - 6) * 0.02 if the rank is 2 or more, else
((h mod 13) + 1) * 0.05, computed in f32. Integers: h mod M, where M is named in
the expected file (`INTMOD=5`) or by --int-mod. i1: h mod 2. Complex: the float
as both parts. Scalars: 1. A dynamic dimension is 3 (--dynamic).

Printed, per result: the elements 0, 1, 2, N/2, N-1 in row-major order (equal
positions once; none if a dimension is dynamic or zero), the sum of all
elements, and the sum of their absolute values.

The module is lowered by upstream passes only, to plain loops, so that the
values say nothing about this project's code generation; with --ansor by
`--ansor-lower-to-cpu`. With --samples=N it is checked N + 2 times: as it is,
with its tasks extracted, and with N random schedules applied to them, the
latter lowered by `--ansor-lower-to-cpu`. --first=PASSES runs these before.
"""
import argparse
import math
import os
import re
import subprocess
import sys
import tempfile

INDEX_FACTORS = [7, 5, 3, 2, 11, 13]
UPSTREAM_PIPELINE = """builtin.module(
  canonicalize, func.func(linalg-generalize-named-ops),
  one-shot-bufferize{bufferize-function-boundaries
    function-boundary-type-conversion=identity-layout-map
    allow-return-allocs-from-loops},
  canonicalize, buffer-deallocation-pipeline, convert-bufferization-to-memref,
  func.func(convert-linalg-to-loops), scf-forall-to-for,
  func.func(convert-vector-to-scf{full-unroll}), func.func(lower-vector-mask),
  func.func(lower-vector-multi-reduction), expand-strided-metadata,
  memref-expand, lower-affine, convert-scf-to-cf, arith-expand,
  convert-complex-to-standard, convert-math-to-llvm, convert-math-to-libm,
  convert-vector-to-llvm, convert-complex-to-llvm, expand-strided-metadata,
  lower-affine, convert-arith-to-llvm, finalize-memref-to-llvm,
  convert-index-to-llvm, convert-ub-to-llvm, convert-cf-to-llvm,
  convert-func-to-llvm, reconcile-unrealized-casts)"""

# Ops that `linalg-generalize-named-ops` doesn't know.
DECOMPOSE = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %0 = transform.structured.match ops{["linalg.softmax"]} in %m
      : (!transform.any_op) -> !transform.any_op
    %1 = transform.structured.decompose_interface %0
      : (!transform.any_op) -> !transform.any_op
    %2 = transform.structured.match ops{["linalg.pack"]} in %m
      : (!transform.any_op) -> !transform.op<"linalg.pack">
    transform.structured.lower_pack %2 : (!transform.op<"linalg.pack">)
      -> (!transform.op<"tensor.pad">, !transform.op<"tensor.expand_shape">,
          !transform.op<"linalg.transpose">)
    %3 = transform.structured.match ops{["linalg.unpack"]} in %m
      : (!transform.any_op) -> !transform.op<"linalg.unpack">
    transform.structured.lower_unpack %3 : (!transform.op<"linalg.unpack">)
      -> (!transform.op<"tensor.empty">, !transform.op<"linalg.transpose">,
          !transform.op<"tensor.collapse_shape">,
          !transform.op<"tensor.extract_slice">)
    %f = transform.structured.match ops{["func.func"]} in %m
      : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %f {
      transform.apply_patterns.tensor.decompose_concat
    } : !transform.any_op
    transform.yield
  }
}
"""


def fail(message):
    sys.exit("check_values.py: error: " + message)


def run(command, text=None):
    result = subprocess.run(command, input=text, capture_output=True, text=True)
    if result.returncode:
        sys.stderr.write(result.stderr[:4000])
        fail("failed: " + " ".join(command)[:200])
    return result.stdout


def matching(text, begin):
    """Index of the bracket that closes the one at `begin`."""
    pairs, depth, quoted = {"(": 1, "<": 1, "[": 1, "{": 1,
                            ")": -1, ">": -1, "]": -1, "}": -1}, 0, False
    for i in range(begin, len(text)):
        char = text[i]
        if char == '"' and text[i - 1] != "\\":
            quoted = not quoted
        if quoted or (char == ">" and text[i - 1] == "-"):
            continue
        depth += pairs.get(char, 0)
        if depth == 0:
            return i
    fail("unbalanced brackets in a function's signature")


def split_types(text):
    """The types of `%a: T {attrs}, …` or `T {attrs}, …`."""
    parts, begin, i = [], 0, 0
    while i < len(text):
        if text[i] in "(<[{":
            i = matching(text, i)
        elif text[i] == ",":
            parts.append(text[begin:i])
            begin = i + 1
        i += 1
    parts.append(text[begin:])
    types = []
    for part in parts:
        part = re.sub(r"^\s*%[\w$.-]+\s*:", "", part).strip()
        if part.startswith(("tensor<", "memref<", "complex<", "vector<")):
            end = matching(part, part.index("<")) + 1
            types.append(part[:end])
        elif part:
            types.append(re.split(r"[\s{]", part)[0])
    return types


def signature(text, name):
    """(name, argument types, result types) of a function of printed IR."""
    pattern = r"func\.func (?:public )?@" + (re.escape(name) if name
                                             else r"[\w$.-]+") + r"\("
    match = re.search(pattern, text)
    if not match:
        fail("no public function" + (f" '{name}'" if name else ""))
    name = re.search(r"@([\w$.-]+)", match.group(0)).group(1)
    close = matching(text, match.end() - 1)
    args = split_types(text[match.end():close])
    rest = text[close + 1:].lstrip()
    results = []
    if rest.startswith("->"):
        rest = rest[2:].lstrip()
        if rest.startswith("("):
            results = split_types(rest[1:matching(rest, 0)])
        else:
            results = split_types(re.split(r" (?:attributes )?\{", rest)[0])
    return name, args, results


class Tensor:
    """Shape and element type of a tensor type's text."""

    def __init__(self, text):
        if not text.startswith("tensor<"):
            fail(f"the function has a {text}; only tensors and scalars are run")
        inner, self.shape = text[7:-1], []
        while True:
            match = re.match(r"(\?|\d+)x", inner)
            if not match:
                break
            self.shape.append(match.group(1))
            inner = inner[match.end():]
        self.text, self.rank = text, len(self.shape)
        self.element = re.split(r",\s*(?![^<]*>)", inner)[0]
        self.float = (self.element[8:-1] if self.element.startswith("complex")
                      else self.element)
        self.is_float = re.match(r"b?f\d", self.float) is not None


class Harness:
    """Text of a function that calls another one and prints its results."""

    def __init__(self, int_mod, dynamic):
        self.lines, self.count = [], 0
        self.int_mod, self.dynamic = int_mod, dynamic
        self.functions = []

    def op(self, text):
        self.count += 1
        self.lines.append(f"    %h{self.count} = {text}")
        return f"%h{self.count}"

    def constant(self, value):
        return self.op(f"arith.constant {value} : index")

    def argument(self, number, text):
        if not text.startswith("tensor"):
            one = "true" if text == "i1" else (
                f"1.0 : {text}" if "f" in text else f"1 : {text}")
            return self.op(f"arith.constant {one}")
        tensor = Tensor(text)
        sizes = [self.constant(self.dynamic) for d in tensor.shape if d == "?"]
        outer, self.lines = self.lines, []
        hashed = self.constant(3 * number + 1)
        for i, factor in zip(range(tensor.rank), INDEX_FACTORS):
            scaled = self.op(f"arith.muli %i{i}, {self.constant(factor)} : index")
            hashed = self.op(f"arith.addi {hashed}, {scaled} : index")
        modulus = 13 if tensor.is_float else (
            2 if tensor.element == "i1" else self.int_mod)
        value = self.op(f"arith.remui {hashed}, {self.constant(modulus)} : index")
        if tensor.is_float:
            offset, scale = (-6, 0.02) if tensor.rank >= 2 else (1, 0.05)
            value = self.op(f"arith.index_cast {value} : index to i32")
            shift = self.op(f"arith.constant {offset} : i32")
            value = self.op(f"arith.addi {value}, {shift} : i32")
            value = self.op(f"arith.sitofp {value} : i32 to f32")
            factor = self.op(f"arith.constant {scale} : f32")
            value = self.op(f"arith.mulf {value}, {factor} : f32")
            if tensor.float == "f64":
                value = self.op(f"arith.extf {value} : f32 to f64")
            elif tensor.float != "f32":
                value = self.op(f"arith.truncf {value} : f32 to {tensor.float}")
            if tensor.element != tensor.float:
                value = self.op(
                    f"complex.create {value}, {value} : {tensor.element}")
        elif tensor.element != "index":
            value = self.op(
                f"arith.index_cast {value} : index to {tensor.element}")
        body, self.lines = self.lines, outer
        indices = ", ".join(f"%i{i}: index" for i in range(tensor.rank))
        block = f"\n    ^bb0({indices}):" if indices else ""
        if not tensor.rank:
            self.lines += body
            return self.op(f"tensor.from_elements {value} : {text}")
        return self.op(f"tensor.generate {', '.join(sizes)} {{{block}\n" +
                       "\n".join(body) +
                       f"\n      tensor.yield {value} : {tensor.element}\n"
                       f"    }} : {text}")

    def to_f64(self, value, tensor):
        """The parts of an element, as f64 values."""
        element, parts = tensor.float, [value]
        if tensor.element != tensor.float:
            parts = [self.op(f"complex.{part} {value} : {tensor.element}")
                     for part in ("re", "im")]
        result = []
        for part in parts:
            if tensor.is_float:
                if element != "f64":
                    part = self.op(f"arith.extf {part} : {element} to f64")
            else:
                kind = element
                if element == "index":
                    part = self.op(f"arith.index_cast {part} : index to i64")
                    kind = "i64"
                elif element == "i1":
                    part = self.op(f"arith.extui {part} : i1 to i32")
                    kind = "i32"
                part = self.op(f"arith.sitofp {part} : {kind} to f64")
            result.append(part)
        return result

    def show(self, value):
        self.lines.append(f"    func.call @printF64({value}) : (f64) -> ()")
        self.lines.append("    func.call @printNewline() : () -> ()")

    def result(self, value, text):
        if not text.startswith("tensor"):
            value = self.op(f"tensor.from_elements {value} : tensor<{text}>")
            text = f"tensor<{text}>"
        tensor = Tensor(text)
        if "?" not in tensor.shape:
            shape = [int(d) for d in tensor.shape]
            total = math.prod(shape)
            if total:
                for linear in sorted({0, 1 % total, 2 % total, total // 2,
                                      total - 1}):
                    index = []
                    for size in reversed(shape):
                        index.insert(0, self.constant(linear % size))
                        linear //= size
                    element = self.op(
                        f"tensor.extract {value}[{', '.join(index)}] : {text}")
                    for part in self.to_f64(element, tensor):
                        self.show(part)
        dims = ", ".join(f"d{i}" for i in range(tensor.rank))
        identity = f"affine_map<({dims}) -> ({dims})>"
        scalar = f"affine_map<({dims}) -> ()>"
        loops = ", ".join(['"reduction"'] * tensor.rank)
        zero = self.op("arith.constant dense<0.0> : tensor<f64>")
        outer, self.lines = self.lines, []
        parts = self.to_f64("%in", tensor)
        element = (parts[0] if len(parts) == 1 else
                   self.op(f"arith.addf {parts[0]}, {parts[1]} : f64"))
        total = self.op(f"arith.addf %sum, {element} : f64")
        absolute = self.op(f"math.absf {element} : f64")
        absolute = self.op(f"arith.addf %abs, {absolute} : f64")
        body, self.lines = self.lines, outer
        self.count += 1
        sums = f"%h{self.count}"
        self.lines.append(
            f"    {sums}:2 = linalg.generic {{indexing_maps = "
            f"[{identity}, {scalar}, {scalar}], iterator_types = [{loops}]}} "
            f"ins({value} : {text}) outs({zero}, {zero} : tensor<f64>, "
            f"tensor<f64>) {{\n    ^bb0(%in: {tensor.element}, %sum: f64, "
            f"%abs: f64):\n" + "\n".join(body) +
            f"\n      linalg.yield {total}, {absolute} : f64, f64\n"
            f"    }} -> (tensor<f64>, tensor<f64>)")
        for i in range(2):
            self.show(self.op(f"tensor.extract {sums}#{i}[] : tensor<f64>"))
        self.lines.append("    func.call @printNewline() : () -> ()")

    def build(self, name, args, results):
        values = [self.argument(i, text) for i, text in enumerate(args)]
        assign = f"%res:{len(results)} = " if results else ""
        self.lines.append(
            f"    {assign}func.call @{name}({', '.join(values)}) : "
            f"({', '.join(args)}) -> ({', '.join(results)})")
        for i, text in enumerate(results):
            self.result(f"%res#{i}", text)
        return ("func.func private @printF64(f64)\n"
                "func.func private @printNewline()\n"
                "func.func @__run() {\n" +
                "\n".join(self.lines) + "\n    return\n}\n")


def insert_into_module(text, function):
    """Adds a function to the printed form of a module."""
    cut = text.find("{-#")
    body, resources = (text, "") if cut < 0 else (text[:cut], text[cut:])
    end = body.rstrip().rfind("}")
    return body[:end] + function + body[end:] + resources


def execute(args, passes=(), ansor=False):
    """The values of each result, as a list of texts each."""
    opt = "ansor-opt" if passes or ansor else "mlir-opt"
    text = run([opt, args.module, *passes])
    name, arg_types, results = signature(text, args.function)
    harness = Harness(args.int_mod, args.dynamic)
    text = insert_into_module(text, harness.build(name, arg_types, results))
    with tempfile.TemporaryDirectory() as folder:
        if ansor:
            text = run(["ansor-opt", "-", "--ansor-lower-to-cpu"], text)
        else:
            script = os.path.join(folder, "decompose.mlir")
            with open(script, "w") as file:
                file.write(DECOMPOSE)
            text = run(["mlir-opt", "-", "--pass-pipeline=builtin.module("
                        "transform-preload-library{transform-library-paths="
                        f"{script}}},transform-interpreter)"], text)
            text = run(["mlir-opt", "-",
                        "--pass-pipeline=" + UPSTREAM_PIPELINE], text)
        lib = args.llvm_lib
        libraries = ["libmlir_runner_utils.so", "libmlir_c_runner_utils.so"]
        if ansor:
            libraries.append("libomp.so.5")
        shared = ",".join(os.path.join(lib, l) for l in libraries
                          if os.path.exists(os.path.join(lib, l)))
        out = run(["mlir-runner", "-", "-e", "__run",
                   "-entry-point-result=void", "-O1",
                   "-shared-libs=" + shared], text)
    # One group of lines a result, with an empty line behind each.
    return [group.split() for group in out.split("\n\n")[:len(results)]]


def read_expected(path):
    """(values, whether only the sums are given, modulus of integers)."""
    values, sums_only, seen, int_mod = [], False, False, None
    with open(path) as file:
        for line in file.read().split("\n"):
            match = re.search(r"INTMOD=(\d+)", line)
            int_mod = int(match.group(1)) if match else int_mod
            if line.startswith(("reference", "sums")):
                seen, sums_only = True, line.startswith("sums")
            elif seen and line.strip():
                try:
                    float(line)
                    values.append(line.strip())
                except ValueError:
                    pass  # a remark
    return values, sums_only, int_mod


def close(expected, found, scale, tolerance):
    if math.isnan(expected) or math.isnan(found):
        return math.isnan(expected) and math.isnan(found)
    if math.isinf(expected) or math.isinf(found):
        return expected == found
    return abs(expected - found) <= tolerance * max(abs(expected), scale)


def compare(expected, groups, tolerance):
    """Number of wrong values; prints each."""
    wrong, position = 0, 0
    for number, group in enumerate(groups):
        want = [float(v) for v in expected[position:position + len(group)]]
        for i, (a, b) in enumerate(zip(want, map(float, group))):
            # A sum that cancels is judged by its sum of absolute values, an
            # element by the largest one shown.
            elements = [abs(v) for v in want[:-2] if math.isfinite(v)]
            scale = 0.01 * (max(elements, default=0) if i < len(group) - 2
                            else abs(want[-1]) if math.isfinite(want[-1]) else 0)
            if not close(a, b, scale, tolerance):
                print(f"result {number}, value {i}: expected {a}, found {b}")
                wrong += 1
        position += len(group)
    return wrong


def variants(args):
    """(name, passes, lowered by this project) of what is to be checked."""
    first = args.first.split()
    yield "as it is", first, args.ansor
    if args.samples is None:
        return
    extract = first + ["--ansor-extract-tasks"]
    yield "extracted", extract, False
    if "ansor.task" not in run(["ansor-opt", args.module, *extract]):
        yield "without tasks, lowered", first, True
        return
    for sample in range(args.samples):
        seed = args.seed + sample
        # Sketches in turn; a task with fewer takes its last one.
        yield (f"sketch {sample % 4}, seed {seed}", [
            *extract,
            f"--ansor-generate-sketches=target={args.target} sketch={sample % 4}",
            f"--ansor-apply-decisions=seed={seed}", "--transform-interpreter",
        ], True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("module")
    parser.add_argument("expected", nargs="?")
    parser.add_argument("--function", help="entry; by default the first")
    parser.add_argument("--int-mod", type=int)
    parser.add_argument("--dynamic", type=int, default=3)
    parser.add_argument("--tolerance", type=float, default=1e-3)
    parser.add_argument("--results", type=int, help="compare only the first ones")
    parser.add_argument("--ansor", action="store_true",
                        help="lower by --ansor-lower-to-cpu")
    parser.add_argument("--samples", type=int,
                        help="check this number of random schedules, too")
    parser.add_argument("--first", default="",
                        help="passes of ansor-opt that come before all others")
    parser.add_argument("--target", default="host",
                        help="target of the schedules")
    parser.add_argument("--seed", type=int, default=0,
                        help="of the first schedule")
    parser.add_argument("--llvm-lib", default=os.environ.get(
        "LLVM_LIB_DIR", "/usr/lib/llvm-22/lib"))
    args = parser.parse_args()
    os.environ["PATH"] += os.pathsep + os.path.join(args.llvm_lib, "../bin")

    expected, sums_only = None, False
    if args.expected:
        expected, sums_only, int_mod = read_expected(args.expected)
        if not expected:
            fail(f"{args.expected} holds no values")
        args.int_mod = args.int_mod or int_mod
    args.int_mod = args.int_mod or 5
    if expected is None:
        groups = execute(args, ansor=args.ansor)
        print("\n\n".join("\n".join(group) for group in groups))
        return
    for what, passes, ansor in variants(args):
        groups = execute(args, passes, ansor)
        if sums_only:
            groups = [group[-2:] for group in groups]
        total = sum(map(len, groups))
        if total != len(expected):
            fail(f"{what}: {len(expected)} values expected, {total} printed: "
                 f"{groups}")
        if compare(expected, groups[:args.results], args.tolerance):
            fail(f"{what}: values are wrong (see above)")
        print(f"{what}: {sum(map(len, groups[:args.results]))} values agree")


if __name__ == "__main__":
    main()
