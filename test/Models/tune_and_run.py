#!/usr/bin/env python3
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tunes models by random schedules and runs them, checked.

For each MODEL.mlir: extracts its tasks, measures about as many random trials
as there are tasks, writes the library of the schedules sampled, then compiles
the whole network with it and compares with the unscheduled one. Prints one
row a model. Fails if a trial has an error, a tool fails or a result is wrong.
"""

import argparse
import collections
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time


def tool(args, name):
    return os.path.join(args.bin, name) if args.bin else name


def run(command, limit):
    start = time.time()
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=limit)
        return done.returncode, done.stdout, done.stderr, time.time() - start
    except subprocess.TimeoutExpired as error:
        text = error.stderr or b""
        return (-1, "", text.decode(errors="replace")
                + "\nno end in %d s" % limit, time.time() - start)


def check(args, path, folder):
    """Returns the row of one model and a list of what is wrong."""
    name = os.path.splitext(os.path.basename(path))[0]
    log = os.path.join(folder, name + ".jsonl")
    library = os.path.join(folder, name + ".best.mlir")
    row = {"model": name}
    status, text, errors, _ = run(
        [tool(args, "ansor-opt"), "--ansor-extract-tasks", path], args.timeout)
    if status != 0:
        return row, ["extraction: " + errors[-400:]]
    tasks = len(re.findall(r'func\.func private.*ansor\.task = "', text))
    row["tasks"] = tasks
    command = [
        tool(args, "ansor-tune"), path,
        "--trials=%d" % math.ceil(tasks * args.trials_per_task),
        "--model=random", "--seed=%d" % args.seed, "--records=" + log,
        "--library=" + library, "--keep-slower"]
    status, _, errors, seconds = run(command + args.tune_option, args.timeout)
    row["tune"] = seconds
    if status != 0:
        return row, ["tuning: " + errors[-2000:]]
    wrong = []
    kinds = collections.Counter()
    with open(log) as lines:
        for line in lines:
            record = json.loads(line)
            if record["kind"] != "trial":
                continue
            kind = record["error"]
            kinds[kind] += 1
            if kind != "none":
                wrong.append("%s: %s: %s" % (record.get("task"), kind,
                                             record.get("message", "")))
    row["trials"] = dict(kinds)
    for threads in args.threads:
        status, text, errors, seconds = run(
            [tool(args, "ansor-run"), path, "--library=" + library, "--check",
             "--json", "--repeats=%d" % args.repeats,
             "--threads=%d" % threads], args.timeout)
        row["run%d" % threads] = seconds
        try:
            answer = json.loads(text)
        except ValueError:
            answer = {}
        row["t%d" % threads] = answer
        if status != 0 or not answer.get("ok"):
            wrong.append("run on %d threads: %s" % (threads, errors[-1000:]))
        if "warning" in errors or answer.get("note"):
            row["note"] = answer.get("note") or errors[:300]
    return row, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--bin", default="", help="where the tools are")
    parser.add_argument("--skip", nargs="*", default=[],
                        help="names of models to leave out")
    parser.add_argument("--trials-per-task", type=float, default=1.25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--timeout", type=int, default=600)
    parser.add_argument("--tune-option", action="append", default=[])
    args = parser.parse_args()
    failures = 0
    args.models = [path for path in args.models
                   if os.path.basename(path)[:-len(".mlir")] not in args.skip]
    for path in args.models:
        with tempfile.TemporaryDirectory() as folder:
            row, wrong = check(args, path, folder)
        parts = [row["model"], "tasks %s" % row.get("tasks"),
                 "trials %s" % row.get("trials"),
                 "tuned in %.0f s" % row.get("tune", 0)]
        for threads in args.threads:
            answer = row.get("t%d" % threads)
            if answer:
                parts.append(
                    "%d threads: %s, error %.3g of %.3g, %.4g ms, unscheduled "
                    "%.4g ms, in %.0f s" % (
                        threads, "ok" if answer["ok"] else "WRONG",
                        answer["max_error"], answer["tolerance"],
                        answer["median_ms"] or 0, answer["reference_ms"] or 0,
                        row["run%d" % threads]))
        if row.get("note"):
            parts.append("note: " + row["note"])
        print(" | ".join(parts))
        for text in wrong:
            print("  FAILED " + text)
        sys.stdout.flush()
        failures += bool(wrong)
    print("%d of %d models right" % (len(args.models) - failures,
                                     len(args.models)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
