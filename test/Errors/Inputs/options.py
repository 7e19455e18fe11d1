#===- options.py - Nonsense on the command lines ------------*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""options.py BIN MODEL: gives every numeric option of the tools values that
make no sense, and wants a message and exit code 1 for each, at once."""
import subprocess
import sys

BIN, MODEL = sys.argv[1:3]
WORDS = ["many", "1e", "0x"]
HUGE = "99999999999999999999"

# Tool and arguments, {option: values that have to be refused}.
RUN = ["ansor-run", MODEL]
TUNE = ["ansor-tune", MODEL]
TRIALS = TUNE + ["--trials=1"]
CASES = [
    (RUN, {"--threads": ["0", "-1", "1025", "100000", HUGE],
           "--repeats": ["0", "-1", "1000001", "2147483648"],
           "--timeout": ["0", "-1", "nan", "inf", "-inf", "1e8", "1e999"],
           "--memory": ["0", "-1", HUGE],
           "--seed": ["-1", HUGE],
           "--shape": ["0:-1", "9:4x4", "0:x", "0:4x4x"]}),
    (TUNE, {"--trials": ["-1", HUGE]}),
    (TRIALS, {"--threads": ["0", "-1", "1025"],
              "--repeats": ["0", "-1", "1000001"],
              "--run-timeout": ["0", "-1", "nan", "inf", "1e8"],
              "--build-timeout": ["0", "-1", "nan", "inf", "1e8"],
              "--min-repeat-ms": ["-1", "nan", "inf", "1e12"],
              "--builders": ["-1", "1025"],
              "--score-threads": ["-1", "1025"],
              "--population": ["0", "-1", "4000000000"],
              "--generations": ["-1", "4000000000"],
              "--early-stop": ["-1", HUGE],
              "--finalists": ["-1"],
              "--seed": ["-1"],
              "--network-weights": ["0", "-1", "nan", "inf", "1,2"],
              "--objective": ["latency:0", "latency:nan", "latency:inf",
                              "speedup:-1", "early-stop:0"]}),
    (["ansor-builder"], {"--memory": ["-1", HUGE], "--stack": ["-1"],
                         "--cpu": ["-1"], "--parent": ["-1"]}),
    (["ansor-runner"], {"--memory": ["-1", HUGE], "--stack": ["-1"],
                        "--cpu": ["-1"], "--parent": ["-1"]}),
]
OPT = {"--ansor-attach-target=target=host:": [
           "cores=0", "cores=-1", "cores=many", "l1=0", "l2=" + HUGE,
           "vector_bits=12", "vector_registers=0", "cache_line=-64"],
       "--ansor-sample=": ["count=-1", "count=many", "seed=-1"],
       "--ansor-generate-sketches=": ["sketch=-1", "sketch=x"],
       "--ansor-apply-decisions=": ["seed=-1"],
       "--ansor-print-features=": ["compare=-1", "seed=-1"],
       "--ansor-lower-to-cpu=": ["max-operations=x", "max-operations=0"]}


def refused(command):
    """None if the command was refused well, else what it did."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return "did not end"
    if done.returncode != 1:
        return f"exit code {done.returncode}"
    text = done.stderr
    if not any(word in text for word in ("error", "for the -", "unknown argument")):
        return "no message: " + text[:200]
    return None


wrong = checked = 0
commands = [[BIN + "/" + arguments[0], *arguments[1:], f"{option}={value}"]
            for arguments, options in CASES
            for option, values in options.items()
            for value in values + ([] if option in ("--shape", "--objective")
                                   else WORDS)]
commands += [[BIN + "/ansor-opt", MODEL, "--ansor-extract-tasks", option + value]
             for option, values in OPT.items() for value in values]
for command in commands:
    checked += 1
    problem = refused(command)
    if problem:
        wrong += 1
        print("NOT REFUSED:", " ".join(command[1:]), "of", command[0], "->", problem)
print(f"{checked} command lines, {wrong} not refused")
sys.exit(wrong > 0)
