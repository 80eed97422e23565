#!/bin/sh
# Taints the Kubernetes node of a quarantined pod, so that no new pod is placed
# there, and writes the reason into an annotation of the node:
#
#   rendezvousd --on-quarantine /opt/muster/taint_node.sh ...
#
# Running pods stay. Remove the taint with
# `kubectl taint nodes NODE muster.dev/quarantined-`. The service account of the
# coordinator needs `get` on pods in its namespace, and `get` and `patch` on
# nodes.
#
# MUSTER_NODE is the pod's host name or, with hostNetwork, the node's name. The
# pod itself reports this name and the reason (MUSTER_REASON), so neither is
# trusted: the script checks the name, and passes the name and the reason to
# kubectl in one argument each.
set -eu
case $MUSTER_NODE in
  '' | -* | *[!A-Za-z0-9._-]*)
    echo "taint_node.sh: '$MUSTER_NODE' is no name of a pod or node" >&2
    exit 2 ;;
esac
node=$(kubectl get pod "$MUSTER_NODE" --ignore-not-found \
  --output 'jsonpath={.spec.nodeName}')
node=${node:-$MUSTER_NODE}
kubectl annotate --overwrite node "$node" \
  "muster.dev/quarantine-reason=$MUSTER_REASON (score $MUSTER_SCORE)"
exec kubectl taint --overwrite nodes "$node" \
  muster.dev/quarantined=true:NoSchedule
