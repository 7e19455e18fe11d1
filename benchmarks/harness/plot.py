#===- plot.py - The roofline plot -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""plot.py RESULTS.json OUT.svg: achieved rates over arithmetic intensity."""
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def main():
    everything = json.load(open(sys.argv[1]))
    figure, axes = plt.subplots(1, len(everything), squeeze=False,
                                figsize=(9 * len(everything), 6))
    for axis, part in zip(axes[0], everything):
        machine, rows = part["machine"], part["rows"]
        x = [2 ** (i / 4) for i in range(-16, 44)]
        names = ["L1", "L2", "L3"][:len(machine["levels"]) - 1] + ["DRAM"]
        for (_, rate), name in list(zip(machine["levels"], names))[1:]:
            axis.plot(x, [min(machine["flops"], rate * i) / 1e9 for i in x],
                      linewidth=1, label=f"{name} {rate / 1e9:.0f} GB/s")
        for marker, name, color in (("o", "ansor-mlir", "C3"), ("x", "best peer", "C7")):
            points = []
            for row in rows:
                time = row["times"].get(row["best_peer"] if name == "best peer" else name)
                if time:
                    points.append((row["flops"] / row["bytes"],
                                   row["flops"] / time / 1e9, row["row"]))
            if not points:
                continue
            axis.scatter([p[0] for p in points], [p[1] for p in points],
                         marker=marker, color=color, label=name, zorder=3)
            if name == "ansor-mlir":
                for px, py, text in points:
                    axis.annotate(text, (px, py), fontsize=7,
                                  xytext=(3, -8), textcoords="offset points")
        axis.set(xscale="log", yscale="log", xlabel="FLOP / byte", ylabel="GFLOP/s",
                 title=f"{machine['cpu']}, {machine['threads']} thread(s)")
        axis.legend(fontsize=8)
        axis.grid(True, which="both", alpha=0.2)
    figure.tight_layout()
    figure.savefig(sys.argv[2])


main()
