"""Logs of a run of each side, and of an ablation, for curves.test."""
import json
import os
import sys


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def ours(seconds):
    """Trials of one second each, after the unscheduled program."""
    lines = [{"kind": "task", "key": "a1-00", "weight": 2}]
    for number, median in enumerate([1e-4] + seconds):
        lines.append({"kind": "trial", "task": "a1-00", "sketch": "s0" if number else "",
                      "median_s": median, "error": "none" if median else "run-crash",
                      "build_s": 0.25, "run_s": 0.25})
    lines.append({"kind": "run", "seconds": {"total": len(seconds) + 1.0}})
    return "".join(json.dumps(line) + "\n" for line in lines) + '{"torn'


folder = sys.argv[1]
# Two calls of the task: 8, 4 (after a failure) and 2 ms.
write(folder + "/ours/row.full.1.jsonl", ours([4e-3, None, 2e-3, 3e-3, 1e-3]))
write(folder + "/ours/slow.full.1.jsonl", ours([9e-3]))
for name in "row", "slow", "alone":
    work = f"{folder}/metaschedule/{name}.1.so.work"
    times = [[20e-3], [1e10], [6e-3, 5e-3, 4e-3], [7e-3], [5e-3], [30e-3]]
    write(work + "/database_tuning_record.json",
          "".join(json.dumps([0, [[], t, {}, []]]) + "\n" for t in times))
    write(work + "/logs/x.task_scheduler.log",
          "2026-01-01 00:00:00 [INFO] start\n"
          "2026-01-01 00:00:30 [INFO] round\nTotal trials: 2\n"
          "2026-01-01 00:01:00 [INFO] round\nTotal trials: 4\n"
          "2026-01-01 00:02:00 [INFO] round\nTotal trials: 6\n")
for seed, best in enumerate((1e-3, 2e-3, 3e-3)):
    write(f"{folder}/ablation/row.full.{seed}.jsonl", ours([9e-3, best]))
write(f"{folder}/ablation/row.random.0.jsonl", ours([9e-3, 4e-3]))
