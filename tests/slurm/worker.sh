#!/bin/sh
# The worker of the Slurm tests: prints its place in the job, then does what its
# first argument says.
echo "up rank=$RANK of=$WORLD_SIZE group=$GROUP_RANK node=$SLURMD_NODENAME" \
  "run=$MUSTER_RUN_ID at=$MUSTER_COORDINATOR round=$MUSTER_ROUND" \
  "job=$SLURM_JOB_ID pid=$$ ."

wait_for_ever() {
  exec tail -f /dev/null
}

deed=$1
[ $# -eq 0 ] || shift
case $deed in
  forever) wait_for_ever ;;
  # exit CODE: exits with CODE.
  exit) exit "$1" ;;
  # until GATE: waits until the file GATE is not locked, then succeeds.
  until) flock -s "$1" true ;;
  # round N GATE: in rounds before N, runs until it is stopped; from round N on,
  # waits until the file GATE is not locked, then succeeds.
  round)
    [ "$MUSTER_ROUND" -ge "$1" ] || wait_for_ever
    flock -s "$2" true ;;
  # restarted: in the job's first run, runs until it is stopped; succeeds at
  # once after Slurm has requeued the job.
  restarted) [ -n "$SLURM_RESTART_COUNT" ] || wait_for_ever ;;
  # deaf: ignores SIGTERM, and so does a child process in a session of its own.
  deaf)
    trap '' TERM INT HUP
    setsid sh -c 'echo "litter ."; exec tail -f /dev/null' &
    wait_for_ever ;;
  # catch: prints the signal that it gets, and succeeds. preempted: like catch
  # in the job's first run; succeeds at once in later runs.
  catch | preempted)
    [ "$deed" = preempted ] && [ -n "$SLURM_RESTART_COUNT" ] && exit 0
    trap 'echo "caught TERM rank=$RANK ."; exit 0' TERM
    trap 'echo "caught INT rank=$RANK ."; exit 0' INT
    echo "ready rank=$RANK ."
    # Slurm signals the processes of a step one by one. `tail` may be killed
    # before this shell gets its signal, so start it again: the shell must not
    # end before it has printed the signal.
    while :; do tail -f /dev/null & wait; done ;;
esac
