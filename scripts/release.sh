#!/usr/bin/env bash
# Makes a release from a tag, or a rehearsal from another commit, in build/release-TAG/build/packages: a Debian
# package, a tarball, a Python wheel, an SBOM, release notes and SHA256SUMS. It uses committed sources only, and
# fails if scripts/shipped.py finds an error. Run it on Debian 12, because the files do not run on systems with
# older libraries than those of the build system. Then run scripts/test_package.sh and
# scripts/test_wheel.sh --bare in build/release-TAG: they install the files in bare roots.
# Usage: scripts/release.sh TAG
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 1 ] || { sed -n '2,7s/^# //p' "$0" >&2; exit 2; }
tag=$1

commit=$(git rev-parse --verify --quiet "$tag^{commit}") || { echo "release.sh: no commit '$tag'" >&2; exit 3; }
version=$(git show "$commit:CMakeLists.txt" | sed -n 's/^project(rankscope VERSION \([0-9.]*\).*/\1/p')
if [[ $tag == v[0-9]* ]]; then
  [ "$tag" = "v$version" ] || { echo "release.sh: the sources of $tag are version $version" >&2; exit 3; }
  [ "$(git cat-file -t "$tag")" = tag ] || { echo "release.sh: $tag is not an annotated tag" >&2; exit 3; }
else
  echo "release.sh: a rehearsal: $tag is no version's tag" >&2
fi

folder=$PWD/build/release-$tag
rm -rf "$folder"
mkdir -p "$folder"
git archive "$commit" | tar -x -C "$folder"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH
cd "$folder"
./scripts/install_deps.sh release
./scripts/package.sh
./scripts/wheel.sh
scripts/shipped.py release build/packages build/release
(cd build/packages && sha256sum --check --quiet SHA256SUMS && ls -l)
echo "release.sh: rankscope $version in $folder/build/packages"
