#!/usr/bin/env bash
# Tests that scripts/install_deps.sh lists all packages: makes a bare Debian 12 root with debootstrap, copies the
# sources of HEAD into it (without the repository), and runs scripts/demo.sh and scripts/test.sh there. Needs
# root, debootstrap and about 3 GB; uses the same mirror as apt here. For Ubuntu, see scripts/bare_root.sh.
# Usage: scripts/test_bare.sh [FOLDER]     FOLDER: folder of the root, which is kept and reused (default: a
#   temporary one). BARE_ALL=1 runs scripts/check.sh too. The folder RANKSCOPE_GOLDEN is copied into the root.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/bare_root.sh
bare_root_possible

root=${1:-}
if [ -z "$root" ]; then
  root=$(mktemp -d)
  keep=no
else
  keep=yes
fi
cleanup() {
  umount "$root/proc" 2>/dev/null || true
  umount "$root/dev/shm" 2>/dev/null || true
  if [ $keep = no ]; then rm -rf --one-file-system "$root"; fi
}
trap cleanup EXIT

bare_root "$root"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm"
mountpoint -q "$root/dev/shm" || mount -t tmpfs tmpfs "$root/dev/shm"

rm -rf "$root/src"
mkdir -p "$root/src/rankscope"
git archive HEAD | tar -x -C "$root/src/rankscope"
golden=
if [ -d "${RANKSCOPE_GOLDEN:-}" ]; then
  cp -rL "$RANKSCOPE_GOLDEN" "$root/src/golden"
  golden=/src/golden
fi

inside() { # inside COMMAND: runs it in the root, without the caller's environment variables
  env -i HOME=/root TERM="${TERM:-dumb}" PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    ${golden:+RANKSCOPE_GOLDEN=$golden} chroot "$root" /bin/bash -c "cd /src/rankscope && $1"
}
inside "./scripts/demo.sh /tmp/demo_out"
inside "./scripts/test.sh"
[ -z "${BARE_ALL:-}" ] || inside "./scripts/check.sh"
echo "test_bare.sh: $(bare_root_name "$root"), from a bare root: passed"
