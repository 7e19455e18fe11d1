#===- values.py - Arguments of rows, and comparing results -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""The numbers that every contender gets, and how their results are compared."""
import zlib

import numpy as np


def bfloat16():
    import ml_dtypes
    return ml_dtypes.bfloat16


def numpy_type(dtype):
    return {"f32": np.float32, "f16": np.float16, "i8": np.int8,
            "i32": np.int32, "i64": np.int64}.get(dtype) or bfloat16()


def arguments(row):
    """One array an argument, by its name, the same in every process."""
    if row.kind == "network":
        with np.load(row.sizes["stem"] + ".npz") as file:
            return {a.name: file[f"arr_{i}"] for i, a in enumerate(row.args)}
    rng = np.random.default_rng(zlib.crc32(row.name.encode()))
    arrays = {}
    for arg in row.args:
        if arg.role == "out":
            arrays[arg.name] = np.zeros(arg.shape, numpy_type(arg.dtype))
        elif arg.dtype.startswith("i"):
            arrays[arg.name] = rng.integers(-16, 17, arg.shape).astype(
                numpy_type(arg.dtype))
        else:
            values = rng.standard_normal(arg.shape, np.float32)
            if arg.role == "weight" and len(arg.shape) > 1:
                values *= np.float32(0.1)
            arrays[arg.name] = values.astype(numpy_type(arg.dtype))
    return arrays


def difference(a, b):
    """Largest difference, relative to the largest value of `b`."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.shape != b.shape:
        return float("inf")
    error = float(np.max(np.abs(a - b))) if a.size else 0.0
    return error / max(float(np.max(np.abs(b))), 1e-30) if error == error else float("inf")


def tolerance(row):
    """Of that difference: sums in another order; coarser where a contender
    may round its result to the type of the operands."""
    if row.kind == "network":
        return 1e-3
    types = {a.dtype for a in row.args}
    return {"f16": 2e-3, "bf16": 1e-2}.get(next(iter(types & {"f16", "bf16"}), ""), 2e-4)
