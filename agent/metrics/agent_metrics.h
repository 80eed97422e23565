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

// The metrics of a node's workers. kTogether: of all workers together, named
// muster_node_*. kEach: of each worker, too, named muster_worker_*, with the
// label `local_rank`.
enum class WorkerSeries { kTogether, kEach };

// Adds the metrics of one node and its workers, and those of the workers' store
// (muster_store_*) if the node has served it. `state`: the agent's newest
// state, at most a keep-alive interval old. O(workers). Pure.
void AddNodeMetrics(const NodeNames& names, const AgentState& state,
                    const LogAccount::Sums& logs, WorkerSeries workers,
                    rendezvous::Exposition& page);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_METRICS_AGENT_METRICS_H_
