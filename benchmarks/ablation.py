#!/usr/bin/env python3
#===- ablation.py - What each part of the search is worth ------*- python -*-===//
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Tunes rows by the whole search and by parts of it, and compares what is
reached by how many trials (Zheng et al., OSDI 2020, section 7.1).

    ablation.py --out DIR [--rows c2d_7,gmm512] [--trials 200] [--seeds 5]
                [--variants full,cold,no-tuning,ansor,random] [--seconds 80]

full        as it is: the installed model, evolution, neighbours of the best
cold        without the installed model
no-tuning   no fine-tuning: programs are sampled, and the model picks from them
ansor       the rules and constants of the paper alone
random      no model: programs are sampled and measured

The same command goes on where it was interrupted; the exit code is 75 if
--seconds ran out before everything was done. DIR gets the records, table.md,
results.json and ablation.svg: medians over the seeds, of the best so far."""
import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import time

import operators
from curves import label, read_ours
from harness.ours import TOOLS

VARIANTS = {
    "full": [],
    "cold": ["--cost-model=none"],
    "no-tuning": ["--generations=0"],
    "ansor": ["--space=ansor"],
    "random": ["--model=random", "--cost-model=none"],
}


def best_by_trial(path, trials):
    """Best seconds after 1, 2, ... trials; infinite before the first."""
    curve = read_ours(path) if os.path.exists(path) else None
    best, points = [], curve.points if curve else []
    for trial in range(1, trials + 1):
        reached = [seconds for count, _, seconds in points if count <= trial]
        best.append(reached[-1] if reached else math.inf)
    return best


def tune(tools, source, stem, trials, seed, flags, deadline):
    """True if the run is done."""
    stamp = stem + ".done"
    if os.path.exists(stamp) and int(open(stamp).read()) >= trials:
        return True
    left = deadline - time.time()
    if left < 5:
        return False
    command = [os.path.join(tools, "ansor-tune"), source, f"--trials={trials}",
               "--threads=1", f"--seed={seed}", f"--records={stem}.jsonl",
               f"--library={stem}.lib.mlir", *flags]
    with open(stem + ".log", "a") as log:
        child = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            code = child.wait(None if math.isinf(left) else left - 3)
        except BaseException as error:
            child.send_signal(signal.SIGINT)
            child.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                return False
            raise
    if code:
        raise SystemExit(f"ansor-tune failed, see {stem}.log")
    with open(stamp, "w") as file:
        file.write(str(trials))
    return True


def summarize(folder, rows, variants, seeds, trials):
    """{row: {variant: {seeds, curve (medians), best, share}}}; shares are of the
    fastest variant's speed."""
    results = {}
    for row in rows:
        mine = {}
        for variant in variants:
            runs = [best_by_trial(os.path.join(folder, f"{row}.{variant}.{seed}.jsonl"),
                                  trials) for seed in range(seeds)]
            runs = [run for run in runs if math.isfinite(run[-1])]
            if runs:
                curve = [statistics.median(values) for values in zip(*runs)]
                mine[variant] = {"seeds": len(runs), "curve": curve, "best": curve[-1]}
        if mine:
            results[row] = mine
            lowest = min(part["best"] for part in mine.values())
            for part in mine.values():
                part["share"] = lowest / part["best"]
    return results


def table(results, trials):
    marks = sorted({m for m in (16, 32, 64, 128) if m < trials} | {trials})
    lines = ["| row | variant | seeds | " + " | ".join(f"ms, {m} trials" for m in marks)
             + " | speed, of the fastest |", "|---" * (4 + len(marks)) + "|"]
    for row, variants in results.items():
        for variant, part in variants.items():
            cells = [part["curve"][m - 1] for m in marks]
            lines.append(f"| {row} | {variant} | {part['seeds']} | " + " | ".join(
                f"{s * 1e3:.4g}" if math.isfinite(s) else "–" for s in cells)
                + f" | {part['share']:.3f} |")
    return "\n".join(lines) + "\n"


def plot(results, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, len(results), squeeze=False,
                                figsize=(5 * len(results), 4))
    for axis, (row, variants) in zip(axes[0], results.items()):
        lowest = min(part["best"] for part in variants.values())
        for variant, part in variants.items():
            axis.step(range(1, len(part["curve"]) + 1),
                      [lowest / s for s in part["curve"]], where="post", label=variant)
        label(axis, row)
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--rows", default="c2d_7,gmm512")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--tools", default=TOOLS)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--report-only", action="store_true")
    args = parser.parse_args()
    rows, variants = args.rows.split(","), args.variants.split(",")
    for variant in variants:
        if variant not in VARIANTS:
            parser.error(f"no variant '{variant}': one of {', '.join(VARIANTS)}")
    os.makedirs(args.out, exist_ok=True)
    deadline = time.time() + args.seconds
    complete = True
    # Seed by seed, so that an early end has something of each.
    for seed in range(0 if args.report_only else args.seeds):
        for name in rows:
            source = os.path.join(args.out, name + ".mlir")
            if not os.path.exists(source):
                text = operators.select(names=[name])[0].text()
                with open(source, "w") as file:
                    file.write(text)
            for variant in variants:
                stem = os.path.join(args.out, f"{name}.{variant}.{seed}")
                complete &= tune(args.tools, source, stem, args.trials, seed,
                                 VARIANTS[variant], deadline)
    results = summarize(args.out, rows, variants, args.seeds, args.trials)
    if not results:
        return 75
    with open(os.path.join(args.out, "results.json"), "w") as file:
        json.dump(results, file, indent=1)
    text = table(results, args.trials)
    with open(os.path.join(args.out, "table.md"), "w") as file:
        file.write(text)
    print(text, end="")
    try:
        plot(results, os.path.join(args.out, "ablation.svg"))
    except ImportError:
        print("no plot: matplotlib is missing", file=sys.stderr)
    return 0 if complete else 75


if __name__ == "__main__":
    raise SystemExit(main())
