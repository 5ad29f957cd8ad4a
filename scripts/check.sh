#!/usr/bin/env bash
# The second half of the gate, after scripts/test.sh. It checks the layout, and compiles changed headers, a sample
# of sources and the benchmarks alone. It runs the tests (with the seeds of every fuzz target) under
# AddressSanitizer and UndefinedBehaviorSanitizer, the tests labelled threads under ThreadSanitizer, and clang-tidy
# on changed sources. At the end it lists the checks that it skipped because a tool is missing.
# Usage: scripts/check.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh

step "packages"
./scripts/install_deps.sh check

step "layout of the sources"
./scripts/format.sh --check || { [ $? -eq 3 ] || exit 1; skip "layout: clang-format 14 is not installed"; }

# A changed header may lack an include. A header that includes it may rely on an include that was removed.
step "headers that changed, a sample of sources, and the benchmarks compile alone"
cmake --preset release >/dev/null
alone=(rs_headers) # without git: all headers
if changed=$(changed_since 10 'src/*.h'); then
  mapfile -t alone < <(for h in $changed; do
    echo "$h"
    git grep -l -F "#include \"${h#src/}\"" -- 'src/*.h' || true
  done | sort -u | sed 's|^src/||; s|/|_|g; s|.*|tests/CMakeFiles/rs_headers.dir/__/headers/&.cpp.o|')
fi
echo "headers: ${#alone[@]}"
# Also build the command-line tests: a later step runs them with the sanitized program.
cmake --build build/release -j "$jobs" --target "${alone[@]}" rs_sample rs_cli_tests

step "AddressSanitizer and UndefinedBehaviorSanitizer: build"
compiler=()
command -v clang++ >/dev/null || compiler=(-DCMAKE_C_COMPILER=cc -DCMAKE_CXX_COMPILER=c++)
cmake --preset asan "${compiler[@]}" >/dev/null
cmake --build build/asan -j "$jobs" --target rankscope rs_sanitized_tests

step "AddressSanitizer and UndefinedBehaviorSanitizer: tests"
export UBSAN_OPTIONS=print_stacktrace=1 LSAN_OPTIONS=suppressions=$PWD/scripts/lsan.supp:print_suppressions=0
left_out='^(slow|sanitized-slow|browser|office|cluster)$' # nightly.sh sanitized-slow and leaks run the second
export RANKSCOPE_TEST_CPU_SECONDS=20 # a test that takes 4 s of CPU time here needs the label sanitized-slow
run_tests asan -E "_NOT_BUILT\$"
# The command-line tests of the release build, with the sanitized program. Looking for leaks would nearly
# double the time of a short process; scripts/nightly.sh leaks does it.
ASAN_OPTIONS=detect_leaks=0 asan_cli_tests
unset RANKSCOPE_TEST_CPU_SECONDS

step "damaged traces, parts and databases: half a minute on each processor"
./scripts/mutate.py --binary build/asan/rankscope --seconds 30 --jobs "$jobs" --keep build/mutate-failures

step "ThreadSanitizer"
# By default each program sleeps for a second at its end, to find races of threads that outlive main(). Our
# threads are joined before that.
export TSAN_OPTIONS="suppressions=$PWD/scripts/tsan.supp:atexit_sleep_ms=20"
cmake --preset tsan >/dev/null
cmake --build build/tsan -j "$jobs" --target rankscope rs_threads_tests
ctest --preset tsan -j "$test_jobs" -L '^threads$' -LE "$left_out" --timeout 1800
RANKSCOPE_BINARY=$PWD/build/tsan/rankscope RANKSCOPE_SANITIZED=thread \
  ctest --preset release -j "$test_jobs" -R '^cli/' -L '^threads$' -LE "$left_out" --timeout 1800

step "clang-tidy"
./scripts/tidy.sh || { [ $? -eq 3 ] || exit 1; skip "clang-tidy: version 14, clang++ or git is not installed"; }

finish "scripts/check.sh"
