#!/usr/bin/env bash
# Installs the wheel of scripts/wheel.sh into a clean virtual environment and runs the code of docs/python.md
# there. --bare repeats this in a bare root made by debootstrap, without the libraries that rankscope
# uses (needs root). Then it tests the conversions for numpy, pandas and others, and the notebook in
# examples/python, if their packages are installed (scripts/install_deps.sh python).
# Usage: scripts/test_wheel.sh [--bare [FOLDER]]     FOLDER: folder of the bare root, which is kept and reused
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh
. scripts/bare_root.sh
compgen -G 'build/packages/rankscope-*.whl' >/dev/null || ./scripts/wheel.sh

python=/usr/bin/python3 # the system's Python, which has the Debian packages
[ -x $python ] || python=python3
scratch=$(mktemp -d)
cleanup() {
  umount "$scratch/root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$scratch"
}
trap cleanup EXIT
sed -n '/^```python$/,/^```$/{/^```/!p}' docs/python.md >"$scratch/lines.py"
cp build/packages/rankscope-*.whl tests/python/package_test.py examples/python/first_look.ipynb "$scratch/"
cat >"$scratch/first_use.sh" <<'SH'
set -euo pipefail
cd "$(dirname "$0")"
python3 -m venv clean
clean/bin/pip install --quiet --no-index --no-deps --disable-pip-version-check rankscope-*.whl
clean/bin/rankscope --version
clean/bin/rankscope synth sweep --threads 256 --channels 28 --ranks 2 -q
mv sweep/256thread/nccl_28channels/torch_profiler run
clean/bin/python lines.py
test -s page.html
SH
# runs a command outside this source tree, without the caller's environment variables
inside() { (cd "$scratch" && env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$scratch" LANG=C.UTF-8 "$@"); }

step "a clean virtual environment, and the lines of docs/python.md"
inside bash first_use.sh

if [ "${1:-}" = --bare ]; then
  step "the same in a bare root"
  bare_root_possible || exit 3
  base=${2:-$scratch/base}
  bare_root "$base" >/dev/null
  bare_copy "$base" "$scratch/root"
  mkdir "$scratch/root/opt/use"
  cp "$scratch"/rankscope-*.whl "$scratch/lines.py" "$scratch/first_use.sh" "$scratch/root/opt/use/"
  inside env DEBIAN_FRONTEND=noninteractive chroot "$scratch/root" /bin/bash -euc \
    'apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv >/dev/null'
  inside chroot "$scratch/root" /bin/bash /opt/use/first_use.sh
fi

step "packages of others"
$python -m venv --system-site-packages "$scratch/all"
"$scratch/all/bin/pip" install --quiet --no-index --no-deps --disable-pip-version-check "$scratch"/rankscope-*.whl
cp -r tests/data/synth/amd "$scratch/"
inside all/bin/python package_test.py amd

step "a notebook"
if "$scratch/all/bin/python" -c 'import nbclient, ipykernel' 2>/dev/null; then
  "$scratch/all/bin/python" -m ipykernel install --prefix "$scratch/all" >/dev/null
  inside JUPYTER_PATH="$scratch/all/share/jupyter" all/bin/python - <<'PY'
import nbclient, nbformat
notebook = nbformat.read("first_look.ipynb", 4)
nbclient.NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
htmls = ["".join(o.data["text/html"]) for o in shown if "text/html" in o.get("data", {})]
assert any("<table>" in h for h in htmls) and any("<iframe srcdoc=" in h for h in htmls), htmls
print(f"notebook: {len(notebook.cells)} cells, {len(htmls)} HTML outputs")
PY
else
  skip "the notebook: $python has no nbclient or ipykernel"
fi
finish "scripts/test_wheel.sh"
