#!/usr/bin/env bash
# Builds ansor-mlir, tunes two modules with a few trials each, and prints their
# times before and after. For a bare Debian 12, as root or with sudo; installs
# what is missing. Can be run again: tuning resumes from its record log.
#
#   utils/quickstart.sh [TRIALS]      # a module; 64 by default
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
set -euo pipefail
source "$(dirname "$0")/common.sh"

trials=${1:-64}
case $trials in ''|*[!0-9]*)
  echo "usage: utils/quickstart.sh [TRIALS]"; exit 2;;
esac
out=build/quickstart
threads=$(nproc)

install_dependencies
build ansor-opt ansor-tune ansor-run
mkdir -p "$out"

pairs=()
for model in examples/matmul_bias_relu.mlir test/Inputs/models/small_cnn.mlir; do
  name=$(basename "$model" .mlir)
  say "Tuning $name: $trials trials in all, $threads threads"
  # A log that holds these trials already is not measured again.
  build/bin/ansor-tune "$model" --trials="$trials" --threads="$threads" \
    --records="$out/$name.jsonl" --library="$out/$name.best.mlir" \
    -o "$out/$name.tuned.mlir"
  pairs+=("$model" "$out/$name.best.mlir")
done

say "Before and after, $threads threads, every value checked"
PYTHONPATH=python python3 -m ansor_mlir compare --threads="$threads" "${pairs[@]}"
echo
echo "Record logs and libraries of the best schedules are in $out/"
