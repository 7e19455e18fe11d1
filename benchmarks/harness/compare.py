#===- compare.py - Compares results -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""compare.py ROW FIRST.npy OTHER.npy…: prints [[difference, ok], …]."""
import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import values  # noqa: E402
from operators import Row  # noqa: E402

row = Row(*json.loads(sys.argv[1]))
arrays = [np.load(path) for path in sys.argv[2:]]
limit = values.tolerance(row)
errors = [values.difference(a, arrays[0]) for a in arrays]
# If most differ from the first, the first is the odd one.
if len(arrays) > 2 and sum(e > limit for e in errors[1:]) > (len(arrays) - 1) / 2:
    errors = [values.difference(a, arrays[1]) for a in arrays]
print(json.dumps([[e, e <= limit] for e in errors]))
