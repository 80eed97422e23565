#!/bin/sh
# Prints the CPUs to which this worker is bound. If $1 is "forever", it then
# runs until it is killed.
cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
echo "bound rank=$RANK group=$GROUP_RANK cpus=$cpus set=$MUSTER_CPU_SET" \
  "threads=$OMP_NUM_THREADS ."
[ "$1" = forever ] && exec tail -f /dev/null
exit 0
