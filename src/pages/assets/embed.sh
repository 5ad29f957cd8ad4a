#!/bin/sh
# Puts together what the program carries for its pages.
# Usage: embed.sh ASSETS ECHARTS OUT     ECHARTS: folder of the npm package, which may be absent
set -eu
assets=$1 echarts=$2 out=$3

cp "$assets/page.html" "$assets/page.css" "$out/"
cat "$assets"/*.js > "$out/page.js"
if [ -f "$echarts/dist/echarts.min.js" ]; then
  gzip -9nc "$echarts/dist/echarts.min.js" > "$out/echarts.min.js.gz"
  sed -n 's/^ *"version": *"\([^"]*\)".*/\1/p' "$echarts/package.json" | head -n 1 | tr -d '\n' > "$out/echarts.version"
  cat "$echarts/NOTICE" "$echarts/LICENSE" > "$out/echarts.licence"
else
  : > "$out/echarts.min.js.gz"
  : > "$out/echarts.version"
  : > "$out/echarts.licence"
fi
