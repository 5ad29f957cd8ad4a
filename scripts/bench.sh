#!/usr/bin/env bash
# Compares two revisions: builds both (release), compares all outputs, and times the main commands of both
# alternately (scripts/compare_outputs.py), with rankscope-mpi where MPI is installed. Exits 1 when outputs differ.
# Usage: scripts/bench.sh OLD NEW [OPTION...]   OLD, NEW: git revisions or rankscope binaries
#   options of scripts/compare_outputs.py: --runs N, --only WORD, --keep DIR, --report-only
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
work=$(mktemp -d)
cleanup() {
  for side in old new; do
    git worktree remove --force "$work/$side" 2>/dev/null || true
  done
  rm -rf "$work"
}
trap cleanup EXIT

binary_of() { # binary_of SIDE REVISION_OR_BINARY: builds a revision; prints the path of the binary
  if [ -f "$2" ] && [ -x "$2" ]; then
    realpath "$2"
    return
  fi
  git worktree add --quiet --detach "$work/$1" "$2"
  echo "building $2 ($(git rev-parse --short "$2"))" >&2
  cmake -S "$work/$1" -B "$work/$1/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DRANKSCOPE_TESTS=OFF \
    -DRANKSCOPE_UNITY=ON >/dev/null
  local programs=(rankscope)
  mapfile -O 1 -t programs < <(ninja -C "$work/$1/build" -t targets all |
    sed -n 's/^\(rankscope-mpi[a-z-]*\): CXX_EXECUTABLE.*/\1/p')
  [ ${#programs[@]} -gt 1 ] || echo "no MPI is installed: the cases of rankscope-mpi are skipped" >&2
  cmake --build "$work/$1/build" --target "${programs[@]}" >"$work/$1.log" 2>&1 ||
    { tail -20 "$work/$1.log" >&2; exit 1; }
  echo "$work/$1/build/rankscope"
}
old=$(binary_of old "$1")
new=$(binary_of new "$2")
shift 2
python3 scripts/compare_outputs.py --before "$old" --after "$new" --runs 7 "$@"
