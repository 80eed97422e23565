#ifndef MUSTER_LAUNCHER_DOCTOR_NODES_PAGE_H_
#define MUSTER_LAUNCHER_DOCTOR_NODES_PAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/health/finding.h"
#include "launcher/doctor/node_report.h"

namespace muster::launcher {

// The result of `launch doctor --nodes`.
struct NodesPage {
  std::vector<NodeReport> reports;      // one for each node that came
  std::vector<agent::Finding> between;  // findings that concern several nodes
  int expected = 0;                     // number of nodes; 0: unknown
};

// The names of the nodes on a page: the host's name, or the node's id if
// several nodes have the same host name.
std::vector<std::string> NodeNames(const std::vector<NodeReport>& reports);

// The worst severity of all findings.
agent::Severity WorstOfPage(const NodesPage& page);

// Converts a page to JSON on one line, as docs/DOCTOR.md describes it, and
// back. InvalidArgument: the text is not a page, or too long. Pure.
std::string NodesJson(const NodesPage& page);
absl::StatusOr<NodesPage> ParseNodesJson(const std::string& text);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_NODES_PAGE_H_
