#===- openblas.py - OpenBLAS -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""OpenBLAS by openblas.c: products, and 2-D convolutions as im2col and a
product. Old releases take new processors for old ones, so the fastest core type
of a few is chosen, unless OPENBLAS_CORETYPE says which."""
import ctypes
import json
import os
import subprocess
import sys

import numpy as np

from harness import values

HERE = os.path.dirname(os.path.abspath(__file__))
CORES = ["", "HASWELL", "ZEN", "SKYLAKEX", "COOPERLAKE", "NEOVERSEN1"]
PROBE = """
import ctypes, sys, time
f = ctypes.CDLL(sys.argv[1]).bench_probe
f.restype = ctypes.c_double
print(min(f(512) for _ in range(5)))
"""


def choose_core(library, folder):
    path = os.path.join(folder, "openblas.json")
    if os.path.exists(path):
        return json.load(open(path))["core"]
    times = {}
    for core in CORES:
        env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        if core:
            env["OPENBLAS_CORETYPE"] = core
        done = subprocess.run([sys.executable, "-c", PROBE, library], env=env,
                              text=True, capture_output=True)
        if done.returncode == 0:
            times[core] = float(done.stdout)
    core = min(times, key=times.get)
    with open(path, "w") as file:
        json.dump({"core": core, "seconds of 512": times}, file)
    return core


class OpenBlas:
    def __init__(self, threads, folder):
        library = os.path.join(folder, "openblas.so")
        source = os.path.join(HERE, "openblas.c")
        if (not os.path.exists(library)
                or os.path.getmtime(library) < os.path.getmtime(source)):
            done = subprocess.run(["cc", "-O3", "-march=native", "-ffast-math", "-shared",
                                   "-fPIC", source, "-o", library, "-lopenblas", "-lm"],
                                  text=True, capture_output=True)
            if done.returncode:
                raise RuntimeError("openblas.c doesn't build (libopenblas-dev?): "
                                   + done.stderr.strip().split("\n")[-1])
        if "OPENBLAS_CORETYPE" not in os.environ:
            core = choose_core(library, folder)
            if core:
                os.environ["OPENBLAS_CORETYPE"] = core
        self.library = ctypes.CDLL(library)
        for name in ("bench_gemm", "bench_conv"):
            getattr(self.library, name).restype = ctypes.c_double
        self.threads = threads
        self.library.bench_config.restype = ctypes.c_char_p
        self.version = self.library.bench_config().decode()

    def load(self, row, request):
        s = row.sizes
        self.arrays = values.arguments(row)
        pointers = [self.arrays[a.name].ctypes.data_as(ctypes.c_void_p)
                    if a.name in self.arrays else None for a in row.args]
        ep = {"": 0, "bias_relu": 1, "bias_gelu": 2}.get(s.get("ep", ""))
        cpu = int(self.threads == 1)
        integers = lambda *v: [ctypes.c_int64(x) for x in v]
        if row.kind == "gemm" and s.get("types", ("f32",))[0] == "f32" \
                and s.get("n", 1) == 1:
            a, b, *bias, out = pointers
            sizes = integers(s["M"], s["N"], s["K"], int(s.get("form") == "nt"), ep)
            self.function = lambda count: self.library.bench_gemm(
                a, b, bias[0] if bias else None, out, *sizes,
                ctypes.c_long(count), ctypes.c_int(cpu))
        elif (row.kind == "conv" and len(s["size"]) == 2 and row.layout == "nhwc"
              and s.get("groups", 1) == 1 and not s.get("depthwise")
              and s.get("n", 1) == 1 and ep is not None
              and all(isinstance(s[v], int) for v in "ksp")):
            x, w, *bias, out = pointers
            sizes = integers(*s["size"], s["ci"], s["co"], s["k"], s["s"], s["p"],
                             s.get("d", 1), ep)
            self.function = lambda count: self.library.bench_conv(
                x, w, bias[0] if bias else None, out, *sizes,
                ctypes.c_long(count), ctypes.c_int(cpu))
        else:
            raise ValueError("not a product or 2-D convolution of 32-bit floats")

    def call(self):
        self.function(1)

    def run(self, count, clock):
        return self.function(count)

    def values(self):
        self.call()
        return self.arrays["out"]
