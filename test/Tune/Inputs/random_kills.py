#!/usr/bin/env python3
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills ansor-tune by SIGKILL at random moments, KILLS times, and resumes it.

    random_kills.py MODEL.mlir RECORDS KILLS TRIALS [SEED]

Fails if a finished record is lost or changed, if a child is alive two seconds
after a kill, or if the last run, left alone, doesn't reach its trials.
"""
import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid


def finished_lines(path):
    """The complete lines of the log; each must be JSON."""
    try:
        data = open(path, "rb").read()
    except FileNotFoundError:
        return []
    lines = data.split(b"\n")[:-1]
    kept = []
    for line in lines:
        try:
            json.loads(line)
        except ValueError:
            # What a kill tore is closed by the next run's newline; no other
            # line may be broken.
            continue
        kept.append(line)
    return kept


def survivors(tag):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = open(f"/proc/{pid}/environ", "rb").read()
            state = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if tag.encode() in environment and state != "Z":
            found.append((pid, open(f"/proc/{pid}/cmdline").read()))
    return found


def main():
    model, records, kills, trials = sys.argv[1:3] + [int(v) for v in sys.argv[3:5]]
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    rng = random.Random(seed)
    before = []
    for kill in range(kills):
        tag = "ANSOR_TEST_TAG=" + uuid.uuid4().hex
        name, value = tag.split("=")
        # More trials than will be reached, so that the kill finds it at work.
        process = subprocess.Popen(
            ["ansor-tune", model, "--trials=100000", f"--records={records}",
             f"--seed={seed}"],
            env={**os.environ, name: value}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.05, 3.0))
        if process.poll() is not None:
            sys.exit(f"ansor-tune ended by itself: {process.returncode}")
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(2)
        alive = survivors(tag)
        if alive:
            sys.exit(f"alive two seconds after kill {kill}: {alive}")
        after = finished_lines(records)
        if after[:len(before)] != before:
            sys.exit(f"kill {kill} lost or changed finished records")
        before = after
    done = sum(b'"decisions"' in line for line in before)
    subprocess.run(["ansor-tune", model, f"--trials={done + trials}",
                    f"--records={records}", f"--seed={seed}"],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    after = finished_lines(records)
    if after[:len(before)] != before:
        sys.exit("the last run lost or changed finished records")
    grown = sum(b'"decisions"' in line for line in after) - done
    print(f"{kills} kills, {len(before)} records kept, {grown} trials added")
    sys.exit(0 if grown > 0 else 1)


if __name__ == "__main__":
    main()
