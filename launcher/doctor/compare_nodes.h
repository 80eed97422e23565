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

// One node of several: its report, and which other nodes it could reach.
struct NodeSeen {
  std::optional<NodeReport> report;  // nullopt: no report before the deadline
  std::string address;
  std::map<int, Probe> probes;  // by the rank of the probed node
};

// The ranks that the node of rank `rank` probes. With up to 32 nodes these are
// all others; with more, rank 0, whose clock is the reference, and the ranks at
// distances of powers of two, so that several nodes probe each node. Pure.
std::vector<int> ProbedBy(int rank, int nodes);

// Findings that concern several nodes, in the order of their rank: nodes
// without a report, unreachable nodes, and differences between nodes. Pure.
std::vector<agent::Finding> CompareNodes(const std::vector<NodeSeen>& nodes);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_COMPARE_NODES_H_
