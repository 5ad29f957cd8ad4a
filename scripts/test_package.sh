#!/usr/bin/env bash
# Tests the packages of scripts/package.sh in bare Debian 12 roots made by debootstrap: installs the Debian
# package with apt in one, unpacks the tarball in another in which no package is installed, and runs the main
# commands in both. Needs root and debootstrap; uses the same mirror as apt here. In roots of other releases
# (scripts/bare_root.sh), only the tarball is tested, because the Debian package is for Debian 12.
# Usage: scripts/test_package.sh [FOLDER]     FOLDER: folder of the bare root, which is kept and reused
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/bare_root.sh
bare_root_possible || exit 3
[ -d build/packages ] || ./scripts/package.sh

base=${1:-}
scratch=$(mktemp -d)
[ -n "$base" ] || base=$scratch/base
cleanup() {
  umount "$scratch"/*/proc 2>/dev/null || true
  rm -rf --one-file-system "$scratch"
}
trap cleanup EXIT
bare_root "$base" >/dev/null

inside() { # inside NAME COMMAND: runs it in the root NAME
  env -i HOME=/root TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive chroot "$scratch/$1" /bin/bash -euc "$2"
}
hour() { # hour NAME PROGRAM OPTION: generates and analyses a sweep, writes a report and compares it with itself
  inside "$1" "
    cd /tmp
    $2 --version
    $2 synth sweep --threads 256 --channels 28,42 --ranks 2 -q
    $2 analyze sweep $3 -q >/dev/null
    $2 report sweep/256thread/nccl_28channels/torch_profiler/rank0/*.json -o report.xlsx -q >/dev/null
    $2 compare-reports report.xlsx report.xlsx --names a,b -o both.xlsx -q >/dev/null
    test -s report.xlsx && test -s both.xlsx"
}

if [ "$suite" = bookworm ]; then
  bare_copy "$base" "$scratch/deb"
  cp build/packages/*.deb "$scratch/deb/tmp/"
  inside deb "apt-get update -qq && apt-get install -y -qq /tmp/*.deb >/dev/null"
  hour deb rankscope ""
  inside deb "dpkg -L rankscope | grep -qx /usr/share/man/man1/rankscope-report.1 && dpkg -L rankscope | grep -qx /usr/share/bash-completion/completions/rankscope"
  inside deb "apt-get remove -y -qq rankscope >/dev/null && ! command -v rankscope && test ! -e /usr/lib/rankscope"
  echo "test_package.sh: the Debian package: installed, used, removed"
fi

bare_copy "$base" "$scratch/tar"
tar -xzf build/packages/rankscope-*.tar.gz -C "$scratch/tar/opt"
hour tar "$(cd "$scratch/tar" && echo /opt/*/bin/rankscope)" --no-plots
echo "test_package.sh: the tarball: used in $(bare_root_name "$base"), where no package was installed"
