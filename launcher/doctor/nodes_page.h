#ifndef MUSTER_LAUNCHER_DOCTOR_NODES_PAGE_H_
#define MUSTER_LAUNCHER_DOCTOR_NODES_PAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/health/finding.h"
#include "launcher/doctor/node_report.h"

namespace muster::launcher {

// What `launch doctor --nodes` found.
struct NodesPage {
  std::vector<NodeReport> reports;      // of the nodes that came
  std::vector<agent::Finding> between;  // what lies between the nodes
  int expected = 0;                     // nodes; 0: not known
};

// How each of `reports` is called on a page: by its host, or where several have
// that name, by its name in the job.
std::vector<std::string> NodeNames(const std::vector<NodeReport>& reports);

// The worst that was found, on any node or between them.
agent::Severity WorstOfPage(const NodesPage& page);

// JSON on one line, as docs/DOCTOR.md describes it, and back. InvalidArgument:
// it is none, or beyond any sound size. Pure.
std::string NodesJson(const NodesPage& page);
absl::StatusOr<NodesPage> ParseNodesJson(const std::string& text);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_NODES_PAGE_H_
