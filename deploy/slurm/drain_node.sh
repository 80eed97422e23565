#!/bin/sh
# Drains a quarantined node in Slurm:
#
#   rendezvousd --on-quarantine /opt/muster/drain_node.sh ...
#   launch --on-quarantine /opt/muster/drain_node.sh ...
#
# Running jobs of the node go on; no new job begins there until an administrator
# runs `scontrol update NodeName=... State=RESUME`. The user of the coordinator
# needs Slurm's right to do this (AdminLevel Operator, or SlurmUser).
#
# The host name and the reason come from the node. The name is checked; scontrol
# gets each as one word.
set -eu
node=${MUSTER_NODE%%.*}  # Slurm's names are mostly host names without a domain
case $node in
  '' | -* | *[!A-Za-z0-9._-]*)
    echo "drain_node.sh: '$node' is no name of a node" >&2
    exit 2 ;;
esac
exec scontrol update "NodeName=$node" State=DRAIN \
  "Reason=muster: $MUSTER_REASON (score $MUSTER_SCORE)"
