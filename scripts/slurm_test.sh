#!/usr/bin/env bash
# Tests partial and reduce under Slurm. It starts a cluster of one node (munged, slurmctld and slurmd with
# separate ports, and keys and state in a temporary folder) and runs the scripts of examples/cluster on a small
# generated run. Their outputs must equal the output of one process. It also kills an element of a job array
# and then processes the missing shard. At the end, or after an error, it stops all daemons.
# Usage: scripts/slurm_test.sh [RANKSCOPE]   (default build/release/rankscope). Needs root, and Debian's
# slurmctld, slurmd, slurm-client and munge.
# Exit codes: 0 passed, 1 a check failed, 3 skipped (a program is not installed, or cannot run here).
set -euo pipefail
cd "$(dirname "$0")/.."
rs=$(realpath "${1:-build/release/rankscope}")
patience=300 # time limit of each wait in seconds; a busy machine is slow

skip() { echo "slurm_test.sh: skipped: $*"; exit 3; }
[ "$(id -u)" -eq 0 ] || skip "needs root"
PATH=$PATH:/usr/sbin:/sbin
for tool in munged slurmctld slurmd srun sbatch scancel sinfo squeue python3; do
  command -v $tool >/dev/null || skip "$tool is not installed"
done
[ -x "$rs" ] || { echo "slurm_test.sh: no program $rs" >&2; exit 1; }

