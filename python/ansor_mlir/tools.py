# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starting the tools."""

import json
import os
import shutil
import subprocess
from pathlib import Path


class ToolError(RuntimeError):
    """A tool is missing or failed; the text is what it said."""


def find_tool(name):
    """Path of a tool of the project."""
    folders = [os.environ.get("ANSOR_TOOLS", ""),
               Path(__file__).resolve().parents[2] / "build" / "bin"]
    for folder in folders:
        path = Path(folder) / name
        if str(folder) and os.access(path, os.X_OK):
            return str(path)
    path = shutil.which(name)
    if path is None:
        raise ToolError(f"{name} is neither in $ANSOR_TOOLS nor on the PATH: "
                        "build the project, or set ANSOR_TOOLS to its bin folder")
    return path


def _start(name, arguments, quiet=True, is_answer=lambda text: False):
    """Standard output of a tool. It has to succeed, or print an answer."""
    command = [find_tool(name)] + [str(argument) for argument in arguments]
    result = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        stderr=subprocess.PIPE if quiet else None)
    if result.returncode and not is_answer(result.stdout):
        said = (result.stderr or "").strip() or f"exit code {result.returncode}"
        raise ToolError(f"{name}: {said}")
    return result.stdout


def _flags(options):
    """--key=value for every option that is set; True is a flag."""
    flags = []
    for key, value in options.items():
        name = "--" + key.replace("_", "-")
        if value is True:
            flags.append(name)
        elif value is not None and value is not False:
            flags.append(f"{name}={value}")
    return flags


def _list(paths):
    if paths is None:
        return []
    return list(paths) if isinstance(paths, (list, tuple)) else [paths]


def tune(model, trials, records=None, library=None, output=None, *, seed=None,
         threads=None, target=None, space=None, model_kind=None, replay=None,
         quiet=True, **flags):
    """Tunes the tasks of a module, or of a list of modules together; `trials`
    is the total over them.

    `records` is the log to resume from and append to, `library` the file for
    the best schedules, `output` one for the scheduled module (for a list, a
    list). Other flags of ansor-tune go by their names:
    `dynamic_sizes="?=32,128"`, `early_stop=64`. Progress goes to standard error
    unless `quiet`. Raises ToolError with the tool's message.
    """
    options = {"trials": trials, "records": records, "library": library,
               "seed": seed, "threads": threads, "target": target,
               "space": space, "model": model_kind, "replay": replay, **flags}
    arguments = _list(model) + _flags(options)
    for path in _list(output):
        arguments += ["-o", path]
    return _start("ansor-tune", arguments, quiet)


def run(model, library=None, entry=None, *, check=True, threads=None, **flags):
    """Compiles, checks and times a function. Returns the dictionary that
    ansor-run prints: `median_ms`, `reference_ms`, `max_error`, …, and `ok`, which
    is False if values are wrong. Other flags of ansor-run go by their names:
    `profile=True`. Raises ToolError if the function can't be run."""
    options = {"library": library, "entry": entry, "check": check,
               "threads": threads, "json": True, **flags}
    output = _start("ansor-run", [model] + _flags(options),
                    is_answer=lambda text: text.startswith("{"))
    try:
        return json.loads(output)
    except ValueError as error:
        raise ToolError(f"ansor-run printed no JSON ({error}): {output[:200]!r}")


def apply(model, library, output=None):
    """Applies a library of schedules to a module; returns the module's text,
    or writes it to `output`."""
    arguments = [model, f"--ansor-apply-library=library={library}"]
    if output is not None:
        arguments += ["-o", output]
    return _start("ansor-opt", arguments)
