#===- server.py - One contender in a process of its own -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Serves one contender: reads a JSON object a line, answers each by one.

    {"load": {name, kind, sizes, layout}, …}   {"ok": true} or a reason
    {"run": seconds, "calls": n}               {"seconds": of one call}
    {"values": path}                           writes the result as .npy

One thread is timed by the processor time of the process, more by the clock on
the wall."""
import argparse
import importlib
import json
import os
import sys
import time
import traceback

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from operators import Row  # noqa: E402


def python_loop(call):
    """For peers that are called from Python: times `count` calls."""
    def run(count, clock):
        start = clock()
        for _ in range(count):
            call()
        return (clock() - start) / count
    return run


class Server:
    def __init__(self, contender, threads):
        self.contender, self.threads = contender, threads
        if threads == 1:
            self.clock = lambda: time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID)
        else:
            self.clock = time.perf_counter

    def load(self, request):
        row = Row(**request["load"])
        self.contender.load(row, request)
        run = getattr(self.contender, "run", None)
        self.loop = run or python_loop(self.contender.call)
        self.contender.call()
        return {}

    def run(self, request):
        """Warms up, then times calls in one go. `calls: 0` finds how many take
        `run` seconds."""
        count = request.get("calls", 0)
        if count:
            self.loop(max(1, count // 4), self.clock)
            return {"seconds": self.loop(count, self.clock)}
        count, seconds = 1, 0.0
        while True:
            seconds = self.loop(count, self.clock)
            if seconds * count >= request["run"] / 4 or count >= 1 << 20:
                break
            count *= 2
        return {"seconds": seconds,
                "calls": max(1, int(request["run"] / max(seconds, 1e-9)))}

    def values(self, request):
        np.save(request["values"], np.asarray(self.contender.values()))
        return {}

    def answer(self, request):
        for kind in ("load", "run", "values"):
            if kind in request:
                return getattr(self, kind)(request)
        return {"ok": False, "reason": "unknown request"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("contender", help="module:Class")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--folder", default=".")
    args = parser.parse_args()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints is no answer

    def say(answer):
        out.write(json.dumps(answer) + "\n")
        out.flush()
    try:
        module, name = args.contender.split(":")
        contender = getattr(importlib.import_module(module), name)(
            args.threads, args.folder)
        server = Server(contender, args.threads)
    except Exception as error:
        traceback.print_exc()
        say({"ok": False, "reason": f"{type(error).__name__}: {error}"})
        return
    say({"ok": True, "version": getattr(contender, "version", "")})
    for line in sys.stdin:
        try:
            say({"ok": True, **server.answer(json.loads(line))})
        except Exception as error:
            traceback.print_exc()
            text = str(error).strip().split("\n")[0][:300]
            say({"ok": False, "reason": f"{type(error).__name__}: {text}"})


if __name__ == "__main__":
    main()
