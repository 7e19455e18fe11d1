# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tune MLIR modules with the tools of ansor-mlir.

    import ansor_mlir

    ansor_mlir.tune("model.mlir", trials=500, records="log.jsonl",
                    library="best.mlir")
    result = ansor_mlir.run("model.mlir", library="best.mlir", check=True)
    print(result["reference_ms"], "->", result["median_ms"])

    log = ansor_mlir.read_records("log.jsonl")
    print(ansor_mlir.report(log))

The package holds no MLIR: it starts ansor-tune and ansor-run, which it looks
for in $ANSOR_TOOLS, in the build folder beside it, and on the PATH.
"""

from .records import Log, RecordError, Task, Trial, read_records
from .report import report, table
from .tools import ToolError, apply, find_tool, run, tune

__all__ = [
    "Log", "RecordError", "Task", "ToolError", "Trial", "apply", "find_tool",
    "read_records", "report", "run", "table", "tune",
]
__version__ = "0.1.0"