t=$(mktemp -d)
chmod 755 "$t"
mkdir "$t"/{run,state,spool,log}
stop() {
  local code=$? pid name
  trap - EXIT INT TERM HUP
  [ ! -s "$t/run/slurmctld.pid" ] || timeout 60 scancel --user=root 2>/dev/null || true
  for name in slurmd slurmctld munged; do
    pid=$(cat "$t/run/$name.pid" 2>/dev/null) || continue
    kill "$pid" 2>/dev/null || continue
    for ((i = 0; i < 300; i++)); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -9 "$pid" 2>/dev/null || true
  done
  # processes of job steps that slurmd left behind; their SLURM_CONF shows that they are of this cluster
  for pid in $(pgrep -x slurmstepd || true); do
    tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "SLURM_CONF=$t/slurm.conf" && kill -9 "$pid" || true
  done
  [ $code -eq 0 ] || [ $code -eq 3 ] || tail -n 20 "$t"/log/* "$t"/*.out >&2 || true
  rm -rf "$t"
  exit $code
}
trap stop EXIT
trap 'exit 1' INT TERM HUP

fail() { echo "slurm_test.sh: $*" >&2; exit 1; }
# wait_for WHAT COMMAND...: repeats the command until it succeeds
wait_for() {
  local what=$1 end=$((SECONDS + patience))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || fail "waited $patience s for $what"
    sleep 0.2
  done
}

# --- start the cluster
read -r port1 port2 < <(python3 - <<'PY'
import socket
s = [socket.socket() for _ in range(2)]
for x in s: x.bind(("127.0.0.1", 0))
print(*(x.getsockname()[1] for x in s))
PY
)
head -c 1024 /dev/urandom >"$t/munge.key"
chmod 400 "$t/munge.key"
munged --force --key-file="$t/munge.key" --socket="$t/run/munge.sock" --pid-file="$t/run/munged.pid" \
  --log-file="$t/log/munged" --seed-file="$t/state/munge.seed" || skip "munged does not start here"
host=$(hostname -s)
cat >"$t/slurm.conf" <<CONF
ClusterName=rankscope
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$t/run/munge.sock
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$port1
SlurmdPort=$port2
StateSaveLocation=$t/state
SlurmdSpoolDir=$t/spool
SlurmctldPidFile=$t/run/slurmctld.pid
SlurmdPidFile=$t/run/slurmd.pid
SlurmctldLogFile=$t/log/slurmctld
SlurmdLogFile=$t/log/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
MailProg=/bin/true
MinJobAge=3600
KillWait=2
MessageTimeout=90
BatchStartTimeout=$patience
SlurmctldTimeout=$patience
SlurmdTimeout=$patience
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$t/slurm.conf
unset SLURM_JOB_ID SLURM_PROCID SLURM_NTASKS
slurmctld -f "$SLURM_CONF" || skip "slurmctld does not start here"
slurmd -f "$SLURM_CONF" -N "$host" || skip "slurmd does not start here"
idle() { sinfo -h -o %T | grep -qx idle; }
wait_for "the node" idle
echo "slurm_test.sh: $(sinfo --version), one node"

# --- a run of eight ranks, and the output of one process for it
"$rs" synth "$t/sweep" --threads 256 --channels 28 --ranks 8 --layers 2 --steps 2 --straggler 5 -q >/dev/null
run=$t/sweep/256thread/nccl_28channels
"$rs" collectives "$run" -o "$t/one.json" -q >/dev/null

same() { cmp "$1" "$2" || fail "$2 differs from what one process makes"; }
ended() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; }
state_of() { scontrol show job "$1" | grep -oE 'JobState=[A-Z]+' | sort -u | tr '\n' ' '; }
export RANKSCOPE=$rs
cluster=$PWD/examples/cluster
cd "$t"

srun -n 4 "$rs" partial "$run" -o parts_srun --for collectives -q
"$rs" reduce parts_srun -o srun.json >/dev/null
same one.json srun.json
echo "slurm_test.sh: srun: equal"

# --- rankscope-mpi, if it is built: started by srun for Open MPI, and by mpirun in a batch job for Open MPI and
# MPICH. srun of this Slurm does not connect the processes of Debian's MPICH.
mpi=${rs%/*}/rankscope-mpi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
if [ -x "$mpi-openmpi" ] && srun --mpi=list 2>&1 | grep -q pmix; then
  srun --mpi=pmix -n 4 "$mpi-openmpi" collectives "$run" -o pmix.json -q >/dev/null
  same one.json pmix.json
  echo "slurm_test.sh: srun --mpi=pmix rankscope-mpi-openmpi: equal"
fi
for kind in openmpi mpich; do
  [ -x "$mpi-$kind" ] && command -v mpirun.$kind >/dev/null || continue
  sbatch --wait --ntasks=4 -o $kind.out \
    --wrap "mpirun.$kind $mpi-$kind collectives $run -o $kind.json" >/dev/null
  same one.json $kind.json
  grep -q "of 2 traces" $kind.out || fail "mpirun.$kind in a job of four tasks: $(cat $kind.out)"
  echo "slurm_test.sh: sbatch mpirun.$kind: equal"
done
if [ -x "$mpi-mpich" ]; then
  code=0
  srun --mpi=none -n 2 "$mpi-mpich" collectives "$run" -o alone.json 2>alone.err || code=$?
  [ $code -eq 2 ] && [ ! -e alone.json ] && grep -q "MPI finds only this process" alone.err ||
    fail "two processes that do not know each other: exit code $code"
fi

sbatch --wait --ntasks=4 -o run.out "$cluster/run.sbatch" "$run" parts_run run.json >/dev/null
same one.json run.json
echo "slurm_test.sh: run.sbatch: equal"

read -r map reduce < <("$cluster/submit.sh" "$run" parts_array array.json)
wait_for "the array and its reduce" ended "$map,$reduce"
same one.json array.json
echo "slurm_test.sh: submit.sh: equal ($(state_of "$reduce"))"

# --- a killed element: the program of shard 2 sleeps until it is killed
cat >slow <<'SLOW'
#!/bin/bash
case " $* " in *" --shard 2/4 "*) touch "$STARTED"; sleep 3600 ;; esac
exec "$REAL" "$@"
SLOW
chmod +x slow
export STARTED=$t/started REAL=$rs
read -r map reduce < <(RANKSCOPE=$t/slow "$cluster/submit.sh" "$run" parts_killed killed.json)
wait_for "share 2 to begin" test -e started
scancel --signal=KILL --full "${map}_2" || scancel "${map}_2"
wait_for "the array and its reduce" ended "$map,$reduce"
exit_of() { scontrol show job "$1" | grep -oE 'ExitCode=[0-9]+' | head -1; }
[ "$(exit_of "$reduce")" = ExitCode=4 ] || fail "a share is missing: reduce ended with $(exit_of "$reduce"), not 4"
[ -s killed.json ] || fail "no output of the shares that are there"
grep -qE 'shard 2|shard_2' "slurm-$reduce.out" || fail "reduce does not say that share 2 is missing"
echo "slurm_test.sh: a killed element: $(grep -E 'shard 2|shard_2' "slurm-$reduce.out" | head -1)"

# --- process only the missing shard
before=$(cd parts_killed && ls -i -1 | sort)
map=$(SHARDS=4 sbatch --parsable --wait --array=2 "$cluster/partial.sbatch" "$run" parts_killed)
after=$(cd parts_killed && ls -i -1 | sort)
[ "$(comm -23 <(echo "$before") <(echo "$after"))" = "" ] || fail "parts that were there were made again"
[ "$before" != "$after" ] || fail "nothing was made"
"$rs" reduce parts_killed -o again.json >/dev/null
same one.json again.json
echo "slurm_test.sh: made up for: equal"
