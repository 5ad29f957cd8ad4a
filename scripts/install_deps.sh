#!/usr/bin/env bash
# Installs the packages with which rankscope is built and tested; calls apt only for missing packages.
# Usage: install_deps.sh [build|test|check|python|release|all]   (default: test)
#   build    packages to build the program   test  those of build, and for scripts/test.sh
#   check    those of test, and for scripts/check.sh: clang, clang-format, clang-tidy
#   python   those of build, and for scripts/wheel.sh and the tests of the wheel
#   release  those of build, and for scripts/release.sh
#   all      those of check and python, and for scripts/nightly.sh: LibreOffice, a browser, Open MPI and
#            MPICH, Slurm (its daemons do not start without a configuration; the test has one)
# If this system has no package for a tool of check, python or all, the script prints its name. This is not
# an error.
# npm fetches the charts of the pages and the SQL engine (scripts/web_parts.sh); without npm, the build leaves
# them out.
# This script is for Debian 12 and Ubuntu 24.04, whose packages have the same names, except the browser;
# scripts/test_bare.sh tests it in bare roots.
set -euo pipefail

cd "$(dirname "$0")/.."
what=${1:-test}
build=(g++ cmake ninja-build pkg-config ccache mold libfmt-dev libcli11-dev libsimdjson-dev
  libisal-dev libzstd-dev libsqlite3-dev libpugixml-dev libzip-dev libxlsxwriter-dev zlib1g-dev
  libcairo2-dev libpng-dev fonts-dejavu-core)
test=(libgtest-dev python3)
check=(git clang libclang-rt-dev llvm clang-format-14 clang-tidy-14 libbenchmark-dev python3-pandas)
python=(python3-build python3-setuptools python3-wheel python3-venv python3-numpy python3-pandas
  python3-nbclient python3-ipykernel)
release=(git dpkg-dev python3-build python3-setuptools python3-wheel python3-venv)
nightly=(libreoffice-calc chromium chromium-driver libopenmpi-dev openmpi-bin
  libmpich-dev mpich slurmctld slurmd slurm-client munge debootstrap)

required=("${build[@]}")
optional=()
command -v npm >/dev/null || optional+=(npm)
case $what in
build) ;;
test) required+=("${test[@]}") ;;
check)
  required+=("${test[@]}")
  optional+=("${check[@]}")
  ;;
python) optional+=("${python[@]}") ;;
release) required+=("${release[@]}") ;;
all)
  required+=("${test[@]}")
  optional+=("${check[@]}" "${nightly[@]}" "${python[@]}")
  ;;
*) sed -n '3,11s/^# //p' scripts/install_deps.sh >&2; exit 2 ;;
esac

is_installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }

missing=()
for p in "${required[@]}"; do is_installed "$p" || missing+=("$p"); done
wanted=()
for p in "${optional[@]}"; do is_installed "$p" || wanted+=("$p"); done
web_parts() {
  ./scripts/web_parts.sh || echo "install_deps.sh: no parts from npm: pages and SQL are left out" >&2
}
[ $((${#missing[@]} + ${#wanted[@]})) -eq 0 ] && { web_parts; exit 0; }

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    [ ${#missing[@]} -eq 0 ] && { echo "install_deps.sh: no root, left out: ${wanted[*]}" >&2; web_parts; exit 0; }
    echo "install_deps.sh: need root or sudo to install: ${missing[*]}" >&2
    exit 1
  fi
  sudo=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${sudo[@]}" apt-get update -qq ||
  echo "install_deps.sh: apt-get update failed; trying with the lists at hand" >&2
install() { "${sudo[@]}" apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }

if [ ${#missing[@]} -gt 0 ]; then
  echo "installing: ${missing[*]}"
  if ! install "${missing[@]}"; then
    for p in "${missing[@]}"; do # one at a time, so that the error message names the failing package
      install "$p" || { echo "install_deps.sh: package '$p' could not be installed" >&2; exit 1; }
    done
  fi
fi

# False for a package that only installs a snap, and for a name without a package.
# No pipe to `grep -q`: grep ends at the first match, then apt-cache fails, and pipefail reports that failure.
is_package() {
  local shown
  shown=$(apt-cache show --no-all-versions "$1" 2>/dev/null) || return 1
  [[ $shown == *Version:* && ${shown,,} != *snap* ]]
}
for p in "${wanted[@]}"; do
  if is_package "$p" && echo "installing: $p" && install "$p"; then continue; fi
  echo "install_deps.sh: '$p' is left out; the checks that use it will be skipped" >&2
done
web_parts
