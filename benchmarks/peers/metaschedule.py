#===- metaschedule.py - TVM's MetaSchedule -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""TVM's MetaSchedule: tuned with as many trials as ours, in a process of its
own; the object is kept and later only timed.

    metaschedule.py ROW.json --threads N --trials N --out OBJECT.so

tunes one row. Numbers of threads are those of the target and of the pool."""
import argparse
import json
import os
import subprocess
import sys

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from harness import values  # noqa: E402
from operators import Row  # noqa: E402

# MetaSchedule gives up a task whose batch comes out short; small batches are
# also what lets the model help within few trials.
BATCH = 32


def register_intrinsics():
    """Registers this machine's tensor intrinsics alone: those of all back ends
    take a minute, in each worker, of the time that a build may take."""
    import importlib
    import platform
    import sys
    import types
    import tvm.s_tir
    name = "tvm.s_tir.tensor_intrin"
    if name not in sys.modules:
        package = types.ModuleType(name)
        package.__path__ = [tvm.s_tir.__path__[0] + "/tensor_intrin"]
        sys.modules[name] = package
        machine = "x86" if platform.machine() == "x86_64" else "arm_cpu"
        importlib.import_module(f"{name}.{machine}")


def tune(row, threads, trials, output):
    register_intrinsics()
    import tvm
    from tvm.s_tir import meta_schedule as ms
    from peers import te_rows
    function = te_rows.build(row)
    target = tvm.target.Target({"kind": "llvm", "num-cores": threads,
                                "mcpu": tvm.target.codegen.llvm_get_system_cpu()})
    work = output + ".work"
    os.makedirs(work, exist_ok=True)
    module = tvm.IRModule({"main": function.with_attr("global_symbol", "main")})
    runner = ms.runner.LocalRunner(evaluator_config=ms.runner.EvaluatorConfig(
        number=1, repeat=3, min_repeat_ms=20), timeout_sec=60)
    database = ms.tir_integration.tune_tir(
        module, target, work, max_trials_global=trials, num_trials_per_iter=BATCH,
        builder=ms.builder.LocalBuilder(
            max_workers=2, timeout_sec=60, initializer=register_intrinsics), runner=runner,
        num_tuning_cores=2, seed=1)
    schedule = ms.tir_integration.compile_tir(database, module, target)
    if schedule is None:
        raise RuntimeError("MetaSchedule found no schedule")
    tvm.compile(schedule.mod, target=target).export_library(output)


class MetaSchedule:
    def __init__(self, threads, folder):
        os.environ["TVM_NUM_THREADS"] = str(threads)
        import tvm
        self.tvm, self.version = tvm, tvm.__version__
        self.threads = threads
        self.folder = os.path.join(folder, "metaschedule")
        os.makedirs(self.folder, exist_ok=True)

    def load(self, row, request):
        stem = os.path.join(self.folder, f"{row.name}.{self.threads}")
        output, failed = stem + ".so", stem + ".failed"
        if os.path.exists(failed):
            raise RuntimeError(open(failed).read())
        if not os.path.exists(output):
            if not request.get("tune"):
                raise RuntimeError("not tuned yet (--tune-peers)")
            with open(stem + ".row", "w") as file:
                json.dump([row.name, row.kind, row.sizes, row.layout], file)
            with open(stem + ".log", "w") as log:
                done = subprocess.run(
                    [sys.executable, os.path.abspath(__file__), stem + ".row",
                     f"--threads={self.threads}", f"--trials={request['trials']}",
                     f"--out={output}"], stdout=log, stderr=log)
            if done.returncode:
                lines = open(stem + ".log").read().strip().splitlines()
                reason = f"exit code {done.returncode}"
                if done.returncode < 0:
                    reason = f"tuning ended by signal {-done.returncode}"
                elif lines:
                    reason = lines[-1][:200]
                with open(failed, "w") as file:
                    file.write(reason)
                raise RuntimeError(reason)
        arrays = values.arguments(row)
        self.module = self.tvm.runtime.load_module(output)
        self.device = self.tvm.cpu()
        self.args = [self.tvm.runtime.tensor(np.ascontiguousarray(arrays[a.name]),
                                             device=self.device) for a in row.args]
        self.call = lambda: self.module["main"](*self.args)
        self.shape = arrays["out"].shape

    def run(self, count, clock):
        evaluator = self.module.time_evaluator("main", self.device, number=count,
                                               repeat=1)
        start = clock()
        evaluator(*self.args)
        return (clock() - start) / (count + 1)  # one call warms up

    def values(self):
        self.call()
        return self.args[-1].numpy().reshape(self.shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("row")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--trials", type=int, required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    os.environ["TVM_NUM_THREADS"] = str(args.threads)
    tune(Row(*json.load(open(args.row))), args.threads, args.trials, args.out)


if __name__ == "__main__":
    main()
