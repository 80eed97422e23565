#!/bin/sh
# The worker of the ssh tests: prints its place in the job, then does what its
# first argument says.
echo "up rank=$RANK of=$WORLD_SIZE local=$LOCAL_RANK node=$GROUP_RANK\
 round=${MUSTER_ROUND:-} in=$PWD pid=$$"
echo "complaint of rank=$RANK" >&2
case "$1" in
  succeed) ;;
  forever)
    trap 'echo "caught INT rank=$RANK"; exit 130' INT
    trap 'echo "caught TERM rank=$RANK"; exit 143' TERM
    echo "ready rank=$RANK"
    while :; do tail -f /dev/null & wait; done ;;
  deaf)
    trap '' INT TERM
    echo "ready rank=$RANK"
    while :; do tail -f /dev/null & wait; done ;;
  until-alone) # GATE: a world of one ends once this file is not locked.
    echo "ready rank=$RANK world=$WORLD_SIZE"
    if [ "$WORLD_SIZE" = 1 ]; then
      flock -s "$2" true
      exit 0
    fi
    while :; do tail -f /dev/null & wait; done ;;
  until-open) # GATE: a world of any size ends once this file is not locked.
    echo "ready rank=$RANK world=$WORLD_SIZE"
    flock -s "$2" true ;;
  fail) [ "$RANK" = "$2" ] && exit 7; while :; do tail -f /dev/null & wait; done ;;
  print)
    shift
    for name; do eval "echo \"rank=$RANK $name=\${$name-unset}\""; done ;;
  count) seq 1 "$2" ;;
  paint) printf 'a\033[2Jb\007c\n' ;;
esac
exit 0
