#!/usr/bin/env bash
# Tests a sweep over a real training: examples/train on CPUs with PyTorch, 2 x 2 settings of 2 ranks. The script
# kills rankscope during the second run, then continues the sweep. If PyTorch is missing, it installs
# python3-torch (Debian: 1.13 with gloo, without Kineto); exits 3 if that fails.
# Usage: scripts/torch_sweep.sh [RANKSCOPE]
set -euo pipefail
cd "$(dirname "$0")/.."
rankscope=$(realpath "${1:-build/release/rankscope}")

has_torch() { command -v torchrun >/dev/null && "$(head -1 "$(command -v torchrun)" | tail -c +3)" -c 'import torch' 2>/dev/null; }
if ! has_torch; then
  sudo=; [ "$(id -u)" -eq 0 ] || sudo=sudo
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y --no-install-recommends python3-torch >/dev/null ||
    { echo "torch_sweep.sh: python3-torch cannot be installed" >&2; exit 3; }
fi
has_torch || { echo "torch_sweep.sh: no PyTorch with torchrun" >&2; exit 3; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# -r 1 -t 1: torchrun 1.13 fails on Python 3.11 without them
command=(sweep -c 2,4 -t 64,128 --analyze -o "$work/sweep" --timeout 300 --
         torchrun --nproc_per_node 2 -r 1 -t 1 --log_dir "$work/ranks" examples/train/train.py
         --steps 6 --width 64 --layers 2)
"$rankscope" "${command[@]}" >"$work/first.log" 2>&1 &
sweep=$!
for _ in $(seq 1200); do # until the first run is done and the second one trains
  grep -qs '^\[default0\]:step 2' "$work/sweep/64thread/nccl_4channels/run_output.log" && break
  sleep 0.1
done
kill -9 $sweep
wait $sweep 2>/dev/null || true
for _ in $(seq 100); do
  pgrep -f "$work" >/dev/null || break
  sleep 0.1
done
if pgrep -af "$work"; then
  echo "torch_sweep.sh: processes live on after rankscope was killed" >&2
  exit 1
fi
# Exit code 4 is accepted: CPU traces have no GPU work.
"$rankscope" "${command[@]}" >"$work/second.log" 2>&1 || [ $? -eq 4 ] || { cat "$work/second.log" >&2; exit 1; }
grep -q '64thread_2ch: done in an earlier run' "$work/second.log"
grep -q '4 of 4 runs succeeded' "$work/second.log"
for t in 64 128; do
  for c in 2 4; do
    for r in 0 1; do
      test -s "$work/sweep/${t}thread/nccl_${c}channels/torch_profiler/rank$r/trace_step6.json"
      test -s "$work/sweep/tracelens_analysis/${t}thread/individual_reports/perf_${c}ch_rank$r.xlsx"
    done
  done
done
"$rankscope" info "$work/sweep/64thread/nccl_2channels/torch_profiler/rank0/trace_step6.json" |
  grep -q 'profiler steps  4'
test -d "$work/sweep/.rankscope/aside/64thread/nccl_4channels.1"
echo "a training of 2 x 2 settings and 2 ranks, killed and continued: all well"
