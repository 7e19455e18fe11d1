#!/usr/bin/env bash
# Builds everything and runs every test. For a bare Debian 12, as root or with
# sudo; installs what is missing. The last line is "N passed, N failed", and the
# exit code is zero only if nothing failed.
#
#   utils/check.sh [--install-only]
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
set -uo pipefail
source "$(dirname "$0")/common.sh"

passed=0 failed=0
finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
  exit
}
step_failed() {
  echo "error: $*"
  failed=$((failed + 1))
  finish
}

# Code for Arm is tested in an emulator.
PACKAGES+=(qemu-user g++-aarch64-linux-gnu libc6-arm64-cross)
install_dependencies || step_failed "packages are missing"
[ "${1:-}" != --install-only ] || exit 0
started=$SECONDS
build all AnsorUnitTests || step_failed "the build failed"
echo "built in $((SECONDS - started)) s"

say "Generated documents"
if utils/generate_docs.sh --check; then
  passed=$((passed + 1))
  echo "fresh"
else
  failed=$((failed + 1))
fi

say "Tests"
started=$SECONDS
results=build/test-results.json
rm -f "$results"
lit -v --timeout=300 --order=smart -o "$results" build/test </dev/null
echo "tested in $((SECONDS - started)) s"
[ -f "$results" ] || step_failed "lit wrote no results"
# Skipped tests (a device or tool that isn't there) count as neither.
read -r ok bad skipped < <(python3 - "$results" <<'PYTHON'
import collections, json, sys
count = collections.Counter(
    test["code"] for test in json.load(open(sys.argv[1]))["tests"])
ok = sum(count[code] for code in ("PASS", "XFAIL", "FLAKYPASS"))
skipped = sum(count[code] for code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"))
print(ok, sum(count.values()) - ok - skipped, skipped)
PYTHON
) || step_failed "lit's results can't be read"
[ "$ok" -gt 0 ] || step_failed "no test ran"
passed=$((passed + ok))
failed=$((failed + bad))
[ "$skipped" -eq 0 ] || echo "$skipped skipped"
finish
