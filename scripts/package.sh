#!/usr/bin/env bash
# Builds what is handed to users, in build/packages: a Debian package, and a tarball that brings the
# libraries a system may lack (all but the C and C++ libraries) and runs from any folder.
# Usage: scripts/package.sh
set -euo pipefail
cd "$(dirname "$0")/.."

./scripts/install_deps.sh build
cmake --preset release >/dev/null
cmake --build build/release -j "$(nproc)" --target rankscope
out=$PWD/build/packages
rm -rf "$out"
mkdir -p "$out"
command -v dpkg-shlibdeps >/dev/null ||
  { echo "package.sh: install dpkg-dev first: it finds the packages that ours depends on" >&2; exit 3; }
(cd build/release && cpack -G DEB -B "$out" >/dev/null)
rm -rf "$out/_CPack_Packages"

version=$(build/release/rankscope --version | cut -d' ' -f2)
name=rankscope-$version-linux-$(uname -m)
cmake --install build/release --prefix "$out/$name" --strip >/dev/null
cmake --install build/release --prefix "$out/$name" --component bundle --strip >/dev/null
# whose libraries they are, in the words of their packages
known=$(ldconfig -p)
for library in "$out/$name"/lib/rankscope/*.so*; do
  system=$(awk -v n="/$(basename "$library")" 'index($NF, n) && !found {print $NF; found = 1}' <<<"$known")
  [ -n "$system" ] || continue # another name of one that is known, or DuckDB
  real=$(readlink -f "$system") # dpkg may know it by its name from before /lib became a link
  package=$( (dpkg-query -S "$real" 2>/dev/null || dpkg-query -S "${real#/usr}") | cut -d: -f1)
  cp "/usr/share/doc/$package/copyright" "$out/$name/share/doc/rankscope/copyright.$package"
done
tar -C "$out" -czf "$out/$name.tar.gz" "$name"
rm -rf "${out:?}/$name"
ls -l "$out"
