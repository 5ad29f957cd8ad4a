#!/bin/bash
# Submits the job array of shards, and the job that reduces them afterwards. Prints the ids of both jobs.
# Usage: submit.sh TRACES PARTS OUT [OPTION of reduce...]     SHARDS: number of shards (4)
# FOR: commands for which parts are made (collectives); reduce --as needs one of them
set -eu
[ $# -ge 3 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
traces=$1 parts=$2 out=$3
shift 3
export SHARDS=${SHARDS:-4}
map=$(sbatch --parsable --array="0-$((SHARDS - 1))" "$here/partial.sbatch" "$traces" "$parts")
reduce=$(sbatch --parsable --dependency="afterany:$map" "$here/reduce.sbatch" "$parts" "$out" "$@")
echo "$map $reduce"
