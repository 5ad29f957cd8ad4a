#!/usr/bin/env bash
# Measures the line coverage per layer: builds with clang's source-based coverage (preset coverage), runs the
# tests of scripts/test.sh, and prints one row per folder of src. There is no minimum coverage.
# Usage: scripts/coverage.sh [--files]     --files: also one row per file
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh
find_tool() { # find_tool NAME: prints the path of NAME, or else of NAME-14
  command -v "$1" || command -v "$1-14" || { echo "coverage.sh: $1 is absent (package llvm)" >&2; exit 3; }
}
cov=$(find_tool llvm-cov)
profdata=$(find_tool llvm-profdata)
cmake --preset coverage >/dev/null
cmake --build build/coverage -j "$jobs"
rm -rf build/coverage/profiles
mkdir -p build/coverage/profiles
# processes of one program share four files, because one file for each of them fills the disk
LLVM_PROFILE_FILE=$PWD/build/coverage/profiles/%4m.profraw \
  run_tests coverage >build/coverage/ctest.log ||
  { tail -20 build/coverage/ctest.log >&2; exit 1; }
find build/coverage/profiles -name '*.profraw' >build/coverage/profiles.txt
"$profdata" merge -sparse -f build/coverage/profiles.txt -o build/coverage/all.profdata
objects=(build/coverage/rankscope)
for t in build/coverage/tests/rs_*_tests; do objects+=(-object "$t"); done
"$cov" export -summary-only -instr-profile build/coverage/all.profdata "${objects[@]}" >build/coverage/summary.json
python3 - "$PWD/src/" "${1:-}" <<'P'
import collections, json, sys
root, files = sys.argv[1], sys.argv[2] == "--files"
layers, rows = collections.defaultdict(lambda: [0, 0]), []
with open("build/coverage/summary.json") as f:
    for entry in json.load(f)["data"][0]["files"]:
        if not entry["filename"].startswith(root):
            continue
        name, lines = entry["filename"][len(root):], entry["summary"]["lines"]
        for key in (name.split("/")[0], "all"):
            layers[key][0] += lines["covered"]
            layers[key][1] += lines["count"]
        rows.append((name, lines["covered"], lines["count"]))
order = "base os core model readers analyses writers sql synth collect findings engine pages app cli api mpi all".split()
table = [(k, *layers[k]) for k in order if k in layers] + (sorted(rows) if files else [])
print("| layer | lines run | lines | percent |\n|---|---|---|---|")
for name, covered, count in table:
    print(f"| {name} | {covered} | {count} | {100 * covered / max(count, 1):.1f} |")
P
