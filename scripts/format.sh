#!/usr/bin/env bash
# Formats the C++ sources with clang-format 14; other versions format differently.
# Usage: scripts/format.sh [--check]    --check: changes nothing, exits 1 when a file would change
# Exits 3 when clang-format 14 is not installed.
set -euo pipefail
cd "$(dirname "$0")/.."

tool=
for candidate in clang-format-14 clang-format; do
  if command -v $candidate >/dev/null && [[ $($candidate --version) == *'version 14.'* ]]; then
    tool=$candidate
    break
  fi
done
[ -n "$tool" ] || { echo "format.sh: clang-format 14 is not installed" >&2; exit 3; }
mode=-i
[ "${1:-}" = --check ] && mode='--dry-run --Werror'
folders=()
for f in src tests bench examples include; do [ -d $f ] && folders+=("$f"); done
# shellcheck disable=SC2086  # two words
find "${folders[@]}" \( -name '*.cpp' -o -name '*.h' \) -print0 | xargs -0 -n 50 -P "$(nproc)" $tool $mode || exit 1
