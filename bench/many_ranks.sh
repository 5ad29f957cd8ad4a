#!/usr/bin/env bash
# Measures the cost per rank from 64 to 10,000 ranks. The run is generated in pieces of 64 ranks, which
# are read and deleted, so that only one piece at a time is on disk.
#
#   bench/many_ranks.sh [-n "64 512 2048 10000"] [-w FOLDER] [-o TABLE] [-s SYNTH] RANKSCOPE
#
# If the program has `partial` and `reduce`, each piece is stored as parts, and the parts are reduced.
# Otherwise `collectives` reads each piece, which shows only the cost of reading. Prints a table with the
# number of ranks, and the time and peak memory of each step, per rank where this is useful.
# SYNTH: another rankscope, which generates the traces.
set -euo pipefail

sizes="64 512 2048 10000"
work=""
table=""
maker=""
piece=64
while getopts "n:w:o:s:" flag; do
  case $flag in
  n) sizes=$OPTARG ;;
  w) work=$OPTARG ;;
  o) table=$OPTARG ;;
  s) maker=$OPTARG ;;
  *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
program=${1:?usage: bench/many_ranks.sh [-n SIZES] [-w FOLDER] [-o TABLE] RANKSCOPE}
maker=${maker:-$program}
[ -n "$work" ] || work=$(mktemp -d)
mkdir -p "$work"
table=${table:-$work/many_ranks.txt}
synth=(--threads 256 --channels 28 --layers 1 --steps 2 --seed 7 --process-groups 2 --straggler 5)

# runs a command; prints "SECONDS KIB": its user and system time and its peak memory
cost() { /usr/bin/time -f '%U %S %M' -o "$work/time" "$@" >"$work/out" 2>"$work/err" || {
  rc=$?
  [ $rc -eq 4 ] || { tail -3 "$work/err" >&2; exit $rc; } # 4: the run has ranks that are not in this piece
}; awk 'END { printf "%.3f %d", $1 + $2, $3 }' "$work/time"; }

has_parts=0
"$program" partial --help >/dev/null 2>&1 && "$program" reduce --help >/dev/null 2>&1 && has_parts=1

printf '%8s %14s %12s %12s %12s %14s %10s\n' ranks read_ms/rank read_MiB reduce_s reduce_MiB \
  reduce_ms/rank part_KiB/rank | tee "$table"
for n in $sizes; do
  run="$work/run_$n"
  rm -rf "$run"
  mkdir -p "$run/parts"
  read_s=0
  read_kib=0
  for ((first = 0; first < n; first += piece)); do
    last=$((first + piece - 1 < n ? first + piece - 1 : n - 1))
    "$maker" -q synth "$run/piece" "${synth[@]}" --ranks "$n" --only-ranks "$first-$last" >/dev/null
    traces="$run/piece/256thread/nccl_28channels/torch_profiler"
    if [ $has_parts = 1 ]; then
      read -r s kib < <(cost "$program" -q partial "$traces" -o "$run/parts" --for collectives --local \
        --world-size "$n" --shard "$((first / piece))/$(((n + piece - 1) / piece))"; echo)
    else
      read -r s kib < <(cost "$program" -q collectives "$traces" -o "$run/piece/out.json"; echo)
    fi
    read_s=$(awk -v a="$read_s" -v b="$s" 'BEGIN { printf "%.3f", a + b }')
    [ "$kib" -gt "$read_kib" ] && read_kib=$kib
    rm -rf "$run/piece"
  done
  reduce_s=-
  reduce_kib=0
  part_kib=0
  if [ $has_parts = 1 ]; then
    part_kib=$(du -sk "$run/parts" | cut -f1)
    read -r reduce_s reduce_kib < <(cost "$program" -q reduce "$run/parts" -o "$run/report.json"; echo)
  fi
  awk -v n="$n" -v rs="$read_s" -v rk="$read_kib" -v ds="$reduce_s" -v dk="$reduce_kib" -v pk="$part_kib" \
    'BEGIN { printf "%8d %14.2f %12.1f %12s %12.1f %14s %10.2f\n", n, 1000 * rs / n, rk / 1024, ds,
             dk / 1024, ds == "-" ? "-" : sprintf("%.3f", 1000 * ds / n), pk / n }' | tee -a "$table"
  rm -rf "$run"
done
