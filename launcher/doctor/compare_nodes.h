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

// One node of several: what it found, and whom it reached.
struct NodeSeen {
  std::optional<NodeReport> report;  // nullopt: it did not tell in time
  std::string address;
  std::map<int, Probe> probes;  // by rank of the other
};

// Which of `nodes` nodes the one of `rank` tries to reach: all others of up to
// 32; of more, rank 0, whose clock is everybody's measure, and those at
// distances of powers of two, so that every node is tried by several, and all
// pairs are not. Pure.
std::vector<int> ProbedBy(int rank, int nodes);

// What lies between the nodes, by rank: those that are absent, cannot be
// reached, or are different. Pure.
std::vector<agent::Finding> CompareNodes(const std::vector<NodeSeen>& nodes);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_COMPARE_NODES_H_
