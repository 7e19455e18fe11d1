#!/usr/bin/env python3
#===- curves.py - Trials and seconds to reach a peer's best ----*- python -*-===//
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Compares tuning runs with MetaSchedule's: after how many trials, and seconds,
is what it ended with reached? Reads what both keep, and measures nothing.

    curves.py --ours DIR/ours --metaschedule DIR/metaschedule [--rows gmm512,...]
              [--threads 1] [--space full] [--json OUT] [--plot OUT.svg]

DIR is the output folder of run.py, or a folder like it: ours/ROW.SPACE.THREADS.jsonl
are records of ansor-tune, metaschedule/ROW.THREADS.so.work the work folders of
MetaSchedule. Each side's times are those of its own measurements, of the whole
function there and of the tasks' schedules here, which are added up; that an
unscheduled program may be as fast doesn't count. Seconds are from the
start of the search, building and timing included. They are compared only if the
machine was idle, or as busy, for both."""
import argparse
import datetime
import glob
import json
import math
import os
import re
import statistics

STAMP = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")


class Curve:
    """Best seconds of the program by trials and by seconds of search."""

    def __init__(self):
        self.points = []  # (trials, seconds of search, best so far)

    def add(self, trials, elapsed, best):
        if math.isfinite(best) and (not self.points or best < self.points[-1][2]):
            self.points.append((trials, elapsed, best))
        self.trials, self.seconds = trials, elapsed

    def best(self):
        return self.points[-1][2] if self.points else math.inf

    def reach(self, goal):
        """(trials, seconds) until at most `goal` seconds are reached, or None."""
        for trials, elapsed, best in self.points:
            if best <= goal:
                return trials, elapsed
        return None


def read_ours(path):
    """The curve of a log of ansor-tune; None if it has no trial. The seconds
    are those of the run, spread over the trials by what each took."""
    tasks, trials, wall, total = {}, [], 0, 0
    for line in open(path):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        kind = entry.get("kind")
        if kind == "task":
            tasks[entry["key"]] = entry.get("weight", 1)
        elif kind == "trial":
            cost = (entry.get("build_s") or 0) + (entry.get("run_s") or 0)
            seconds = entry.get("median_s")
            bad = entry.get("error", "none") != "none" or seconds is None
            trials.append((entry["task"], bool(entry["sketch"]),
                           math.inf if bad else seconds, cost))
            total += cost
        elif kind == "run":
            wall += entry["seconds"]["total"]
    if not tasks or not any(scheduled for _, scheduled, _, _ in trials):
        return None
    scale = wall / total if wall and total else 1
    curve, best = Curve(), {key: math.inf for key in tasks}
    count, elapsed = 0, 0.0
    for task, scheduled, seconds, cost in trials:
        count += scheduled
        elapsed += cost * scale
        if not scheduled:
            continue  # the unscheduled program is no result of the search
        best[task] = min(best.get(task, math.inf), seconds)
        curve.add(count, elapsed, sum(tasks.get(k, 1) * s for k, s in best.items()))
    return curve


def read_updates(folder):
    """[(trials, seconds)] by round, from the log of MetaSchedule's scheduler."""
    start, now, updates = None, None, []
    for path in sorted(glob.glob(os.path.join(folder, "logs", "*task_scheduler.log"))):
        for line in open(path, errors="replace"):
            stamp = STAMP.match(line)
            if stamp:
                now = datetime.datetime.strptime(stamp[1], "%Y-%m-%d %H:%M:%S")
                start = start or now
            elif line.startswith("Total trials:") and start:
                updates.append((int(line.split(":")[1]), (now - start).total_seconds()))
    return updates


def read_metaschedule(folder):
    """The curve of a work folder; None if nothing was measured."""
    path = os.path.join(folder, "database_tuning_record.json")
    if not os.path.exists(path):
        return None
    updates = read_updates(folder)
    curve, best = Curve(), math.inf
    for count, line in enumerate(open(path), 1):
        try:
            seconds = json.loads(line)[1][1]
        except (ValueError, IndexError, TypeError):
            continue
        seconds = [s for s in seconds or [] if s < 1e9]  # 1e10 is a failure
        if seconds:
            best = min(best, statistics.median(seconds))
        # A round's results come at its end.
        elapsed = next((t for trials, t in updates if trials >= count),
                       updates[-1][1] if updates else math.nan)
        curve.add(count, elapsed, best)
    return curve if curve.points else None


