#!/bin/sh
# A worker for the tests: says who it is, then does what its first word asks.
echo "up rank=$RANK of=$WORLD_SIZE group=$GROUP_RANK node=$SLURMD_NODENAME" \
  "run=$MUSTER_RUN_ID at=$MUSTER_COORDINATOR round=$MUSTER_ROUND" \
  "job=$SLURM_JOB_ID ."

wait_for_ever() {
  exec tail -f /dev/null
}

deed=$1
[ $# -eq 0 ] || shift
case $deed in
  forever) wait_for_ever ;;
  # exit CODE
  exit) exit "$1" ;;
  # until FILE: succeeds when the file is there.
  until) while [ ! -e "$1" ]; do sleep 0.05; done ;;
  # round N FILE: succeeds in that round when the file is there.
  round)
    [ "$MUSTER_ROUND" -ge "$1" ] || wait_for_ever
    while [ ! -e "$2" ]; do sleep 0.05; done ;;
  # restarted: succeeds when the job has been put back into its queue.
  restarted) [ -n "$SLURM_RESTART_COUNT" ] || wait_for_ever ;;
  # deaf: takes no notice of SIGTERM, nor does a child in a session of its own.
  deaf)
    trap '' TERM INT HUP
    setsid sh -c 'echo "litter ."; exec tail -f /dev/null' &
    wait_for_ever ;;
  # catch: says which signal it got, and succeeds. preempted: does so in the
  # job's first run, and succeeds at once in later ones.
  catch | preempted)
    [ "$deed" = preempted ] && [ -n "$SLURM_RESTART_COUNT" ] && exit 0
    trap 'echo "caught TERM rank=$RANK ."; exit 0' TERM
    trap 'echo "caught INT rank=$RANK ."; exit 0' INT
    echo "ready rank=$RANK ."
    while :; do sleep 0.05; done ;;
esac
