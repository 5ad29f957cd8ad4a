#!/usr/bin/env bash
# A demo that starts with the sources only. It installs missing packages, builds, generates a sweep of 2 thread
# settings x 4 channel settings x 8 ranks, reports on one of its traces and analyses the sweep. Then it prints
# the files, the answer with its three most important reasons, and the next command.
# Usage: demo.sh [OUT]   (default ./demo_out). Root or sudo is needed when packages are missing.
set -euo pipefail

cd "$(dirname "$0")/.."
out=${1:-$PWD/demo_out}

./scripts/install_deps.sh build
echo "== building (release, without the tests)"
# A separate folder, so that a developer's build/release keeps its tests. With ccache, both use the same objects.
cmake -S . -B build/demo -G Ninja -DCMAKE_BUILD_TYPE=Release -DRANKSCOPE_TESTS=OFF -DRANKSCOPE_UNITY=ON >/dev/null
cmake --build build/demo --target rankscope
rs=$PWD/build/demo/rankscope

# A failed command ends the demo. Exit code 4 (partial result) does not, but a message is printed.
run() {
  local rc=0
  "$@" || rc=$?
  if [ "$rc" -eq 4 ]; then
    echo "demo.sh: $2 finished, but something was missing or lost (exit 4)" >&2
  elif [ "$rc" -ne 0 ]; then
    echo "demo.sh: '$*' failed with exit code $rc" >&2
    exit "$rc"
  fi
}

sweep=$out/sweep
mkdir -p "$out"
echo "== generating a sweep in $sweep"
run "$rs" synth "$sweep" --threads 256,512 --channels 28,42,56,70 --ranks 8 --layers 12 --steps 3 -q

trace=$sweep/256thread/nccl_28channels/torch_profiler/rank0/trace_step19.json
report=$out/report_256thread_28ch_rank0.xlsx
echo "== report on $trace"
run "$rs" report "$trace" --output "$report" -q | tail -n 1

echo "== analysing the sweep"
run "$rs" analyze "$sweep" -q >"$out/analyze.txt"

analysis=$sweep/tracelens_analysis
cat <<TEXT

Files
  report of one trace   $report
  summary               $analysis/summary.md
  page of the sweep     $analysis/sweep_report.html (open it in a browser)
  merged traces         $sweep/merged_traces (open in https://ui.perfetto.dev)
  what analyze printed  $out/analyze.txt
  the true causes       $sweep/ground_truth.json

The answer
TEXT
# analyze prints the answer, an empty line, and one line per reason, the most important first
sed -n '/^$/q; s/^/  /; p' "$out/analyze.txt"
awk '/^What to do next/ { exit } /^- / && n++ < 3' "$out/analyze.txt"
cat <<TEXT

Next: one configuration in the terminal, with its slow rank and idle time
  $rs top $sweep/256thread/nccl_28channels/torch_profiler
TEXT
