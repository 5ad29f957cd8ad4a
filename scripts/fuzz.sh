#!/usr/bin/env bash
# Runs each fuzz target of build/fuzz for N seconds (default 60) from the seeds in tests/fuzz/corpus.
# New inputs go to build/fuzz/corpus, crashes to build/fuzz/. As many targets run at once as there
# are processors; none begins after a crash.
# Usage: scripts/fuzz.sh [SECONDS] [NAME...]     names without _fuzz; default: all
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
one() { # one NAME: runs its target
  local name=$1
  local target=build/fuzz/tests/fuzz/${name}_fuzz corpus=build/fuzz/corpus/$name
  echo "fuzz: $name, $seconds s"
  mkdir -p "$corpus" # where the fuzzer puts what it finds
  # stderr of the code under test is noise; libFuzzer's report of a crash is not
  "$target" -max_total_time="$seconds" -max_len=16384 \
    -rss_limit_mb=3000 -timeout=25 -print_final_stats=0 -verbosity=0 -artifact_prefix="build/fuzz/${name}-" "$corpus" "tests/fuzz/corpus/$name"
}
export -f one
export seconds
for name in "${names[@]}"; do
  [ -x "build/fuzz/tests/fuzz/${name}_fuzz" ] ||
    { echo "fuzz.sh: no target $name; run: cmake --preset fuzz && cmake --build build/fuzz --target rs_fuzz_targets" >&2; exit 1; }
done
# 255 makes xargs begin no further target
printf '%s\0' "${names[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'one "$1" || exit 255' fuzz
