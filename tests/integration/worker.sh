#!/bin/sh
# A worker for the tests: says who it is, then does what its first word asks.
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
  # exit CODE RANK: that rank ends with the code, the others run on.
  exit) [ "$RANK" = "$2" ] && echo "about to fail" >&2 && exit "$1"; forever ;;
  # exit-until CODE ROUND: every worker fails before that round, then succeeds.
  exit-until) [ "$MUSTER_ROUND" -lt "$2" ] && exit "$1"; exit 0 ;;
  # crash SIGNAL RANK: that rank dies of the signal.
  crash) [ "$RANK" = "$2" ] && kill -"$1" $$; forever ;;
  # succeed-in ROUND: runs for ever before that round, then succeeds.
  succeed-in) [ "$MUSTER_ROUND" -ge "$1" ] && exit 0; forever ;;
  # deaf: takes no notice of SIGTERM.
  deaf) trap '' TERM; forever ;;
  # litter: leaves processes behind that have sessions of their own.
  litter)
    setsid sh -c 'echo "litter pid=$$ ."; exec tail -f /dev/null' &
    forever ;;
  # leave-and-go: as litter, but succeeds at once.
  leave-and-go)
    setsid sh -c 'echo "litter pid=$$ ."; exec tail -f /dev/null' &
    exit 0 ;;
  # catch SIGNAL: says when it has caught it, and goes.
  catch)
    trap 'echo "caught $0 rank=$RANK ."; exit 0' "$1"
    echo "ready rank=$RANK ."
    tail -f /dev/null & wait ;;
  # keep SIGNAL: when it comes, shows the notice of the preemption and goes, as
  # after a checkpoint.
  keep)
    trap 'echo "keeps rank=$RANK $(cat "$MUSTER_PREEMPTION_FILE") ."; exit 0' \
      "$1"
    [ -e "$MUSTER_PREEMPTION_FILE" ] && echo "early ."
    echo "ready rank=$RANK ."
    tail -f /dev/null & wait ;;
  # again SIGNAL GONE: says when it comes that it is to be tried again; rank 0 first
  # waits until the file GONE is there.
  again)
    trap '[ "$RANK" != 0 ] || until [ -e '"$2"' ]; do sleep 0.05; done
      echo "again rank=$RANK ."; exit 75' "$1"
    echo "ready rank=$RANK ."
    tail -f /dev/null & wait ;;
  # keep-or-fail SIGNAL RANK: that rank fails instead.
  keep-or-fail)
    trap '[ "$RANK" = '"$2"' ] && echo "no space for a checkpoint" >&2 && exit 4
      exit 0' "$1"
    echo "ready rank=$RANK ."
    tail -f /dev/null & wait ;;
  # look-out: goes once the notice is there.
  look-out)
    echo "ready rank=$RANK ."
    until [ -e "$MUSTER_PREEMPTION_FILE" ]; do sleep 0.05; done
    echo "keeps rank=$RANK ." ;;
  *) exit 0 ;;
esac
