#!/usr/bin/env bash
# Runs clang-tidy 14 on the sources with the checks of .clang-tidy; any finding is an error.
# Usage: scripts/tidy.sh [--all | FILE...]   default: .cpp files that differ from the merge base with main,
#   and .cpp files whose header of the same name differs
# Exits 3 if clang-tidy 14 or clang++ is missing or, without arguments, git or the repository is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh

absent() { echo "tidy.sh: $* is absent" >&2; exit 3; }
tool=
for candidate in clang-tidy-14 clang-tidy; do
  if command -v $candidate >/dev/null && [[ $($candidate --version) == *'version 14.'* ]]; then
    tool=$candidate
    break
  fi
done
[ -n "$tool" ] || absent "clang-tidy 14"
command -v clang++ >/dev/null || absent "clang++"

if [ "${1:-}" = --all ]; then
  mapfile -t files < <(find src bench -name '*.cpp' | sort)
elif [ $# -gt 0 ]; then
  files=("$@")
else
  changed=$(changed_since 1 src bench) || absent "a git repository"
  mapfile -t files < <(
    for f in $changed; do
      case $f in
      *.cpp) echo "$f" ;;
      *.h) [ -f "${f%.h}.cpp" ] && echo "${f%.h}.cpp" ;;
      esac
    done | sort -u)
fi
[ ${#files[@]} -gt 0 ] || { echo "tidy.sh: no source differs"; exit 0; }

# The compile commands for clang exist after configuring; no build is needed, except for generated sources.
[ -f build/asan/compile_commands.json ] || cmake --preset asan >/dev/null
# The only file that includes mpi.h has a compile command only if MPI is installed.
if ! grep -q '"file": ".*/src/mpi/mpi_link.cpp"' build/asan/compile_commands.json; then
  for i in "${!files[@]}"; do
    [ "${files[$i]}" != src/mpi/mpi_link.cpp ] ||
      { unset "files[$i]"; echo "clang-tidy: no MPI is installed: src/mpi/mpi_link.cpp is left out"; }
  done
  [ ${#files[@]} -gt 0 ] || exit 0
fi
echo "clang-tidy: ${#files[@]} files"
out=$(mktemp)
trap 'rm -f "$out"' EXIT
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" $tool -p build/asan --quiet >"$out" 2>/dev/null || true

findings=$(sed -n "s|$PWD/||; /\(: \|^\)\(error\|warning\): /p" "$out" | sort -u)
[ -z "$findings" ] || echo "$findings"
echo "clang-tidy: $(printf %s "$findings" | grep -c '') findings"
[ -z "$findings" ]
