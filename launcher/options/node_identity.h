#ifndef MUSTER_LAUNCHER_OPTIONS_NODE_IDENTITY_H_
#define MUSTER_LAUNCHER_OPTIONS_NODE_IDENTITY_H_

#include "launcher/options/machine_facts.h"
#include "launcher/options/run_options.h"
#include "rendezvous/protocol/report.h"

namespace muster::launcher {

// Who this node is. Its id is --node-id, else "rank-N" of --node-rank, else
// "index-N" of the number that Kubernetes (JOB_COMPLETION_INDEX) or Slurm
// (SLURM_PROCID) gave it, else made of host name and incarnation. Slurm's
// number is taken only in a step that has a task for each node, since two
// agents in one task would have the same. Pure.
rendezvous::NodeIdentity PlanNodeIdentity(const RunOptions& options,
                                          const MachineFacts& facts);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_NODE_IDENTITY_H_
