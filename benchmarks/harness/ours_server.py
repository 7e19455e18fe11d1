#===- ours_server.py - Serves an object of ours -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Calls an object that ansor-builder made: its packed entry with memref
descriptors."""
import ctypes
import json
import os

import numpy as np

from harness import values


def timing_library(folder):
    library = ctypes.CDLL(os.path.join(folder, "timing.so"))
    library.bench_call.restype = ctypes.c_double
    library.bench_call.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int,
                                   ctypes.c_char_p, ctypes.c_long, ctypes.c_int]
    return library


def load_openmp():
    for name in ("libomp.so.5", "libomp.so", "libgomp.so.1"):
        try:
            return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
    return None


def aligned(array):
    """A copy that begins at a cache line."""
    raw = np.empty(array.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    copy = raw[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def descriptor(array):
    strides, step = [], 1
    for size in reversed(array.shape):
        strides.insert(0, step)
        step *= size
    words = [array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides]
    return (ctypes.c_int64 * len(words))(*words)


class Packed:
    """An entry with its arguments."""

    def __init__(self, stem, arrays, threads, timing):
        manifest = json.load(open(stem + ".json"))
        if threads > 1:
            load_openmp()
        mode = os.RTLD_NOW | os.RTLD_LOCAL | getattr(os, "RTLD_DEEPBIND", 0)
        self.library = ctypes.CDLL(stem + ".so", mode=mode)
        prepack = manifest.get("prepack")
        self.entry = self.find(prepack["run"] if prepack else manifest["entry"])
        self.timing, self.threads = timing, threads
        self.arrays = [aligned(a) for a in arrays]
        self.shapes = [r["shape"] for r in manifest["results"]]
        self.types = [r["type"] for r in manifest["results"]]
        # Results are written where their descriptors point; others are allocated.
        self.buffers = [
            None if -1 in s else aligned(np.zeros(s, values.numpy_type(t)))
            for s, t in zip(self.shapes, self.types)]
        self.results = [
            (ctypes.c_int64 * (3 + 2 * len(s)))() if b is None else descriptor(b)
            for s, b in zip(self.shapes, self.buffers)]
        arguments = [descriptor(a) for a in self.arrays]
        if prepack:
            arguments = self.pack(prepack, arguments)
        self.descriptors = self.results + arguments
        self.args = (ctypes.c_void_p * len(self.descriptors))(
            *[ctypes.addressof(d) for d in self.descriptors])
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.entry.value)(
            ctypes.addressof(self.args))
        mine = {a.ctypes.data for a in self.arrays + self.buffers if a is not None}
        self.fresh = bytes(int(r[0] not in mine) for r in self.results)

    def find(self, name):
        return ctypes.cast(getattr(self.library, name + "_packed"), ctypes.c_void_p)

    def pack(self, prepack, arguments):
        """Packs the weights, once; returns what the entry takes then."""
        self.packed = [aligned(np.zeros(r["shape"], values.numpy_type(r["type"])))
                       for r in prepack["results"]]
        made = [descriptor(a) for a in self.packed]
        given = made + [arguments[i] for i in prepack["args"]]
        pointers = (ctypes.c_void_p * len(given))(
            *[ctypes.addressof(d) for d in given])
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.find(prepack["entry"]).value)(
            ctypes.addressof(pointers))
        self.given = arguments
        return [arguments[i] if i >= 0 else made[-1 - i]
                for i in prepack["run_args"]]

    def run(self, count, clock):
        return self.timing.bench_call(self.entry, ctypes.addressof(self.args),
                                      len(self.results), self.fresh, count,
                                      int(self.threads == 1))

    def value(self, index=0):
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.entry.value)(
            ctypes.addressof(self.args))
        words, shape = self.results[index], self.shapes[index]
        dtype = np.dtype(values.numpy_type(self.types[index]))
        count = int(np.prod(shape)) if shape else 1
        raw = ctypes.string_at(words[1] + words[2] * dtype.itemsize,
                               count * dtype.itemsize)
        return np.frombuffer(raw, dtype).reshape(shape).copy()


class Ours:
    def __init__(self, threads, folder):
        self.threads = threads
        self.timing = timing_library(folder)

    def load(self, row, request):
        arrays = values.arguments(row)
        self.packed = Packed(request["object"], [arrays[a.name] for a in row.args],
                             self.threads, self.timing)
        self.run = self.packed.run

    def call(self):
        self.packed.run(1, None)

    def values(self):
        return self.packed.value()
