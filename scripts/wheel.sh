#!/usr/bin/env bash
# Builds the Python wheel in build/packages: the Python package of python/, librankscope.so, the program, and
# the libraries that a system may lack (all except the C and C++ libraries). One wheel is for all Python versions
# from 3.8. Its name contains the oldest glibc version that it runs with. scripts/test_wheel.sh tests it.
# Usage: scripts/wheel.sh     needs python3-build, python3-setuptools, python3-wheel (install_deps.sh python)
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/bundled_licences.sh

python=/usr/bin/python3 # the system's Python, which has the Debian packages
[ -x $python ] || python=python3
$python -c 'import build, setuptools, wheel' 2>/dev/null ||
  { echo "wheel.sh: $python has no build, setuptools or wheel: scripts/install_deps.sh python" >&2; exit 3; }
cmake --preset release >/dev/null
cmake --build build/release -j "$(nproc)" --target rankscope rankscope_shared

source=$PWD/build/wheel
native=$source/rankscope/_native
rm -rf "$source"
cp -r python "$source"
cp LICENSE "$source/"
find "$source" -name __pycache__ -prune -exec rm -rf {} +
install -D -s build/release/rankscope "$native/bin/rankscope"
install -D -s build/release/librankscope.so.1 "$native/lib/librankscope.so.1"
cmake --install build/release --prefix "$native" --component bundle --strip >/dev/null
# A wheel has no symbolic links. Each library keeps only its soname, the name that the loader looks for.
for library in "$native"/lib/rankscope/*.so*; do
  soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
  [ -L "$library" ] || [ "$(basename "$library")" = "$soname" ] ||
    mv "$library" "$native/lib/rankscope/$soname"
done
find "$native" -type l -delete
cmake --install build/release --prefix "$source/texts" --component licences >/dev/null
mv "$source/texts/share/doc/rankscope" "$native/licences"
rm -r "$source/texts"
copy_licences "$native/lib/rankscope" "$native/licences"
duckdb=web/node_modules/@duckdb/node-bindings-linux-x64
if [ -f $duckdb/libduckdb.so ]; then
  cp $duckdb/libduckdb.so "$native/lib/rankscope/"
else
  echo "wheel.sh: without DuckDB: SQL and views are left out (scripts/web_parts.sh)" >&2
fi

floor=$(scripts/shipped.py floor "$native")
glibc=$(awk '$1 == "GLIBC" {print $2}' <<<"$floor")
RANKSCOPE_WHEEL_VERSION=$(build/release/rankscope --version | cut -d' ' -f2)
RANKSCOPE_WHEEL_PLATFORM=manylinux_${glibc/./_}_$(uname -m)
export RANKSCOPE_WHEEL_VERSION RANKSCOPE_WHEEL_PLATFORM
mkdir -p build/packages
rm -f build/packages/rankscope-*.whl
$python -m build --wheel --no-isolation --outdir build/packages "$source" >"$source.log" 2>&1 ||
  { tail -n 20 "$source.log" >&2; exit 1; }
echo "needs ${floor//$'\n'/, }"
ls -l build/packages/rankscope-*.whl
