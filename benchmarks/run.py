#!/usr/bin/env python3
#===- run.py - Tunes and times rows beside their peers --------*- python -*-===//
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Tunes rows of the benchmark, times them beside every peer that is present,
and writes a table, JSON and a roofline plot. Everything is kept in the output
folder: the same command goes on where it was interrupted, and measures only
what is missing.

    run.py --out DIR [--set library] [--rows c2d_56,softmax] [--threads 1,2]
           [--trials 200] [--spaces full,ansor] [--peers all] [--seconds 80]

The exit code is 75 if --seconds ran out before everything was done.
"""
import argparse
import json
import os
import signal
import sys
import time

import networks
import operators
from harness import contest, machine, ours, report
from harness.contest import Contender

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = {
    "torch": "peers.pytorch:Eager",
    "torch-cl": "peers.pytorch:ChannelsLast",
    "torch-compile": "peers.pytorch:Compiled",
    "onnxruntime": "peers.onnxruntime_peer:OnnxRuntime",
    "openvino": "peers.openvino_peer:OpenVino",
    "iree": "peers.iree_peer:Iree",
    "openblas": "peers.openblas:OpenBlas",
    "metaschedule": "peers.metaschedule:MetaSchedule",
}


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="folder of everything")
    parser.add_argument("--set", default="library", help="of operators.py")
    parser.add_argument("--rows", default="", help="names, comma-separated")
    parser.add_argument("--networks", metavar="DIR",
                        help="networks that networks.py wrote there, instead of "
                             "operators; give --trials for all tasks together")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--layout", choices=["nhwc", "nchw"])
    parser.add_argument("--threads", default="1", help="numbers, comma-separated")
    parser.add_argument("--trials", type=int, default=200, help="a row")
    parser.add_argument("--spaces", default="full", help="full, ansor, none")
    parser.add_argument("--peers", default="all",
                        help="all, none, or names: " + ", ".join(PEERS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--burst", type=float, default=0.01,
                        help="seconds of each contender in a round")
    parser.add_argument("--seconds", type=float, help="stop after so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tools", help="folder of ansor-tune (build/bin)")
    parser.add_argument("--tune-flags", default="", help="for ansor-tune")
    parser.add_argument("--again", action="store_true",
                        help="time rows again that were timed")
    parser.add_argument("--tune-only", action="store_true",
                        help="only tune and build ours")
    parser.add_argument("--tune-peers", action="store_true",
                        help="tune MetaSchedule's rows too where it is missing: "
                             "minutes a row, which --seconds does not interrupt")
    parser.add_argument("--report-only", action="store_true")
    parser.add_argument("--python", default=os.environ.get(
        "ANSOR_PEERS_PYTHON", sys.executable),
        help="interpreter with numpy and the peers ($ANSOR_PEERS_PYTHON)")
    args = parser.parse_args()
    args.out = os.path.abspath(args.out)
    args.spaces = [s for s in args.spaces.split(",") if s]
    args.threads = [int(t) for t in args.threads.split(",")]
    args.peers = (list(PEERS) if args.peers == "all" else
                  [p for p in args.peers.split(",") if p and p != "none"])
    for peer in args.peers:
        if peer not in PEERS:
            parser.error(f"no peer '{peer}': one of {', '.join(PEERS)}")
    args.deadline = time.time() + args.seconds if args.seconds else None
    return args


def contender_name(space):
    return {"full": "ansor-mlir", "ansor": "space=ansor",
            "none": "unscheduled"}[space]


def result_path(args, row, threads):
    return os.path.join(args.out, "results", f"{row.name}.{threads}.json")


def read_json(path, default=None):
    return json.load(open(path)) if os.path.exists(path) else default


def write_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w") as file:
        json.dump(value, file, indent=1)
    os.replace(path + ".new", path)


class Benchmark:
    def __init__(self, args):
        self.args = args
        self.tuner = ours.Ours(args.out, args.tools, args.deadline, args.seed,
                               args.tune_flags.split())
        self.children = {}

    def check_time(self, needed=5):
        if self.tuner.left() < needed:
            raise ours.OutOfTime()

    def machine(self, threads):
        path = os.path.join(self.args.out, f"machine.{threads}.json")
        found = read_json(path)
        if not found:
            found = machine.measure(self.args.out, threads)
            write_json(path, found)
        return found

    def contender(self, name, module, threads):
        key = (name, threads)
        if key not in self.children:
            self.children[key] = Contender(name, module, threads, self.args.out,
                                           self.args.python)
            self.children[key].stop()
        return self.children[key]

    def close(self, threads=None):
        for key in [k for k in self.children if threads in (None, k[1])]:
            self.children.pop(key).close()

    def missing(self, row, threads):
        """Names of contenders that aren't timed yet."""
        names = [contender_name(s) for s in self.args.spaces] + self.args.peers
        done = read_json(result_path(self.args, row, threads), {})
        if self.args.again:
            return names if done.get("time", 0) < self.started else []
        return [n for n in names if n not in done.get("contenders", {})]

    def time_row(self, row, threads):
        """All contenders are timed together whenever one is missing."""
        if not self.missing(row, threads):
            return
        self.check_time(10)
        loaded, reasons = [], {}
        for space in self.args.spaces:
            name = contender_name(space)
            try:
                if space != "none":
                    self.tuner.tune(row, space, threads, self.args.trials)
                stem = self.tuner.build(row, space, threads)
            except ours.Failed as error:
                reasons[name] = str(error)
                continue
            c = self.contender(name, "harness.ours_server:Ours", threads)
            reason = contest.load(c, row, object=stem)
            if reason:
                reasons[name] = reason
            else:
                loaded.append(c)
        if self.args.tune_only:
            return
        for name in self.args.peers:
            self.check_time()
            c = self.contender(name, PEERS[name], threads)
            reason = contest.load(c, row, trials=self.args.trials,
                                  tune=self.args.tune_peers)
            if reason:
                reasons[name] = reason
            else:
                loaded.append(c)
            if c.child.poll() is not None:  # it died: the next row starts anew
                c.close()
                del self.children[(name, threads)]
        self.check_time(len(loaded) * self.args.burst * self.args.rounds * 1.5)
        results = contest.contest(loaded, self.args.rounds, self.args.burst)
        for name, reason in reasons.items():
            results[name] = {"reason": reason}
        self.compare(row, loaded, results)
        write_json(result_path(self.args, row, threads),
                   {"row": row.name, "threads": threads, "time": time.time(),
                    "trials": self.args.trials, "contenders": results})
        for name in list(self.children):  # the dead
            if self.children[name].child.poll() is not None:
                self.children.pop(name).close()

    def compare(self, row, loaded, results):
        """Writes the difference of each result from the first peer's."""
        folder = os.path.join(self.args.out, "values")
        os.makedirs(folder, exist_ok=True)
        paths = {}
        for c in loaded:
            path = os.path.join(folder, c.name + ".npy")
            if "median" in results[c.name] and c.ask(values=path)["ok"]:
                paths[c.name] = path
            c.stop()
        names = sorted(paths, key=lambda n: n not in PEERS)
        answer = report.differences(self.args.python, row, [paths[n] for n in names])
        for name, (error, ok) in zip(names, answer):
            results[name]["difference"] = error
            if not ok:
                results[name]["reason"] = f"wrong: differs by {error:.1e}"
        for path in paths.values():
            os.remove(path)

    def run(self):
        self.started = time.time()
        names = [r for r in self.args.rows.split(",") if r]
        if self.args.networks:
            rows = [r for r in networks.rows(os.path.abspath(self.args.networks))
                    if not names or r.name in names]
        else:
            rows = operators.select(self.args.set, names, self.args.batch,
                                    self.args.layout)
        complete = True
        try:
            for threads in self.args.threads:
                self.machine(threads)
                if not self.args.report_only:
                    for row in rows:
                        self.time_row(row, threads)
                        print(row.name, threads, flush=True)
                    self.close()
        except ours.OutOfTime:
            complete = False
        finally:
            self.close()
        report.write(self.args.out, rows, self.args.threads, self.machine,
                     lambda row, t: read_json(result_path(self.args, row, t)),
                     self.args.python)
        return 0 if complete else 75


def main():
    args = parse()
    # Contenders are stopped: they have to be ended with this process.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    os.makedirs(args.out, exist_ok=True)
    machine.build_timing(args.out)
    sys.exit(Benchmark(args).run())


if __name__ == "__main__":
    main()
