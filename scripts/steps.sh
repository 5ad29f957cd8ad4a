# Functions for scripts that build and test. Scripts source this file; it is not run.
#   step TEXT            ends the previous step, and prints a heading
#   skip TEXT            prints that a check is skipped, now and again in finish
#   run_tests PRESET [CTEST_OPTION...]   runs the tests of build/PRESET, except those labelled slow, browser,
#                        office or cluster: first the tests labelled waits, with four jobs per processor,
#                        then the others with two
#   asan_cli_tests       the command-line tests of the release build, with the program of build/asan
#   changed_since N PATHSPEC...   prints the files that differ from the merge base with main or, on main, from
#                        the commit N commits ago. Fails without git or a repository
#   finish NAME          prints the skipped checks and the seconds of each step
jobs=$(nproc)
test_jobs=$((2 * jobs)) # many tests wait for children, or for files to age
skipped=()
steps=()
step_name=
step_began=$SECONDS
left_out='^(slow|browser|office|cluster)$'

step() {
  end_step
  step_name=$*
  printf '\n== %s\n' "$*"
}
end_step() {
  [ -z "$step_name" ] || steps+=("$(printf '%6d s  %s' $((SECONDS - step_began)) "$step_name")")
  step_began=$SECONDS
  step_name=
}
skip() {
  skipped+=("$*")
  echo "SKIPPED: $*"
}
run_tests() {
  local preset=$1 failed=0
  shift
  ctest --preset "$preset" -j "$((4 * jobs))" -L '^waits$' -LE "$left_out" --timeout 1800 "$@" || failed=1
  ctest --preset "$preset" -j "$test_jobs" -LE "^waits\$|$left_out" --timeout 1800 "$@" || failed=1
  return $failed
}
asan_cli_tests() {
  UBSAN_OPTIONS=print_stacktrace=1 LSAN_OPTIONS=suppressions=$PWD/scripts/lsan.supp:print_suppressions=0 \
    RANKSCOPE_BINARY=$PWD/build/asan/rankscope RANKSCOPE_SANITIZED=address run_tests release -R '^cli/'
}
changed_since() {
  local base back=$1
  shift
  git rev-parse --git-dir >/dev/null 2>&1 || return 1
  base=$(git merge-base HEAD main 2>/dev/null || true)
  [ -n "$base" ] && [ "$base" != "$(git rev-parse HEAD)" ] || base=HEAD~$back
  git diff --name-only --diff-filter=d "$base" -- "$@"
}
finish() {
  end_step
  printf '\n'
  for s in "${skipped[@]}"; do echo "SKIPPED: $s"; done
  printf '\nseconds of each step:\n'
  printf '%s\n' "${steps[@]}"
  printf '%6d s  %s: all passed\n' "$SECONDS" "$1"
}
