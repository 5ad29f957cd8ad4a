#!/usr/bin/env bash
# Builds the packages for users in build/packages: a Debian package, and a tarball that runs from any folder.
# The tarball contains the libraries that a system may lack (all except the C and C++ libraries).
# Usage: scripts/package.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/bundled_licences.sh

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
copy_licences "$out/$name/lib/rankscope" "$out/$name/share/doc/rankscope"
# Equal contents give an equal archive: names are sorted, all files have one time, and no user is stored.
tar -C "$out" --sort=name --mtime="@${SOURCE_DATE_EPOCH:-0}" --owner=0 --group=0 --numeric-owner -cf - "$name" |
  gzip -9n >"$out/$name.tar.gz"
rm -rf "${out:?}/$name"
ls -l "$out"
