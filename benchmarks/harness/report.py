#===- report.py - Tables, JSON, plot -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Writes table.md, results.json and roofline.svg from the results of rows."""
import json
import math
import os
import subprocess

from . import machine as machines
from . import ours

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = ("ansor-mlir", "space=ansor", "unscheduled")


def differences(python, row, paths):
    """[(difference from the first, is it small)] in a child with numpy."""
    if not paths:
        return []
    spec = json.dumps([row.name, row.kind, row.sizes, row.layout])
    done = subprocess.run([python, os.path.join(HERE, "compare.py"), spec, *paths],
                          text=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout) if done.returncode == 0 else []


def geomean(values):
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def timed(result):
    """{name: median seconds} of the contenders that were timed and are right."""
    return {name: c["median"] for name, c in result["contenders"].items()
            if "median" in c and "reason" not in c}


def milliseconds(seconds):
    return f"{seconds * 1e3:.4g}"


def best_peer(times):
    peers = {n: t for n, t in times.items() if n not in OURS}
    return min(peers, key=peers.get) if peers else None


def summary(rows, threads, machine, results):
    """One entry a row that was timed."""
    entries = []
    for row in rows:
        result = results(row, threads)
        if not result:
            continue
        times = timed(result)
        bound = machines.roofline(row, machine)
        peer, mine = best_peer(times), times.get("ansor-mlir")
        paper, meta = times.get("space=ansor"), times.get("metaschedule")
        entries.append({
            "row": row.name, "threads": threads, "roofline": bound, "times": times,
            "minima": {n: c["min"] for n, c in result["contenders"].items()
                       if n in times},
            "best_peer": peer, "trials": result["trials"],
            "share": bound / mine if mine else None,
            "ratio": times[peer] / mine if peer and mine else None,
            "over_space_ansor": paper / mine if paper and mine else None,
            "over_metaschedule": meta / mine if meta and mine else None,
            "flops": row.flops, "bytes": row.bytes,
            "reasons": {n: c["reason"] for n, c in result["contenders"].items()
                        if "reason" in c}})
    return entries


def table(entries, machine):
    threads = machine["threads"]
    names = []
    for entry in entries:
        names += [n for n in entry["times"] if n not in names]
    order = [n for n in OURS if n in names] + [n for n in names if n not in OURS]
    flops = machine["flops"] / 1e9
    lines = [
        f"## {threads} thread{'s' if threads > 1 else ''}", "",
        f"{machine['cpu']}: {flops:.0f} GFLOP/s by multiply-adds in registers; reads of "
        + ", ".join(f"{rate / 1e9:.0f} GB/s" for _, rate in machine["levels"])
        + " from the levels of memory. Milliseconds: medians of interleaved rounds"
        + (", processor time." if threads == 1 else ", wall time.")
        + " In brackets: percent of the roofline. Ratio: best peer / ours.", "",
        "| row | roofline | " + " | ".join(order) + " | best peer | ratio |",
        "|---" * (len(order) + 4) + "|"]
    for entry in entries:
        cells = []
        best = min(entry["times"].values(), default=0)
        for name in order:
            time = entry["times"].get(name)
            if time is None:
                cells.append("–")
                continue
            text = f"{milliseconds(time)} ({100 * entry['roofline'] / time:.0f})"
            cells.append(f"**{text}**" if time == best else text)
        ratio = f"{entry['ratio']:.2f}" if entry["ratio"] else "–"
        lines.append(f"| {entry['row']} | {milliseconds(entry['roofline'])} | "
                     + " | ".join(cells)
                     + f" | {entry['best_peer'] or '–'} | {ratio} |")
    lines.append("")
    lines += statements(entries)
    reasons = [(e["row"], n, r) for e in entries for n, r in e["reasons"].items()]
    if reasons:
        lines += ["", "Not timed:", ""]
        grouped = {}
        for row, name, reason in reasons:
            grouped.setdefault((name, reason), []).append(row)
        lines += [f"- {name}: {reason} ({', '.join(rows)})"
                  for (name, reason), rows in grouped.items()]
    return "\n".join(lines) + "\n"


def statements(entries):
    """Geometric means, and what the space gained."""
    lines = []

    def mean(key, what):
        values = [e[key] for e in entries if e[key]]
        if values:
            lines.append(f"- {what}: {geomean(values):.3f} (geometric mean of "
                         f"{len(values)} rows; least {min(values):.2f})")
    mean("ratio", "best peer / ours")
    mean("over_metaschedule", "MetaSchedule / ours")
    mean("share", "share of the roofline")
    peers = sorted({n for e in entries for n in e["times"] if n not in OURS})
    for peer in peers:
        values = [e["times"][peer] / e["times"]["ansor-mlir"] for e in entries
                  if peer in e["times"] and "ansor-mlir" in e["times"]]
        if values and peer != "metaschedule":
            lines.append(f"- {peer} / ours: {geomean(values):.3f} ({len(values)} rows)")
    mean("over_space_ansor", "space=ansor / ours")
    both = [e for e in entries if e["over_space_ansor"]]
    if both:
        outside = sum(e["over_space_ansor"] > 1.02 for e in both)
        lines.append(f"- winners outside space=ansor (by more than 2%): {outside} of "
                     f"{len(both)} rows")
    return lines


def write(folder, rows, threads, machine, results, python):
    text, everything = "", []
    for t in threads:
        m = machine(t)
        entries = summary(rows, t, m, results)
        if not entries:
            continue
        text += table(entries, m) + "\n"
        everything.append({"machine": m, "rows": entries})
    if not everything:
        return
    with open(os.path.join(folder, "table.md"), "w") as file:
        file.write(text)
    path = os.path.join(folder, "results.json")
    with open(path, "w") as file:
        json.dump(everything, file, indent=1)
    done = subprocess.run([python, os.path.join(HERE, "plot.py"), path,
                           os.path.join(folder, "roofline.svg")],
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print("no plot:", done.stderr.strip().split("\n")[-1])
