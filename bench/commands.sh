#!/usr/bin/env bash
# Measures complete commands: MB/s of JSON, events/s and peak memory for generated traces (and for the
# largest reference trace, if it exists). Prints one row per run; checks no limits.
# Usage: bench/commands.sh [--large]     --large: also a trace of 1 GB
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/build/release/rankscope
[ -x "$bin" ] || { echo "commands.sh: build first: cmake --preset release && cmake --build build/release" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# measure LABEL JSON_BYTES EVENTS COMMAND...: prints the best time of three runs
measure() {
  python3 - "$@" <<'P'
import os, sys, time
label, size, events, command = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
best, peak = None, 0
for _ in range(3):
    start = time.monotonic()
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1); os.dup2(null, 2)
        os.execv(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.monotonic() - start
    if os.waitstatus_to_exitcode(status) not in (0, 4):
        sys.exit(f"{label}: exit {os.waitstatus_to_exitcode(status)}")
    best = seconds if best is None else min(best, seconds)
    peak = max(peak, usage.ru_maxrss * 1024)
print(f"| {label} | {size/1e6:.0f} | {best:.3f} | {size/1e6/best:.0f} | {events/best/1e6:.2f} | {peak/1e6:.0f} | {peak/size:.2f} |")
P
}

echo "| command | JSON MB | s | MB/s | M events/s | peak RSS MB | RSS / JSON |"
echo "|---|---|---|---|---|---|---|"
one() { # one LABEL EVENTS
  local dir=$work/$1
  "$bin" synth "$dir" --threads 256 --channels 28 --ranks 1 --events "$2" -q >/dev/null
  local json=$dir/256thread/nccl_28channels/torch_profiler/rank0/trace_step19.json
  local size; size=$(stat -c %s "$json")
  gzip -1 -k "$json"
  for j in 1 2; do
    measure "info $1 -j $j" "$size" "$2" "$bin" -j $j -q info "$json"
    measure "info $1 .gz -j $j" "$size" "$2" "$bin" -j $j -q info "$json.gz"
  done
  measure "report $1 xlsx -j 2" "$size" "$2" "$bin" -j 2 -q report "$json" -o "$work/r.xlsx"
  rm -rf "$dir"
}
one 100MB 305000
[ "${1:-}" = --large ] && one 1GB 3050000
one 60MB 183000
"$bin" synth "$work/py" --threads 256 --channels 28 --ranks 1 --events 60000 --python-events 400000 -q >/dev/null
json=$work/py/256thread/nccl_28channels/torch_profiler/rank0/trace_step19.json
measure "info, python events skipped" "$(stat -c %s "$json")" 460000 "$bin" -j 2 -q info "$json"
rm -rf "$work/py"
"$bin" synth "$work/sweep" -q >/dev/null
size=$(find "$work/sweep" -name '*.json' -path '*rank*' -printf '%s\n' | awk '{s+=$1} END {print s}')
measure "analyze, 64 traces of 4 MB" "$size" 711936 "$bin" -j 2 -q analyze "$work/sweep" -o "$work/out" --force
rm -rf "$work/sweep" "$work/out"
"$bin" synth "$work/four" --threads 256 --channels 28 --ranks 4 --events 53500 -q >/dev/null
mkdir "$work/batch"
for r in 0 1 2 3; do
  mv "$work/four/256thread/nccl_28channels/torch_profiler/rank$r/"*.json "$work/batch/rank_$r.json"
done
measure "batch, 4 ranks of 20 MB" "$(cat "$work"/batch/*.json | wc -c)" 214000 "$bin" -j 2 -q batch -b "$work/batch" \
  -f rank_ --overwrite
rm -rf "$work/four" "$work/batch"
# the main use: analyze with all outputs, without plots, and the part of its time for parsing and linking
"$bin" synth "$work/sweep" --threads 256,512 --channels 28,42,56,70 --ranks 8 --events 29500 -q >/dev/null
mapfile -t traces < <(find "$work/sweep" -name '*.json' -path '*rank*')
size=$(cat "${traces[@]}" | wc -c)
measure "analyze, 64 traces of 10 MB" "$size" 1894336 "$bin" -j 2 -q analyze "$work/sweep" -o "$work/out" --force
measure "the same without plots and page" "$size" 1894336 "$bin" -j 2 -q analyze "$work/sweep" -o "$work/out" --force --no-plots
measure "the same, nothing changed" "$size" 1894336 "$bin" -j 2 -q analyze "$work/sweep" -o "$work/out" --no-plots
measure "info of the 64 traces (parsing and linking)" "$size" 1894336 "$bin" -j 2 -q info "${traces[@]}"
rm -rf "$work/sweep" "$work/out"
"$bin" synth "$work/ranks" --threads 256 --channels 28 --ranks 64 --events 30000 -q >/dev/null
size=$(find "$work/ranks" -name '*.json' -path '*rank*' -printf '%s\n' | awk '{s+=$1} END {print s}')
measure "collectives, 64 ranks" "$size" 1920000 "$bin" -j 2 -q collectives "$work/ranks/256thread/nccl_28channels" -o "$work/c.xlsx"
golden=${RANKSCOPE_GOLDEN:-../shared/golden}/mi300/resnet_act_checkpoint.json.gz
if [ -f "$golden" ]; then
  size=$(zcat "$golden" | wc -c)
  measure "report resnet_act_checkpoint.json.gz" "$size" 56451 "$bin" -j 2 -q report "$golden" -o "$work/g.xlsx"
fi
