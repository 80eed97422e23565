#ifndef MUSTER_AGENT_METRICS_AGENT_METRICS_H_
#define MUSTER_AGENT_METRICS_AGENT_METRICS_H_

#include <string>

#include "agent/agent_view.h"
#include "agent/logs/log_account.h"
#include "rendezvous/metrics/exposition.h"

namespace muster::agent {

// The names of the job's run and of the node whose metrics are exposed.
struct NodeNames {
  std::string run_id;
  std::string node_id;
  std::string host;
};

// Adds the metrics of one node, named muster_node_*, those of the workers' store
// if the node has served it, muster_store_*, and those of the node's workers,
// muster_worker_*, with the label `local_rank`. `state`: the agent's newest
// state, at most a keep-alive interval old. O(workers). Pure.
void AddNodeMetrics(const NodeNames& names, const AgentState& state,
                    const LogAccount::Sums& logs, rendezvous::Exposition& page);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_METRICS_AGENT_METRICS_H_
