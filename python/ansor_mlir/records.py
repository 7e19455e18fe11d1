# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading record logs (docs/RecordFormat.md)."""

import json
from dataclasses import dataclass, field
from typing import Dict, List, Optional

VERSION = 1


class RecordError(ValueError):
    """The file is not a record log of this version."""


@dataclass
class Task:
    key: str
    name: str
    weight: int
    flops: float
    target: dict
    ir: str


@dataclass
class Trial:
    task: str
    sketch: str
    decisions: object
    error: str
    median: Optional[float]  # seconds; None unless error is "none"
    number: int
    seed: int
    threads: int
    message: str = ""


@dataclass
class Log:
    tasks: Dict[str, Task] = field(default_factory=dict)
    trials: List[Trial] = field(default_factory=list)
    # The unscheduled program of each task, which is no trial.
    references: Dict[str, Trial] = field(default_factory=dict)
    # The best few of a task, measured again against each other at the end of a
    # run; `number` is the number of trials of the task then.
    finals: List[Trial] = field(default_factory=list)
    runs: List[dict] = field(default_factory=list)  # where the time went
    torn: bool = False  # the last line was cut off, and dropped

    def of(self, key):
        """The trials of a task."""
        return [trial for trial in self.trials if trial.task == key]

    def best(self, key):
        """The fastest right trial of a task, or None. A comparison that was
        made after the last trial decides."""
        trials = self.of(key)
        finals = [t for t in self.finals
                  if t.task == key and t.sketch and t.number == len(trials)]
        right = [t for t in finals or trials if t.median is not None]
        return min(right, key=lambda trial: trial.median, default=None)

    def errors(self, key):
        """Trials of a task by error kind."""
        count = {}
        for trial in self.of(key):
            if trial.error != "none":
                count[trial.error] = count.get(trial.error, 0) + 1
        return count


def _parse(line, log):
    record = json.loads(line)
    kind = record.get("kind") if isinstance(record, dict) else None
    if kind not in ("task", "trial", "final", "run"):
        raise RecordError('not a line of a record log (no "kind" of "task", '
                          '"trial", "final" or "run")')
    if record.get("version") != VERSION:
        raise RecordError(f"format version {record.get('version')}; this "
                          f"package reads version {VERSION}")
    if kind == "run":
        log.runs.append(record)
    elif kind == "task":
        log.tasks.setdefault(record["key"], Task(
            record["key"], record["name"], record["weight"], record["flops"],
            record["target"], record["ir"]))
    else:
        trial = Trial(
            record["task"], record["sketch"], record["decisions"],
            record["error"], record.get("median_s"), record["trial"],
            record["seed"], record.get("threads", 1), record.get("message", ""))
        if kind == "final":
            log.finals.append(trial)
        elif trial.sketch:
            log.trials.append(trial)
        else:
            log.references[trial.task] = trial


def read_records(path):
    """Reads a log. A torn last line is dropped; anything else that is no
    record raises RecordError with its line."""
    log = Log()
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            _parse(line, log)
        except json.JSONDecodeError as error:
            if number == len(lines) and number > 1:
                log.torn = True
                break
            raise RecordError(f"{path}:{number}: not JSON ({error})") from error
        except KeyError as error:
            raise RecordError(f"{path}:{number}: field {error} is missing") from error
        except RecordError as error:
            raise RecordError(f"{path}:{number}: {error}") from error
    return log
