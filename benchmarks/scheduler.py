#!/usr/bin/env python3
#===- scheduler.py - The task scheduler against taking turns -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Compares the gradient scheduler with round-robin at equal trials, on recorded
curves (Zheng et al., OSDI 2020, section 6).

    scheduler.py --out DIR MODEL.mlir... [--trials 48] [--logs 5] [--seeds 1]
                 [--budgets 0.25,0.5] [--threads 1] [--seconds 80]

Each model is tuned by round-robin with --trials a task, once for each of --logs
seeds. Then both schedulers spend a share (--budgets) of these trials on the
recorded curves, the gradient by --seeds seeds of each log. The curves should have
become flat by their end, as a task can't get more than was recorded. The same
command goes on where it was interrupted; the exit code is 75 if --seconds ran out
before everything was recorded. DIR gets the records, table.md and results.json."""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time

from ablation import tune
from harness.ours import TOOLS


def count_tasks(tools, model):
    done = subprocess.run([os.path.join(tools, "ansor-opt"), model,
                           "--ansor-extract-tasks"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise SystemExit(done.stderr.strip().split("\n")[0])
    # Equal tasks are one.
    return len(set(re.findall(r'ansor\.task = "([^"]*)"', done.stdout)))


def simulate(tools, log, trials, scheduler, seed):
    """Milliseconds of the network after `trials`, and trials by task."""
    done = subprocess.run([os.path.join(tools, "ansor-tune"),
                           f"--simulate-scheduler={log}", f"--trials={trials}",
                           f"--task-scheduler={scheduler}", f"--seed={seed}"],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise SystemExit(done.stderr.strip().split("\n")[0])
    last = json.loads(done.stdout.strip().split("\n")[-1])
    return last["latency_ms"], last["trials_by_task"]


def compare(tools, log, budgets, seeds):
    """{budget: {"turns", "gradient": [ms by seed], "all": ms}} of a log."""
    # What the log holds: failed trials count, the unscheduled program doesn't.
    recorded = 0
    for line in open(log):
        entry = json.loads(line)
        recorded += entry["kind"] == "trial" and bool(entry["sketch"])
    whole = simulate(tools, log, recorded, "round-robin", 0)[0]
    results = {}
    for budget in budgets:
        trials = int(budget * recorded)
        turns = simulate(tools, log, trials, "round-robin", 0)[0]
        gradient = [simulate(tools, log, trials, "gradient", seed)[0]
                    for seed in range(seeds)]
        results[budget] = {"trials": trials, "turns": turns, "gradient": gradient,
                           "all": whole}
    return results


def table(results):
    lines = ["| network | trials | round-robin ms | gradient ms | all trials ms | "
             "speed, of round-robin | gradient better in |",
             "|---" * 7 + "|"]
    for name, logs in results.items():
        for budget in logs[0]:
            parts = [log[budget] for log in logs]
            ratios = [part["turns"] / ms for part in parts for ms in part["gradient"]]
            median = lambda values: statistics.median(values)  # noqa: E731
            lines.append(
                f"| {name} | {parts[0]['trials']} | "
                f"{median(p['turns'] for p in parts):.4g} | "
                f"{median(ms for p in parts for ms in p['gradient']):.4g} | "
                f"{median(p['all'] for p in parts):.4g} | {median(ratios):.3f} | "
                f"{sum(r > 1 for r in ratios)} of {len(ratios)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--out", required=True)
    parser.add_argument("--trials", type=int, default=48, help="a task")
    parser.add_argument("--logs", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--budgets", default="0.25,0.5")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tools", default=TOOLS)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--report-only", action="store_true")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    deadline, complete = time.time() + args.seconds, True
    names = [os.path.splitext(os.path.basename(model))[0] for model in args.models]
    for seed in range(0 if args.report_only else args.logs):
        for name, model in zip(names, args.models):
            complete &= tune(args.tools, model, os.path.join(args.out, f"{name}.{seed}"),
                             args.trials * count_tasks(args.tools, model), seed,
                             ["--task-scheduler=round-robin", "--finalists=0"],
                             deadline, args.threads)
    results, budgets = {}, [float(b) for b in args.budgets.split(",")]
    for name in names:
        for seed in range(args.logs):
            log = os.path.join(args.out, f"{name}.{seed}.jsonl")
            # A log that is not finished says little: its curves are uneven.
            if args.report_only or os.path.exists(log[:-len("jsonl")] + "done"):
                results.setdefault(name, []).append(
                    compare(args.tools, log, budgets, args.seeds))
    if not results:
        return 75
    with open(os.path.join(args.out, "results.json"), "w") as file:
        json.dump(results, file, indent=1)
    text = table(results)
    with open(os.path.join(args.out, "table.md"), "w") as file:
        file.write(text)
    print(text, end="")
    return 0 if complete else 75


if __name__ == "__main__":
    sys.exit(main())
