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
                [--variants full,cold,no-tuning,ansor,beam,random] [--seconds 80]
                [--rounds 30 --python PYTHON]

full        as it is: the installed model, evolution, neighbours of the best
cold        without the installed model
no-tuning   no fine-tuning: programs are sampled, and the model picks from them
ansor       the rules and constants of the paper alone
beam        beam search of partial programs instead of evolution
random      no model: programs are sampled and measured

The same command goes on where it was interrupted; the exit code is 75 if
--seconds ran out before everything was done. DIR gets the records, table.md,
results.json and ablation.svg: medians over the seeds, of the best so far.

The best of many measurements is a lucky one, and a run of a busy hour has none.
--rounds times the winners of all runs of a row against each other, in turns, and
adds each one's time and the ratios of the variants' medians (winners.md). It
needs an interpreter with numpy."""
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
from harness import contest, machine
from harness.ours import TOOLS, Ours

VARIANTS = {
    "full": [],
    "cold": ["--cost-model=none"],
    "no-tuning": ["--generations=0"],
    "ansor": ["--space=ansor"],
    "beam": ["--strategy=beam"],
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


def tune(tools, source, stem, trials, seed, flags, deadline, threads=1):
    """True if the run is done."""
    stamp = stem + ".done"
    if os.path.exists(stamp) and int(open(stamp).read()) >= trials:
        return True
    left = deadline - time.time()
    if left < 5:
        return False
    command = [os.path.join(tools, "ansor-tune"), source, f"--trials={trials}",
               f"--threads={threads}", f"--seed={seed}", f"--records={stem}.jsonl",
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


def time_winners(args, row, variants):
    """{variant: [seconds of the winner of each seed]}: medians of rounds in which
    all of them take turns."""
    tuner = Ours(args.out, args.tools)
    source, contenders, reasons = os.path.join(args.out, row.name + ".mlir"), [], {}
    machine.build_timing(args.out)
    try:
        for seed in range(args.seeds):
            for variant in variants:
                name = f"{row.name}.{variant}.{seed}"
                stem = os.path.join(args.out, name)
                if not os.path.exists(stem + ".lib.mlir"):
                    continue
                # ablation.py marks no weights: what was tuned is what is timed.
                tuner.build_object(row, source, stem, stem + ".lib.mlir", 1,
                                   weights="")
                c = contest.Contender(name, "harness.ours_server:Ours", 1, args.out,
                                      args.python)
                contenders.append(c)
                reason = contest.load(c, row, object=stem)
                if reason:
                    reasons[name] = reason
        times = contest.contest(contenders, args.rounds, 0.02)
    finally:
        for c in contenders:
            c.close()
    winners = {variant: [] for variant in variants}
    for name, result in times.items():
        if "median" in result:
            winners[name.split(".")[1]].append(result["median"])
        else:
            reasons.setdefault(name, result["reason"])
    for name, reason in reasons.items():
        print(f"{name}: {reason}", file=sys.stderr)
    return winners


def winners_table(winners):
    """{row: {variant: seconds}} as Markdown; ratios are to the first variant."""
    lines = ["| row | variant | ms of each seed's winner | median ms | speed, of the first |",
             "|---|---|---|---|---|"]
    for row, variants in winners.items():
        timed = {v: times for v, times in variants.items() if times}
        first = next((statistics.median(times) for times in timed.values()), None)
        for variant, times in timed.items():
            median = statistics.median(times)
            lines.append(f"| {row} | {variant} | "
                         + " ".join(f"{t * 1e3:.4g}" for t in times)
                         + f" | {median * 1e3:.4g} | {first / median:.3f} |")
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
    parser.add_argument("--rounds", type=int, default=0,
                        help="time the winners against each other in so many rounds")
    parser.add_argument("--python", default=sys.executable)
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
    if args.rounds:
        winners = {row: time_winners(args, operators.select(names=[row])[0], variants)
                   for row in rows}
        text = winners_table(winners)
        with open(os.path.join(args.out, "winners.md"), "w") as file:
            file.write(text)
        print(text, end="")
    return 0 if complete else 75


if __name__ == "__main__":
    raise SystemExit(main())
