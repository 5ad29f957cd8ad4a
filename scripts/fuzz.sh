#!/usr/bin/env bash
# Runs each fuzz target of build/fuzz for N seconds (default 60) from the seeds in tests/fuzz/corpus.
# New inputs are written to build/fuzz/corpus, inputs that crash to build/fuzz/. One target per processor
# runs at a time. After a crash, no further target starts.
# Usage: scripts/fuzz.sh [SECONDS] [NAME...]     NAME: a target without _fuzz; default: all
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=60
if [ $# -gt 0 ]; then
  seconds=$1
  shift
fi
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  for source in tests/fuzz/*_fuzz.cpp; do names+=("$(basename "$source" _fuzz.cpp)"); done
fi
one() { # one NAME: runs one target
  local name=$1
  local target=build/fuzz/tests/fuzz/${name}_fuzz corpus=build/fuzz/corpus/$name
  echo "fuzz: $name, $seconds s"
  mkdir -p "$corpus" # for the new inputs that libFuzzer finds
  # Standard error is printed: it contains the messages of the tested code, and libFuzzer's report of a crash.
  "$target" -max_total_time="$seconds" -max_len=16384 \
    -rss_limit_mb=3000 -timeout=25 -print_final_stats=0 -verbosity=0 -artifact_prefix="build/fuzz/${name}-" "$corpus" "tests/fuzz/corpus/$name"
}
export -f one
export seconds
for name in "${names[@]}"; do
  [ -x "build/fuzz/tests/fuzz/${name}_fuzz" ] ||
    { echo "fuzz.sh: no target $name; run: cmake --preset fuzz && cmake --build build/fuzz --target rs_fuzz_targets" >&2; exit 1; }
done
# exit code 255 makes xargs start no further target
printf '%s\0' "${names[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'one "$1" || exit 255' fuzz
