#===- ours.py - Tuning and building rows by this project's tools -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Tunes a row and builds what is timed. Everything is kept in the folder:
<row>.mlir, and for each space and number of threads the records, the library
and the object. A run that was interrupted goes on from its records."""
import json
import os
import signal
import subprocess
import time

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                     "build", "bin")


class Failed(Exception):
    pass


class OutOfTime(Exception):
    """The time of this run is used up; the next one goes on."""


def weights(row):
    """The numbers of the arguments that are weights: they are packed once, as
    those of peers are."""
    return ",".join(str(i) for i, a in enumerate(row.args) if a.role == "weight")


class Ours:
    def __init__(self, folder, tools=None, deadline=None, seed=0, flags=()):
        self.folder = os.path.join(folder, "ours")
        self.tools = os.path.abspath(tools or TOOLS)
        self.deadline, self.seed, self.flags = deadline, seed, list(flags)
        os.makedirs(self.folder, exist_ok=True)

    def tool(self, name):
        return os.path.join(self.tools, name)

    def path(self, row, ending):
        return os.path.join(self.folder, row.name + ending)

    def write_input(self, row):
        path = self.path(row, ".mlir")
        text = row.text()
        if not os.path.exists(path) or open(path).read() != text:
            with open(path, "w") as file:
                file.write(text)
        return path

    def left(self):
        return float("inf") if self.deadline is None else self.deadline - time.time()

    def stem(self, row, space, threads):
        return self.path(row, f".{space}.{threads}")

    def tune(self, row, space, threads, trials):
        """Tunes until the records hold `trials` trials."""
        source, stem = self.write_input(row), self.stem(row, space, threads)
        stamp = stem + ".stamp"
        if os.path.exists(stamp) and json.load(open(stamp))["trials"] >= trials:
            return
        if self.left() < 5:
            raise OutOfTime()
        command = [self.tool("ansor-tune"), source, f"--trials={trials}",
                   f"--space={space}", f"--threads={threads}",
                   f"--seed={self.seed}", f"--records={stem}.jsonl",
                   f"--library={stem}.lib.mlir", *self.flags]
        if weights(row):
            command.append(f"--weights={weights(row)}")
        start = time.time()
        with open(stem + ".log", "a") as log:
            child = subprocess.Popen(command, stdout=log, stderr=log)
            try:
                limit = None if self.deadline is None else max(1, self.left() - 3)
                code = child.wait(limit)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGINT)
                child.wait()
                raise OutOfTime() from None
            except BaseException:
                child.send_signal(signal.SIGINT)
                child.wait()
                raise
        if code:
            lines = [l for l in open(stem + ".log").read().splitlines() if "error" in l]
            raise Failed("ansor-tune: " + (lines[-1][-200:] if lines else
                                           f"exit code {code}"))
        with open(stamp, "w") as file:
            json.dump({"trials": trials, "seconds": time.time() - start}, file)

    def build(self, row, space, threads):
        """The object of the whole module with the best schedules; returns its
        stem. Space "none" is the unscheduled program."""
        source, stem = self.write_input(row), self.stem(row, space, threads)
        newest = os.path.getmtime(self.tool("ansor-builder"))
        library = stem + ".lib.mlir"
        for path in [source] + ([library] if space != "none" else []):
            newest = max(newest, os.path.getmtime(path))
        if (os.path.exists(stem + ".json")
                and os.path.getmtime(stem + ".json") > newest):
            return stem
        self.build_object(row, source, stem, library if space != "none" else None,
                          threads, weights(row))
        return stem

    def build_object(self, row, source, stem, library, threads, weights):
        """Builds `stem`.so and .json of the row's module with the schedules of
        the library, or without any; `weights` are packed once."""
        passes = [f"--ansor-mark-weights=arguments={weights}"] if weights else []
        # The library knows how tasks are extracted.
        passes.append(f"--ansor-apply-library=library={library}" if library else
                      "--ansor-extract-tasks")
        passes.append("--ansor-prepack")
        done = subprocess.run([self.tool("ansor-opt"), source, *passes], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise Failed("ansor-opt: " + done.stderr.strip().split("\n")[0][-200:])
        request = {"id": 0, "task": row.name, "module": done.stdout,
                   "output": stem, "parallel": threads > 1,
                   "max_object": 1 << 28}
        done = subprocess.run([self.tool("ansor-builder")], text=True,
                              input=json.dumps(request) + "\n",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            answer = json.loads(done.stdout.splitlines()[0])
        except (IndexError, ValueError):
            raise Failed(f"ansor-builder: exit code {done.returncode}") from None
        if not answer["ok"]:
            raise Failed("ansor-builder: " + answer["message"][:200])


def read_records(path):
    """{task key: (name, weight, best seconds, best sketch's name, trials,
    errors)} of a log."""
    tasks = {}
    if not os.path.exists(path):
        return tasks
    for line in open(path):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry["kind"] == "task":
            tasks[entry["key"]] = {"name": entry["name"], "weight": entry["weight"],
                                   "best": None, "sketch": "", "trials": 0,
                                   "errors": {}}
            continue
        task = tasks.get(entry["task"])
        if task is None:
            continue
        seconds = entry.get("median_s")
        if entry["sketch"]:
            task["trials"] += 1
            if entry["error"] != "none":
                kinds = task["errors"]
                kinds[entry["error"]] = kinds.get(entry["error"], 0) + 1
        if seconds and (task["best"] is None or seconds < task["best"]):
            task["best"], task["sketch"] = seconds, entry["sketch"]
    return tasks
