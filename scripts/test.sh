#!/usr/bin/env bash
# Installs missing packages, builds, and runs all tests except those labelled slow, browser, office or
# cluster. At the end it lists the skipped tests and the commands that run them.
# Needs no git repository; the sources of a tarball are enough. Golden tests read reference data from
# $RANKSCOPE_GOLDEN (default ../shared/golden).
# Usage: scripts/test.sh [CTEST_OPTION...]     e.g. -R collectives
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh

step "packages"
./scripts/install_deps.sh test

step "release build"
cmake --preset release >/dev/null
cmake --build build/release -j "$jobs"

step "tests"
[ -d "${RANKSCOPE_GOLDEN:-../shared/golden}" ] ||
  skip "tests with reference data: there is no folder ${RANKSCOPE_GOLDEN:-../shared/golden}"
[ -f web/node_modules/echarts/dist/echarts.min.js ] ||
  skip "the interactive page: scripts/web_parts.sh has not fetched ECharts"
export RANKSCOPE_TEST_CPU_SECONDS=10 # a test that takes 5 s of CPU time on an idle machine needs the label slow
run_tests release "$@"
for label in slow browser office cluster; do
  n=$(ctest --preset release -N -L "^$label\$" | sed -n 's/^Total Tests: //p')
  skip "$n tests labelled $label: scripts/nightly.sh $label"
done
finish "scripts/test.sh"
