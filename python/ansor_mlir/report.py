# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables for people."""


def table(rows, header):
    """Text with aligned columns; numbers to the right."""
    rows = [[str(cell) for cell in row] for row in rows]
    number = [all(row[i].replace(".", "", 1).rstrip("x%").isdigit() or
                  row[i] in ("", "-") for row in rows) and bool(rows)
              for i in range(len(header))]
    widths = [max(len(row[i]) for row in rows + [list(header)])
              for i in range(len(header))]

    def line(cells):
        return "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, number)).rstrip()

    return "\n".join([line(header), "  ".join("-" * w for w in widths)] +
                     [line(row) for row in rows])


def report(log):
    """One line a task of a log: trials, errors, the unscheduled program's time,
    the best one and its rate."""
    rows = []
    for key, task in log.tasks.items():
        trials, best = log.of(key), log.best(key)
        reference = log.references.get(key)
        errors = ", ".join(f"{kind} {count}"
                           for kind, count in sorted(log.errors(key).items()))
        rows.append([
            task.name, task.weight, len(trials), best.sketch if best else "-",
            f"{reference.median * 1e3:.4f}"
            if reference and reference.median is not None else "-",
            f"{best.median * 1e3:.4f}" if best else "-",
            f"{task.flops / best.median / 1e9:.1f}" if best and best.median else "-",
            errors or "-",
        ])
    return table(rows, ["task", "weight", "trials", "sketch",
                        "unscheduled ms", "best ms",
                        "GFLOP/s", "errors"])
