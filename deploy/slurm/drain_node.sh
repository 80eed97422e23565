#!/bin/sh
# Drains a quarantined node in Slurm:
#
#   rendezvousd --on-quarantine /opt/muster/drain_node.sh ...
#   launch --on-quarantine /opt/muster/drain_node.sh ...
#
# Running jobs of the node go on; no new job begins there until an administrator
# runs `scontrol update NodeName=... State=RESUME`. The user who runs the
# coordinator must have the right to drain nodes (Slurm's AdminLevel Operator,
# or SlurmUser).
#
# The node itself reports its host name (MUSTER_NODE) and the reason
# (MUSTER_REASON), so neither is trusted: the script checks the name, and passes
# the name and the reason to scontrol in one argument each.
set -eu
node=${MUSTER_NODE%%.*}  # Slurm's names are mostly host names without a domain
case $node in
  '' | -* | *[!A-Za-z0-9._-]*)
    echo "drain_node.sh: '$node' is no name of a node" >&2
    exit 2 ;;
esac
exec scontrol update "NodeName=$node" State=DRAIN \
  "Reason=muster: $MUSTER_REASON (score $MUSTER_SCORE)"
