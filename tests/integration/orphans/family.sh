#!/bin/sh
# family.sh FIFO: the worker of local rank 0 starts no other process. The
# workers of the other ranks have a descendant in a new session (rank 1), in a
# new session and without its parent (rank 2), or without its parent only (rank
# 3). In each rank, the last process writes its pid to FIFO. All of the rank's
# processes hold FIFO open and ignore SIGTERM.
staged=agent/guardian/staged_worker
set -- say-into "$1" ignore-term
case $LOCAL_RANK in
  0) exec $staged "$@" say-pid pause ;;
  1) exec $staged "$@" fork-and-pause setsid say-pid pause ;;
  2) exec $staged "$@" fork-and-pause fork-and-exit setsid fork-and-exit \
    say-pid pause ;;
  *) exec $staged "$@" fork-and-pause fork-and-exit say-pid pause ;;
esac
