#!/usr/bin/env python3
#===- peers.py - Tune, then time beside OpenBLAS --------------*- python -*-===//
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Tunes a matrix product and a convolution (benchmarks/inputs) on one thread,
and times the best schedule beside OpenBLAS in interleaved rounds.

    peers.py [--trials 200] [--seeds 0,1,2] [--rounds 30] [--build build]

Prints one JSON line a row and seed: the best time the search saw, the best of
its first batch, which is random, and of as many random samples (with
--random), and the interleaved medians and ratio (peer / ours) of peers.c.
Needs libopenblas-dev. Old releases of OpenBLAS take new processors for old
ones: set OPENBLAS_CORETYPE (HASWELL, ZEN, SKYLAKEX, …) to the fastest.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = {
    "gemm 512 + bias + relu":
        ("gemm_bias_relu_512.mlir", ["gemm", "512", "512", "512"]),
    "conv 56x56x64, 3x3x64, + bias + relu":
        ("conv_bias_relu_56.mlir", ["conv", "56", "56", "64", "64", "3", "3"]),
}


def best_of(path):
    log = [json.loads(line) for line in open(path)]
    task = next(line for line in log if line["kind"] == "task")
    times = [line["median_s"] for line in log
             if line["kind"] == "trial" and line["sketch"] and line.get("median_s")]
    return task, min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--random", action="store_true",
                        help="search by random samples alone too")
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build"))
    parser.add_argument("--rows", default="", help="part of the rows' names")
    args = parser.parse_args()
    tools = os.path.join(os.path.abspath(args.build), "bin")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}

    with tempfile.TemporaryDirectory() as work:
        peers = os.path.join(work, "peers")
        subprocess.run(["cc", "-O3", "-march=native",
                        os.path.join(HERE, "peers.c"), "-o", peers,
                        "-lopenblas", "-ldl", "-lm"], check=True)
        for row, (source, shape) in ROWS.items():
            if args.rows not in row:
                continue
            for seed in args.seeds.split(","):
                base = os.path.join(work, re.sub(r"\W+", "-", row) + seed)

                def tune(name, *flags):
                    records = f"{base}-{name}.jsonl"
                    subprocess.run(
                        [os.path.join(tools, "ansor-tune"),
                         os.path.join(HERE, "inputs", source),
                         f"--trials={args.trials}", f"--seed={seed}",
                         f"--records={records}", f"--library={base}-{name}.mlir",
                         *flags], check=True, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)
                    return best_of(records)

                task, best = tune("search")
                result = {"row": row, "seed": int(seed), "trials": args.trials,
                          "best_ms": best * 1e3}
                if args.random:
                    result["best_random_ms"] = tune("random", "--model=random")[1] * 1e3
                # The artifact that is timed is built as the search builds it.
                request = {"id": 0, "task": task["key"], "module": task["ir"],
                           "script": open(f"{base}-search.mlir").read(),
                           "output": base, "parallel": False}
                answer = json.loads(subprocess.run(
                    [os.path.join(tools, "ansor-builder")],
                    input=json.dumps(request) + "\n", check=True, text=True,
                    stdout=subprocess.PIPE).stdout)
                if not answer["ok"]:
                    raise SystemExit(answer["message"])
                result.update(json.loads(subprocess.run(
                    [peers, *shape, answer["artifact"], task["name"] + "_packed",
                     str(args.rounds)], env=environment, check=True, text=True,
                    stdout=subprocess.PIPE).stdout))
                print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
