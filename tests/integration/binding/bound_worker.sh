#!/bin/sh
# Prints the CPUs that this worker is bound to. $1 "forever": runs until it is
# killed.
cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
echo "bound rank=$RANK group=$GROUP_RANK cpus=$cpus set=$MUSTER_CPU_SET" \
  "threads=$OMP_NUM_THREADS ."
[ "$1" = forever ] && exec tail -f /dev/null
exit 0
