#!/bin/bash
# Tests `launch bench` when it starts a job, and when it runs as a worker of
# another `launch`. Tests `launch inspect` with the flight recorder dumps of the
# first job. $1: launch. $2: the measuring program.
set -u
launch=$PWD/$1
export MUSTER_BENCH=$PWD/$2
# An installed muster-bench finds libmuster_gloo.so beside itself. The
# muster-bench in the build's output looks for it in its own runfiles, which
# exist only if the Bazel command line names muster-bench as a target. So this
# test gives the path of the library's folder.
export LD_LIBRARY_PATH=$PWD/trainer_sdk/gloo
export TMPDIR=$TEST_TMPDIR
export PATH=/usr/local/bin:/usr/bin:/bin
unset RANK MUSTER_COORDINATOR MUSTER_TOKEN
failed=0
cd "$TEST_TMPDIR" || exit 1

# expect CODE PATTERN ARGUMENTS...: launch must exit with CODE, and its output
# match PATTERN (a glob).
expect() {
  local code=$1 pattern=$2 output got
  shift 2
  output=$(timeout 60 "$launch" "$@" 2>&1 </dev/null)
  got=$?
  if [[ $got != "$code" || $output != $pattern ]]; then
    echo "FAILED: launch $*: exit $got: $output"
    failed=1
  fi
}

small=(-b 8 -e 512 -f 64 -n 2 -w 1)
expect 0 '*all_reduce, 2 ranks*  512 * sum *values : 0 OK*' \
  bench --standalone --nproc-per-node=2 --log-dir=logs all_reduce "${small[@]}"
expect 0 '*sendrecv, 2 ranks, transport tcp*values : 0 OK*' \
  bench --standalone --nproc-per-node=2 sendrecv --transport=tcp "${small[@]}"
expect 0 '*all_reduce, 2 ranks, transport gloo*values : 0 OK*' \
  bench --standalone --nproc-per-node=2 all_reduce --transport=gloo "${small[@]}"

# Each worker runs `launch bench`, which measures as a rank of this job and does
# not start another job.
expect 0 '*all_gather, 2 ranks*values : 0 OK*' \
  --standalone --nproc-per-node=2 --no-python "$launch" bench all_gather \
  "${small[@]}"

expect 0 'Usage:*launch bench*' bench --help
expect 2 'launch: bench: --nodes: unknown flag*' bench --nodes=2 all_reduce
expect 2 'launch: bench: -x: unknown flag (see launch bench --help)' \
  bench all_reduce -x
MUSTER_BENCH=/nowhere expect 127 '*not at /nowhere*' bench all_reduce

rings=$(find logs -name 'rank_*.ring' -printf '%h\n' | sort -u)
expect 0 '*of 2 of 2 ranks, 1 group*FINE*all_reduce*done*' inspect "$rings"
expect 2 "*the latest are in $rings (see launch inspect --help)" inspect logs
rm "$rings/rank_1.ring"
expect 1 '*FOUND*no dump of rank 1 of 2*' inspect "$rings"
expect 2 'launch: inspect: absent: No such file*' inspect absent
expect 0 'Usage:*launch inspect*' inspect --help
((failed == 0)) && echo "all as expected"
exit "$failed"
