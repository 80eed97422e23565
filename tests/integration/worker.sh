#!/bin/sh
# The worker of most integration tests: prints its place in the job, then does
# what its first argument says.
echo "up rank=$RANK local=$LOCAL_RANK round=$MUSTER_ROUND world=$WORLD_SIZE" \
  "group=$GROUP_RANK of=$GROUP_WORLD_SIZE restart=$TORCHELASTIC_RESTART_COUNT" \
  "master=$MASTER_ADDR:$MASTER_PORT pid=$$ ."

forever() {
  exec tail -f /dev/null
}

deed=$1
[ $# -eq 0 ] || shift
case $deed in
  forever) forever ;;
  # exit CODE RANK: worker RANK exits with CODE, the others run until they are
  # stopped.
  exit) [ "$RANK" = "$2" ] && echo "about to fail" >&2 && exit "$1"; forever ;;
  # exit-until CODE ROUND: exits with CODE in rounds before ROUND, then
  # succeeds.
  exit-until) [ "$MUSTER_ROUND" -lt "$2" ] && exit "$1"; exit 0 ;;
  # crash SIGNAL RANK: worker RANK kills itself with SIGNAL, the others run
  # until they are stopped.
  crash) [ "$RANK" = "$2" ] && kill -"$1" $$; forever ;;
  # succeed-in ROUND: in rounds before ROUND runs until it is stopped; in later
  # rounds succeeds at once.
  succeed-in) [ "$MUSTER_ROUND" -ge "$1" ] && exit 0; forever ;;
  # deaf: ignores SIGTERM.
  deaf) trap '' TERM; forever ;;
  # litter: starts a process in a session of its own, and runs until it is
  # stopped.
  litter)
    setsid sh -c 'echo "litter pid=$$ ."; exec tail -f /dev/null' &
    forever ;;
  # leave-and-go: starts a process in a session of its own, and succeeds at
  # once.
  leave-and-go)
    setsid sh -c 'echo "litter pid=$$ ."; exec tail -f /dev/null' &
    exit 0 ;;
  # catch SIGNAL: waits for SIGNAL, prints that it came, and succeeds.
  catch)
    trap 'echo "caught $0 rank=$RANK ."; exit 0' "$1"
    echo "ready rank=$RANK ."
    tail -f /dev/null & wait ;;
  # keep SIGNAL: waits for SIGNAL, prints the preemption notice, and succeeds,
  # as after a checkpoint.
  keep)
    trap 'echo "keeps rank=$RANK $(cat "$MUSTER_PREEMPTION_FILE") ."; exit 0' \
      "$1"
    [ -e "$MUSTER_PREEMPTION_FILE" ] && echo "early ."
    echo "ready rank=$RANK ."
    tail -f /dev/null & wait ;;
  # again SIGNAL GATE: waits for SIGNAL, then exits with 75 ("try again"); rank
  # 0 first waits until the file GATE is not locked.
  again)
    trap '[ "$RANK" != 0 ] || flock -s '"$2"' true
      echo "again rank=$RANK ."; exit 75' "$1"
    echo "ready rank=$RANK ."
    tail -f /dev/null & wait ;;
  # keep-or-fail SIGNAL RANK: waits for SIGNAL; then worker RANK fails, and the
  # others succeed.
  keep-or-fail)
    trap '[ "$RANK" = '"$2"' ] && echo "no space for a checkpoint" >&2 && exit 4
      exit 0' "$1"
    echo "ready rank=$RANK ."
    tail -f /dev/null & wait ;;
  # look-out: waits until the notice of a preemption is in the file
  # MUSTER_PREEMPTION_FILE, and then succeeds.
  look-out)
    echo "ready rank=$RANK ."
    until [ -e "$MUSTER_PREEMPTION_FILE" ]; do sleep 0.05; done
    echo "keeps rank=$RANK ." ;;
  *) exit 0 ;;
esac
