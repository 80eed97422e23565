#ifndef MUSTER_LAUNCHER_DOCTOR_ABSENT_NODES_H_
#define MUSTER_LAUNCHER_DOCTOR_ABSENT_NODES_H_

#include <map>
#include <string>
#include <vector>

#include "agent/health/finding.h"
#include "launcher/doctor/node_report.h"

namespace muster::launcher {

// Who should take part in `launch doctor --nodes`.
struct ExpectedNodes {
  int count = 0;                   // 0: not known
  std::vector<std::string> names;  // in the job; empty: not known
  // Why one of them cannot, where that is known.
  std::map<std::string, std::string> why;
};

// The nodes of a Slurm step, or of the job outside of one, which their
// `launch`es call by Slurm's names; nothing elsewhere. Pure.
std::vector<std::string> SlurmNodes(
    const std::map<std::string, std::string>& environment);

// One finding for each node that is expected and of which nothing was heard,
// by its name or else by its node rank; where neither is known, one for all.
// Pure.
std::vector<agent::Finding> FindAbsent(const ExpectedNodes& expected,
                                       const std::vector<NodeReport>& reports);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_ABSENT_NODES_H_
