#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test: release build (unit, property, golden,
# command line), all of them again under ASan+UBSan, thread tests under TSan, a few
# seconds of fuzzing, and the formatting check. Golden tests look for reference data in
# $RANKSCOPE_GOLDEN (default ../shared/golden) and say so when they are skipped.
# Usage: scripts/test.sh [--fast]     --fast: the release build's tests only
set -euo pipefail
cd "$(dirname "$0")/.."

fast=no
[ "${1:-}" = --fast ] && fast=yes
jobs=$(nproc)
step() { printf '\n== %s\n' "$*"; }

step "packages"
./scripts/install_deps.sh test

step "formatting"
git ls-files '*.cpp' '*.h' | xargs clang-format --dry-run --Werror

step "release build"
cmake --preset release >/dev/null
cmake --build build/release -j "$jobs"

step "release tests"
if [ ! -d "${RANKSCOPE_GOLDEN:-../shared/golden}" ]; then
  echo "reference data not found: golden tests will report themselves as skipped"
fi
ctest --preset release -j "$jobs" --timeout 900

[ "$fast" = yes ] && exit 0

step "AddressSanitizer and UndefinedBehaviorSanitizer"
cmake --preset asan >/dev/null
cmake --build build/asan -j "$jobs"
UBSAN_OPTIONS=print_stacktrace=1 ctest --preset asan -j "$jobs" --timeout 1800

step "ThreadSanitizer"
cmake --preset tsan >/dev/null
cmake --build build/tsan -j "$jobs" --target rs_unit_tests rs_property_tests
ctest --preset tsan -j "$jobs" -L fast -R 'Thread|Parallel|Loader|Reader|Kineto' --timeout 1800

step "fuzzing, a few seconds a target"
if command -v clang++ >/dev/null; then
  cmake --preset fuzz >/dev/null
  cmake --build build/fuzz -j "$jobs"
  ./scripts/fuzz.sh 8
else
  echo "clang++ is absent: fuzz targets skipped"
fi

step "all tests passed"