def geomean(values):
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def compare(ours, peer):
    """What is printed of a row. Shares are of the trials and seconds that the
    peer took to its best; None where it isn't reached."""
    goal = peer.best()
    theirs, mine = peer.reach(goal), ours.reach(goal)
    row = {"goal_ms": goal * 1e3, "ours_ms": ours.best() * 1e3,
           "peer_trials": peer.trials, "peer_trials_to_best": theirs[0],
           "peer_seconds_to_best": theirs[1], "peer_seconds": peer.seconds,
           "trials": mine and mine[0], "seconds": mine and mine[1],
           "our_trials": ours.trials}
    row["trials_share"] = mine and mine[0] / peer.trials
    row["trials_share_to_best"] = mine and mine[0] / theirs[0]
    row["seconds_share"] = (mine and peer.seconds > 0 and mine[1] / peer.seconds) or None
    row["seconds_share_to_best"] = (mine and theirs[1] > 0 and mine[1] / theirs[1]) or None
    return row


def table(rows):
    def show(value, form):
        return "–" if value is None else format(value, form)
    lines = ["| row | MetaSchedule ms (trials, s) | its best after | ours ms (trials) | "
             "reached after trials, s | share of its trials, s | of those to its best |",
             "|---|---|---|---|---|---|---|"]
    for name, r in rows.items():
        lines.append(
            f"| {name} | {r['goal_ms']:.4g} ({r['peer_trials']}, {r['peer_seconds']:.0f}) | "
            f"{r['peer_trials_to_best']}, {r['peer_seconds_to_best']:.0f} s | "
            f"{r['ours_ms']:.4g} ({r['our_trials']}) | "
            f"{show(r['trials'], 'd')}, {show(r['seconds'], '.1f')} s | "
            f"{show(r['trials_share'], '.3f')}, {show(r['seconds_share'], '.3f')} | "
            f"{show(r['trials_share_to_best'], '.3f')}, "
            f"{show(r['seconds_share_to_best'], '.3f')} |")
    reached = [r for r in rows.values() if r["trials"]]
    means = [show(geomean([r[key] for r in reached]), ".3f")
             for key in ("trials_share", "seconds_share", "trials_share_to_best",
                         "seconds_share_to_best")]
    lines.append(f"| geometric mean of {len(reached)} of {len(rows)} that reach it | | | | | "
                 f"{means[0]}, {means[1]} | {means[2]}, {means[3]} |")
    return "\n".join(lines)


def label(axis, title):
    axis.set(xlabel="trials", ylabel="speed, of the best", title=title)
    axis.grid(True, alpha=0.2)
    axis.legend(fontsize=8)


def plot(curves, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    columns = min(4, len(curves))
    lines = -(-len(curves) // columns)
    figure, axes = plt.subplots(lines, columns, squeeze=False,
                                figsize=(4 * columns, 3 * lines))
    for axis in axes.flat[len(curves):]:
        axis.set_visible(False)
    for axis, (name, sides) in zip(axes.flat, curves.items()):
        lowest = min(curve.best() for curve in sides.values())
        for (label, curve), color in zip(sides.items(), ("C3", "C7", "C0", "C1", "C2")):
            x = [p[0] for p in curve.points] + [curve.trials]
            y = [lowest / p[2] for p in curve.points] + [lowest / curve.best()]
            axis.step(x, y, where="post", label=label, color=color)
        label(axis, name)
        axis.set(ylim=(0, 1.05))
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, help="folder of records")
    parser.add_argument("--metaschedule", required=True, help="folder of its work folders")
    parser.add_argument("--rows", default="", help="names, comma-separated; else all of both")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--space", default="full")
    parser.add_argument("--json", help="file to write")
    parser.add_argument("--plot", help="SVG to write")
    args = parser.parse_args()
    names = args.rows.split(",") if args.rows else sorted(
        os.path.basename(path).split(".")[0] for path in
        glob.glob(os.path.join(args.metaschedule, f"*.{args.threads}.so.work")))
    curves, rows, missing = {}, {}, []
    for name in names:
        path = os.path.join(args.ours, f"{name}.{args.space}.{args.threads}.jsonl")
        mine = read_ours(path) if os.path.exists(path) else None
        peer = read_metaschedule(os.path.join(args.metaschedule,
                                              f"{name}.{args.threads}.so.work"))
        if not mine or not peer:
            missing.append(f"{name} ({'MetaSchedule' if mine else 'ours'})")
            continue
        curves[name] = {"ansor-mlir": mine, "MetaSchedule": peer}
        rows[name] = compare(mine, peer)
    if rows:
        print(table(rows))
    if missing:
        print("not measured: " + ", ".join(missing))
    if args.json:
        with open(args.json, "w") as file:
            json.dump(rows, file, indent=1)
    if args.plot and curves:
        plot(curves, args.plot)
    return 0 if rows else 1


if __name__ == "__main__":
    raise SystemExit(main())
