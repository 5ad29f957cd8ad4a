#!/usr/bin/env bash
# Runs all checks that the gate (scripts/test.sh, scripts/check.sh) leaves out. Each section takes at most an
# hour on two processors. A section that passes is recorded in build/nightly.tsv with its date, commit and
# seconds, so that an interrupted nightly run can be continued.
# Usage: scripts/nightly.sh                 list the sections and the last time that each passed
#        scripts/nightly.sh SECTION...      run these sections
#        scripts/nightly.sh all             run all sections that have not passed at this commit
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh

sections=(slow why browser office cluster sanitized-slow leaks fuzz-1 fuzz-2 fuzz-3 fuzz-4 mutate ranks growth
  plain coverage bare packages python torch bench)
about() {
  case $1 in
  slow) echo "the tests labelled slow, on the release build" ;;
  why) echo "the causes that \`rankscope why\` names, with 100 seeds" ;;
  browser) echo "pages in Chromium, with a user's clicks" ;;
  office) echo "workbooks in LibreOffice" ;;
  cluster) echo "jobs of Slurm, Open MPI and MPICH" ;;
  sanitized-slow) echo "the tests labelled slow or sanitized-slow, under the address and undefined sanitizers" ;;
  leaks) echo "the command-line tests with the sanitized program, which looks for leaks" ;;
  fuzz-*) echo "every fourth fuzz target, ten minutes each" ;;
  mutate) echo "damaged traces, parts and databases through the sanitized program, for 55 minutes" ;;
  ranks) echo "who is named in runs of up to 4096 ranks" ;;
  growth) echo "CPU time and memory against n of what a file chooses" ;;
  plain) echo "each source and header compiled alone, and the tests of that build" ;;
  coverage) echo "line coverage of each layer" ;;
  bare) echo "scripts/test.sh and scripts/demo.sh in a bare Debian 12 root" ;;
  packages) echo "the files of a release, and the Debian package and the tarball in bare roots" ;;
  python) echo "the Python wheel in a clean environment, and a notebook" ;;
  torch) echo "a sweep over a real training under PyTorch" ;;
  bench) echo "all outputs and times against the newest tag, else the commit of a week ago" ;;
  *) return 1 ;;
  esac
}
record=build/nightly.tsv
commit=$(git rev-parse --short HEAD 2>/dev/null || echo none)
mkdir -p build
touch "$record"

release() { cmake --preset release >/dev/null && cmake --build build/release -j "$jobs"; }
asan() { # asan TARGET...
  ./scripts/install_deps.sh check
  cmake --preset asan >/dev/null
  cmake --build build/asan -j "$jobs" --target "$@"
}
labelled() { # labelled LABEL: runs the tests with this label on the release build
  release
  ctest --preset release -j "$jobs" -L "^$1\$" --timeout 3600
}
run_section() {
  case $1 in
  why)
    release
    RANKSCOPE_SEEDS=100 ctest --preset release -j "$jobs" -R 'WhyMatrix' --timeout 3600 --verbose |
      grep -E ' runs|seed |taken for|wrong|Passed|Failed|tests passed' # the rows of the tables
    ;;
  slow | office) ./scripts/install_deps.sh all && labelled "$1" ;;
  browser | cluster) ./scripts/install_deps.sh all && jobs=1 labelled "$1" ;;
  sanitized-slow)
    asan rankscope rs_sanitized_tests
    # the options of report on every real trace: an hour. The section slow runs it; here, smaller traces do.
    ctest --preset asan -j "$jobs" -L '^(slow|sanitized-slow)$' -E OfOneObjectDoNotMixOnRealTraces --timeout 3600
    ;;
  leaks)
    asan rankscope
    release
    asan_cli_tests
    ;;
  fuzz-*)
    ./scripts/install_deps.sh check
    cmake --preset fuzz >/dev/null
    cmake --build build/fuzz -j "$jobs" --target rs_fuzz_targets
    local i=0 names=()
    for source in tests/fuzz/*_fuzz.cpp; do
      [ $((i++ % 4 + 1)) -ne "${1#fuzz-}" ] || names+=("$(basename "$source" _fuzz.cpp)")
    done
    ./scripts/fuzz.sh 600 "${names[@]}"
    ;;
  mutate)
    asan rankscope
    ./scripts/mutate.py --seconds 3300 --seed "$(date +%s)" --keep build/mutate-failures
    ;;
  ranks)
    release
    RANKSCOPE_MATRIX_RANKS=4096 build/release/tests/rs_cli_tests --gtest_filter='RankMatrixLarge.WhoIsNamed'
    ;;
  growth) release && bench/growth.py build/release/rankscope ;;
  plain)
    cmake -S . -B build/plain -G Ninja -DCMAKE_BUILD_TYPE=Release -DRANKSCOPE_BENCH=ON >/dev/null
    cmake --build build/plain -j "$jobs" --target all rs_headers -- -k 0
    ctest --test-dir build/plain -j "$jobs" -LE "$left_out" --output-on-failure --timeout 1800
    ;;
  coverage) ./scripts/install_deps.sh check && ./scripts/coverage.sh ;;
  bare) ./scripts/test_bare.sh ;;
  packages) ./scripts/release.sh HEAD && build/release-HEAD/scripts/test_package.sh ;;
  python) ./scripts/install_deps.sh all && ./scripts/wheel.sh && ./scripts/test_wheel.sh --bare ;;
  torch) release && ./scripts/torch_sweep.sh ;;
  bench)
    ./scripts/bench.sh "$(git describe --tags --abbrev=0 2>/dev/null ||
      git rev-list -1 --before='7 days ago' HEAD)" HEAD --report-only
    ;;
  esac
}

if [ "${1:-}" = --one ]; then
  run_section "$2"
  exit 0
fi
if [ $# -eq 0 ]; then
  for s in "${sections[@]}"; do
    last=$(awk -v s="$s" '$1 == s { line = $2 ", commit " $3 ", " $4 " s" } END { print line }' "$record")
    printf '%-15s %s\n%15s last passed: %s\n' "$s" "$(about "$s")" "" "${last:-never}"
  done
  exit 0
fi
wanted=("$@")
if [ "$1" = all ]; then
  wanted=()
  for s in "${sections[@]}"; do
    awk -v s="$s" -v c="$commit" '$1 == s && $3 == c { found = 1 } END { exit !found }' "$record" ||
      wanted+=("$s")
  done
fi
for s in "${wanted[@]}"; do about "$s" >/dev/null || { echo "nightly.sh: there is no section '$s'" >&2; exit 2; }; done
failed=()
for s in "${wanted[@]}"; do
  step "$s: $(about "$s")"
  began=$SECONDS
  # in a separate shell: in the condition of an `if`, -e has no effect on commands of this shell
  if "$0" --one "$s"; then
    printf '%s\t%s\t%s\t%s\n' "$s" "$(date +%F)" "$commit" "$((SECONDS - began))" >>"$record"
  else
    echo "nightly.sh: section $s FAILED" >&2
    failed+=("$s")
  fi
done
[ ${#failed[@]} -eq 0 ] || { echo "nightly.sh: failed: ${failed[*]}" >&2; exit 1; }
finish "scripts/nightly.sh"
