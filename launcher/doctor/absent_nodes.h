#ifndef MUSTER_LAUNCHER_DOCTOR_ABSENT_NODES_H_
#define MUSTER_LAUNCHER_DOCTOR_ABSENT_NODES_H_

#include <map>
#include <string>
#include <vector>

#include "agent/health/finding.h"
#include "launcher/doctor/node_report.h"

namespace muster::launcher {

// The nodes that should take part in `launch doctor --nodes`.
struct ExpectedNodes {
  int count = 0;  // number of nodes; 0: unknown
  // The nodes' names in the job; empty: unknown.
  std::vector<std::string> names;
  // By node name: the reason why a node cannot take part, if known.
  std::map<std::string, std::string> why;
};

// The names of the nodes of the Slurm step, or of the job outside of a step.
// Agents in Slurm use these names as node ids. Empty outside of Slurm. Pure.
std::vector<std::string> SlurmNodes(
    const std::map<std::string, std::string>& environment);

// One finding for each expected node that sent no report, with the node's name,
// otherwise its node rank. If neither is known, one finding for all missing
// nodes. Pure.
std::vector<agent::Finding> FindAbsent(const ExpectedNodes& expected,
                                       const std::vector<NodeReport>& reports);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_ABSENT_NODES_H_
