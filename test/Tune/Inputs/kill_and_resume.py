"""Kills a tuning run at some record, and resumes it.

Usage: kill_and_resume.py SIGNAL LOG COMMAND…

Checks that the log holds whole lines, that no child is alive two seconds
later, that the resumed run keeps every record and reaches its trials.
"""
import json
import os
import signal
import subprocess
import sys
import time

kind, log, command = sys.argv[1], sys.argv[2], sys.argv[3:]
mark = f"ANSOR_TEST_MARK={os.getpid()}-{time.time()}"
environment = dict(os.environ, ANSOR_TEST_MARK=mark.split("=", 1)[1])


def trials():
    try:
        lines = open(log, "rb").read().split(b"\n")
    except FileNotFoundError:
        return []
    records = [json.loads(line) for line in lines[:-1] if line]
    return [r for r in records if r["kind"] == "trial" and r["sketch"]]


def children():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark.encode() in file.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            pass
    return found


run = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)
deadline = time.time() + 120
while len(trials()) < 4 and run.poll() is None and time.time() < deadline:
    time.sleep(0.01)
assert run.poll() is None, "ended too early: " + run.stderr.read().decode()
run.send_signal(getattr(signal, kind))
run.wait(timeout=60)
print("exit code", run.returncode)
time.sleep(2)
print("children alive:", len(children()))
kept = trials()
print("kept some records:", 4 <= len(kept))

again = subprocess.run(command, env=environment, capture_output=True, text=True)
print(again.stdout, again.stderr)
print("exit code", again.returncode)
after = trials()
print("lost records:", sum(record not in after for record in kept))
print("trials:", len(after))
