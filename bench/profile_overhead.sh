#!/usr/bin/env bash
# Measures the overhead of `rankscope profile` without tools: runs a program that does nothing alternately
# alone and under profile, and also only starts the binary. Prints medians and minima; checks no limits.
# Usage: bench/profile_overhead.sh [RUNS]
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/build/release/rankscope
[ -x "$bin" ] || { echo "profile_overhead.sh: build first: cmake --preset release && cmake --build build/release" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 - "$bin" "$work" "${1:-100}" <<'P'
import json, statistics, subprocess, sys, time
binary, work, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
cases = {
    "true": ["true"],
    "rankscope --version": [binary, "--version"],
    "rankscope profile -- true": [binary, "profile", "-q", "--force", "--out", work + "/out", "--", "true"],
}
times = {name: [] for name in cases}
inside = []
for _ in range(runs):
    for name, command in cases.items():
        start = time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        times[name].append((time.monotonic() - start) * 1e3)
    # set-up, tear-down and the command are between the two clock readings
    manifest = json.load(open(work + "/out/manifest.json"))
    whole = (manifest["clock_end"]["monotonic_ns"] - manifest["clock_begin"]["monotonic_ns"]) / 1e6
    inside.append(whole - manifest["seconds"] * 1e3)
for name, values in times.items():
    print(f"{name:28} median {statistics.median(values):7.2f} ms  least {min(values):7.2f} ms")
print(f"{'beside the command':28} median {statistics.median(inside):7.2f} ms  least {min(inside):7.2f} ms")
P
