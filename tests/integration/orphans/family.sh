#!/bin/sh
# family.sh FIFO: runs a worker. Its local rank selects the descendant that it
# has:
#   0  none
#   1  a descendant in a new session
#   2  a descendant in a new session whose parent process has exited
#   3  a descendant in the worker's session whose parent process has exited
# The descendant (for rank 0, the worker) writes its pid to FIFO. All processes
# of the rank hold FIFO open and ignore SIGTERM.
staged=agent/guardian/staged_worker
set -- say-into "$1" ignore-term
case $LOCAL_RANK in
  0) exec $staged "$@" say-pid pause ;;
  1) exec $staged "$@" fork-and-pause setsid say-pid pause ;;
  2) exec $staged "$@" fork-and-pause fork-and-exit setsid fork-and-exit \
    say-pid pause ;;
  *) exec $staged "$@" fork-and-pause fork-and-exit say-pid pause ;;
esac
