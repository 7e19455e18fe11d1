#===- contest.py - Times contenders in turn -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Contenders live in processes of their own, of which all but one are stopped:
none spins on a core while another is timed. Rounds go through the contenders
in turn."""
import json
import os
import signal
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def pin():
    """Keeps this process on the last of its processors."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


class Contender:
    """A child that serves a contender (server.py)."""

    def __init__(self, name, module, threads, folder, python=sys.executable,
                 environment=None):
        self.name, self.rows = name, {}
        log = os.path.join(folder, "logs")
        os.makedirs(log, exist_ok=True)
        self.log = open(os.path.join(log, f"{name}.{threads}.log"), "a")
        env = {**os.environ, "OMP_NUM_THREADS": str(threads),
               "MKL_NUM_THREADS": str(threads),
               "OPENBLAS_NUM_THREADS": str(threads),
               # Memory that a call frees is kept for the next one: page
               # faults would come and go with the layout of the heap.
               "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
               "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
               "PYTHONPATH": os.path.dirname(HERE), "PYTHONWARNINGS": "ignore",
               **(environment or {})}
        self.child = subprocess.Popen(
            [python, os.path.join(HERE, "server.py"), module,
             f"--threads={threads}", f"--folder={folder}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
            text=True, env=env, start_new_session=True,
            # Processors differ by who shares their core and caches.
            preexec_fn=pin if threads == 1 else None)
        self.stopped = False
        answer = self.read()
        self.version = answer.get("version", "")
        self.reason = None if answer["ok"] else answer["reason"]

    def read(self):
        line = self.child.stdout.readline()
        if not line:
            self.child.wait()
            self.reason = f"ended with code {self.child.returncode}"
            return {"ok": False, "reason": self.reason}
        return json.loads(line)

    def ask(self, **request):
        if self.reason:
            return {"ok": False, "reason": self.reason}
        self.resume()
        try:
            self.child.stdin.write(json.dumps(request) + "\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            pass
        return self.read()

    def signal(self, number):
        if self.child.poll() is None:
            os.killpg(self.child.pid, number)

    def stop(self):
        if not self.stopped:
            self.signal(signal.SIGSTOP)
            self.stopped = True

    def resume(self):
        if self.stopped:
            self.signal(signal.SIGCONT)
            self.stopped = False

    def close(self):
        self.signal(signal.SIGKILL)
        self.child.wait()
        self.log.close()


def load(contender, row, **request):
    """None, or why the contender can't run the row."""
    spec = {"name": row.name, "kind": row.kind, "sizes": row.sizes,
            "layout": row.layout}
    answer = contender.ask(load=spec, **request)
    contender.stop()
    return None if answer["ok"] else answer["reason"]


def typical(samples):
    """{name: seconds} of {name: [seconds of each round]}: how slow each one was
    relative to its rounds, in the median, times the usual round. A machine whose
    speed changes from second to second, by neighbours on its caches, has medians
    that lie on either of its speeds by chance; a round is short, and all of it
    is slow together."""
    rounds = [statistics.geometric_mean(times) for times in zip(*samples.values())]
    usual = statistics.median(rounds)
    return {name: usual * statistics.median(t / r for t, r in zip(times, rounds))
            for name, times in samples.items()}


def contest(contenders, rounds, seconds):
    """Times the loaded contenders in turn; {name: {median, min, samples}} or
    {name: {reason}}. The medians are those of `typical`."""
    counts, samples, reasons = {}, {}, {}
    for c in contenders:
        answer = c.ask(run=seconds)
        c.stop()
        if answer["ok"]:
            counts[c.name], samples[c.name] = answer["calls"], []
        else:
            reasons[c.name] = answer["reason"]
    for _ in range(rounds):
        for c in contenders:
            if c.name in reasons:
                continue
            answer = c.ask(run=seconds, calls=counts[c.name])
            c.stop()
            if answer["ok"]:
                samples[c.name].append(answer["seconds"])
            else:
                reasons[c.name] = answer["reason"]
    whole = {name: times for name, times in samples.items() if name not in reasons}
    medians = typical(whole) if whole else {}
    results = {}
    for c in contenders:
        if c.name in reasons:
            results[c.name] = {"reason": reasons[c.name]}
        else:
            results[c.name] = {"median": medians[c.name], "min": min(whole[c.name]),
                               "samples": whole[c.name], "version": c.version}
    return results
