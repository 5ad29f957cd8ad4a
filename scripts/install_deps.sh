#!/usr/bin/env bash
# Installs the packages that rankscope builds and tests with; asks apt only for those that are missing.
# Usage: install_deps.sh [build|test|check|python|release|all]   (default: test)
#   build  what the binary needs            test  and what scripts/test.sh needs
#   check  and what scripts/check.sh needs: clang, clang-format, clang-tidy
#   python what the binary needs, scripts/wheel.sh, and what its tests can use
#   release  what the binary needs, and what scripts/release.sh needs
#   all    and what scripts/nightly.sh needs: LibreOffice, a browser, Open MPI and MPICH side by side,
#          Slurm (its daemons do not start without a configuration; the test brings its own)
# A tool of check or all for which this system has no package is named; that is not an error.
# npm brings the charts of the pages and the SQL engine (scripts/web_parts.sh); without it the build leaves
# them out.
# Run on Debian 12 (scripts/test_bare.sh does it from nothing). The names are Ubuntu 24.04's too, but for
# the browser, which is no package there.
set -euo pipefail

cd "$(dirname "$0")/.."
what=${1:-test}
build=(g++ cmake ninja-build pkg-config ccache mold libfmt-dev libcli11-dev libsimdjson-dev
  libisal-dev libzstd-dev libsqlite3-dev libpugixml-dev libzip-dev libxlsxwriter-dev zlib1g-dev
  libcairo2-dev libpng-dev fonts-dejavu-core)
test=(libgtest-dev python3)
check=(git clang libclang-rt-dev llvm clang-format-14 clang-tidy-14 python3-pandas)
python=(python3-build python3-setuptools python3-wheel python3-venv python3-numpy python3-pandas
  python3-nbclient python3-ipykernel)
release=(git dpkg-dev python3-build python3-setuptools python3-wheel python3-venv)
nightly=(libbenchmark-dev libreoffice-calc chromium chromium-driver libopenmpi-dev openmpi-bin
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
    for p in "${missing[@]}"; do # one by one, so that the failing package is named
      install "$p" || { echo "install_deps.sh: package '$p' could not be installed" >&2; exit 1; }
    done
  fi
fi

# A name that stands for a package which installs something else (a snap) has no files of its own.
# Not through a pipe: `grep -q` leaves at the first match, and apt-cache then fails (pipefail).
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
