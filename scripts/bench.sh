#!/usr/bin/env bash
# Two revisions side by side: builds both, alternates runs of whole commands on the same generated
# traces, tells whether their outputs are equal, prints the ratio of median times with its spread.
# Usage: scripts/bench.sh OLD NEW [RUNS]     revisions as git names them; RUNS per command, 7
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
runs=${3:-7}
root=$PWD
work=$(mktemp -d)
trap 'for side in old new; do git -C "$root" worktree remove --force "$work/$side" 2>/dev/null || true; done; rm -rf "$work"' EXIT

build() { # build SIDE REVISION
  git worktree add --quiet --detach "$work/$1" "$2"
  echo "building $2 ($(git rev-parse --short "$2"))" >&2
  cmake -S "$work/$1" --preset release >/dev/null
  cmake --build "$work/$1/build/release" --target rankscope >"$work/$1.log" 2>&1 ||
    { tail -20 "$work/$1.log" >&2; exit 1; }
}
build old "$1"
build new "$2"
data=$work/data
"$work/new/build/release/rankscope" synth "$data" --threads 256,512 --channels 28,70 --ranks 4 --events 60000 -q >/dev/null
python3 - "$work" "$data" "$runs" <<'P'
import filecmp, os, shutil, statistics, subprocess, sys, time
work, data, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
run = data + "/256thread/nccl_28channels/torch_profiler"
trace = run + "/rank0/trace_step19.json"
commands = {
    "info": ["info", trace],
    "report": ["report", trace, "--csv-dir", "OUT"],
    "collectives": ["collectives", run, "--csv-dir", "OUT"],
    "merge": ["merge", run, "-o", "OUT/merged.json"],
    "analyze": ["analyze", data, "-o", "OUT", "--force", "--no-plots"],
}

def once(side, args):
    out = f"{work}/out_{side}"
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    line = [f"{work}/{side}/build/release/rankscope", "-q"] + [a.replace("OUT", out) for a in args]
    start = time.monotonic()
    code = subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    return time.monotonic() - start, code

def differing(a, b, below=""):
    """Files that differ or stand on one side only; workbooks hold dates, states hold versions."""
    skip = (".xlsx", "manifest.json")
    names = sorted(set(os.listdir(a)) | set(os.listdir(b)))
    out = []
    for name in names:
        x, y = os.path.join(a, name), os.path.join(b, name)
        if name == ".rankscope" or name.endswith(skip):
            continue
        if os.path.isdir(x) and os.path.isdir(y):
            out += differing(x, y, below + name + "/")
        elif not (os.path.isfile(x) and os.path.isfile(y) and filecmp.cmp(x, y, shallow=False)):
            out.append(below + name)
    return out

print("| command | old s | new s | new / old | range | outputs |")
print("|---|---|---|---|---|---|")
for name, args in commands.items():
    times = {"old": [], "new": []}
    codes = set()
    for i in range(runs + 1):  # the first pair warms up
        for side in ("old", "new") if i % 2 == 0 else ("new", "old"):
            seconds, code = once(side, args)
            codes.add((side, code))
            if i > 0:
                times[side].append(seconds)
    ratios = [n / o for n, o in zip(times["new"], times["old"])]
    failed = sorted(f"{side} exits {code}" for side, code in codes if code != 0)
    files = differing(f"{work}/out_old", f"{work}/out_new")
    note = ", ".join(failed) or ("equal" if not files else f"{len(files)} differ: {files[0]}")
    print(f"| {name} | {statistics.median(times['old']):.3f} | {statistics.median(times['new']):.3f} "
          f"| {statistics.median(times['new']) / statistics.median(times['old']):.3f} "
          f"| {min(ratios):.2f} to {max(ratios):.2f} | {note} |", flush=True)
P
