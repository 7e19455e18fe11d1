"""Extracts the tasks of every module of the folders given, in one process each
folder, and counts those without a task."""
import glob
import os
import re
import subprocess
import sys

SPLIT = "// -----\n"
files = 0
bad = []
for folder in sys.argv[1:]:
    paths = sorted(glob.glob(os.path.join(folder, "*.mlir")))
    files += len(paths)
    text = SPLIT.join(open(path).read() for path in paths)
    done = subprocess.run(["ansor-opt", "-", "--split-input-file",
                           "--ansor-extract-tasks"], input=text, text=True,
                          stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit("ansor-opt failed")
    chunks = done.stdout.split(SPLIT)
    if len(chunks) != len(paths):
        sys.exit(f"{len(chunks)} modules for {len(paths)} files")
    bad += [path for path, chunk in zip(paths, chunks)
            if not re.search(r"\bansor\.task\b", chunk)]
for path in bad:
    print("no task:", path)
print(f"files: {files}, without a task: {len(bad)}")
