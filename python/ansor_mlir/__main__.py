# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python3 -m ansor_mlir report LOG.jsonl
python3 -m ansor_mlir compare MODEL.mlir LIBRARY.mlir [--entry=F] [--threads=N]"""

import argparse
import sys

from . import RecordError, ToolError, read_records, report, run, table


def main():
    parser = argparse.ArgumentParser(
        prog="ansor_mlir", description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("report", help="the tasks of a record log")
    command.add_argument("log")
    command = commands.add_parser(
        "compare", help="time modules before and after scheduling")
    command.add_argument("files", nargs="+", metavar="MODEL LIBRARY",
                         help="pairs of a module and its library")
    command.add_argument("--entry")
    command.add_argument("--threads", type=int)
    args = parser.parse_args()
    try:
        if args.command == "report":
            print(report(read_records(args.log)))
            return 0
        if len(args.files) % 2:
            parser.error("a library is missing: give MODEL LIBRARY pairs")
        rows, right = [], True
        for model, library in zip(args.files[::2], args.files[1::2]):
            # Before: the same code generation, without schedules.
            plain = run(model, None, args.entry, check=False,
                        threads=args.threads)
            result = run(model, library, args.entry, threads=args.threads)
            before, after = plain["median_ms"], result["median_ms"]
            right &= bool(result["ok"])
            rows.append([model.rsplit("/", 1)[-1], f"{before:.3f}",
                         f"{after:.3f}", f"{before / after:.1f}x",
                         "right" if result["ok"] else "WRONG"])
        print(table(rows, ["module", "before ms", "after ms", "faster",
                           "values"]))
        return 0 if right else 1
    except (OSError, RecordError, ToolError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
