#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that rankscope builds and tests with; asks apt only for the
# ones that are missing. Usage: install_deps.sh [build|test]   (default: test, which includes build)
set -euo pipefail

what=${1:-test}
build=(g++ cmake ninja-build pkg-config ccache mold libfmt-dev libcli11-dev libsimdjson-dev
  libisal-dev libzstd-dev libsqlite3-dev libpugixml-dev libzip-dev libxlsxwriter-dev zlib1g-dev
  gnuplot-nox fonts-dejavu-core)
test=(libgtest-dev libbenchmark-dev clang clang-format libclang-rt-dev python3
  libreoffice-calc chromium)

packages=("${build[@]}")
if [ "$what" = test ]; then
  packages+=("${test[@]}")
fi

missing=()
for p in "${packages[@]}"; do
  if ! dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed'; then
    missing+=("$p")
  fi
done
[ ${#missing[@]} -eq 0 ] && exit 0

sudo=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "install_deps.sh: need root or sudo to install: ${missing[*]}" >&2; exit 1; }
  sudo=sudo
fi
echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq || echo "install_deps.sh: apt-get update failed; trying with the lists at hand" >&2
if ! $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
  for p in "${missing[@]}"; do # one by one, so that the failing package is named
    $sudo apt-get install -y -qq --no-install-recommends "$p" >/dev/null ||
      { echo "install_deps.sh: package '$p' could not be installed" >&2; exit 1; }
  done
fi
