#ifndef MUSTER_LAUNCHER_DOCTOR_COMPARE_NODES_H_
#define MUSTER_LAUNCHER_DOCTOR_COMPARE_NODES_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/health/finding.h"
#include "launcher/doctor/node_probe.h"
#include "launcher/doctor/node_report.h"

namespace muster::launcher {

// The nodes that should take part in `launch doctor --nodes`.
struct ExpectedNodes {
  int count = 0;  // number of expected nodes; 0: unknown
  // The names of the expected nodes in the job; empty: unknown.
  std::vector<std::string> names;
  // The reason why a node cannot take part, if the reason is known; the key is
  // the node's name.
  std::map<std::string, std::string> why;
};

// The names of the nodes of the Slurm step, or of the Slurm job outside of a
// step. Agents in Slurm use these names as node ids. Empty outside of Slurm.
// Pure.
std::vector<std::string> SlurmNodes(
    const std::map<std::string, std::string>& environment);

// Returns one finding for each expected node that sent no report. The finding
// has the node's name, or else its node rank. If neither is known, returns one
// finding for all missing nodes. Pure.
std::vector<agent::Finding> FindAbsent(const ExpectedNodes& expected,
                                       const std::vector<NodeReport>& reports);

// The results of one of several nodes: its report, and its attempts to reach
// other nodes.
struct NodeSeen {
  std::optional<NodeReport> report;  // nullopt: no report before the deadline
  std::string address;
  // results of this node's probes; the key is the rank of the probed node
  std::map<int, Probe> probes;
};

// The ranks that the node of rank `rank` probes. With up to 32 nodes these are
// all others. With more nodes, these are rank 0, whose clock is the reference,
// and the ranks at distances of powers of two. Each node is thus probed by
// several nodes. Pure.
std::vector<int> ProbedBy(int rank, int nodes);

// Findings that concern several nodes: nodes without a report, unreachable
// nodes, and differences between nodes. `nodes`: in the order of their ranks.
// Pure.
std::vector<agent::Finding> CompareNodes(const std::vector<NodeSeen>& nodes);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_COMPARE_NODES_H_
