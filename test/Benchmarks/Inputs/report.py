"""Prints the table of made-up results: argv[1] is the folder of the benchmark."""
import sys

sys.path.insert(0, sys.argv[1])
import operators  # noqa: E402
from harness import report  # noqa: E402

MACHINE = {"cpu": "a machine", "threads": 1, "flops": 100e9,
           "levels": [[32 << 10, 200e9], [1 << 20, 100e9], [32 << 20, 50e9],
                      [1 << 62, 10e9]]}
SECONDS = {
    "gmm512": {"ansor-mlir": 4e-3, "space=ansor": 4e-3, "onnxruntime": 8e-3,
               "torch": 6e-3, "metaschedule": 8e-3},
    "softmax": {"ansor-mlir": 1e-4, "space=ansor": 2e-4, "onnxruntime": 5e-5,
                "metaschedule": 8e-4},
}


def results(row, threads):
    contenders = {name: {"median": t, "min": t} for name, t in SECONDS[row.name].items()}
    contenders["iree"] = {"reason": "no iree-compile"}
    # Fast and wrong: its time doesn't count.
    contenders["openvino"] = {"median": 1e-9, "min": 1e-9,
                              "reason": "wrong: differs by 1.0e+00"}
    return {"contenders": contenders, "trials": 8}


rows = operators.select("library", list(SECONDS))
print(report.table(report.summary(rows, 1, MACHINE, results), MACHINE))
