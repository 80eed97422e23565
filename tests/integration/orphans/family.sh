#!/bin/sh
# family.sh FIFO: the worker of local rank 0 starts no other process. The worker
# of each other rank has a descendant. Rank 1: the descendant is in a new
# session. Rank 2: it is in a new session, and its parent has exited. Rank 3: it
# is in the worker's session, and its parent has exited. In each rank, the last
# process writes its pid to FIFO. All of the rank's processes hold FIFO open and
# ignore SIGTERM.
staged=agent/guardian/staged_worker
set -- say-into "$1" ignore-term
case $LOCAL_RANK in
  0) exec $staged "$@" say-pid pause ;;
  1) exec $staged "$@" fork-and-pause setsid say-pid pause ;;
  2) exec $staged "$@" fork-and-pause fork-and-exit setsid fork-and-exit \
    say-pid pause ;;
  *) exec $staged "$@" fork-and-pause fork-and-exit say-pid pause ;;
esac
