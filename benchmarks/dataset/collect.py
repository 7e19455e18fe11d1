#!/usr/bin/env python3
#===- collect.py - Measure programs to learn from -------------*- python -*-===//
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Measures programs for the cost model's data set: tunes the operators of
operators.py and any modules given, a few trials at a time, and keeps the
records.

    collect.py DIR [MODULE.mlir ...] [--build build] [--seconds 80]
               [--targets host,x86-64-v3] [--step 24] [--rounds 3]

DIR holds a module and a record file for each operator and target. A run goes
on where the last one ended, and ends after --seconds. The first round's trials
are random, those of later rounds evolved. `ansor-bench-model pack DIR/*.jsonl`
makes the data set of the records; make it with the build that measured them,
for sketches change."""
import argparse
import json
import os
import signal
import subprocess
import sys
import time

import operators


def count_trials(path):
    """(tasks, trials) of a record file."""
    tasks = trials = 0
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                tasks += '"kind":"task"' in line
                trials += '"kind":"trial"' in line and '"sketch":""' not in line
    return tasks, trials


def count_tasks(build, path):
    text = subprocess.run([os.path.join(build, "bin", "ansor-opt"), path,
                           "--ansor-extract-tasks"], capture_output=True, text=True).stdout
    return text.count("ansor.task =")


def save(path, state):
    with open(path + ".tmp", "w") as file:
        json.dump(state, file, indent=1, sort_keys=True)
    os.replace(path + ".tmp", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dir")
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--build", default="build")
    parser.add_argument("--seconds", type=float, default=80)
    parser.add_argument("--targets", default="host,x86-64-v3")
    parser.add_argument("--step", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", default="", help="only these operators")
    options = parser.parse_args()
    end = time.time() + options.seconds
    os.makedirs(options.dir, exist_ok=True)

    entries = []
    for kind, name, text in operators.operators():
        if options.kinds and kind not in options.kinds.split(","):
            continue
        path = os.path.join(options.dir, name + ".mlir")
        with open(path, "w") as file:
            file.write(text)
        entries.append((kind, name, path))
    for path in options.modules:
        entries.append(("model", os.path.basename(path)[:-5], path))

    state_path = os.path.join(options.dir, "state.json")
    state = json.load(open(state_path)) if os.path.exists(state_path) else {}
    for round in range(1, options.rounds + 1):
        for target in options.targets.split(","):
            for kind, name, path in entries:
                key = f"{target}@{name}"
                done = state.setdefault(key, {"round": 0})
                if done["round"] >= round:
                    continue
                if time.time() > end - 3:
                    save(state_path, state)
                    return report(options.dir)
                if "tasks" not in done:
                    done["tasks"] = count_tasks(options.build, path)
                if done["tasks"] == 0:
                    done["round"] = options.rounds
                    continue
                command = [os.path.join(options.build, "bin", "ansor-tune"), path,
                           f"--records={os.path.join(options.dir, key)}.jsonl",
                           f"--trials={done['tasks'] * options.step * round}",
                           f"--target={target}", "--repeats=3", "--min-repeat-ms=3",
                           "--model=" + ("random" if round == 1 else "xgboost"),
                           "--seed=%d" % round]
                child = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.PIPE, text=True)
                try:
                    _, message = child.communicate(timeout=max(end - time.time(), 1))
                except subprocess.TimeoutExpired:
                    child.send_signal(signal.SIGINT)
                    child.communicate()
                    save(state_path, state)
                    return report(options.dir)
                done["round"] = round
                if child.returncode != 0:
                    print(f"{key}: {message.strip()[-300:]}", file=sys.stderr)
                    done["round"] = options.rounds
                save(state_path, state)
    save(state_path, state)
    print("all rounds are done")
    return report(options.dir)


def report(directory):
    totals = [count_trials(os.path.join(directory, name))
              for name in sorted(os.listdir(directory)) if name.endswith(".jsonl")]
    print(f"{len(totals)} files, {sum(t for t, _ in totals)} tasks, "
          f"{sum(n for _, n in totals)} trials")


if __name__ == "__main__":
    main()
