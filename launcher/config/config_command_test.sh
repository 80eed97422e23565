#!/bin/bash
# launch config writes a file that launch --config runs. $1: launch.
set -u
launch=$PWD/$1
export TMPDIR=$TEST_TMPDIR
export PATH=/usr/local/bin:/usr/bin:/bin
unset MUSTER_TOKEN MUSTER_COORDINATOR
failed=0
cd "$TEST_TMPDIR" || exit 1

complain() {
  echo "FAILED: $*"
  failed=1
}

# expect CODE PATTERN ARGUMENTS...: launch must exit with CODE and print PATTERN
# (a glob). launch reads the stdin of `expect`.
expect() {
  local code=$1 pattern=$2 got
  shift 2
  output=$(timeout 60 "$launch" "$@" 2>&1)
  got=$?
  [[ $got == "$code" ]] || complain "launch $*: exit $got, not $code: $output"
  [[ $output == $pattern ]] || complain "launch $*: $output"
}

# Two answers come through a pipe. At the end of the input, the remaining
# questions get their default answers.
printf '%s\n' 'env X=1' 2 | expect 0 '*muster.yaml is written*' config
expect 2 '*is there already; --force*' config </dev/null
printf '%s\n' './show' 2 '' 3 | expect 0 '*is written*' config --force
grep -qx 'nproc-per-node: 2' muster.yaml || complain "$(cat muster.yaml)"
grep -qx 'max-restarts: 3' muster.yaml || complain "$(cat muster.yaml)"
grep -q 'log-dir' muster.yaml && complain "a fallback is written"
printf '%s\n' a b | expect 2 '*neither a number*' config other.yaml
[[ ! -e other.yaml ]] || complain "a refused answer left a file"

printf '#!/bin/sh\necho "rank $RANK of $WORLD_SIZE $GREETING"\n' >show
chmod +x show
printf 'env:\n  GREETING: hello\n' >>muster.yaml
expect 0 '*rank [01] of 2 hello*' --config muster.yaml
expect 0 '*rank 0 of 1 hello*' --config muster.yaml --nproc-per-node 1
PET_NPROC_PER_NODE=1 expect 0 '*rank 0 of 1 hello*' --config muster.yaml
expect 0 '*from elsewhere*' --config muster.yaml echo from elsewhere

expect 0 '*--nproc-per-node=2  muster.yaml:*' config show muster.yaml
expect 0 '*GREETING=hello*' config show muster.yaml
expect 0 '*"value": "2"*' config show muster.yaml --json
PET_NPROC_PER_NODE=7 expect 0 '*--nproc-per-node=7  PET_NPROC_PER_NODE*' \
  config show muster.yaml
# In a Slurm step of two tasks, `nnodes: 1` in the file has no effect.
echo 'nnodes: 1' >one.yaml
step=(env SLURM_JOB_ID=4 SLURM_JOB_NODELIST=n[1-2] SLURM_STEP_ID=0
  SLURM_STEP_NODELIST=n[1-2] SLURM_STEP_NUM_TASKS=2
  SLURM_STEP_TASKS_PER_NODE='1(x2)' SLURM_PROCID=1)
[[ $("${step[@]}" "$launch" config show one.yaml 2>&1) == *--nnodes=2*Remarks*\
one.yaml:1:\ nnodes=1:\ no\ effect* ]] || complain "a file's 1 outweighs Slurm"
echo 'nnodes: 4:2' >bad.yaml
expect 2 'launch: bad.yaml:1: nnodes=4:2: *' config show bad.yaml
expect 2 'launch: bad.yaml:1: nnodes=4:2: *' --config bad.yaml true
echo 'nndoes: 2' >bad.yaml
expect 2 'launch: bad.yaml:1: nndoes: unknown key; did you mean nnodes?*' \
  --config bad.yaml true
expect 2 '*config show: name the file*' config show
expect 2 '*--what*' config --what
expect 2 '*No such file*' --config absent.yaml true

exit "$failed"
