#!/usr/bin/env bash
# Fetches packages from npm (ECharts for the pages, DuckDB for SQL) into web/node_modules, in the versions and
# with the hashes of web/package-lock.json. Does nothing if web/node_modules is up to date.
# Usage: web_parts.sh     exit 3: npm is not installed (the build then leaves those features out)
set -euo pipefail
cd "$(dirname "$0")/../web"

have=node_modules/.package-lock.json
if [ -f "$have" ] && [ ! package-lock.json -nt "$have" ]; then exit 0; fi
command -v npm >/dev/null || { echo "web_parts.sh: npm is not installed" >&2; exit 3; }
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
touch "$have"
