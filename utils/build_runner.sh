#!/usr/bin/env bash
# Builds ansor-runner for another machine: it needs a C++17 compiler and nothing
# else. Give the result to ansor-tune and ansor-run by --runner, with what
# starts it there (an emulator, or a program that reaches a board).
#
#   utils/build_runner.sh CXX OUTPUT [FLAGS...]
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2; }
cxx=$1 output=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
exec "$cxx" -std=c++17 -O2 -fno-exceptions -fno-rtti -I"$root/include" \
  "$root/tools/ansor-runner/ansor-runner.cpp" "$root"/lib/Runtime/*.cpp \
  -rdynamic -ldl -pthread -o "$output" "$@"
