#!/bin/sh
# family.sh FIFO: each local rank's worker and its descendants leave their
# process group, session or parent in a different way. All of them hold FIFO
# open, write their pids to it, and ignore SIGTERM.
staged=agent/guardian/staged_worker
set -- say-into "$1" ignore-term
case $LOCAL_RANK in
  0) exec $staged "$@" say-pid pause ;;
  1) exec $staged "$@" fork-and-pause setsid say-pid pause ;;
  2) exec $staged "$@" fork-and-pause fork-and-exit setsid fork-and-exit \
    say-pid pause ;;
  *) exec $staged "$@" fork-and-pause fork-and-exit say-pid pause ;;
esac
