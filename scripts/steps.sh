# Sourced by the scripts that build and test, not run.
#   step TEXT            prints a heading, with the time that the step before took
#   skip TEXT            says that something is left out, now and again at the end
#   run_tests PRESET [CTEST_OPTION...]   the tests of build/PRESET but for those labelled slow, browser,
#                        office or cluster: first those that wait, at four times the processors
#   changed_since N PATHSPEC...   files that differ from the merge base with main; on main itself, from N
#                        commits ago. Fails without git and its repository
#   finish NAME          the table of steps, and what was left out
jobs=$(nproc)
skipped=()
steps=()
step_name=
step_began=$SECONDS
left_out='^(slow|browser|office|cluster)$'
long_under_asan='^golden/(SameValues|ReportOptionsGolden)[.]' # tests, not labels

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
  ctest --preset "$preset" -j "$jobs" -LE "^waits\$|$left_out" --timeout 1800 "$@" || failed=1
  return $failed
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
