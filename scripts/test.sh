#!/usr/bin/env bash
# The gate: installs what is missing, builds everything (benches, fuzz targets and examples too), runs
# every test on the release build, again under AddressSanitizer and UndefinedBehaviorSanitizer (with the
# binary of the command-line tests), the tests labelled `threads` under ThreadSanitizer, a few seconds of
# each fuzz target, and checks layout and clang-tidy. Needs no repository: a source tarball will do.
# Golden tests look for reference data in $RANKSCOPE_GOLDEN (default ../shared/golden). What is skipped
# for want of a tool or of data is listed at the end.
# Usage: scripts/test.sh [--fast] [--with-torch]
#   --fast: layout and the release build's tests only
#   --with-torch: a sweep over a real training too (installs python3-torch where it is missing)
set -euo pipefail
cd "$(dirname "$0")/.."

fast=no
with_torch=no
for flag in "$@"; do
  case $flag in
    --fast) fast=yes ;;
    --with-torch) with_torch=yes ;;
    *) echo "test.sh: no option $flag" >&2; exit 2 ;;
  esac
done
jobs=$(nproc)
skipped=()
skip() { skipped+=("$*"); echo "SKIPPED: $*"; }
step() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }
finish() {
  for s in "${skipped[@]}"; do echo "SKIPPED: $s"; done
  step "all tests passed"
}

# cmake makes one list of compile commands; the same sources in another folder compile once
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
# standard headers are precompiled but for the program in the release build, which shows that each of
# its files includes what it uses
export CCACHE_SLOPPINESS=pch_defines,time_macros

step "packages"
./scripts/install_deps.sh "$([ $fast = yes ] && echo test || echo all)"

step "layout of the sources"
./scripts/format.sh --check || { [ $? -eq 3 ] || exit 1; skip "layout: clang-format 14 is not installed"; }

step "release build"
cmake --preset release -DRANKSCOPE_BENCH=ON -DRANKSCOPE_PCH=TESTS >/dev/null
cmake --build build/release -j "$jobs"

step "release tests"
[ -d "${RANKSCOPE_GOLDEN:-../shared/golden}" ] ||
  skip "tests with reference data: no folder ${RANKSCOPE_GOLDEN:-../shared/golden}"
command -v chromium >/dev/null || skip "pages in a browser: chromium is not installed"
command -v chromedriver >/dev/null || skip "a person's acts on the pages: chromium-driver is not installed"
[ -f web/node_modules/echarts/dist/echarts.min.js ] || skip "the interactive page: scripts/web_parts.sh has not fetched ECharts"
command -v soffice >/dev/null || skip "workbooks in LibreOffice: soffice is not installed"
command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null ||
  skip "partial and reduce under Slurm: slurmctld, slurmd or munge is not installed"
for implementation in openmpi mpich; do
  [ -x build/release/rankscope-mpi-$implementation ] || skip "rankscope-mpi: $implementation is not installed"
done
ctest --preset release -j "$jobs" --timeout 1800

if [ "$with_torch" = yes ]; then
  step "a training under PyTorch"
  ./scripts/torch_sweep.sh || { [ $? -eq 3 ] || exit 1; skip "a real training: no PyTorch to be had"; }
else
  skip "a real training: scripts/test.sh --with-torch runs it"
fi

if [ "$fast" = yes ]; then
  finish
  exit 0
fi

# One build serves sanitizers and fuzzing; without clang, g++'s sanitizers alone.
step "AddressSanitizer and UndefinedBehaviorSanitizer"
sanitized=asan
command -v clang++ >/dev/null && sanitized=fuzz
cmake --preset $sanitized -DRANKSCOPE_PCH=ON >/dev/null
cmake --build build/$sanitized -j "$jobs"
UBSAN_OPTIONS=print_stacktrace=1 ctest --preset $sanitized -j "$jobs" --timeout 1800

step "fuzzing, the same inputs each time"
if [ $sanitized = fuzz ]; then
  ./scripts/fuzz.sh --runs 1000
else
  skip "fuzzing: clang++ is not installed"
fi

step "ThreadSanitizer"
# A second's sleep at the end of each program is for races of threads that outlive main(); ours join.
export TSAN_OPTIONS="suppressions=$PWD/scripts/tsan.supp:atexit_sleep_ms=20"
cmake --preset tsan -DRANKSCOPE_PCH=ON >/dev/null
cmake --build build/tsan -j "$jobs" --target rs_threads_tests
ctest --preset tsan -j "$jobs" -L threads --timeout 1800

step "clang-tidy"
./scripts/tidy.sh || { [ $? -eq 3 ] || exit 1; skip "clang-tidy: version 14, clang++ or git is not installed"; }

finish
