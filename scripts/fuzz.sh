#!/usr/bin/env bash
# Runs each fuzz target of build/fuzz for N seconds (default 60) from the seeds in tests/fuzz/corpus.
# New inputs go to build/fuzz/corpus, crashes to build/fuzz/. Stops at the first crash.
# Usage: scripts/fuzz.sh [SECONDS] [NAME...]     names without _fuzz; default: all
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  for source in tests/fuzz/*_fuzz.cpp; do names+=("$(basename "$source" _fuzz.cpp)"); done
fi
for name in "${names[@]}"; do
  target=build/fuzz/tests/fuzz/${name}_fuzz
  [ -x "$target" ] || { echo "fuzz.sh: no $target; run: cmake --preset fuzz && cmake --build build/fuzz" >&2; exit 1; }
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  echo "fuzz: $name, ${seconds} s"
  # stderr of the code under test is noise; libFuzzer's report of a crash is not
  "$target" -max_total_time="$seconds" -max_len=16384 -rss_limit_mb=3000 -timeout=25 \
    -print_final_stats=0 -verbosity=0 -artifact_prefix="build/fuzz/${name}-" "$corpus" "tests/fuzz/corpus/$name"
done
