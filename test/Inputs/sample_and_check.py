#!/usr/bin/env python3
#===- sample_and_check.py - Check random candidates of a module -----------===//
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Tunes a module with random candidates and reports every one that failed.

    sample_and_check.py MODULE.mlir [--samples N]

Every candidate's values are compared with the unscheduled program's, and so
are those of the whole module, with and without the best schedules, by
`ansor-run --check`. A task whose space has fewer candidates gets all of them.
The exit code is 0 only if nothing failed and every task had a candidate.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile


def run(command, budget):
    """(exit code, standard output and error); None if it takes too long."""
    try:
        result = subprocess.run(command, capture_output=True, text=True,
                                errors="replace", timeout=budget)
    except subprocess.TimeoutExpired:
        return None, f"did not end in {budget} s"
    return result.returncode, result.stdout + result.stderr


def read_records(path):
    """(keys of the tasks, the trials) of a record file."""
    tasks, trials = [], []
    with open(path) as file:
        for line in map(json.loads, file):
            if line["kind"] == "task":
                tasks.append(line["key"])
            elif line["kind"] == "trial":
                trials.append(line)
    return tasks, trials


def count_tasks(module):
    code, text = run(["ansor-opt", module, "--ansor-extract-tasks"], 60)
    return len(re.findall(r"ansor\.task = ", text)) if code == 0 else 0


def check_tuning(args, library, records):
    """Number of defects of the candidates; prints a line each."""
    tasks = count_tasks(args.module)
    if not tasks:
        print("no task")
        return 0
    code, text = run(
        ["ansor-tune", args.module, f"--trials={args.samples * tasks}",
         "--model=random", f"--seed={args.seed}", f"--records={records}",
         f"--library={library}", "--repeats=1", "--min-repeat-ms=0",
         f"--threads={args.threads}",
         f"--build-timeout={args.build_timeout}"] +
        ([f"--target={args.target}"] if args.target else []), args.budget)
    defects = 0
    if code != 0:
        lines = text.splitlines()
        errors = [line for line in lines if "error:" in line] or lines[-1:]
        print("ansor-tune failed: " + "; ".join(errors[:3])[:400])
        defects += 1
        if not os.path.exists(records):
            return defects
    keys, trials = read_records(records)
    for key in keys:
        own = [trial for trial in trials if trial["task"] == key]
        references = [trial for trial in own if not trial["sketch"]]
        own = [trial for trial in own if trial["sketch"]]
        kinds = collections.Counter(trial["error"] for trial in own)
        first = {}
        for trial in references + own:
            if trial["error"] != "none":
                first.setdefault(trial["error"], trial)
        accepted = kinds.pop("none", 0)
        failed = sum(kinds.values()) + sum(
            trial["error"] != "none" for trial in references)
        print(f"{key}: {accepted} accepted, {failed} failed")
        notes = {trial.get("message") for trial in own
                 if trial["error"] == "none" and trial.get("message")}
        for note in sorted(notes):
            print(f"  note: {note}")
        for kind, trial in first.items():
            print(f"  {max(kinds[kind], 1)} x {kind}, first: "
                  f"{trial['sketch'] or 'the unscheduled program'} "
                  f"{json.dumps(trial['decisions'])}: "
                  f"{trial['message'].strip()[:300]}")
        defects += failed + (accepted == 0)
    return defects


def check_runs(args, library):
    """Number of wrong whole runs."""
    defects = 0
    options = ["--check", "--repeats=1",
               f"--threads={args.threads}"] + args.run_option
    variants = [("unscheduled", [])]
    if os.path.exists(library):
        variants.append(("scheduled", [f"--library={library}"]))
    for name, extra in variants:
        code, text = run(["ansor-run", args.module] + options + extra,
                         args.budget)
        if code == 0:
            print(f"run {name}: right")
            continue
        lines = [l for l in text.splitlines() if "error:" in l] or [text]
        print(f"run {name}: failed: " + "; ".join(lines[:2])[:400])
        defects += 1
    return defects


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("module")
    parser.add_argument("--samples", type=int,
                        default=20, help="random candidates a task")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=300,
                        help="seconds a command may take")
    parser.add_argument("--threads", type=int, default=1,
                        help="threads of the candidates")
    parser.add_argument("--build-timeout", type=float, default=60)
    parser.add_argument("--target", help="option of ansor-tune")
    parser.add_argument("--run-option", action="append", default=[],
                        help="one more option of ansor-run, such as an entry")
    parser.add_argument("--keep", help="folder for the records and the library")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = args.keep or folder
        name = os.path.splitext(os.path.basename(args.module))[0]
        library = os.path.join(folder, name + ".best.mlir")
        records = os.path.join(folder, name + ".jsonl")
        for path in (library, records):
            if os.path.exists(path):
                os.remove(path)
        defects = check_tuning(args, library, records)
        defects += check_runs(args, library)
    sys.exit(1 if defects else 0)


if __name__ == "__main__":
    main()
