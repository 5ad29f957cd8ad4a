#!/bin/bash
# The array of shares and, behind it, the reduce. Prints the ids of both jobs.
# Usage: submit.sh TRACES PARTS OUT [OPTION of reduce...]     SHARDS: shares (4)
# FOR: the commands that the parts are for (collectives), as reduce --as needs
set -eu
[ $# -ge 3 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
traces=$1 parts=$2 out=$3
shift 3
export SHARDS=${SHARDS:-4}
map=$(sbatch --parsable --array="0-$((SHARDS - 1))" "$here/partial.sbatch" "$traces" "$parts")
reduce=$(sbatch --parsable --dependency="afterany:$map" "$here/reduce.sbatch" "$parts" "$out" "$@")
echo "$map $reduce"
