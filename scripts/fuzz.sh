#!/usr/bin/env bash
# Runs each fuzz target of build/fuzz for N seconds (default 60) from the seeds in tests/fuzz/corpus.
# New inputs go to build/fuzz/corpus, crashes to build/fuzz/.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
found=no
for target in build/fuzz/tests/fuzz/*_fuzz; do
  [ -x "$target" ] || continue
  found=yes
  name=$(basename "$target")
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  seeds=()
  for folder in "tests/fuzz/corpus/${name%_fuzz}" tests/fuzz/corpus; do
    [ -d "$folder" ] && seeds+=("$folder")
  done
  echo "fuzz: $name, ${seconds} s"
  "$target" -max_total_time="$seconds" -max_len=8192 -rss_limit_mb=3000 -print_final_stats=0 \
    -verbosity=0 -artifact_prefix=build/fuzz/ "$corpus" "${seeds[@]}"
done
[ "$found" = yes ] || { echo "fuzz.sh: no target in build/fuzz/tests/fuzz; run: cmake --preset fuzz && cmake --build build/fuzz" >&2; exit 1; }
